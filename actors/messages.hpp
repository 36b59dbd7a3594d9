#pragma once
#include "ai/provider.hpp"
#include "base/cancel.hpp"
#include "base/event.hpp"
#include "base/result.hpp"
#include "jobs/job.hpp"
#include "ops/dispatch.hpp"
#include "vault/note_edit.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace indx {

class NoteIndexWriter;
class State;

/// The values that actors send each other. All stay in this process.

/// One change of state.db: runs inside the batch's transaction, in a savepoint of its own.
struct StateChange {
  std::function<Result<Json>(State&)> apply;
};

/// An answer; domain errors travel inside, CAF errors mean that the actor itself is gone or late.
struct Reply {
  Result<Json> result = Json();
};

/// What those who wait hear when the actor that owes them an answer ends.
inline Reply actor_is_gone() {
  return {make_error(Reason::Unavailable, "A part of the engine started anew; try again.",
                     {{"retry_after_s", 1}})};
}

/// What events about a file are called before their dot.
inline std::string_view event_family(std::string_view path) {
  if (path.ends_with(".canvas")) return "canvas";
  const auto parsed = NotePath::parse(path);
  return !parsed || parsed->is_note() ? "note" : "attachment";
}

/// A lease on a job for one runner, or nothing because the engine stops. The token is among
/// RunningJobs already, so that no cancel is missed.
struct Claimed {
  std::shared_ptr<const Job> job;  // shared: with those who tell of its try
  CancelToken cancel;
};

/// On whose behalf and in which step a note changes.
struct WriteRequest {
  NoteChange change;
  std::string actor, subject, request_id;
  std::optional<Lease> lease;  ///< set inside a job
  std::string step_key, step_inputs_hash;
  std::optional<IdempotencyKey> idempotency;
};

/// The same as a message: messages need a default constructor, a NotePath has none.
struct WriteOrder {
  std::optional<WriteRequest> request;
};

/// A file as the watcher or a writer saw it; empty etag: it is gone.
struct SeenFile {
  std::string path, etag;
};

struct IndexRequest {
  std::vector<SeenFile> files;
  bool is_external = false;  ///< told as `fs` events when the index did not know it
  bool then_scan = false;    ///< a folder went: compare everything, after these files were told
};

struct ScanRequest {
  enum class Act : std::uint8_t {
    Compare,  ///< brings the index up to date; answers with counts
    Find,     ///< answers with what Compare had to do for `paths`
    Clear,    ///< takes everything out of the index
    MakeAnew  ///< the same with a new index.db
  };
  Act act = Act::Compare;
  bool rebuild = false;            ///< parse unchanged files too
  std::vector<std::string> paths;  ///< Compare: files, empty for all; Find: files, folders, globs
  bool is_external = false;        ///< what changed is told as `fs` events
};

/// One change of the rows of vectors, between two slices of a scan.
struct VectorChange {
  std::function<Result<Json>(NoteIndexWriter&)> apply;
};

struct EtagCheck {
  std::vector<std::pair<NotePath, std::string>> expected;
};

struct EventBatch {
  std::vector<Event> events;
};

struct SubscribeRequest {
  std::int64_t number = 0;  ///< of the subscription
  EventFilter filter;
  std::optional<std::string> last_event_id;
  std::function<bool(const Event&)> sink;
};

struct ModelCall {
  GenerateRequest request;
  CancelToken cancel;
  OnDelta on_delta = {};  ///< set: the call is streamed; called on the actor's thread
};

struct ModelReply {
  Result<GenerateReply> result = GenerateReply{};
};

}  // namespace indx
