find_package(Threads REQUIRED)
find_package(Poco 1.11 REQUIRED COMPONENTS Foundation Net NetSSL)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Catch2 2.13 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMARK REQUIRED IMPORTED_TARGET libcmark-gfm)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

find_path(VALIJSON_INCLUDE valijson/schema.hpp REQUIRED)  # headers only, in the system's include folder

find_path(CAF_INCLUDE caf/all.hpp REQUIRED)
find_library(CAF_CORE_LIB caf_core REQUIRED)
add_library(CAF::core INTERFACE IMPORTED)
target_include_directories(CAF::core SYSTEM INTERFACE ${CAF_INCLUDE})
target_link_libraries(CAF::core INTERFACE ${CAF_CORE_LIB} Threads::Threads)

# The package's own file asks for what only its server and its pusher need.
find_path(PROMETHEUS_INCLUDE prometheus/registry.h REQUIRED)
find_library(PROMETHEUS_CORE_LIB prometheus-cpp-core REQUIRED)
add_library(Prometheus::core INTERFACE IMPORTED)
target_include_directories(Prometheus::core SYSTEM INTERFACE ${PROMETHEUS_INCLUDE})
target_link_libraries(Prometheus::core INTERFACE ${PROMETHEUS_CORE_LIB})

find_path(HNSWLIB_INCLUDE hnswlib/hnswlib.h REQUIRED)
add_library(Hnswlib::hnswlib INTERFACE IMPORTED)
target_include_directories(Hnswlib::hnswlib SYSTEM INTERFACE ${HNSWLIB_INCLUDE})

# Each shared library costs a start of the program about half a millisecond, so the small ones are linked in where their
# archives are installed. Not OpenSSL: Poco brings it along as a shared library, and one process must not hold it twice.
option(INDX_STATIC_LIBRARIES "Link archives of C libraries, where there are some, instead of shared libraries" ON)
function(link_archive target name)  # and what the archive needs besides
  find_library(INDX_${name}_ARCHIVE lib${name}.a)
  if(NOT INDX_STATIC_LIBRARIES OR INDX_SANITIZE OR NOT INDX_${name}_ARCHIVE)  # a sanitizer tells leaks by their library
    return()
  endif()
  get_target_property(is_one_file ${target} IMPORTED_LOCATION)
  if(is_one_file)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${INDX_${name}_ARCHIVE} INTERFACE_LINK_LIBRARIES "${ARGN}")
  else()
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${INDX_${name}_ARCHIVE};${ARGN}")
  endif()
endfunction()
link_archive(SQLite::SQLite3 sqlite3 m ${CMAKE_DL_LIBS} Threads::Threads)
find_library(INDX_CMARK_CORE_ARCHIVE libcmark-gfm.a)
if(INDX_CMARK_CORE_ARCHIVE)
  link_archive(PkgConfig::CMARK cmark-gfm-extensions ${INDX_CMARK_CORE_ARCHIVE})
endif()
link_archive(PkgConfig::FYAML fyaml Threads::Threads)
link_archive(PkgConfig::RE2 re2 Threads::Threads)
link_archive(PkgConfig::UTF8PROC utf8proc)
link_archive(PkgConfig::XXHASH xxhash)
link_archive(PkgConfig::ZSTD zstd Threads::Threads)
