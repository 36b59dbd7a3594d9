#include "vault/canvas.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

namespace indx {
namespace {

constexpr int kMaxCanvasDepth = 100;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

/// A strict JSON reader (RFC 8259) that keeps spans. After the first error `failed()` is true.
class CanvasScanner {
 public:
  explicit CanvasScanner(std::string_view text) : text_(text) {
    if (text_.starts_with(kUtf8Mark)) at_ = kUtf8Mark.size();
  }

  bool failed() const { return error_ != nullptr; }
  std::size_t at() const { return at_; }
  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  Error error() const {
    const auto before = text_.substr(0, std::min(at_, text_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto last = before.rfind('\n');
    const auto column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
    return make_error(
        Reason::ParseFailed,
        cat("The canvas cannot be read: ", error_, " at line ", line, ", column ", column, "."),
        {{"line", line}, {"column", column}, {"offset", at_}});
  }
  void fail(const char* message) {
    if (error_ == nullptr) error_ = message;
  }

  /// Calls `on_member(member)` for each member, standing before its value, which it must read.
  template <typename OnMember>
  void object(OnMember on_member) {
    if (!take('{')) return fail("an object is expected");
    std::unordered_set<std::string> keys;
    if (take('}')) return;
    do {
      skip_space();
      CanvasMember member;
      member.key_span.begin = at_;
      member.key = string();
      member.key_span.end = at_;
      if (failed()) return;
      if (!keys.insert(member.key).second) return fail("a key is there twice");
      if (!take(':')) return fail("`:` is expected");
      skip_space();
      on_member(member);
      if (failed()) return;
    } while (take(','));
    if (!take('}')) fail("`,` or `}` is expected");
  }
  template <typename OnItem>
  void array(OnItem on_item) {
    if (!take('[')) return fail("a list is expected");
    if (take(']')) return;
    do {
      skip_space();
      on_item();
      if (failed()) return;
    } while (take(','));
    if (!take(']')) fail("`,` or `]` is expected");
  }
  /// The value of a member, whatever it is.
  void value(CanvasMember& member) {
    member.value.begin = at_;
    const char c = peek();
    if (c == '"') {
      member.type = CanvasValue::String;
      member.text = string();
    } else {
      member.type = c == '{'                           ? CanvasValue::Object
                    : c == '['                         ? CanvasValue::Array
                    : c == 't' || c == 'f' || c == 'n' ? CanvasValue::Literal
                                                       : CanvasValue::Number;
      skip_value(0);
    }
    member.value.end = at_;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  void skip_value(int depth) {
    if (depth > kMaxCanvasDepth) return fail("it is nested too deeply");
    skip_space();
    switch (peek()) {
      case '"':
        string();
        return;
      case '{':
        ++at_;
        if (take('}')) return;
        do {
          skip_space();
          string();
          if (failed()) return;
          if (!take(':')) return fail("`:` is expected");
          skip_value(depth + 1);
          if (failed()) return;
        } while (take(','));
        if (!take('}')) fail("`,` or `}` is expected");
        return;
      case '[':
        array([&] { skip_value(depth + 1); });
        return;
      default:
        for (const std::string_view literal : {"true", "false", "null"})
          if (text_.substr(at_).starts_with(literal)) {
            at_ += literal.size();
            return;
          }
        number();
    }
  }

  bool digits() {
    const auto begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }
  void number() {
    const auto begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0')
      ++at_;
    else if (!digits())
      return fail("a value is expected");
    if (peek() == '.') {
      ++at_;
      if (!digits()) return fail("a number is incomplete");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return fail("a number is incomplete");
    }
    if (!std::isfinite(std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr)))
      fail("a number is out of range");
  }

  std::optional<unsigned> hex4() {
    if (text_.size() - at_ < 4) return std::nullopt;
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_ + static_cast<std::size_t>(i)];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      code = code * 16 + static_cast<unsigned>(digit);
    }
    at_ += 4;
    return code;
  }
  void escape(std::string& out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (const auto found = kFrom.find(c); c != '\0' && found != std::string_view::npos) {
      out += kTo[found];
      return;
    }
    const auto code = c == 'u' ? hex4() : std::nullopt;
    if (!code) return fail("an escape is not valid");
    char32_t point = *code;
    if (point >= 0xD800 && point < 0xE000) {
      // Half a pair has no UTF-8: it could be kept, but never shown or compared.
      if (point >= 0xDC00 || !text_.substr(at_).starts_with("\\u"))
        return fail("half of a surrogate pair stands alone");
      at_ += 2;
      const auto low = hex4();
      if (!low || *low < 0xDC00 || *low >= 0xE000)
        return fail("half of a surrogate pair stands alone");
      point = 0x10000 + ((point - 0xD800) << 10U) + (*low - 0xDC00);
    }
    append_utf8(out, point);
  }
  std::string string() {
    std::string out;
    if (peek() != '"' || at_ >= text_.size()) {
      fail("a text in quotes is expected");
      return out;
    }
    ++at_;
    while (!failed()) {
      const auto end = text_.find_first_of(
          std::string_view("\"\\\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
                           "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f",
                           34),
          at_);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        fail("a text does not end");
        break;
      }
      out += text_.substr(at_, end - at_);
      at_ = end + 1;
      if (text_[end] == '"') return out;
      if (text_[end] != '\\') {
        at_ = end;
        fail("a control character is not escaped");
        break;
      }
      escape(out);
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* error_ = nullptr;
};

CanvasItem scan_item(CanvasScanner& scanner) {
  CanvasItem item;
  item.span.begin = scanner.at();
  scanner.object([&](CanvasMember& member) {
    scanner.value(member);
    if (member.key == "id" && member.type == CanvasValue::String) item.id = member.text;
    item.members.push_back(std::move(member));
  });
  item.span.end = scanner.at();
  return item;
}

void scan_items(CanvasScanner& scanner, std::vector<CanvasItem>& items) {
  std::unordered_set<std::string> ids;
  scanner.array([&] {
    items.push_back(scan_item(scanner));
    if (!scanner.failed() && !items.back().id.empty() && !ids.insert(items.back().id).second)
      scanner.fail("an id is there twice");
  });
}

}  // namespace

const CanvasMember* CanvasItem::find(std::string_view key) const {
  for (const auto& member : members)
    if (member.key == key) return &member;
  return nullptr;
}

std::string_view CanvasItem::text(std::string_view key) const {
  const auto* member = find(key);
  return member != nullptr ? std::string_view(member->text) : std::string_view();
}

Result<CanvasFile> read_canvas(std::string_view bytes) {
  if (!is_valid_utf8(bytes))
    return make_error(Reason::NotUtf8, "The canvas is not valid UTF-8; it cannot be edited.");
  CanvasScanner scanner(bytes);
  CanvasFile file;
  if (scanner.at_end()) {
    file.is_blank = true;
    file.root = {scanner.at(), scanner.at()};
    return file;
  }
  file.root.begin = scanner.at();
  scanner.object([&](CanvasMember& member) {
    const bool is_nodes = member.key == "nodes";
    if (is_nodes || member.key == "edges") {
      member.type = CanvasValue::Array;
      member.value.begin = scanner.at();
      scan_items(scanner, is_nodes ? file.nodes : file.edges);
      member.value.end = scanner.at();
      (is_nodes ? file.nodes_array : file.edges_array) = member.value;
    } else {
      scanner.value(member);
    }
    file.members.push_back(std::move(member));
  });
  file.root.end = scanner.at();
  if (!scanner.failed() && !scanner.at_end()) scanner.fail("something follows the object");
  if (scanner.failed()) return scanner.error();
  return file;
}

Result<CanvasItem> read_canvas_item(std::string_view bytes) {
  CanvasScanner scanner(bytes);
  auto item = scan_item(scanner);
  if (scanner.failed()) return scanner.error();
  return item;
}

Result<std::vector<CanvasSpan>> read_canvas_list(std::string_view bytes) {
  CanvasScanner scanner(bytes);
  std::vector<CanvasSpan> items;
  scanner.array([&] {
    CanvasMember item;
    scanner.value(item);
    items.push_back(item.value);
  });
  if (scanner.failed()) return scanner.error();
  return items;
}

std::vector<DanglingEdge> dangling_edges(const CanvasFile& canvas) {
  std::unordered_set<std::string_view> ids;
  for (const auto& node : canvas.nodes)
    if (!node.id.empty()) ids.insert(node.id);
  std::vector<DanglingEdge> dangling;
  for (const auto& edge : canvas.edges) {
    DanglingEdge found{edge.id, {}};
    for (const auto* end : {"fromNode", "toNode"})
      if (!ids.contains(edge.text(end))) found.missing.emplace_back(edge.text(end));
    if (!found.missing.empty()) dangling.push_back(std::move(found));
  }
  return dangling;
}

std::vector<std::string> canvas_warnings(const CanvasFile& canvas) {
  std::vector<std::string> warnings;
  for (const auto& node : canvas.nodes) {
    const auto type = node.text("type");
    if (node.id.empty()) warnings.emplace_back("node_without_id");
    if (type != "text" && type != "file" && type != "link" && type != "group")
      warnings.push_back(cat("node_type_unknown:", type));
  }
  for (const auto& edge : canvas.edges)
    if (edge.id.empty()) warnings.emplace_back("edge_without_id");
  std::sort(warnings.begin(), warnings.end());
  warnings.erase(std::unique(warnings.begin(), warnings.end()), warnings.end());
  return warnings;
}

std::string replace_canvas_strings(std::string_view bytes, std::vector<CanvasStringEdit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
  std::string out;
  std::size_t copied_to = 0;
  for (const auto& edit : edits) {
    out += bytes.substr(copied_to, edit.span.begin - copied_to);
    out += Json(edit.value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    copied_to = edit.span.end;
  }
  return out += bytes.substr(copied_to);
}

}  // namespace indx
