#include "vault/subpath_rewrite.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/canvas_content.hpp"
#include "vault/canvas_rewrite.hpp"
#include "vault/property_text.hpp"

#include <algorithm>
#include <bit>

namespace indx {
namespace {

using AnchorHeading = NoteAnchors::Heading;

/// A heading as a link can hold it: what a link reads as its own marks becomes a space.
std::string linkable(std::string_view heading, bool is_careful) {
  std::string text;
  const auto add_space = [&] {
    if (!text.empty() && text.back() != ' ') text += ' ';
  };
  for (std::size_t i = 0; i < heading.size();) {
    const auto point = decode_at(heading, i);
    const auto piece = heading.substr(i, point.length);
    const bool is_comment = heading.substr(i).starts_with("%%");
    const bool is_mark = piece.size() == 1 && std::string_view(" \t\r\n#^|[]\\").find(piece[0]) !=
                                                  std::string_view::npos;
    // What heading_key drops, no comparison of headings misses.
    if (is_comment || is_mark || (is_careful && heading_key(piece).empty()))
      add_space();
    else
      text += piece;
    i += is_comment ? 2 : point.length;
  }
  return std::string(trim(text));
}

std::vector<AnchorHeading> anchor_headings(const std::vector<Heading>& headings) {
  std::vector<AnchorHeading> anchors;
  for (const auto& heading : headings)
    anchors.push_back({heading.level, heading_key(without_block_id(heading.text)),
                       static_cast<int>(anchors.size())});
  return anchors;
}

/// The subpath with every part that reached a renamed heading called anew; it reached something.
std::string with_new_parts(std::string_view subpath, const AnchorRenames& renames,
                           bool is_careful) {
  auto parts = split(subpath, '#');
  std::string reached;  // the way to the part before
  for (auto& part : parts) {
    if (heading_key(part).empty()) continue;
    reached += cat(reached.empty() ? "" : "#", part);
    const auto index = static_cast<std::size_t>(find_subpath(reached, renames.before).value_or(0));
    if (renames.headings.contains(index)) part = linkable(renames.texts[index], is_careful);
  }
  return join(parts, "#");
}

/// Every way to name a heading: alone, and below some of the headings around it, fewest first.
std::vector<std::string> ways_to(std::size_t index, const AnchorRenames& renames, bool is_careful) {
  const auto& headings = renames.after.headings;
  std::vector<std::size_t> around;  // nearest first
  for (std::size_t i = index, level = static_cast<std::size_t>(headings[index].level); i > 0; --i) {
    const auto above = static_cast<std::size_t>(headings[i - 1].level);
    if (above >= level) continue;
    level = above;
    around.push_back(i - 1);
  }
  std::vector<std::uint32_t> choices(std::size_t{1} << around.size());  // at most five around
  for (std::size_t i = 0; i < choices.size(); ++i) choices[i] = static_cast<std::uint32_t>(i);
  std::stable_sort(choices.begin(), choices.end(), [](std::uint32_t a, std::uint32_t b) {
    return std::popcount(a) < std::popcount(b);
  });
  std::vector<std::string> ways;
  for (const auto choice : choices) {
    std::vector<std::string> parts = {linkable(renames.texts[index], is_careful)};
    for (std::size_t i = 0; i < around.size(); ++i)
      if ((choice >> i & 1U) != 0)
        parts.insert(parts.begin(), linkable(renames.texts[around[i]], is_careful));
    ways.push_back(join(parts, "#"));
  }
  return ways;
}

std::string encode_subpath(const std::string& subpath, bool is_angle, bool is_careful) {
  std::vector<std::string> parts;
  for (const auto& part : split(subpath, '#'))  // a colon there begins no scheme
    parts.push_back(replace_all(encode_destination(part, is_angle, is_careful), "%3A", ":"));
  return join(parts, "#");
}

/// Gives the links of one text their chosen subpaths.
class SubpathRewrite {
 public:
  SubpathRewrite(std::string_view bytes, const SubpathChoice& choose, const ParseOptions& options)
      : bytes_(bytes), choose_(choose), options_(options) {}

  Result<LinkRewrite> run() {
    const ParsedNote note = parse_note(bytes_, options_);
    for (const bool is_careful : {false, true}) {
      LinkRewrite rewrite;
      std::vector<std::string> wanted;
      for (const auto& link : note.links) {
        auto chosen = choose_(link, is_careful);
        if (!chosen.has_value() && !rewrite.problem) rewrite.problem = chosen.error();
        const bool changes = chosen.has_value() && *chosen;
        rewrite.count += changes ? 1 : 0;
        wanted.push_back(changes ? **chosen : link.subpath);
      }
      if (rewrite.count == 0) return rewrite;
      if (!is_valid_utf8(bytes_))
        return make_error(Reason::NotUtf8,
                          "The note is not valid UTF-8; its links stay as they are.");
      rewrite.edits = INDX_TRY(rewrite_property_texts(bytes_, [&](std::string_view text) {
        return edits_in(text, links_in_text(text), is_careful);
      }));
      auto body = edits_in(bytes_, note.links, is_careful);
      std::move(body.begin(), body.end(), std::back_inserter(rewrite.edits));
      if (holds(note, wanted, rewrite)) return rewrite;
    }
    return make_error(Reason::ParseFailed,
                      "A rewritten link would be read as something else; edit it by hand.");
  }

 private:
  std::vector<TextEdit> edits_in(std::string_view text, const std::vector<Link>& links,
                                 bool is_careful) const {
    std::vector<TextEdit> edits;
    for (const auto& link : links) {
      // A property's links are edited in their value.
      if (link.subpath_end <= link.subpath_begin || link.kind == LinkKind::Property) continue;
      const auto chosen = choose_(link, is_careful);
      if (!chosen.has_value() || !*chosen) continue;
      const auto begin = link.target_end > 0 ? link.target_begin : link.subpath_begin - 1;
      const bool is_angle = begin > 0 && text[begin - 1] == '<';
      edits.push_back({link.subpath_begin, link.subpath_end,
                       link.syntax == LinkSyntax::Markdown
                           ? encode_subpath(**chosen, is_angle, is_careful)
                           : **chosen});
    }
    std::sort(edits.begin(), edits.end(),
              [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
    return edits;
  }

  /// Whether the note holds the same links after the edits, each with its subpath.
  bool holds(const ParsedNote& note, const std::vector<std::string>& wanted,
             const LinkRewrite& rewrite) const {
    if (!are_applicable(rewrite.edits, bytes_.size())) return false;
    const ParsedNote now = parse_note(apply_edits(bytes_, rewrite.edits), options_);
    if (now.links.size() != note.links.size()) return false;
    for (std::size_t i = 0; i < now.links.size(); ++i)
      if (now.links[i].target != note.links[i].target || now.links[i].kind != note.links[i].kind ||
          now.links[i].subpath != wanted[i])
        return false;
    return true;
  }

  std::string_view bytes_;
  const SubpathChoice& choose_;
  const ParseOptions& options_;
};

}  // namespace

AnchorRenames compare_anchors(const ParsedNote& before, const ParsedNote& after) {
  AnchorRenames renames;
  if (before.headings.size() == after.headings.size()) {
    renames.before.headings = anchor_headings(before.headings);
    renames.after.headings = anchor_headings(after.headings);
    for (std::size_t i = 0; i < after.headings.size(); ++i) {
      renames.texts.emplace_back(without_block_id(after.headings[i].text));
      if (without_block_id(before.headings[i].text) != renames.texts.back())
        renames.headings.insert(i);
    }
  }
  if (before.blocks.size() == after.blocks.size())
    for (std::size_t i = 0; i < before.blocks.size(); ++i)
      if (before.blocks[i].id != after.blocks[i].id)
        renames.blocks[fold_case(before.blocks[i].id)] = after.blocks[i].id;
  return renames;
}

Json to_json(const AnchorRenames& renames) {
  Json headings = Json::array();
  for (std::size_t i = 0; i < renames.texts.size(); ++i)
    headings.push_back({renames.before.headings[i].level, renames.before.headings[i].key,
                        renames.after.headings[i].level, renames.texts[i],
                        renames.headings.contains(i)});
  return {{"headings", std::move(headings)}, {"blocks", renames.blocks}};
}

Result<AnchorRenames> anchor_renames_from_json(const Json& json) {
  AnchorRenames renames;
  try {
    for (const auto& row : json.at("headings")) {
      const int index = static_cast<int>(renames.texts.size());
      auto text = row.at(3).get<std::string>();
      renames.before.headings.push_back(
          {row.at(0).get<int>(), row.at(1).get<std::string>(), index});
      renames.after.headings.push_back({row.at(2).get<int>(), heading_key(text), index});
      if (row.at(4).get<bool>()) renames.headings.insert(renames.texts.size());
      renames.texts.push_back(std::move(text));
    }
    renames.blocks = json.at("blocks").get<std::map<std::string, std::string>>();
  } catch (const Json::exception& error) {
    return internal_error(cat("Stored renames of headings cannot be read: ", error.what()));
  }
  return renames;
}

Result<std::optional<std::string>> new_subpath(std::string_view subpath,
                                               const AnchorRenames& renames, bool is_careful) {
  const std::optional<std::string> stays;
  if (const auto id = trim(subpath); id.starts_with('^')) {
    const auto found = renames.blocks.find(fold_case(id.substr(1)));
    return found == renames.blocks.end() ? stays : std::optional("^" + found->second);
  }
  if (renames.headings.empty()) return stays;
  const auto reached = find_subpath(subpath, renames.before);
  if (!reached) return stays;
  const auto reaches_it = [&](const std::string& text) {
    return find_subpath(text, renames.after) == reached;
  };
  auto written = with_new_parts(subpath, renames, is_careful);
  if (reaches_it(written)) return written == subpath ? stays : std::optional(std::move(written));
  const auto index = static_cast<std::size_t>(*reached);
  for (auto& way : ways_to(index, renames, is_careful))
    if (reaches_it(way)) return std::optional(std::move(way));
  return make_error(Reason::Conflict,
                    cat("No link can reach the heading `", renames.texts[index],
                        "` any more, since another one answers to its name."),
                    {{"subpath", std::string(subpath)}, {"heading", renames.texts[index]}});
}

Result<LinkRewrite> rewrite_subpaths(std::string_view bytes, const std::string& source,
                                     const SubpathChoice& choose, const ParseOptions& options) {
  if (is_canvas_path(source)) return rewrite_canvas_subpaths(bytes, choose, options);
  return rewrite_text_subpaths(bytes, choose, options);
}

Result<LinkRewrite> rewrite_text_subpaths(std::string_view bytes, const SubpathChoice& choose,
                                          const ParseOptions& options) {
  return SubpathRewrite(bytes, choose, options).run();
}

}  // namespace indx
