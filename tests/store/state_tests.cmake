target_sources(unit_tests PRIVATE event_store_test.cpp idempotency_store_test.cpp intent_store_test.cpp state_schema_test.cpp
  token_store_test.cpp usage_store_test.cpp version_store_test.cpp)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/state_schema_test.cpp TARGET_DIRECTORY unit_tests PROPERTIES COMPILE_DEFINITIONS
  INDX_FIRST_STATE_SQL="${PROJECT_SOURCE_DIR}/store/migrations/state/0001_initial.sql" SKIP_UNITY_BUILD_INCLUSION ON)
