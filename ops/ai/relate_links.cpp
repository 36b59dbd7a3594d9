#include "ops/ai/relate_links.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/wikilink_target.hpp"
#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "vault/section.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr const char* kNewSection = "## Related";

Json no_link(const std::string& path, const std::string& reason) {
  return ai_warning("link_not_possible", path, reason);
}

Result<bool> reaches(Context& lane, const std::string& source, const Link& link,
                     const std::string& target) {
  const LinkAnswer answer = INDX_TRY(lane.links().resolve({source, link}));
  return answer.path == target;
}

/// A wikilink, or a Markdown link where none can spell the path. Empty: no link reaches the note
/// from the source.
Result<std::string> link_text(Context& lane, const std::string& source, const std::string& target) {
  const auto path = INDX_TRY(NotePath::parse(target));
  if (const auto text = INDX_TRY(wikilink_target(lane, source, path)); !text.empty())
    return cat("[[", text, "]]");
  const auto title = replace_all(replace_all(std::string(path.stem()), "[", "("), "]", ")");
  Link link;
  link.syntax = LinkSyntax::Markdown;
  for (const auto& text : {target, "/" + target}) {
    link.target = text;
    if (INDX_TRY(reaches(lane, source, link, target)))
      return cat("[", title, "](", percent_encode(text, true), ")");
  }
  return std::string();
}

/// The heading under which people keep such links, as an index.
std::optional<std::size_t> related_heading(const ParsedNote& note) {
  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    const auto text = fold_case(trim(note.headings[i].text));
    if (!note.headings[i].nested &&
        (text == "related" || text == "see also" || text == "related notes"))
      return i;
  }
  return std::nullopt;
}

/// The step and the same as JSON.
std::pair<PatchOp, Json> step_of(const ParsedNote& note, const std::string& items) {
  PatchOp op;
  const auto index = related_heading(note);
  if (!index) {
    op.kind = PatchKind::AppendBody;
    op.markdown = cat(kNewSection, "\n\n", items);
    return {op, Json{{"op", "append_body"}, {"markdown", op.markdown}}};
  }
  op.kind = PatchKind::AppendToSection;
  op.heading = heading_addresses(note)[*index];
  op.keep_subsections = true;
  op.markdown = items;
  Json json{{"op", "append_to_section"},
            {"heading_path", op.heading.heading_path},
            {"markdown", items},
            {"keep_subsections", true}};
  if (op.heading.occurrence > 0) json["occurrence"] = op.heading.occurrence;
  return {op, json};
}

std::size_t count_body_links(const ParsedNote& note) {
  return static_cast<std::size_t>(std::count_if(
      note.links.begin(), note.links.end(),
      [](const Link& link) { return link.kind == LinkKind::Link && !link.external; }));
}

/// Whether the links are links in the note after the step.
bool adds_links(Context& lane, const AiNote& source, const PatchOp& op, std::size_t count) {
  NoteChange change = change_of(NoteChange::Kind::Patch, source.file.path);
  change.ops = {op};
  const auto after = apply_change(change, source.file.bytes);
  if (!after || !*after) return false;
  const auto parsed = parse_note(**after, {lane.config().legacy_properties});
  return count_body_links(parsed) == count_body_links(*source.note) + count;
}

}  // namespace

Result<std::vector<ReachedLink>> reached_links(Context& lane, const AiNote& source) {
  std::vector<ReachedLink> reached;
  const auto known = lane.links().forward(source.file.path);
  if (!known && known.error().reason != Reason::NotFound) return known.error();
  if (known && known->etag == source.file.etag) {
    for (const auto& one : known->links)
      if (one.path) reached.push_back({one.link, *one.path});
    return reached;
  }
  for (const auto& link : source.note->links) {
    if (link.external) continue;
    const LinkAnswer answer = INDX_TRY(lane.links().resolve({source.file.path.str(), link}));
    if (answer.path) reached.push_back({link, *answer.path});
  }
  return reached;
}

Result<std::optional<LinkProposal>> propose_links(Context& lane, const AiNote& source,
                                                  const std::vector<std::string>& targets,
                                                  std::vector<Json>& warnings) {
  const std::optional<LinkProposal> nothing;
  LinkProposal proposal;
  std::string items;
  for (const auto& target : targets) {
    const auto text = INDX_TRY(link_text(lane, source.file.path.str(), target));
    if (text.empty()) {
      warnings.push_back(no_link(target, "no link from the note can spell its path"));
      continue;
    }
    items += cat("- ", text, "\n");
    proposal.linked.push_back(target);
  }
  if (proposal.linked.empty()) return nothing;
  auto [op, json] = step_of(*source.note, items);
  if (!adds_links(lane, source, op, proposal.linked.size())) {
    warnings.push_back(
        no_link(source.file.path.str(), "what is added at its end would be no links"));
    return nothing;
  }
  proposal.ops.push_back(JsonObject{std::move(json)});
  return std::optional(std::move(proposal));
}

}  // namespace indx
