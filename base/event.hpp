#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

/// A text made from an event once, by the first of its readers, and shared by all of them. A copy
/// of the event starts without it: it may be edited. Only for the thread that tells the event.
class EventText {
 public:
  using Text = std::shared_ptr<const std::string>;
  EventText() = default;
  EventText(const EventText&) noexcept {}
  EventText& operator=(const EventText&) noexcept {
    text_.reset();
    return *this;
  }
  ~EventText() = default;

  template <typename Make>
  const Text& get(const Make& make) const {
    if (!text_) text_ = std::make_shared<const std::string>(make());
    return text_;
  }

 private:
  mutable Text text_;  // shared: with the buffers of the streams
};

/// A fact worth telling: durable when it has an id (G14). Holds no note content.
struct Event {
  std::int64_t id = 0;  ///< 0: not durable (job progress)
  std::string kind;     ///< `note.updated`, `job.finished`, `ai.invocation` …
  Timestamp at;
  std::string actor;    ///< ui | api | cli | mcp | fs | system
  std::string subject;  ///< token id or `local`
  std::string job_id;   ///< empty: none
  Json data = Json::object();
  EventText frame = {};  ///< as event streams send it

  /// `{id, kind, at, actor, subject, job_id?, …data}`; `id` is `<epoch>-<n>`, left out for events
  /// that are not durable.
  Json to_json(const std::string& epoch) const;
};

/// Whether `kind` is one of the patterns; a pattern may end in `.*`; no patterns: every kind.
bool kind_matches(const std::string& kind, const std::vector<std::string>& patterns);

}  // namespace indx
