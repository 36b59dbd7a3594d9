#pragma once
#include "base/assert.hpp"
#include "base/error.hpp"

#include <utility>
#include <variant>

namespace indx {

/// Either a value or the Error that prevented it.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {
  }  // NOLINT(google-explicit-constructor): `return value;`
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {
  }  // NOLINT(google-explicit-constructor): `return error;`

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    INDX_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    INDX_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  /// By value: a range-for over a temporary Result must not dangle.
  T value() && {
    INDX_ASSERT(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  template <typename U>
  T value_or(U&& other) const& {
    return has_value() ? value() : T(std::forward<U>(other));
  }

  const Error& error() const {
    INDX_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error& error() {
    INDX_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error)
      : error_(std::move(error)),
        ok_(false) {}  // NOLINT(google-explicit-constructor): `return error;`

  bool has_value() const { return ok_; }
  explicit operator bool() const { return ok_; }
  void value() const { INDX_ASSERT(ok_); }
  const Error& error() const {
    INDX_ASSERT(!ok_);
    return error_;
  }
  Error& error() {
    INDX_ASSERT(!ok_);
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace indx

/// The value of a Result, or a return of its Error from the enclosing function. Not inside braces
/// behind another element: compilers forget to destroy that one when the return is taken
/// (scripts/check_try.py looks for it).
#define INDX_TRY(expression) INDX_TRY_NAMED(INDX_JOIN(indx_try_, __COUNTER__), expression)
#define INDX_JOIN(a, b) INDX_JOIN_TWO(a, b)
#define INDX_JOIN_TWO(a, b) a##b
#define INDX_TRY_NAMED(name, expression) \
  ({                                     \
    auto name = (expression);            \
    if (!name.has_value()) [[unlikely]]  \
      return std::move(name.error());    \
    std::move(name).value();             \
  })
