#include "mcp/progress_meter.hpp"

#include "base/text.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/operation_call.hpp"

namespace indx {
namespace {

std::string text_of(const Json& progress, std::int64_t done, const Json* total) {
  std::string text = string_member(progress, "phase").value_or("");
  if (!text.empty()) text += ": ";
  text += cat(done);
  if (total) text += cat(" of ", total->dump());
  text += " " + string_member(progress, "unit").value_or("notes");
  if (const auto current = string_member(progress, "current"); current && !current->empty())
    text += ", " + *current;
  return text;
}

}  // namespace

std::optional<Json> ProgressMeter::notification_for(const Event& event) {
  // A start counts as no work done: some operations say nothing until they end.
  static const Json start = {{"done", 0}, {"phase", "started"}};
  const Json* nested = member(event.data, "progress");
  const Json& progress = event.kind == "job.started"     ? start
                         : nested && nested->is_object() ? *nested
                                                         : event.data;
  const Json* done = member(progress, "done");
  if (!done || !done->is_number()) return std::nullopt;
  const auto value = done->get<std::int64_t>();
  const auto now = clock_.monotonic();

  const std::scoped_lock lock(mutex_);
  if (value < last_done_) base_ = last_sent_;  // a new phase counts from the start again
  last_done_ = value;
  if (base_ + value <= last_sent_ || (last_sent_ >= 0 && now - last_time_ < gap_))
    return std::nullopt;
  last_sent_ = base_ + value;
  last_time_ = now;
  Json params = {{"progressToken", token_}, {"progress", last_sent_}};
  const Json* total = member(progress, "total");
  if (total && total->is_number_integer() && base_ + total->get<std::int64_t>() >= last_sent_)
    params["total"] = base_ + total->get<std::int64_t>();
  params["message"] = text_of(progress, value, total);
  return rpc_notification("notifications/progress", std::move(params));
}

}  // namespace indx
