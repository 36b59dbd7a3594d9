#include "vault/canvas_content.hpp"

#include "base/unicode.hpp"
#include "vault/canvas.hpp"

#include <algorithm>

namespace indx {
namespace {

/// Where lines begin, to tell the line of an offset without reading the file again.
class CanvasLines {
 public:
  explicit CanvasLines(std::string_view bytes) {
    for (std::size_t at = bytes.find('\n'); at != std::string_view::npos;
         at = bytes.find('\n', at + 1))
      begins_.push_back(at + 1);
  }
  void place(Link& link, std::size_t offset) const {
    const auto line = std::upper_bound(begins_.begin(), begins_.end(), offset) - 1;
    link.line = static_cast<int>(line - begins_.begin()) + 1;
    link.column = static_cast<int>(offset - *line) + 1;
  }

 private:
  std::vector<std::size_t> begins_ = {0};
};

class ContentReader {
 public:
  ContentReader(std::string_view bytes, CanvasContent& content)
      : lines_(bytes), content_(content) {}

  void add_node(const CanvasItem& node) {
    const auto type = node.text("type");
    if (type == "file") add_file(node.find("file"), node.text("subpath"));
    if (type == "text") add_card(node.find("text"));
    if (type != "group") return;
    add_text(node.find("label"));
    add_file(node.find("background"), "");
  }
  void add_text(const CanvasMember* member) {
    if (member == nullptr || member->text.empty()) return;
    if (!content_.text.empty()) content_.text += "\n\n";
    content_.text += member->text;
  }

 private:
  void add_file(const CanvasMember* member, std::string_view subpath) {
    if (member == nullptr || member->text.empty()) return;
    auto link = canvas_file_link(member->text, subpath);
    lines_.place(link, member->value.begin);
    content_.note.links.push_back(std::move(link));
  }
  void add_card(const CanvasMember* member) {
    if (member == nullptr || member->text.empty()) return;
    add_text(member);
    const auto begin = content_.text.size() - member->text.size();
    for (auto& link : parse_note(member->text).links) {
      link.kind = LinkKind::Canvas;
      link.key.clear();
      if (link.end > 0) link.begin += begin, link.end += begin;
      lines_.place(link, member->value.begin);
      content_.note.links.push_back(std::move(link));
    }
  }

  CanvasLines lines_;
  CanvasContent& content_;
};

}  // namespace

CanvasContent canvas_content(std::string_view bytes) {
  CanvasContent content;
  const auto canvas = read_canvas(bytes);
  if (!canvas.has_value()) {
    content.note.warnings.emplace_back("canvas_invalid");
    return content;
  }
  ContentReader reader(bytes, content);
  for (const auto& node : canvas->nodes) reader.add_node(node);
  for (const auto& edge : canvas->edges) reader.add_text(edge.find("label"));
  return content;
}

Link canvas_file_link(std::string_view path, std::string_view subpath) {
  Link link;
  link.kind = LinkKind::Canvas;
  link.syntax = LinkSyntax::Path;
  link.target = path;
  link.subpath = subpath.substr(subpath.starts_with('#') ? 1 : 0);
  return link;
}

bool is_canvas_path(std::string_view path) {
  constexpr std::string_view kSuffix = ".canvas";
  return path.size() > kSuffix.size() &&
         fold_case(path.substr(path.size() - kSuffix.size())) == kSuffix;
}

}  // namespace indx
