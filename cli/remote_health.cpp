#include "cli/remote_health.hpp"

#include <utility>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kAge{1000}, kAnswerPatience{500}, kTimeout{5000};

}  // namespace

RemoteHealth::~RemoteHealth() {
  if (asking_.joinable()) asking_.join();
}

Json RemoteHealth::now() {
  std::unique_lock lock(mutex_);
  const auto now = SteadyClock::now();
  if (told_ && now - told_at_ < kAge) return *told_;
  if (!std::exchange(is_asking_, true)) {
    if (asking_.joinable()) asking_.join();  // it has nothing left to do
    asked_at_ = now;
    asking_ = std::thread([this] { ask(); });
  }
  answered_.wait_until(lock, asked_at_ + kAnswerPatience, [this] { return !is_asking_; });
  return told_.value_or(Json{{"ready", false}, {"state", "unreachable"}});
}

void RemoteHealth::ask() {
  auto request = wire_->request("GET", "/v1/health", nullptr);
  request.timeout = kTimeout;
  const auto response = http_exchange(request, wire_->closing);
  const Json body = response ? Json::parse(response->body, nullptr, false) : Json();
  const auto data = body.is_object() ? body.find("data") : body.end();
  const std::scoped_lock lock(mutex_);
  if (data != body.end() && data->is_object()) {
    told_ = *data;
    told_at_ = SteadyClock::now();
  }
  is_asking_ = false;
  answered_.notify_all();
}

}  // namespace indx
