#include "vault/canvas_rewrite.hpp"

#include "base/json.hpp"
#include "vault/canvas.hpp"
#include "vault/canvas_content.hpp"

#include <algorithm>

namespace indx {
namespace {

/// The new texts of one canvas while its nodes are looked at.
class CanvasRewrite {
 public:
  void put(const CanvasMember& member, const std::string& text, int count) {
    rewrite_.edits.push_back({member.value.begin, member.value.end, Json(text).dump()});
    rewrite_.count += count;
  }
  void put_card(const CanvasMember& member, const Result<LinkRewrite>& card) {
    if (!card.has_value()) return keep_problem(card.error());
    if (card->problem) keep_problem(*card->problem);
    rewrite_.has_hidden_targets = rewrite_.has_hidden_targets || card->has_hidden_targets;
    if (card->count > 0) put(member, apply_edits(member.text, card->edits), card->count);
  }
  void keep_problem(const Error& error) {
    if (!rewrite_.problem) rewrite_.problem = error;
  }
  LinkRewrite take() {
    std::sort(rewrite_.edits.begin(), rewrite_.edits.end(),
              [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
    return std::move(rewrite_);
  }

 private:
  LinkRewrite rewrite_;
};

/// A member of that name that holds some text; null: none.
const CanvasMember* text_member(const CanvasItem& node, std::string_view key) {
  const auto* member = node.find(key);
  return member == nullptr || member->text.empty() ? nullptr : member;
}

}  // namespace

Result<LinkRewrite> rewrite_canvas_links(std::string_view bytes, const std::string& source,
                                         const MoveWorld& world, const ParseOptions& options) {
  const auto canvas = INDX_TRY(read_canvas(bytes));
  CanvasRewrite rewrite;
  for (const auto& node : canvas.nodes) {
    const auto type = node.text("type");
    if (const auto* card = type == "text" ? text_member(node, "text") : nullptr)
      rewrite.put_card(*card, rewrite_text_links(card->text, source, world, options));
    const auto* file = type == "file"    ? text_member(node, "file")
                       : type == "group" ? text_member(node, "background")
                                         : nullptr;
    const auto reached =
        file != nullptr ? world.before(source, file->text, LinkSyntax::Path) : std::nullopt;
    if (!reached || !world.is_moved(*reached)) continue;
    if (const auto& path = world.place_after(*reached); path != file->text)
      rewrite.put(*file, path, 1);
  }
  return rewrite.take();
}

Result<LinkRewrite> rewrite_canvas_subpaths(std::string_view bytes, const SubpathChoice& choose,
                                            const ParseOptions& options) {
  const auto canvas = INDX_TRY(read_canvas(bytes));
  CanvasRewrite rewrite;
  for (const auto& node : canvas.nodes) {
    const auto type = node.text("type");
    if (const auto* card = type == "text" ? text_member(node, "text") : nullptr)
      rewrite.put_card(*card, rewrite_text_subpaths(card->text, choose, options));
    const auto* subpath = type == "file" ? text_member(node, "subpath") : nullptr;
    if (subpath == nullptr) continue;
    const auto chosen = choose(canvas_file_link(node.text("file"), subpath->text), false);
    if (!chosen.has_value())
      rewrite.keep_problem(chosen.error());
    else if (*chosen)
      rewrite.put(*subpath, "#" + **chosen, 1);
  }
  return rewrite.take();
}

}  // namespace indx
