#pragma once
#include "base/clock.hpp"
#include "base/random.hpp"

#include <compare>
#include <functional>
#include <string>

namespace indx {

/// A string that cannot be mixed up with another kind of string.
template <typename Tag>
struct StringId {
  std::string value;

  bool empty() const { return value.empty(); }
  auto operator<=>(const StringId&) const = default;
};

using JobId = StringId<struct JobIdTag>;
using RequestId = StringId<struct RequestIdTag>;
using WriteId = StringId<struct WriteIdTag>;

/// 26 characters of Crockford base32: 48 bits of time, then 80 random bits (the ULID layout), so
/// ids sort by creation.
std::string new_ulid(Timestamp now, Random& random);

}  // namespace indx

template <typename Tag>
struct std::hash<indx::StringId<Tag>> {
  std::size_t operator()(const indx::StringId<Tag>& id) const {
    return std::hash<std::string>()(id.value);
  }
};
