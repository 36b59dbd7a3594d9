#pragma once
#include "ai/evidence.hpp"
#include "ai/note_text.hpp"
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/ai_result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Whether claims stand in the notes that they name: the one place that decides what may be cited
/// (rows D38 to D41). Pure but for `drop_drifted`.

/// Line, span, anchor and quote must be what the note holds.
bool is_grounded(const Evidence& evidence, const NoteFile& file, const ParsedNote& note);

/// A citation as a model or a client gives it; only path and snippet are needed.
struct AiClaim {
  std::string path, snippet;
  std::string etag, anchor;  ///< empty: not said
  int line = 0;              ///< 0: not said
  std::vector<std::size_t> span;
};
AiClaim claim_from_json(const Json& json);

/// The notes that a call has read, by path. One thread.
class AiSources {
 public:
  AiSources() = default;
  AiSources(AiSources&&) = default;
  AiSources(const AiSources&) = delete;  // its texts are views of its notes
  AiSources& operator=(const AiSources&) = delete;

  void add(AiNote note);
  bool empty() const { return notes_.empty(); }
  const AiNote* find(const std::string& path) const;

  /// The citation that the claim stands for, or the warning why there is none: `citation_drift` for
  /// another version, `citation_invalid` for a note that was not read, a snippet of less than eight
  /// characters or that the note does not hold, or a line, anchor or span at which it does not
  /// stand. `about` names the claim's owner in the warning: the text of a key point, a field.
  struct Verdict {
    std::optional<AiCitation> citation;
    Json warning;
  };
  Verdict verify(const AiClaim& claim, const std::string& about) const;

 private:
  const NoteText& text_of(const AiNote& source) const;

  std::map<std::string, AiNote> notes_;
  mutable std::map<std::string, NoteText> texts_;  ///< made when the first claim names the note
};

/// Takes away the citations of notes that changed since they were read, with one warning a note.
void drop_drifted(Context& ctx, std::vector<AiCitation>& citations, std::vector<Json>& warnings);

/// Row D41: citations were offered and none of them holds. `subject` begins the message: "No
/// suggestion".
Status check_grounding(std::size_t citations, const std::vector<Json>& warnings,
                       std::string_view subject);

}  // namespace indx
