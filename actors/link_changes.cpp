#include "actors/link_changes.hpp"

#include <chrono>

namespace indx {

class LinkChanges::Held : public LinkTurn {
 public:
  explicit Held(LinkChanges& changes) : changes_(changes) {}
  ~Held() override { changes_.leave(); }

 private:
  LinkChanges& changes_;
};

std::unique_ptr<LinkTurn> LinkChanges::take(const std::function<bool()>& gives_up) {
  constexpr std::chrono::milliseconds kAskEvery{20};
  std::unique_lock lock(mutex_);
  const auto number = next_number_++;
  const auto own = line_.insert(line_.end(), number);
  while (line_.front() != number) {
    if (gives_up()) {
      line_.erase(own);
      return nullptr;
    }
    changed_.wait_for(lock, kAskEvery);
  }
  return std::make_unique<Held>(*this);
}

void LinkChanges::leave() {
  const std::scoped_lock lock(mutex_);
  line_.pop_front();
  changed_.notify_all();
}

}  // namespace indx
