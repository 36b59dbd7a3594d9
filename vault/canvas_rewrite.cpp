#include "vault/canvas_rewrite.hpp"

#include "base/json.hpp"
#include "vault/canvas.hpp"

#include <algorithm>

namespace indx {
namespace {

class CanvasRewrite {
 public:
  CanvasRewrite(const std::string& source, const MoveWorld& world, const ParseOptions& options)
      : source_(source), world_(world), options_(options) {}

  void add_node(const CanvasItem& node) {
    const auto type = node.text("type");
    if (type == "file") add_file(node.find("file"));
    if (type == "group") add_file(node.find("background"));
    if (type == "text") add_card(node.find("text"));
  }
  LinkRewrite take() {
    std::sort(rewrite_.edits.begin(), rewrite_.edits.end(),
              [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
    return std::move(rewrite_);
  }

 private:
  void put(const CanvasMember& member, const std::string& text, int count) {
    rewrite_.edits.push_back({member.value.begin, member.value.end, Json(text).dump()});
    rewrite_.count += count;
  }
  void keep_problem(const Error& error) {
    if (!rewrite_.problem) rewrite_.problem = error;
  }
  void add_file(const CanvasMember* member) {
    if (member == nullptr || member->text.empty()) return;
    const auto reached = world_.before(source_, member->text, LinkSyntax::Path);
    if (!reached || !world_.is_moved(*reached)) return;
    if (const auto& path = world_.place_after(*reached); path != member->text)
      put(*member, path, 1);
  }
  void add_card(const CanvasMember* member) {
    if (member == nullptr || member->text.empty()) return;
    auto card = rewrite_text_links(member->text, source_, world_, options_);
    if (!card.has_value()) return keep_problem(card.error());
    if (card->problem) keep_problem(*card->problem);
    if (card->count > 0) put(*member, apply_edits(member->text, card->edits), card->count);
  }

  const std::string& source_;
  const MoveWorld& world_;
  const ParseOptions& options_;
  LinkRewrite rewrite_;
};

}  // namespace

Result<LinkRewrite> rewrite_canvas_links(std::string_view bytes, const std::string& source,
                                         const MoveWorld& world, const ParseOptions& options) {
  const auto canvas = INDX_TRY(read_canvas(bytes));
  CanvasRewrite rewrite(source, world, options);
  for (const auto& node : canvas.nodes) rewrite.add_node(node);
  return rewrite.take();
}

}  // namespace indx
