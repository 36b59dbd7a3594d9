#include "vault/following_text.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/block_scanner.hpp"
#include "vault/frontmatter.hpp"
#include "vault/join.hpp"
#include "vault/line_ends.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace indx {
namespace {

/// The lines behind a place that hold text, headings and list items outside of comments, each by
/// how far it is from there.
class FollowingSink : public BlockSink {
 public:
  explicit FollowingSink(std::size_t from) : from_(from) {}
  void on_leaf(const Leaf& leaf) override {
    const bool is_heading = leaf.kind == LeafKind::Heading;
    if (!is_heading && leaf.kind != LeafKind::Paragraph && leaf.kind != LeafKind::TableRow) return;
    for (const BlockLine& line : leaf.lines) take(line.line_begin, texts);
    if (is_heading && !leaf.nested && !leaf.lines.empty())
      take(leaf.lines.front().line_begin, headings);
  }
  void on_item(const BlockLine& content, bool in_comment) override {
    if (!in_comment) take(content.begin, items);
  }
  std::vector<std::size_t> texts, headings, items;

 private:
  void take(std::size_t at, std::vector<std::size_t>& list) const {
    if (at >= from_) list.push_back(at - from_);
  }
  std::size_t from_;
};

FollowingSink following(std::string_view bytes, std::size_t from) {
  FollowingSink sink(from);
  scan_blocks(bytes, parse_frontmatter(bytes).body_begin, 1, sink);
  for (auto* list : {&sink.texts, &sink.headings, &sink.items})
    std::sort(list->begin(), list->end());
  return sink;
}

/// The first that is missing; both lists rise.
std::optional<std::size_t> first_missing(const std::vector<std::size_t>& wanted,
                                         const std::vector<std::size_t>& there) {
  auto at = there.begin();
  for (const std::size_t one : wanted) {
    while (at != there.end() && *at < one) ++at;
    if (at == there.end() || *at != one) return one;
  }
  return std::nullopt;
}

}  // namespace

Status check_following(std::string_view before, std::size_t from, std::string_view after) {
  constexpr std::size_t kMostShown = 60;
  const std::string_view rest = before.substr(from);
  if (is_blank_line(rest) || before == after) return {};
  const FollowingSink was = following(before, from);
  const FollowingSink now = following(after, after.size() - rest.size());
  for (const auto list : {&FollowingSink::texts, &FollowingSink::headings, &FollowingSink::items}) {
    const auto lost = first_missing(was.*list, now.*list);
    if (!lost) continue;
    const std::string_view line = rest.substr(*lost, line_end_of(rest, *lost) - *lost);
    return invalid(cat("With this edit `", prefix_at_grapheme(line, kMostShown),
                       "`, which follows, would become a part of something that stays open above "
                       "it. Close code fences, math, comments and HTML, and end lists."),
                   Json{{"path", "markdown"},
                        {"expected", "what follows is read as before"},
                        {"actual", prefix_at_grapheme(line, kMostShown)}});
  }
  return {};
}

Result<std::string> with_following(std::string_view before, std::size_t from,
                                   Result<std::string> after) {
  if (after) INDX_TRY(check_following(before, from, *after));
  return after;
}

}  // namespace indx
