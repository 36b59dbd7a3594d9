#include "vault/yaml_tree.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <libfyaml.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

constexpr std::size_t kMaxYamlNodes =
    200'000;  // of the document, and of its value with aliases expanded
constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53U;

struct ParserDeleter {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct DiagDeleter {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

void discard_output(fy_diag*, void*, const char*, std::size_t) {}

std::string token_text(fy_token* token) {
  if (token == nullptr) return {};
  std::size_t length = 0;
  const char* text = fy_token_get_text(token, &length);
  return text == nullptr ? std::string() : std::string(text, length);
}

/// Turns the event stream into a tree; one object per document.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, YamlTree& tree) : text_(text), tree_(tree) {}

  /// False when the tree must not grow any more; `failure` says why.
  bool accept(fy_event* event) {
    switch (event->type) {
      case FYET_DOCUMENT_START:
        if (++documents_ > 1) return fail("holds more than one document");
        return true;
      case FYET_SCALAR:
        return scalar(event->scalar);
      case FYET_ALIAS:
        return alias(event->alias.anchor);
      case FYET_SEQUENCE_START:
        return open(YamlNode::Kind::Sequence, event->sequence_start.sequence_start, '[',
                    event->sequence_start.anchor, event->sequence_start.tag);
      case FYET_MAPPING_START:
        return open(YamlNode::Kind::Mapping, event->mapping_start.mapping_start, '{',
                    event->mapping_start.anchor, event->mapping_start.tag);
      case FYET_SEQUENCE_END:
        return close(event->sequence_end.sequence_end);
      case FYET_MAPPING_END:
        return close(event->mapping_end.mapping_end);
      case FYET_DOCUMENT_END:
        return !is_followed_by_directive() || fail("has a line with % outside of any value");
      default:
        return true;
    }
  }
  const std::string& failure() const { return failure_; }

 private:
  bool fail(std::string why) {
    failure_ = std::move(why);
    return false;
  }

  /// To the parser such a line ends the document, for it would belong to a next one; an edit behind
  /// the last value would come before it.
  bool is_followed_by_directive() const {
    std::size_t at = tree_.root < 0 ? 0 : tree_.nodes[static_cast<std::size_t>(tree_.root)].end;
    for (; (at = text_.find('%', at)) != std::string_view::npos; ++at)
      if (at == 0 || is_line_end(text_[at - 1])) return true;
    return false;
  }

  YamlNode* add(YamlNode::Kind kind, fy_token* anchor, fy_token* tag) {
    if (tree_.nodes.size() >= kMaxYamlNodes) return fail("has too many values"), nullptr;
    const int index = static_cast<int>(tree_.nodes.size());
    YamlNode& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.tag = token_text(tag);
    node.decorated = anchor != nullptr || tag != nullptr;
    if (anchor != nullptr) anchors_[token_text(anchor)] = index;
    if (open_.empty()) {
      tree_.root = index;
    } else {
      tree_.nodes[static_cast<std::size_t>(open_.back())].children.push_back(index);
    }
    return &tree_.nodes.back();
  }

  bool scalar(const fy_event_scalar_data& data) {
    YamlNode* node = add(YamlNode::Kind::Scalar, data.anchor, data.tag);
    if (node == nullptr) return false;
    node->closed = true;
    node->plain = true;
    if (data.value == nullptr) return true;
    node->text = token_text(data.value);
    const fy_scalar_style style = fy_token_scalar_style(data.value);
    node->plain = style == FYSS_PLAIN || style == FYSS_ANY;
    node->block_scalar = style == FYSS_LITERAL || style == FYSS_FOLDED;
    const fy_mark* begin = fy_token_start_mark(data.value);
    const fy_mark* end = fy_token_end_mark(data.value);
    if (begin == nullptr || end == nullptr) return true;
    set_range(*node, begin->input_pos, end->input_pos);
    if (node->block_scalar) {  // the marks leave out the header and include the trailing line ends
      while (node->begin > 0 && text_[node->begin] != '|' && text_[node->begin] != '>')
        --node->begin;
      while (node->end > node->begin && is_line_end(text_[node->end - 1])) --node->end;
    } else if (!node->plain) {  // the marks leave out the quotes
      if (node->begin > 0) --node->begin;
      if (node->end < text_.size()) ++node->end;
    }
    return true;
  }

  bool alias(fy_token* name) {
    const auto it = anchors_.find(token_text(name));
    if (it == anchors_.end()) return fail("uses an alias that names no anchor");
    const int target = it->second;
    YamlNode* node = add(YamlNode::Kind::Alias, nullptr, nullptr);
    if (node == nullptr) return false;
    if (!tree_.nodes[static_cast<std::size_t>(target)].closed)
      return fail("has an alias that contains itself");
    node->target = target;
    node->decorated = true;
    if (const fy_mark* begin = fy_token_start_mark(name))
      set_range(*node, begin->input_pos, fy_token_end_mark(name)->input_pos);
    return true;
  }

  bool open(YamlNode::Kind kind, fy_token* token, char flow_mark, fy_token* anchor, fy_token* tag) {
    if (open_.size() >= static_cast<std::size_t>(kMaxYamlDepth))
      return fail("is nested too deeply");
    const int index = static_cast<int>(tree_.nodes.size());
    YamlNode* node = add(kind, anchor, tag);
    if (node == nullptr) return false;
    if (const fy_mark* mark = token == nullptr ? nullptr : fy_token_start_mark(token)) {
      set_range(*node, mark->input_pos, mark->input_pos);
      node->flow = node->begin < text_.size() && text_[node->begin] == flow_mark;
    }
    open_.push_back(index);
    return true;
  }

  bool close(fy_token* token) {
    if (open_.empty()) return fail("is not balanced");
    YamlNode& node = tree_.nodes[static_cast<std::size_t>(open_.back())];
    open_.pop_back();
    node.closed = true;
    if (node.flow && token != nullptr) {
      if (const fy_mark* mark = fy_token_end_mark(token))
        node.end = std::min(mark->input_pos, text_.size());
      if (node.end <= node.begin) node.end = node.begin + 1;
    }
    for (const int child : node.children) {
      const YamlNode& inner = tree_.nodes[static_cast<std::size_t>(child)];
      node.decorated = node.decorated || inner.decorated;
      node.end = std::max(node.end, inner.end);
    }
    return true;
  }

  void set_range(YamlNode& node, std::size_t begin, std::size_t end) const {
    node.begin = std::min(begin, text_.size());
    node.end = std::clamp(end, node.begin, text_.size());
    if (node.begin == text_.size() && node.begin > 0 && node.block_scalar) --node.begin;
  }

  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

  std::string_view text_;
  YamlTree& tree_;
  std::vector<int> open_;
  std::unordered_map<std::string, int> anchors_;
  std::string failure_;
  int documents_ = 0;
};

/// YAML forbids control characters; checked here so that libfyaml only sees clean text.
std::optional<FrontmatterError> find_bad_byte(std::string_view text) {
  FrontmatterError error{1, 1, ""};
  bool ascii = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    ascii = ascii && byte < 0x80;
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      error.message = "The property block holds a control character.";
      return error;
    }
    if (byte == '\n' || (byte == '\r' && text.substr(i + 1, 1) != "\n")) {
      ++error.line;
      error.column = 1;
    } else {
      ++error.column;
    }
  }
  if (ascii || is_valid_utf8(text)) return std::nullopt;
  return FrontmatterError{1, 1, "The property block is not valid UTF-8."};
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Json integer_or_text(std::string_view digits, int base, bool negative, std::string_view source) {
  std::int64_t value = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (failure != std::errc() || end != digits.data() + digits.size() || value > kMaxExactInteger)
    return std::string(source);
  return negative ? -value : value;
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
bool is_core_float(std::string_view body) {
  const std::size_t exponent = body.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = body.substr(exponent + 1);
    if (!power.empty() && (power[0] == '+' || power[0] == '-')) power.remove_prefix(1);
    if (!all_digits(power)) return false;
    body = body.substr(0, exponent);
  }
  const std::size_t dot = body.find('.');
  if (dot == std::string_view::npos) return all_digits(body);
  const std::string_view whole = body.substr(0, dot), fraction = body.substr(dot + 1);
  if (whole.empty()) return all_digits(fraction);
  return all_digits(whole) && (fraction.empty() || all_digits(fraction));
}

class ValueBuilder {
 public:
  ValueBuilder(const YamlTree& tree, std::string* error) : tree_(tree), error_(error) {}

  Json value(int index, int depth = 0) {
    const YamlNode& node = tree_.nodes[static_cast<std::size_t>(index)];
    if (++count_ > kMaxYamlNodes || depth > 2 * kMaxYamlDepth)
      return fail("expands to too many values");
    switch (node.kind) {
      case YamlNode::Kind::Alias:
        return value(node.target, depth + 1);
      case YamlNode::Kind::Sequence: {
        Json list = Json::array();
        for (const int child : node.children) {
          list.push_back(value(child, depth + 1));
          if (!error_->empty()) return nullptr;
        }
        return list;
      }
      case YamlNode::Kind::Mapping:
        return mapping(node, depth);
      case YamlNode::Kind::Scalar:
        break;
    }
    if (node.tag == "!!str" || node.tag == "tag:yaml.org,2002:str" || node.tag == "!")
      return node.text;
    return node.plain ? plain_yaml_scalar(node.text) : Json(node.text);
  }

 private:
  Json fail(std::string why) {
    if (error_->empty()) *error_ = std::move(why);
    return nullptr;
  }

  Json mapping(const YamlNode& node, int depth) {
    Json::object_t members;
    Json merged = Json::object();
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode* key = &tree_.nodes[static_cast<std::size_t>(node.children[i])];
      if (key->kind == YamlNode::Kind::Alias)
        key = &tree_.nodes[static_cast<std::size_t>(key->target)];
      if (key->kind != YamlNode::Kind::Scalar) return fail("has a key that is no text");
      if (!seen.insert(key->text).second) return fail(cat("has the key `", key->text, "` twice"));
      Json member = value(node.children[i + 1], depth + 1);
      if (!error_->empty()) return nullptr;
      if (key->plain && key->text == "<<" && (member.is_object() || member.is_array())) {
        merge(merged, member);
      } else {
        members.emplace_back(key->text, std::move(member));
      }
    }
    for (auto& [name, member] : merged.items())
      if (seen.find(name) == seen.end()) members.emplace_back(name, std::move(member));
    return Json(std::move(members));
  }

  static void merge(Json& merged, Json& source) {
    if (source.is_array()) {
      for (Json& item : source)
        if (item.is_object()) merge(merged, item);
      return;
    }
    for (auto& [name, member] : source.items())
      if (merged.find(name) == merged.end()) merged[name] = std::move(member);
  }

  const YamlTree& tree_;
  std::string* error_;
  std::size_t count_ = 0;
};

}  // namespace

YamlTree read_yaml(std::string_view text) {
  YamlTree tree;
  if (text.size() > kMaxFrontmatterBytes) {
    tree.error = FrontmatterError{1, 1, "The property block is larger than 1 MiB."};
    return tree;
  }
  tree.error = find_bad_byte(text);
  if (tree.error || text.find_first_not_of(" \t\r\n") == std::string_view::npos) return tree;

  fy_diag_cfg diag_config{};
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = nullptr;
  diag_config.output_fn = discard_output;
  diag_config.colorize = false;
  const std::unique_ptr<fy_diag, DiagDeleter> diag(fy_diag_create(&diag_config));
  fy_parse_cfg config{};
  config.flags =
      static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE);
  config.diag = diag.get();
  if (diag) fy_diag_set_collect_errors(diag.get(), true);
  const std::unique_ptr<fy_parser, ParserDeleter> parser(diag ? fy_parser_create(&config)
                                                              : nullptr);
  if (!parser || fy_parser_set_string(parser.get(), text.data(), text.size()) != 0) {
    tree.error = FrontmatterError{1, 1, "The YAML parser could not start."};
    return tree;
  }

  TreeBuilder builder(text, tree);
  bool good = true, ended = false;
  std::size_t at = 0;
  while (good && !ended) {
    fy_event* event = fy_parser_parse(parser.get());
    if (event == nullptr) break;
    if (const fy_mark* mark = fy_event_start_mark(event))
      at = std::min(mark->input_pos, text.size());
    ended = event->type == FYET_STREAM_END;
    good = builder.accept(event);
    fy_parser_event_free(parser.get(), event);
  }
  if (good && ended) return tree;

  FrontmatterError error{1, 1, "The property block is no valid YAML."};
  if (!good) {
    error.message = cat("The property block ", builder.failure(), ".");
    for (std::size_t i = 0; i < at; ++i)
      if (text[i] == '\n') ++error.line;
  } else {
    void* iterator = nullptr;
    if (const fy_diag_error* first = fy_diag_errors_iterate(diag.get(), &iterator)) {
      error.line = std::max(first->line, 1);
      error.column = std::max(first->column, 1);
      if (first->msg != nullptr) error.message = replace_invalid_utf8(first->msg);
    }
  }
  tree.nodes.clear();
  tree.root = -1;
  tree.error = std::move(error);
  return tree;
}

Json yaml_value(const YamlTree& tree, int node, std::string* error) {
  return ValueBuilder(tree, error).value(node);
}

Json plain_yaml_scalar(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char first = text[0];
  if (!((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '.'))
    return std::string(text);
  if (text.substr(0, 2) == "0x" && text.size() > 2 &&
      text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos)
    return integer_or_text(text.substr(2), 16, false, text);
  if (text.substr(0, 2) == "0o" && text.size() > 2 &&
      text.find_first_not_of("01234567", 2) == std::string_view::npos)
    return integer_or_text(text.substr(2), 8, false, text);
  const bool negative = first == '-';
  const std::string_view body = negative || first == '+' ? text.substr(1) : text;
  if (all_digits(body)) return integer_or_text(body, 10, negative, text);
  if (!is_core_float(body)) return std::string(text);
  double value = 0;
  const auto result = std::from_chars(body.data(), body.data() + body.size(), value);
  if (result.ec != std::errc() || !std::isfinite(value)) return std::string(text);
  return negative ? -value : value;
}

bool is_text_only_key(std::string_view key) {
  const std::string folded = fold_case(key);
  return folded == "id" || folded == "created" || folded == "updated";
}

Json as_read_back(std::string_view top_level_key, const Json& value) {
  if (value.is_array() || value.is_object()) {
    Json result = value;
    for (Json& item : result) item = as_read_back("", item);
    return result;
  }
  if (!value.is_number()) return value;
  bool beyond = false;
  if (value.is_number_unsigned()) {
    beyond = value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxExactInteger);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    beyond = number > kMaxExactInteger || number < -kMaxExactInteger;
  }
  return beyond || is_text_only_key(top_level_key) ? Json(value.dump()) : value;
}

}  // namespace indx
