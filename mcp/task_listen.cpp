#include "mcp/task_listen.hpp"

#include "mcp/operation_call.hpp"
#include "mcp/task_view.hpp"

#include <set>
#include <string>
#include <utility>

namespace indx {
namespace {

constexpr const char* kTaskIds = "taskIds";
constexpr std::size_t kMaxTasksHeard = 100;  // of one stream

/// What one stream has heard of one task. The wish is honoured once the task has been seen.
class TaskTold {
 public:
  TaskTold(std::weak_ptr<ListenStream> stream, Registry registry,
           std::shared_ptr<Honoured> honoured)
      : stream_(std::move(stream)),
        registry_(std::move(registry)),
        honoured_(std::move(honoured)) {}

  bool is_wanted() const {
    const auto stream = stream_.lock();
    return stream && !stream->call().is_ended();
  }
  bool show(const Result<Json>& record) {
    const auto honoured = std::exchange(honoured_, nullptr);
    const auto stream = stream_.lock();
    if (!stream || !record || !operation_of_task(registry_, *record)) return false;
    if (honoured) honoured->add(kTaskIds, record->at("id"));
    const Protocol& protocol = *stream->peer().protocol;
    const Json view = task_view(*record, protocol.era);
    if (view["status"] == told_["status"] &&
        view.value("statusMessage", "") == told_.value("statusMessage", ""))
      return true;
    told_ = view;
    stream->tell("notifications/tasks", task_with_result(*record, registry_, protocol));
    return true;
  }

 private:
  const std::weak_ptr<ListenStream> stream_;
  const Registry registry_;
  std::shared_ptr<Honoured> honoured_;  // shared with the other tasks; null: seen
  Json told_ = {{"status", ""}};
};

}  // namespace

ListenPart task_listen_part(Dispatcher& dispatcher, std::shared_ptr<JobFollower> follower) {
  return [&dispatcher, follower = std::move(follower)](const std::shared_ptr<ListenStream>& stream,
                                                       const Json& wishes,
                                                       const std::shared_ptr<Honoured>& honoured) {
    const McpPeer& peer = stream->peer();
    const Json* ids = member(wishes, kTaskIds);
    const Operation* reads = dispatcher.registry().find("job_get");
    if (!ids || !ids->is_array() || !declares_tasks(peer) || !reads ||
        !may_call(peer.principal, *reads))
      return;
    honoured->set(kTaskIds, Json::array());
    std::set<std::string> wanted;
    for (const Json& id : *ids)
      if (id.is_string() && wanted.size() < kMaxTasksHeard) wanted.insert(id.get<std::string>());
    for (const std::string& id : wanted) {
      const auto told = std::make_shared<TaskTold>(stream, dispatcher.registry(), honoured);
      follower->follow(
          peer.principal, id,
          {.on_record = [told](const Result<Json>& record) { return told->show(record); },
           .is_wanted = [told] { return told->is_wanted(); }});
    }
  };
}

}  // namespace indx
