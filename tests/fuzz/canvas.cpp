#include "vault/canvas.hpp"

#include "base/text.hpp"
#include "tests/fuzz/claims.hpp"
#include "vault/canvas_edit.hpp"

#include <map>

/// Input: canvas, then steps: kind (`n u r` for nodes, `N U R` for edges) and id in one list with
/// the JSON of the object. What is read is JSON; what no step names keeps its bytes.

namespace indx::fuzz {
namespace {

std::map<std::string, std::string> spellings(std::string_view bytes,
                                             const std::vector<CanvasItem>& items) {
  std::map<std::string, std::string> all;
  for (const auto& item : items)
    if (!item.id.empty())
      all[item.id] = std::string(bytes.substr(item.span.begin, item.span.end - item.span.begin));
  return all;
}

void check_read(std::string_view bytes, const CanvasFile& canvas) {
  const bool is_utf8 = is_valid_utf8(bytes);
  CLAIM(is_utf8);
  for (const auto* items : {&canvas.nodes, &canvas.edges})
    for (const auto& item : *items) {
      CLAIM(is_range(bytes, is_utf8, item.span.begin, item.span.end));
      for (const auto& member : item.members) {
        CLAIM(is_range(bytes, is_utf8, member.key_span.begin, member.key_span.end));
        CLAIM(is_range(bytes, is_utf8, member.value.begin, member.value.end));
        const auto text = bytes.substr(member.value.begin, member.value.end - member.value.begin);
        const auto json = Json::parse(text, nullptr, false);
        CLAIM(!json.is_discarded());
        if (member.type == CanvasValue::String) CLAIM(json.is_string() && json == member.text);
      }
    }
  dangling_edges(canvas);
  canvas_warnings(canvas);
  if (canvas.is_blank) return;
  const auto text = bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
  const auto json = Json::parse(text, nullptr, false);
  CLAIM(json.is_object());
  CLAIM(json.contains("nodes") ? json["nodes"].size() == canvas.nodes.size()
                               : canvas.nodes.empty());
  const auto same = write_canvas(json, std::string(bytes));
  if (same.has_value()) CLAIM(*same == bytes);
  std::vector<CanvasStringEdit> edits;
  for (const auto& node : canvas.nodes)
    if (const auto* member = node.find("text"); member && member->type == CanvasValue::String)
      edits.push_back({member->value, "[[x\"\n]]"});
  const auto replaced = replace_canvas_strings(bytes, edits);
  const auto again = read_canvas(replaced);
  CLAIM(again.has_value() && again->nodes.size() == canvas.nodes.size());
}

std::vector<CanvasOp> ops_of(const Parts& parts) {
  std::vector<CanvasOp> ops;
  for (std::size_t i = 1; i < parts.size() && i < 9; ++i) {
    const auto fields = pieces(parts[i], '\x1e');
    CanvasOp op;
    const auto kind = std::string_view("nurNUR").find(fields[0].empty() ? 'n' : fields[0][0]);
    op.kind = static_cast<CanvasOpKind>(kind == std::string_view::npos ? 0 : kind);
    if (fields.size() > 1) op.id = std::string(fields[1]);
    if (fields.size() > 2) op.object = Json::parse(fields[2], nullptr, false);
    if (fields.size() > 3) op.unset.emplace_back(fields[3]);
    if (!op.object.is_object()) op.object = Json::object();
    ops.push_back(std::move(op));
  }
  return ops;
}

/// Ids that the steps name; removing a node removes edges too, so those at named nodes count.
bool is_named(const std::vector<CanvasOp>& ops, const CanvasItem& item, bool is_edge) {
  for (const auto& op : ops) {
    if (op.id == item.id || op.object.value("id", Json()) == item.id) return true;
    if (is_edge && (op.id == item.text("fromNode") || op.id == item.text("toNode"))) return true;
  }
  return false;
}

void check(const Parts& parts) {
  const auto bytes = parts[0];
  read_canvas_item(bytes);
  const auto canvas = read_canvas(bytes);
  const auto ops = ops_of(parts);
  const auto after = apply_canvas_ops(bytes, ops);
  if (!canvas.has_value()) {
    CLAIM(!after.has_value());
    return;
  }
  check_read(bytes, *canvas);
  if (!after.has_value()) return;
  const auto now = read_canvas(*after);
  CLAIM(now.has_value());
  check_read(*after, *now);
  const auto nodes = spellings(*after, now->nodes), edges = spellings(*after, now->edges);
  for (const bool is_edge : {false, true})
    for (const auto& item : is_edge ? canvas->edges : canvas->nodes) {
      if (item.id.empty() || is_named(ops, item, is_edge)) continue;
      const auto& kept = is_edge ? edges : nodes;
      const auto found = kept.find(item.id);
      CLAIM(found != kept.end() &&
            found->second == bytes.substr(item.span.begin, item.span.end - item.span.begin));
    }
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  indx::fuzz::check(indx::fuzz::Parts(FUZZ_INPUT(data, size)));
  return 0;
}
