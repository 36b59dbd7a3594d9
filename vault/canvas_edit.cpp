#include "vault/canvas_edit.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/canvas.hpp"
#include "vault/canvas_spelling.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

Error bad_member(std::string_view what, const std::string& key, std::string_view expected) {
  return invalid(cat("`", key, "` of a ", what, " must be ", expected, "."),
                 {{"path", key}, {"expected", expected}});
}

bool is_color(const Json& value) {
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  if (text.size() == 1) return text[0] >= '1' && text[0] <= '6';
  return text.size() == 7 && text[0] == '#' &&
         text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
}

bool is_whole(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
}

bool is_one_of(const Json& value, std::initializer_list<std::string_view> names) {
  return value.is_string() &&
         std::find(names.begin(), names.end(), value.get<std::string>()) != names.end();
}

/// A member that the format knows (rule 9.1) has the type it asks for; others are free.
Status check_member(bool is_node, const std::string& key, const Json& value) {
  const auto what = is_node ? "node" : "edge";
  if (key == "id" && (!value.is_string() || value.get<std::string>().empty()))
    return bad_member(what, key, "a text that is not empty");
  if (key == "color" && !is_color(value)) return bad_member(what, key, "`#RRGGBB` or `1` to `6`");
  if (key == "label" && !value.is_string()) return bad_member(what, key, "a text");
  if (is_node) {
    for (const auto* name : {"type", "text", "file", "url", "background"})
      if (key == name && !value.is_string()) return bad_member(what, key, "a text");
    for (const auto* name : {"x", "y", "width", "height"})
      if (key == name && !is_whole(value)) return bad_member(what, key, "a whole number");
    if (key == "subpath" && (!value.is_string() || !value.get<std::string>().starts_with('#')))
      return bad_member(what, key, "a text that begins with `#`");
    if (key == "backgroundStyle" && !is_one_of(value, {"cover", "ratio", "repeat"}))
      return bad_member(what, key, "cover, ratio or repeat");
    return {};
  }
  for (const auto* name : {"fromNode", "toNode"})
    if (key == name && !value.is_string()) return bad_member(what, key, "the id of a node");
  for (const auto* name : {"fromSide", "toSide"})
    if (key == name && !is_one_of(value, {"top", "right", "bottom", "left"}))
      return bad_member(what, key, "top, right, bottom or left");
  for (const auto* name : {"fromEnd", "toEnd"})
    if (key == name && !is_one_of(value, {"none", "arrow"}))
      return bad_member(what, key, "none or arrow");
  return {};
}

std::vector<std::string> required_members(bool is_node, const std::string& type) {
  if (!is_node) return {"id", "fromNode", "toNode"};
  std::vector<std::string> required = {"id", "type", "x", "y", "width", "height"};
  if (type == "text" || type == "file") required.push_back(type);
  if (type == "link") required.emplace_back("url");
  return required;
}

Status check_object(bool is_node, const Json& object) {
  if (!object.is_object()) return invalid("A node or an edge must be an object.");
  const auto type = object.value("type", Json());
  for (const auto& key : required_members(is_node, type.is_string() ? type.get<std::string>() : ""))
    if (!object.contains(key))
      return invalid(cat("A ", is_node ? "node" : "edge", " needs `", key, "`."), {{"path", key}});
  for (const auto& [key, value] : object.items()) INDX_TRY(check_member(is_node, key, value));
  return {};
}

/// A list of the file in pieces: rendering an unchanged one gives its bytes again.
struct CanvasList {
  struct Piece {
    std::string lead, text, trail;  ///< between the commas: space, object, space
    std::string id, from, to;
  };
  std::vector<Piece> pieces;
  std::unordered_map<std::string, std::size_t> by_id;  ///< live pieces only
  std::vector<bool> gone;
  std::string lead, tail, hollow;  ///< for new pieces; before `]`; inside an empty list
  bool changed = false;

  void add(Piece piece) {
    if (!piece.id.empty()) by_id[piece.id] = pieces.size();
    pieces.push_back(std::move(piece));
    gone.push_back(false);
  }
  void remove(std::size_t index) {
    by_id.erase(pieces[index].id);
    gone[index] = changed = true;
  }
  std::string render() const {
    std::string out = "[";
    bool is_first = true;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (gone[i]) continue;
      if (!is_first) out += ',';
      is_first = false;
      ((out += pieces[i].lead) += pieces[i].text) += pieces[i].trail;
    }
    return (out += is_first ? hollow : tail) += ']';
  }
};

void read_ends(CanvasList::Piece& piece, const CanvasItem& item) {
  piece.id = item.id;
  piece.from = item.text("fromNode");
  piece.to = item.text("toNode");
}

CanvasList list_of(std::string_view bytes, const std::optional<CanvasSpan>& array,
                   const std::vector<CanvasItem>& items, bool is_multi_line) {
  CanvasList list;
  list.lead = is_multi_line ? "\n\t\t" : "";
  list.tail = is_multi_line ? "\n\t" : "";
  if (!array) return list;
  if (items.empty()) {
    list.hollow = bytes.substr(array->begin + 1, array->end - array->begin - 2);
    return list;
  }
  std::size_t at = array->begin + 1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    CanvasList::Piece piece;
    const auto& span = items[i].span;
    piece.lead = bytes.substr(at, span.begin - at);
    piece.text = bytes.substr(span.begin, span.end - span.begin);
    const bool is_last = i + 1 == items.size();
    const auto stop = is_last ? array->end - 1 : bytes.find(',', span.end);
    (is_last ? list.tail : piece.trail) = bytes.substr(span.end, stop - span.end);
    at = stop + 1;
    read_ends(piece, items[i]);
    list.lead = piece.lead;
    list.add(std::move(piece));
  }
  return list;
}

std::vector<SpelledMember> spelled_members(const Json& set) {
  std::vector<SpelledMember> members;
  for (const auto& [key, value] : set.items()) members.push_back({key, json_bytes(value)});
  return members;
}

/// An update leaves no gap: what the format asks for is still there. What was missing before may
/// stay so, unless the update is about it.
Status check_required(bool is_node, const CanvasOp& op, const CanvasItem& item) {
  for (const auto& key : required_members(is_node, std::string(item.text("type")))) {
    const bool is_unset = std::find(op.unset.begin(), op.unset.end(), key) != op.unset.end();
    if ((is_unset || op.object.contains("type")) && item.find(key) == nullptr)
      return invalid(cat("A ", is_node ? "node" : "edge", " needs `", key, "`."), {{"path", key}});
  }
  return {};
}

struct CanvasEditor {
  CanvasList nodes, edges;

  Status check_ends(const std::string& from, const std::string& to) const {
    for (const auto& end : {from, to})
      if (!nodes.by_id.contains(end))
        return invalid(cat("An edge cannot reach node `", end, "`: there is none with that id."),
                       {{"node", end}});
    return {};
  }
  Result<std::size_t> find(bool is_node, const std::string& id) const {
    const auto& list = is_node ? nodes : edges;
    const auto found = list.by_id.find(id);
    if (found == list.by_id.end())
      return make_error(
          Reason::TargetNotFound,
          cat("The canvas has no ", is_node ? "node" : "edge", " with id `", id, "`."),
          {{"id", id}});
    return found->second;
  }

  Status add(bool is_node, const Json& object) {
    INDX_TRY(check_object(is_node, object));
    CanvasList& list = is_node ? nodes : edges;
    CanvasList::Piece piece;
    piece.text = json_bytes(object);
    piece.lead = list.lead;
    read_ends(piece, INDX_TRY(read_canvas_item(piece.text)));
    if (list.by_id.contains(piece.id))
      return make_error(Reason::Conflict, cat("The id `", piece.id, "` is taken."),
                        {{"id", piece.id}});
    if (!is_node) INDX_TRY(check_ends(piece.from, piece.to));
    list.add(std::move(piece));
    list.changed = true;
    return {};
  }
  Status update(bool is_node, const CanvasOp& op) {
    CanvasList& list = is_node ? nodes : edges;
    const auto index = INDX_TRY(find(is_node, op.id));
    if (op.object.contains("id") ||
        std::find(op.unset.begin(), op.unset.end(), "id") != op.unset.end())
      return invalid("An id cannot be changed; remove the object and add it anew.",
                     {{"path", "id"}});
    for (const auto& [key, value] : op.object.items()) INDX_TRY(check_member(is_node, key, value));
    auto text =
        INDX_TRY(spell_members(list.pieces[index].text, spelled_members(op.object), op.unset));
    const auto item = INDX_TRY(read_canvas_item(text));
    INDX_TRY(check_required(is_node, op, item));
    if (!is_node && (op.object.contains("fromNode") || op.object.contains("toNode")))
      INDX_TRY(check_ends(std::string(item.text("fromNode")), std::string(item.text("toNode"))));
    read_ends(list.pieces[index], item);
    list.changed = list.changed || text != list.pieces[index].text;
    list.pieces[index].text = std::move(text);
    return {};
  }
  Status remove(bool is_node, const std::string& id) {
    const auto index = INDX_TRY(find(is_node, id));
    if (!is_node) {
      edges.remove(index);
      return {};
    }
    nodes.remove(index);
    for (std::size_t i = 0; i < edges.pieces.size(); ++i)
      if (!edges.gone[i] && (edges.pieces[i].from == id || edges.pieces[i].to == id))
        edges.remove(i);
    return {};
  }
  Status apply(const CanvasOp& op) {
    switch (op.kind) {
      case CanvasOpKind::AddNode:
      case CanvasOpKind::AddEdge:
        return add(op.kind == CanvasOpKind::AddNode, op.object);
      case CanvasOpKind::UpdateNode:
      case CanvasOpKind::UpdateEdge:
        return update(op.kind == CanvasOpKind::UpdateNode, op);
      case CanvasOpKind::RemoveNode:
      case CanvasOpKind::RemoveEdge:
        return remove(op.kind == CanvasOpKind::RemoveNode, op.id);
    }
    return internal_error("A canvas patch has a step of no known kind.");
  }
};

/// The file with one of its lists put in place of the old one, or added to the root.
std::string with_list(std::string_view bytes, const CanvasFile& file, const char* key,
                      const std::optional<CanvasSpan>& array, const CanvasList& list,
                      bool is_multi_line) {
  if (!list.changed) return std::string(bytes);
  std::string out(bytes);
  if (array) return out.replace(array->begin, array->end - array->begin, list.render());
  const auto member = cat(is_multi_line ? "\n\t" : "", "\"", key, "\":", list.render());
  if (!file.members.empty()) return out.insert(file.members.back().value.end, "," + member);
  return out.insert(file.root.begin + 1, member);
}

std::string byte_order_mark_of(const std::string& text) {
  return text.substr(0, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

constexpr std::string_view kEmptyCanvas = "{\n\t\"nodes\":[],\n\t\"edges\":[]\n}";

/// Rule 9.1 and 9.4 for a canvas that comes as a whole.
Status check_canvas(const Json& canvas) {
  std::unordered_set<std::string> nodes;
  for (const bool is_node : {true, false}) {
    const auto* key = is_node ? "nodes" : "edges";
    std::unordered_set<std::string> ids;
    const auto list = canvas.value(key, Json::array());
    if (!list.is_array()) return invalid(cat("`", key, "` must be a list."), {{"path", key}});
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto checked = check_object(is_node, list[i]);
      if (!checked.has_value()) {
        checked.error().details["index"] = i;
        return checked.error();
      }
      const auto id = list[i]["id"].get<std::string>();
      if (!ids.insert(id).second)
        return invalid(cat("The id `", id, "` is there twice."), {{"path", key}, {"id", id}});
      if (is_node) continue;
      for (const auto* end : {"fromNode", "toNode"})
        if (const auto node = list[i][end].get<std::string>(); !nodes.contains(node))
          return invalid(cat("Edge `", id, "` reaches node `", node, "`, which is not there."),
                         {{"id", id}, {"node", node}});
    }
    if (is_node) nodes = std::move(ids);
  }
  return {};
}

constexpr ListStyle kNodeALine{"\n\t\t", "\n\t"};

/// As the app writes it (rule 9.2).
std::string new_canvas(const Json& canvas) {
  std::string out = "{";
  for (const auto& [key, value] : canvas.items()) {
    const bool is_list = key == "nodes" || key == "edges";
    out += cat(out.size() > 1 ? ",\n\t" : "\n\t", json_bytes(Json(key)), ":",
               is_list ? respell("[]", value, kNodeALine) : json_bytes(value));
  }
  return out += out.size() > 1 ? "\n}" : "}";
}

/// The canvas as its reader gets it: what the file leaves out is an empty list.
Json without_absent_lists(Json canvas, const CanvasFile& file) {
  for (const bool is_node : {true, false}) {
    const auto* key = is_node ? "nodes" : "edges";
    const auto found = canvas.find(key);
    const bool is_empty = found != canvas.end() && found->is_array() && found->empty();
    if (is_empty && !(is_node ? file.nodes_array : file.edges_array)) canvas.erase(key);
  }
  return canvas;
}

/// The root of a file that has members, as it has to be.
Result<std::string> respelled_root(std::string_view root, const CanvasFile& file,
                                   const Json& canvas, bool is_multi_line) {
  std::vector<SpelledMember> set;
  std::unordered_map<std::string_view, CanvasSpan> old;
  for (const auto& member : file.members) old.emplace(member.key, member.value);
  for (const auto& [key, value] : canvas.items()) {
    const bool is_list = key == "nodes" || key == "edges";
    const auto style = is_list && is_multi_line ? kNodeALine : ListStyle{};
    const auto found = old.find(key);
    const auto before = found == old.end() ? std::string_view()
                                           : root.substr(found->second.begin - file.root.begin,
                                                         found->second.end - found->second.begin);
    auto spelled = respell(before.empty() && is_list ? "[]" : before, value, style);
    if (found == old.end() || spelled != before) set.push_back({key, std::move(spelled)});
    if (found != old.end()) old.erase(found);
  }
  std::vector<std::string> unset;
  for (const auto& [key, span] : old) unset.emplace_back(key);
  return spell_members(root, set, unset);
}

}  // namespace

Result<std::string> apply_canvas_ops(std::string_view bytes, const std::vector<CanvasOp>& ops) {
  std::string text(bytes);
  auto file = INDX_TRY(read_canvas(text));
  if (file.is_blank && !ops.empty()) {
    text = byte_order_mark_of(text) + std::string(kEmptyCanvas);
    file = INDX_TRY(read_canvas(text));
  }
  const bool is_multi_line = text.find('\n') != std::string::npos;
  CanvasEditor editor{list_of(text, file.nodes_array, file.nodes, is_multi_line),
                      list_of(text, file.edges_array, file.edges, is_multi_line)};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    auto done = editor.apply(ops[i]);
    if (done.has_value()) continue;
    done.error().details["op_index"] = i;
    return done.error();
  }
  // One after the other: the second needs the places after the first.
  text = with_list(text, file, "nodes", file.nodes_array, editor.nodes, is_multi_line);
  file = INDX_TRY(read_canvas(text));
  return with_list(text, file, "edges", file.edges_array, editor.edges, is_multi_line);
}

Result<std::string> write_canvas(const Json& canvas, const std::optional<std::string>& before) {
  if (!canvas.is_object()) return invalid("A canvas is an object.", {{"path", "canvas"}});
  if (!before) {
    INDX_TRY(check_canvas(canvas));
    return new_canvas(canvas);
  }
  const auto file = INDX_TRY(read_canvas(*before));
  const Json wanted = without_absent_lists(canvas, file);
  const auto present =
      file.is_blank ? Json::object() : Json::parse(before->begin(), before->end(), nullptr, false);
  if (is_same_json(present, wanted)) return *before;
  INDX_TRY(check_canvas(canvas));
  if (file.is_blank) return byte_order_mark_of(*before) + new_canvas(canvas);
  const auto root =
      std::string_view(*before).substr(file.root.begin, file.root.end - file.root.begin);
  const bool is_multi_line = before->find('\n') != std::string::npos;
  const auto spelled = file.members.empty()
                           ? new_canvas(canvas)
                           : INDX_TRY(respelled_root(root, file, wanted, is_multi_line));
  return cat(before->substr(0, file.root.begin), spelled, before->substr(file.root.end));
}

}  // namespace indx
