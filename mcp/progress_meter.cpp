#include "mcp/progress_meter.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/operation_call.hpp"
#include "ops/ai_stream.hpp"

#include <utility>

namespace indx {
namespace {

constexpr const char *kPartialMeta = "indx/partial", *kCitationsMeta = "indx/citations",
                     *kUsageMeta = "indx/usage";
constexpr std::size_t kMaxShownText = 120;

/// The last line of what has been written, as a person may watch it grow.
std::string text_of_gathered(const Json& meta) {
  if (const Json* partial = member(meta, kPartialMeta)) {
    const std::string delta = partial->value("delta", "");
    const std::string_view line = trim(std::string_view(delta).substr(delta.rfind('\n') + 1));
    return cat("writing: ", prefix_at_grapheme(line, kMaxShownText));
  }
  if (const Json* citations = member(meta, kCitationsMeta))
    return cat(citations->size(), citations->size() == 1 ? " citation" : " citations");
  return "answer complete";
}

}  // namespace

std::string progress_text(const Json& progress) {
  const Json* done = member(progress, "done");
  if (!done || !done->is_number()) return {};
  std::string text = string_member(progress, "phase").value_or("");
  if (!text.empty()) text += ": ";
  text += done->dump();
  if (const Json* total = member(progress, "total")) text += cat(" of ", total->dump());
  text += " " + string_member(progress, "unit").value_or("notes");
  if (const auto current = string_member(progress, "current"); current && !current->empty())
    text += ", " + *current;
  return text;
}

void ProgressMeter::take(const Event& event) {
  const std::scoped_lock lock(mutex_);
  if (!AiStream::tells(event)) return take_progress(event);
  gather(event);
  // Usage is the last thing told.
  if (!is_too_soon() || meta_.contains(kUsageMeta)) send_gathered();
}

void ProgressMeter::flush() {
  const std::scoped_lock lock(mutex_);
  if (!meta_.empty()) send_gathered();
}

void ProgressMeter::take_progress(const Event& event) {
  if (event.kind != "job.progress" && event.kind != "job.started") return;
  // A start counts as no work done: some operations say nothing until they end.
  static const Json start = {{"done", 0}, {"phase", "started"}};
  const Json* nested = member(event.data, "progress");
  const Json& progress = event.kind == "job.started"     ? start
                         : nested && nested->is_object() ? *nested
                                                         : event.data;
  const Json* done = member(progress, "done");
  if (!done || !done->is_number()) return;
  const auto value = done->get<std::int64_t>();

  if (value < last_done_) base_ = last_sent_;  // a new phase counts from the start again
  last_done_ = value;
  if (base_ + value <= last_sent_ || is_too_soon()) return;
  last_sent_ = base_ + value;
  last_time_ = clock_.monotonic();
  Json made = notification(last_sent_, progress_text(progress));
  const Json* total = member(progress, "total");
  if (total && total->is_number_integer() && base_ + total->get<std::int64_t>() >= last_sent_)
    made["params"]["total"] = base_ + total->get<std::int64_t>();
  send_(made);
}

void ProgressMeter::gather(const Event& event) {
  if (const Json* delta = member(event.data, "delta"); delta && delta->is_string()) {
    const bool restarts = event.data.value("restart", false);
    Json& partial = meta_[kPartialMeta];
    if (partial.is_null()) partial = {{"delta", ""}};
    if (restarts) partial = {{"delta", ""}, {"restart", true}};
    partial["delta"].get_ref<std::string&>() += delta->get_ref<const std::string&>();
  }
  if (const Json* citation = member(event.data, "citation"))
    meta_[kCitationsMeta].push_back(*citation);
  if (const Json* usage = member(event.data, "usage")) meta_[kUsageMeta] = *usage;
}

/// One step each, for nobody knows how long an answer gets; steps of a job go on behind it.
void ProgressMeter::send_gathered() {
  if (last_sent_ >= 0) ++base_;
  ++last_sent_;
  last_time_ = clock_.monotonic();
  Json made = notification(last_sent_, text_of_gathered(meta_));
  made["params"]["_meta"] = std::exchange(meta_, Json::object());
  send_(made);
}

Json ProgressMeter::notification(std::int64_t progress, const std::string& message) const {
  Json params = {{"progressToken", token_}, {"progress", progress}};
  if (protocol_.has_progress_message && !message.empty()) params["message"] = message;
  return rpc_notification("notifications/progress", std::move(params));
}

bool ProgressMeter::is_too_soon() const {
  return last_sent_ >= 0 && clock_.monotonic() - last_time_ < gap_;
}

}  // namespace indx
