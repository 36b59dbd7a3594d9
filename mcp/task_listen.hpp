#pragma once
#include "mcp/job_follower.hpp"
#include "mcp/listen_stream.hpp"

#include <memory>

namespace indx {

/// `taskIds` of subscriptions/listen (modern): the stream hears `notifications/tasks`, which says
/// what tasks/get would say, now and whenever the status of one of these tasks changes. Only of the
/// caller's own tasks, and only where the client declares the extension.
ListenPart task_listen_part(Dispatcher& dispatcher, std::shared_ptr<JobFollower> follower);

}  // namespace indx
