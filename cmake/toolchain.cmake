find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror)
# Statement expressions carry INDX_TRY; -Wpedantic would refuse them one by one.
add_compile_options(-Wno-pedantic)
# Designated initialisers name what differs from the defaults.
add_compile_options(-Wno-missing-field-initializers)
# GCC 12 reports false positives from inlined std::string code in optimised builds (PR 105329, 105651).
add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)

# Clones in different folders share the compiler cache.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

if(INDX_SANITIZE STREQUAL "address")
  # CAF's headers form null references, which UBSan's null check reports.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(INDX_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(INDX_SANITIZE STREQUAL "fuzzer")
  # Clang complains about other things than GCC, which decides about warnings.
  add_compile_options(-w)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# indx_library(NAME SOURCES... LINKS...): one static library per folder.
function(indx_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(indx_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(indx_${name} PUBLIC ${ARG_LINKS})
  set_target_properties(indx_${name} PROPERTIES UNITY_BUILD ${INDX_UNITY} UNITY_BUILD_BATCH_SIZE ${INDX_UNITY_BATCH})
endfunction()
option(INDX_UNITY "Compile sources in batches" ON)
set(INDX_UNITY_BATCH 6 CACHE STRING "Sources in a batch")
