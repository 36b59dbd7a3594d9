#include "ops/ai/ai_notes.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <atomic>

namespace indx {

std::vector<Failure> ai_failures(std::vector<Failure> own) {
  std::vector<Failure> all = {
      {Reason::AiUnavailable, "No provider is configured."},
      {Reason::AiProviderError, "The provider failed for every note."},
      {Reason::AiQuotaExceeded, "The provider's or our own limit is used up."},
      {Reason::AiInputTooLarge, "The note does not fit the model."},
      {Reason::AiGroundingFailed, "No evidence holds; details.dropped lists it."},
      {Reason::NotFound, "A note named alone does not exist."},
      {Reason::Forbidden, "A named path is outside your globs."}};
  all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return all;
}

Result<AiScoped> scope_step(Context& ctx, const AiScope& scope,
                            const std::function<Result<Json>()>& extra) {
  const Json inputs{{"scope", *Codec<AiScope>::encode(scope)}};
  const Json stored = INDX_TRY(ctx.step("scope", inputs, [&]() -> Result<Json> {
    Json json = to_json(INDX_TRY(resolve_scope(ctx, scope)));
    json["extra"] = extra ? INDX_TRY(extra()) : Json();
    return json;
  }));
  return AiScoped{resolved_scope_from_json(stored), stored["extra"]};
}

Result<AiNote> read_scoped(Context& lane, const ScopedNote& scoped) {
  const NotePath path = INDX_TRY(NotePath::parse(scoped.path));
  NoteFile file = INDX_TRY(lane.notes().read(path));
  if (file.etag != scoped.etag)
    return make_error(Reason::EtagMismatch,
                      cat("`", scoped.path, "` changed while it was worked on."),
                      Json{{"path", scoped.path}});
  auto note = lane.notes().parse(file);
  return AiNote{std::move(file), std::move(note)};
}

bool has_drifted(Context& lane, const ScopedNote& scoped) {
  const auto path = NotePath::parse(scoped.path);
  const auto now = path ? lane.notes().read(*path) : Result<NoteFile>(path.error());
  return !now || now->etag != scoped.etag;
}

Json drift_warning(const std::string& path) {
  return ai_warning("citation_drift", path, "the note changed during the call");
}

Result<GenerateReply> ask_model(Context& lane, const GenerateRequest& request,
                                const std::string& item, AiCost& cost,
                                std::vector<Json>& warnings) {
  auto reply = lane.models().generate(request, item);
  if (!reply) {
    const auto billed = billed_usage(reply.error());
    if (billed && is_unusable_answer(reply.error())) cost.add(*billed);
    return reply;
  }
  if (reply->is_kept)
    ++cost.cache_hits;
  else
    cost.add(reply->usage);
  if (reply->finish_reason == FinishReason::Length)
    warnings.push_back(ai_warning("truncated", item, "the model reached its output limit"));
  return reply;
}

bool is_unusable_answer(const Error& error) {
  if (error.reason == Reason::AiSchemaInvalid) return true;
  const auto cause = error.details.is_object() ? error.details.value("cause", "") : "";
  return error.reason == Reason::AiProviderError && (cause == "schema" || cause == "parse");
}

std::string request_hash(Context& ctx, Json request) {
  request["provider"] = ctx.models().provider();
  request["model"] = ctx.models().model();
  return canonical_hash(request);
}

Result<std::vector<std::optional<Json>>> map_notes(
    Context& ctx, const AiMapStep& step, const std::vector<ScopedNote>& notes,
    const std::function<Result<Json>(Context& lane, const ScopedNote& note)>& fn,
    std::vector<Json>& warnings) {
  const std::string shared = request_hash(ctx, step.request);
  std::vector<MapItem> items;
  for (const auto& note : notes)
    items.push_back(
        {note.path, Json{{"path", note.path}, {"etag", note.etag}, {"request", shared}}});
  return map_parts(
      ctx, step.phase, items,
      [&](Context& lane, const MapItem& item) {
        return fn(lane, {item.id, item.inputs["etag"].get<std::string>()});
      },
      warnings);
}

Result<std::vector<std::optional<Json>>> map_parts(Context& ctx, const std::string& phase,
                                                   const std::vector<MapItem>& items,
                                                   const Context::MapFn& fn,
                                                   std::vector<Json>& warnings) {
  JobProgress progress;
  progress.phase = phase;
  progress.total = static_cast<std::int64_t>(items.size());
  ctx.progress(progress);
  std::atomic<std::int64_t> done = 0;  // the one thing that lanes share: a count for people
  const bool calls_model = ctx.models().can_generate();
  auto results = ctx.map(phase, items, [&](Context& lane, const MapItem& item) {
    auto result = fn(lane, item);
    JobProgress step = progress;
    step.done = ++done;
    step.current = item.id;
    step.model_calls = calls_model ? step.done : 0;
    lane.progress(step);
    return result;
  });
  if (!results) {
    Error error = results.error();
    if (error.reason == Reason::Cancelled)
      error.details["partial"] =
          Json{{"done", done.load()}, {"total", items.size()}, {"applied", Json::array()}};
    return error;
  }
  std::vector<std::optional<Json>> parts;
  std::optional<Error> first_error;
  bool has_any = false;
  for (std::size_t i = 0; i < results->size(); ++i) {
    auto& result = (*results)[i];
    if (result) {
      parts.emplace_back(std::move(*result));
      has_any = true;
      continue;
    }
    if (!first_error) first_error = result.error();
    warnings.push_back(ai_warning(result.error().name(), items[i].id, result.error().message));
    parts.emplace_back();
  }
  if (!has_any && first_error) return *first_error;
  return parts;
}

}  // namespace indx
