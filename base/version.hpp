#pragma once

namespace indx {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace indx
