#include "ops/ai/ai_grounding.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxAboutBytes = 100;
constexpr std::size_t kMinSnippetPoints = 8;  ///< a word or two stands everywhere, proves nothing

Json dropped(const char* code, const AiClaim& claim, const std::string& about,
             const std::string& reason) {
  Json warning = ai_warning(code, claim.path, reason);
  if (!about.empty())
    warning["key"] = std::string(prefix_at_grapheme(replace_invalid_utf8(about), kMaxAboutBytes));
  return warning;
}

int line_at(std::string_view bytes, std::size_t at) {
  return static_cast<int>(
             std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
         1;
}

bool has_heading(const ParsedNote& note, const std::string& slug) {
  return std::any_of(note.headings.begin(), note.headings.end(),
                     [&](const Heading& heading) { return heading.slug == slug; });
}
bool has_block(const ParsedNote& note, const std::string& anchor) {
  const auto id = anchor.starts_with('^') ? anchor.substr(1) : anchor;
  return std::any_of(note.blocks.begin(), note.blocks.end(),
                     [&](const Block& block) { return block.id == id; });
}

/// The bytes where the claim says that its snippet stands; everything when it says nothing.
std::pair<std::size_t, std::size_t> cited_bytes(const AiClaim& claim, const NoteFile& file) {
  if (claim.span.size() == 2)
    return {std::min(claim.span[0], file.bytes.size()), std::min(claim.span[1], file.bytes.size())};
  if (claim.line <= 0) return {0, file.bytes.size()};
  std::size_t begin = 0;
  for (int line = 1; line < claim.line; ++line) {
    const auto stop = file.bytes.find('\n', begin);
    if (stop == std::string::npos) return {file.bytes.size(), file.bytes.size()};
    begin = stop + 1;
  }
  return {begin, file.bytes.size()};
}

}  // namespace

bool is_grounded(const Evidence& evidence, const NoteFile& file, const ParsedNote& note) {
  if (!is_valid_utf8(evidence.quote)) return false;  // no answer can quote it as it is
  if (evidence.line == 0) return true;               // the title that the file name gives
  if (evidence.begin > evidence.end || evidence.end > file.bytes.size()) return false;
  if (file.bytes.compare(evidence.begin, evidence.end - evidence.begin, evidence.quote) != 0)
    return false;
  if (line_at(file.bytes, evidence.begin) != evidence.line) return false;
  return evidence.anchor.empty() || has_heading(note, evidence.anchor);
}

AiClaim claim_from_json(const Json& json) {
  AiClaim claim;
  if (!json.is_object()) return claim;
  const auto text = [&](const char* name) {
    const auto it = json.find(name);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  claim.path = text("path");
  claim.snippet = text("snippet");
  claim.etag = text("etag");
  claim.anchor = text("anchor");
  if (claim.anchor.starts_with('#')) claim.anchor.erase(0, 1);
  if (const auto line = json.value("line", Json()); line.is_number_integer())
    claim.line = static_cast<int>(std::clamp<std::int64_t>(line.get<std::int64_t>(), -1, 1 << 30));
  if (const auto span = json.value("span", Json()); span.is_array() && span.size() == 2)
    for (const auto& end : span)
      if (end.is_number_unsigned()) claim.span.push_back(end.get<std::size_t>());
  return claim;
}

void AiSources::add(AiNote note) {
  const auto path = note.file.path.str();
  texts_.erase(path);
  notes_.insert_or_assign(path, std::move(note));
}

const NoteText& AiSources::text_of(const AiNote& source) const {
  return texts_.try_emplace(source.file.path.str(), source.file.bytes).first->second;
}

const AiNote* AiSources::find(const std::string& path) const {
  const auto it = notes_.find(path);
  return it == notes_.end() ? nullptr : &it->second;
}

AiSources::Verdict AiSources::verify(const AiClaim& claim, const std::string& about) const {
  const auto refuse = [&](const char* code, const char* reason) {
    return Verdict{std::nullopt, dropped(code, claim, about, reason)};
  };
  const auto* source = find(claim.path);
  if (source == nullptr)
    return refuse("citation_invalid", "It is none of the notes that were read.");
  if (!claim.etag.empty() && claim.etag != source->file.etag)
    return refuse("citation_drift", "It names another version than was read.");
  if (count_code_points(trim(claim.snippet)) < kMinSnippetPoints)
    return refuse("citation_invalid", "The snippet is too short.");
  if (claim.line < 0) return refuse("citation_invalid", "The note has no such line.");
  if (!claim.anchor.empty() && !has_heading(*source->note, claim.anchor) &&
      !has_block(*source->note, claim.anchor))
    return refuse("citation_invalid", "The note has no such heading or block.");

  const auto [begin, end] = cited_bytes(claim, source->file);
  if (begin >= end) return refuse("citation_invalid", "The note has no such place.");
  const auto found = text_of(*source).find_quote(claim.snippet, begin, end);
  if (!found) return refuse("citation_invalid", "The snippet does not stand there.");
  if (claim.line > 0 && found->line != claim.line)
    return refuse("citation_invalid", "The snippet does not stand in that line.");
  if (!claim.anchor.empty() && has_heading(*source->note, claim.anchor) &&
      found->anchor != claim.anchor)
    return refuse("citation_invalid", "The snippet does not stand below that heading.");
  if (!is_grounded(*found, source->file, *source->note))
    return refuse("citation_invalid", "The snippet does not stand there.");
  return Verdict{to_citation(*found, claim.path, source->file.etag), Json()};
}

void drop_drifted(Context& ctx, std::vector<AiCitation>& citations, std::vector<Json>& warnings) {
  std::set<std::pair<std::string, std::string>> cited, changed;
  for (const auto& citation : citations) cited.emplace(citation.path, citation.etag);
  for (const auto& [path, etag] : cited)
    if (has_drifted(ctx, {path, etag})) {
      warnings.push_back(drift_warning(path));
      changed.emplace(path, etag);
    }
  std::erase_if(citations, [&](const AiCitation& citation) {
    return changed.contains({citation.path, citation.etag});
  });
}

Status check_grounding(std::size_t citations, const std::vector<Json>& warnings,
                       std::string_view subject) {
  if (citations > 0) return {};
  static const std::set<std::string> kDropCodes = {"citation_drift", "citation_invalid",
                                                   "ungrounded_dropped"};
  Json dropped_rows = Json::array();
  for (const auto& entry : warnings)
    if (entry.is_object() && kDropCodes.contains(entry.value("code", "")))
      dropped_rows.push_back(entry);
  if (dropped_rows.empty()) return {};
  return make_error(Reason::AiGroundingFailed,
                    cat(subject,
                        " could be tied to text of the notes; nothing was written. Try again, or "
                        "with `cite: false`."),
                    Json{{"dropped", dropped_rows}});
}

}  // namespace indx
