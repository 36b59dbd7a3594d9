#pragma once
#include "base/event.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace indx {

/// Who listens to one streamed call of AI (rows D42, D43). It is told, in this order:
///
///   ai.partial   {delta, restart?}  the prose of the answer as it grows; `restart: true` takes
///                                   back what came before it. Since the last restart the deltas
///                                   are, in the end, the prose of the answer to the last byte.
///   ai.citation  {citation}         each that holds, once all are known
///   ai.usage     {usage}            of the whole call
///
/// The surface ends the stream with `ai.complete` or `ai.error`, which count whatever came before.
/// Its events hold text of notes: they go to this listener and nowhere else, neither to a log nor
/// to the database. Thread-safe; the listener runs under a lock and must not block for long.
class AiStream {
 public:
  /// Whether the event is one of those above.
  static bool tells(const Event& event);

  using Listener = std::function<void(const Event&)>;
  explicit AiStream(Listener listener) : listener_(std::move(listener)) {}

  /// A model begins to write the prose, perhaps not for the first time.
  void begin_prose();
  void add_prose(std::string_view delta);
  /// The prose that the answer has: tells what is missing of it, or all of it anew.
  void settle_prose(std::string_view whole);
  void tell_citation(Json citation);
  void tell_usage(Json usage);

  /// A model was asked that could not be streamed (row D45).
  void note_unsupported();
  bool is_unsupported() const;

  /// Nothing is told from here on; returns when the listener does not run.
  void end();

 private:
  void tell(const std::string& kind, Json data);
  void tell_locked(const std::string& kind, Json data);
  void tell_delta(std::string_view delta, bool restarts);

  mutable std::mutex mutex_;
  Listener listener_;  ///< empty: it has ended
  std::string told_;   ///< the prose since the last restart
  bool begins_anew_ = false, is_unsupported_ = false;
};

}  // namespace indx
