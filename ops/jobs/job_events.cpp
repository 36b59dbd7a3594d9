#include "base/text.hpp"
#include "ops/jobs/job_view.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {

namespace job_events_op {

struct EventView {
  std::string id, kind, at, actor, subject;
  JsonObject data;

  static Fields<EventView> fields() {
    return {field("id", &EventView::id, "To go on from, as `Last-Event-ID` of a stream."),
            field("kind", &EventView::kind, "`job.started`, `job.retrying`, `note.updated` …"),
            field("at", &EventView::at, "ISO 8601."),
            field("actor", &EventView::actor, "Where it came from: api, cli, mcp, ui, system."),
            field("subject", &EventView::subject, "Whose it is: a token id or `local`."),
            field("data", &EventView::data, "What the kind tells.")};
  }
};

struct Input {
  std::string id;
  int limit = 100;
  std::string cursor;
};
struct Output {
  std::vector<EventView> events;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  auto page = INDX_TRY(ctx.jobs().events(JobId{in.id}, in.limit, in.cursor));
  const std::string epoch = ctx.jobs().event_epoch();
  Output out;
  for (Event& event : page.rows)
    out.events.push_back({cat(epoch, "-", event.id), event.kind, format_time(event.at), event.actor,
                          event.subject, JsonObject{std::move(event.data)}});
  out.next_cursor = std::move(page.next_cursor);
  return out;
}

}  // namespace job_events_op

Operation job_events() {
  using namespace job_events_op;
  return define<Input, Output>({
      .name = "job_events",
      .summary = "List what happened to a job, oldest first.",
      .guidance = "Starts, retries, pauses, who asked for them, and each note that it wrote. "
                  "Progress is in job_get.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/jobs/{id}/history"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .input = {job_id_field(&Input::id), limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("events", &Output::events, "Durable events; kept for 30 days."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "You have no job with that id."},
                   {Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
