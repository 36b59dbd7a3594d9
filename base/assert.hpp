#pragma once
#include <cstdio>
#include <cstdlib>

/// Ends the process on a bug of ours. Input never reaches one.
#define INDX_ASSERT(condition)                                                               \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
