#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace indx {

/// A value that is made when it is first asked for. Copies share it. Safe from any thread.
template <typename T>
class Lazy {
 public:
  Lazy() : Lazy(T()) {}
  Lazy(T value)  // NOLINT(google-explicit-constructor): a value is one that is made already
      : Lazy([value = std::move(value)] { return value; }) {}
  explicit Lazy(std::function<T()> make) : made_(std::make_shared<Made>(std::move(make))) {}

  const T& operator*() const {
    std::call_once(made_->once, [made = made_.get()] {
      made->value = made->make();
      made->make = nullptr;
    });
    return made_->value;
  }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }  // NOLINT(google-explicit-constructor): reads as one

 private:
  struct Made {
    explicit Made(std::function<T()> how) : make(std::move(how)) {}
    std::once_flag once;
    std::function<T()> make;
    T value;
  };
  std::shared_ptr<Made> made_;  // shared: with the copies
};

}  // namespace indx
