#pragma once
#include "ops/ai/ai_input.hpp"
#include "ops/ai/ai_result.hpp"
#include "ops/context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// The scope as the first step of a call: which notes at which versions. `extra` adds what else has
/// to be the same in every run of a job; it goes into the member `extra`.
struct AiScoped {
  ResolvedScope scope;
  Json extra;
};
Result<AiScoped> scope_step(Context& ctx, const AiScope& scope,
                            const std::function<Result<Json>()>& extra = {});

/// A note at the version that the scope names.
struct AiNote {
  NoteFile file;
  std::shared_ptr<const ParsedNote> note;
};
/// `etag_mismatch` when it is at another version by now.
Result<AiNote> read_scoped(Context& lane, const ScopedNote& scoped);
/// Row D40: whether the note is at another version since `read_scoped`, so that nothing may be
/// cited from it.
bool has_drifted(Context& lane, const ScopedNote& scoped);
Json drift_warning(const std::string& path);

/// One logical model call: its cost goes to `cost`, also when the answer is useless; an answer that
/// was cut adds the warning `truncated`.
Result<GenerateReply> ask_model(Context& lane, const GenerateRequest& request,
                                const std::string& item, AiCost& cost, std::vector<Json>& warnings);
/// Whether the model answered, but not in the asked form.
bool is_unusable_answer(const Error& error);

/// `fn` over all notes, in path order, as the checkpointed map `phase`; nullopt where a note
/// failed, which then is a warning. Fails when the map was cancelled, with how far it came, or when
/// every note failed. `request` is what besides a note's version decides about its answer; provider
/// and model are added here.
struct AiMapStep {
  std::string phase;
  Json request;
};
Result<std::vector<std::optional<Json>>> map_notes(
    Context& ctx, const AiMapStep& step, const std::vector<ScopedNote>& notes,
    const std::function<Result<Json>(Context& lane, const ScopedNote& note)>& fn,
    std::vector<Json>& warnings);
/// The same over parts of any kind; each brings its own inputs.
Result<std::vector<std::optional<Json>>> map_parts(Context& ctx, const std::string& phase,
                                                   const std::vector<MapItem>& items,
                                                   const Context::MapFn& fn,
                                                   std::vector<Json>& warnings);
/// What decides about every answer of a call besides the notes.
std::string request_hash(Context& ctx, Json request);

}  // namespace indx
