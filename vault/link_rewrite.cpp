#include "vault/link_rewrite.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/canvas_content.hpp"
#include "vault/canvas_rewrite.hpp"
#include "vault/property_text.hpp"

#include <algorithm>

namespace indx {
namespace {

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string percent_byte(char c) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

bool has_balanced_parentheses(std::string_view text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    deepest = std::max(deepest, depth);
    if (depth < 0) return false;
  }
  return depth == 0 && deepest < 32;
}

std::string file_name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// The name without its extension.
std::string stem_of(std::string_view path) {
  auto name = file_name_of(path);
  const auto dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

bool is_image_size(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789x") == text.npos;
}

/// The display text that follows a new name, if the old one was the old name.
std::optional<std::string> new_display(std::string_view shown, const Link& link,
                                       const NewTarget& target) {
  shown = trim(shown);
  if (link.kind == LinkKind::Embed && is_image_size(shown)) return std::nullopt;
  const auto old_stem = stem_of(target.old_path), stem = stem_of(target.wanted);
  const auto old_name = file_name_of(target.old_path), name = file_name_of(target.wanted);
  if (shown == old_stem && stem != old_stem) return stem;
  if (shown == old_name && name != old_name) return name;
  return std::nullopt;
}

/// The edits of one link whose spans count in `text`.
std::vector<TextEdit> edits_of_link(std::string_view text, const Link& link,
                                    const NewTarget& target, bool is_careful) {
  const bool is_markdown = link.syntax == LinkSyntax::Markdown;
  const bool is_angle = is_markdown && link.target_begin > 0 && text[link.target_begin - 1] == '<';
  const TextEdit path{
      link.target_begin, link.target_end,
      is_markdown ? encode_destination(target.target, is_angle, is_careful) : target.target};
  std::vector<TextEdit> edits = {path};
  if (link.display_end > link.display_begin) {
    const auto shown = text.substr(link.display_begin, link.display_end - link.display_begin);
    if (auto display = new_display(shown, link, target)) {
      const auto plain = trim(shown);
      const auto begin = link.display_begin + static_cast<std::size_t>(plain.data() - shown.data());
      edits.push_back({begin, begin + plain.size(), std::move(*display)});
    }
  }
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  return edits;
}

/// A display text that holds a link of its own (an image in a link) is edited there, not here.
void drop_nested(std::vector<TextEdit>& edits) {
  std::sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::vector<TextEdit> kept;
  for (auto& edit : edits) {
    if (!kept.empty() && edit.begin < kept.back().end) continue;
    kept.push_back(std::move(edit));
  }
  edits = std::move(kept);
}

/// Rewrites the links of one note; `careful` as in encode_destination.
class NoteRewrite {
 public:
  NoteRewrite(std::string_view bytes, const std::string& source, const MoveWorld& world,
              const ParseOptions& options)
      : bytes_(bytes), source_(source), world_(world), options_(options) {}

  Result<LinkRewrite> run() {
    const ParsedNote note = parse_note(bytes_, options_);
    targets_.clear();
    std::optional<Error> problem;
    bool has_hidden = false;
    for (const auto& link : note.links) {
      auto target = new_target(link, source_, world_);
      if (!target.has_value() && target.error().reason == Reason::Forbidden)
        has_hidden = true;
      else if (!target.has_value())
        problem = target.error();
      targets_.push_back(target.has_value() ? std::move(target).value() : std::nullopt);
    }
    const auto changed = std::count_if(targets_.begin(), targets_.end(),
                                       [](const auto& target) { return target.has_value(); });
    if (changed == 0) return LinkRewrite{{}, 0, problem, has_hidden};
    if (!is_valid_utf8(bytes_))
      return make_error(Reason::NotUtf8,
                        "The note is not valid UTF-8; its links stay as they are.");
    for (const bool is_careful : {false, true}) {
      LinkRewrite rewrite{INDX_TRY(edits(note, is_careful)), static_cast<int>(changed), problem,
                          has_hidden};
      if (holds(note, rewrite)) return rewrite;
    }
    return make_error(Reason::ParseFailed,
                      "A rewritten link would be read as something else; edit it by hand.");
  }

 private:
  Result<std::vector<TextEdit>> edits(const ParsedNote& note, bool is_careful) const {
    auto all = INDX_TRY(rewrite_property_texts(
        bytes_, [&](std::string_view text) { return property_edits(text, is_careful); }));
    for (std::size_t i = 0; i < note.links.size(); ++i) {
      const auto& link = note.links[i];
      if (!targets_[i] || link.kind == LinkKind::Property) continue;
      for (auto& edit : edits_of_link(bytes_, link, *targets_[i], is_careful))
        all.push_back(std::move(edit));
    }
    drop_nested(all);
    return all;
  }

  std::vector<TextEdit> property_edits(std::string_view text, bool is_careful) const {
    std::vector<TextEdit> all;
    if (text.find("[[") == text.npos && text.find("](") == text.npos) return all;
    for (const auto& link : links_in_text(text)) {
      const auto target = new_target(link, source_, world_);
      if (!target.has_value() || !*target) continue;
      for (auto& edit : edits_of_link(text, link, **target, is_careful))
        all.push_back(std::move(edit));
    }
    drop_nested(all);
    return all;
  }

  /// Whether the note holds the same links after the edits, each on its file.
  bool holds(const ParsedNote& note, const LinkRewrite& rewrite) const {
    if (!are_applicable(rewrite.edits, bytes_.size())) return false;
    const ParsedNote now = parse_note(apply_edits(bytes_, rewrite.edits), options_);
    if (now.links.size() != note.links.size()) return false;
    for (std::size_t i = 0; i < now.links.size(); ++i) {
      const auto& link = now.links[i];
      if (link.subpath != note.links[i].subpath || link.kind != note.links[i].kind) return false;
      if (link.target != (targets_[i] ? targets_[i]->target : note.links[i].target)) return false;
    }
    return true;
  }

  std::string_view bytes_;
  const std::string& source_;
  const MoveWorld& world_;
  const ParseOptions& options_;
  std::vector<std::optional<NewTarget>> targets_;  ///< of each link of the note
};

}  // namespace

std::string encode_destination(std::string_view path, bool in_angle_brackets, bool is_careful) {
  const bool is_balanced = has_balanced_parentheses(path);
  const auto slash = std::min(path.find('/'), path.size());
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool is_escape =
        c == '%' && i + 2 < path.size() && is_hex_digit(path[i + 1]) && is_hex_digit(path[i + 2]);
    bool encode = byte < 0x20 || byte == 0x7F || c == '<' || c == '>' || c == '#' || c == '\\' ||
                  is_escape || (c == ':' && i < slash);
    if (!in_angle_brackets) encode = encode || c == ' ' || (!is_balanced && (c == '(' || c == ')'));
    if (is_careful)
      encode = encode || c == '`' || c == '$' || c == '[' || c == ']' || c == '(' || c == ')';
    out += encode ? percent_byte(c) : std::string(1, c);
  }
  return out;
}

Result<LinkRewrite> rewrite_links(std::string_view bytes, const std::string& source,
                                  const MoveWorld& world, const ParseOptions& options) {
  if (is_canvas_path(source)) return rewrite_canvas_links(bytes, source, world, options);
  return rewrite_text_links(bytes, source, world, options);
}

Result<LinkRewrite> rewrite_text_links(std::string_view bytes, const std::string& source,
                                       const MoveWorld& world, const ParseOptions& options) {
  return NoteRewrite(bytes, source, world, options).run();
}

}  // namespace indx
