target_sources(unit_tests PRIVATE event_store_test.cpp idempotency_store_test.cpp intent_store_test.cpp state_schema_test.cpp
  token_store_test.cpp usage_store_test.cpp version_store_test.cpp)
