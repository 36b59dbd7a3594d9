#include "store/search_query.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/query_text.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>
#include <optional>

namespace indx {
namespace {

constexpr int kMaxQueryDepth = 32;

/// Operators that take a word, a phrase, a pattern or a group.
constexpr std::string_view kGroupOperators[] = {
    "content:",   "line:",      "block:",      "section:",    "task:",
    "task-todo:", "task-done:", "match-case:", "ignore-case:"};

class QueryParser {
 public:
  explicit QueryParser(std::string_view q) : q_(q), close_(q.size(), std::string_view::npos) {
    match_parentheses();
  }

  QueryNode parse() {
    auto node = parse_or(q_.size(), 0);
    if (node.kind == QueryNode::Kind::And) return node;
    QueryNode all;
    all.children.push_back(std::move(node));
    return all;
  }
  std::size_t terms() const { return terms_; }
  bool has_bad_pattern() const { return has_bad_pattern_; }

 private:
  using Kind = QueryNode::Kind;

  /// Pairs each `(` that begins a token with its `)`; one pass, quotes skipped. Unpaired ones stay
  /// literal.
  void match_parentheses() {
    std::vector<std::size_t> open;
    std::vector<bool> groups;
    for (std::size_t i = 0; i < q_.size(); ++i) {
      if (q_[i] == '"') {
        if (const auto end = quote_end(i)) i = *end;
      } else if (const auto end =
                     q_[i] == '/' && begins_token(i) ? pattern_end(i, q_.size()) : std::nullopt) {
        i = *end;
      } else if (q_[i] == '(') {
        const bool after_group = !open.empty() && open.back() + 1 == i && groups.back();
        open.push_back(i);
        groups.push_back(begins_token(i) || after_group);
      } else if (q_[i] == ')' && !open.empty()) {
        if (groups.back()) close_[open.back()] = i;
        open.pop_back();
        groups.pop_back();
      }
    }
  }

  /// Whether a group or pattern may begin here: after white space, a minus, `(` or an operator.
  bool begins_token(std::size_t at) const {
    if (at == 0 || is_query_space(q_[at - 1]) || q_[at - 1] == '-') return true;
    if (q_[at - 1] == '(') return q_[at] == '/';
    if (q_[at - 1] != ':') return false;
    const auto before = q_.substr(0, at);
    for (const auto name : kGroupOperators) {
      if (before.size() < name.size() || to_lower(before.substr(at - name.size())) != name)
        continue;
      const auto start = at - name.size();
      if (start == 0 || is_query_space(q_[start - 1]) || q_[start - 1] == '(' ||
          q_[start - 1] == '-')
        return true;
    }
    return false;
  }

  /// Index of the slash that ends the pattern at `from`: not escaped, and the end of its token.
  std::optional<std::size_t> pattern_end(std::size_t from, std::size_t end) const {
    for (auto i = from + 1; i < end; ++i) {
      if (q_[i] == '\\' && i + 1 < end)
        ++i;
      else if (q_[i] == '/' && i > from + 1 &&
               (i + 1 == end || is_query_space(q_[i + 1]) || q_[i + 1] == ')'))
        return i;
    }
    return std::nullopt;
  }

  /// Reads `/…/` at the place; nullptr, and nothing read, when it is none.
  std::shared_ptr<const Regex> parse_pattern(std::size_t end) {
    if (at_ >= end || q_[at_] != '/') return nullptr;
    const auto close = pattern_end(at_, end);
    if (!close) return nullptr;
    auto pattern = Regex::compile(replace_all(q_.substr(at_ + 1, *close - at_ - 1), "\\/", "/"));
    if (pattern)
      at_ = *close + 1;
    else
      has_bad_pattern_ = true;
    return pattern;
  }

  /// Index of the quote that closes the one at `from`; `\"` does not.
  std::optional<std::size_t> quote_end(std::size_t from) const {
    for (std::size_t i = from + 1; i < q_.size(); ++i) {
      if (q_[i] == '\\' && i + 1 < q_.size())
        ++i;
      else if (q_[i] == '"')
        return i;
    }
    return std::nullopt;
  }

  std::string unquote(std::size_t from, std::size_t to) const {
    std::string text;
    for (std::size_t i = from; i < to; ++i) {
      if (q_[i] == '\\' && i + 1 < to && (q_[i + 1] == '"' || q_[i + 1] == '\\')) ++i;
      text += q_[i];
    }
    return text;
  }

  void skip_spaces(std::size_t end) {
    while (at_ < end && is_query_space(q_[at_])) ++at_;
  }

  bool at_or(std::size_t end) const {
    return at_ + 2 < end && q_.substr(at_, 2) == "OR" && is_query_space(q_[at_ + 2]);
  }

  QueryNode parse_or(std::size_t end, int depth) {
    std::vector<QueryNode> choices;
    choices.push_back(parse_and(end, depth));
    while (at_or(end) && !choices.back().children.empty()) {
      const auto before = at_;
      at_ += 2;
      auto next = parse_and(end, depth);
      if (next.children.empty()) {  // nothing follows: the word `or`
        at_ = std::max(at_, before + 2);
        add_text(choices.back(), text_of_word("OR", false));
        break;
      }
      choices.push_back(std::move(next));
    }
    if (choices.size() == 1) return std::move(choices.front());
    QueryNode node;
    node.kind = Kind::Or;
    node.children = std::move(choices);
    return node;
  }

  QueryNode parse_and(std::size_t end, int depth) {
    QueryNode node;
    for (skip_spaces(end); at_ < end; skip_spaces(end)) {
      if (at_or(end) && !node.children.empty()) break;
      parse_one(node, end, depth);
    }
    return node;
  }

  void add_text(QueryNode& into, QueryText text) {
    if (text.words.empty() && text.exact.empty()) return;
    QueryNode node;
    node.kind = Kind::Text;
    node.text = std::move(text);
    add(into, std::move(node));
  }

  void add(QueryNode& into, QueryNode node) {
    ++terms_;
    into.children.push_back(std::move(node));
  }

  void parse_one(QueryNode& into, std::size_t end, int depth) {
    const char c = q_[at_];
    if (c == '-' && at_ + 1 < end && !is_query_space(q_[at_ + 1]) && q_[at_ + 1] != '-') {
      const auto minus = at_++;
      QueryNode inner;
      parse_one(inner, end, depth);
      if (inner.children.empty()) return;
      if (inner.children.front().kind == Kind::Text &&
          inner.children.front().text.words.empty()) {  // `->` is literal
        at_ = minus;
        return parse_word(into, end);
      }
      QueryNode node;
      node.kind = Kind::Not;
      node.children = std::move(inner.children);
      into.children.push_back(std::move(node));
    } else if (c == '(' && close_[at_] != std::string_view::npos && close_[at_] < end) {
      parse_group(into, depth);
    } else if (c == '"' && quote_end(at_).value_or(end) < end) {
      const auto close = *quote_end(at_);
      add_text(into, text_of_phrase(unquote(at_ + 1, close)));
      at_ = close + 1;
    } else if (auto pattern = parse_pattern(end)) {
      QueryNode node;
      node.kind = Kind::Pattern;
      node.pattern = std::move(pattern);
      add(into, std::move(node));
    } else if (!(c == '[' && piece_depth_ == 0 && parse_property(into, end)) &&
               !parse_operator(into, end) && !parse_group_operator(into, end, depth)) {
      parse_word(into, end);
    }
  }

  void parse_group(QueryNode& into, int depth) {
    const auto close = close_[at_];
    ++at_;
    if (depth >= kMaxQueryDepth)
      return;  // deeper groups are read as if their parentheses were not there
    auto inner = parse_or(close, depth + 1);
    at_ = close + 1;
    if (inner.kind == Kind::And && inner.children.empty()) return;
    into.children.push_back(inner.kind == Kind::And && inner.children.size() == 1
                                ? std::move(inner.children.front())
                                : std::move(inner));
  }

  /// A value after `tag:` and the like: quoted, or up to white space or the end of the group.
  std::optional<std::string> parse_value(std::size_t end) {
    if (at_ < end && q_[at_] == '"') {
      const auto close = quote_end(at_).value_or(end);
      if (close < end) {
        auto value = unquote(at_ + 1, close);
        at_ = close + 1;
        return value;
      }
    }
    const auto begin = at_;
    while (at_ < end && !is_query_space(q_[at_])) ++at_;
    return at_ == begin ? std::nullopt : std::optional(std::string(q_.substr(begin, at_ - begin)));
  }

  /// `line:` and the like. Inside a piece of a note only tags, texts and patterns have a meaning;
  /// other operators are literal there.
  bool parse_group_operator(QueryNode& into, std::size_t end, int depth) {
    if (depth >= kMaxQueryDepth) return false;
    for (const auto name : kGroupOperators) {
      if (to_lower(q_.substr(at_, name.size())) != name) continue;
      const auto before = at_;
      at_ += name.size();
      const bool is_piece = name != "content:" && name != "match-case:" && name != "ignore-case:";
      const bool is_task = name.starts_with("task");
      const bool is_empty_phrase = is_task && at_ < end && q_.substr(at_, 2) == "\"\"";
      QueryNode inner;
      if (is_empty_phrase) {
        at_ += 2;
      } else if (at_ < end && !is_query_space(q_[at_])) {
        piece_depth_ += is_piece ? 1 : 0;
        parse_one(inner, end, depth + 1);
        piece_depth_ -= is_piece ? 1 : 0;
      }
      if (inner.children.empty() && !is_empty_phrase) {
        at_ = before;
        return false;
      }
      add_group(into, name, std::move(inner));
      return true;
    }
    return false;
  }

  void add_group(QueryNode& into, std::string_view name, QueryNode inner) {
    if (inner.children.size() == 1 && inner.children.front().kind == Kind::And) {
      auto children = std::move(inner.children.front().children);
      inner.children = std::move(children);
    }
    if (name == "content:") for_each_text(inner, [](QueryText& t) { t.is_body_only = true; });
    if (name == "match-case:") for_each_text(inner, [](QueryText& t) { t.has_case = true; });
    if (name == "ignore-case:") for_each_text(inner, [](QueryText& t) { t.has_case = false; });
    if (name == "line:") inner.kind = Kind::Line;
    if (name == "block:") inner.kind = Kind::Block;
    if (name == "section:") inner.kind = Kind::Section;
    if (name.starts_with("task")) inner.kind = Kind::Task;
    if (name == "task-todo:") inner.tasks = TaskState::Todo;
    if (name == "task-done:") inner.tasks = TaskState::Done;
    if (inner.kind == Kind::And && inner.children.size() == 1) {
      into.children.push_back(std::move(inner.children.front()));
      return;
    }
    into.children.push_back(std::move(inner));
  }

  template <typename Change>
  static void for_each_text(QueryNode& node, Change change) {
    if (node.kind == Kind::Text) change(node.text);
    for (auto& child : node.children) for_each_text(child, change);
  }

  bool parse_operator(QueryNode& into, std::size_t end) {
    static constexpr std::pair<std::string_view, Kind> kOperators[] = {
        {"tag:", Kind::Tag}, {"path:", Kind::Path}, {"file:", Kind::File}};
    for (const auto& [name, kind] : kOperators) {
      if (to_lower(q_.substr(at_, name.size())) != name) continue;
      if (piece_depth_ > 0 && kind != Kind::Tag) continue;
      const auto before = at_;
      at_ += name.size();
      if (auto pattern = kind == Kind::Tag ? nullptr : parse_pattern(end)) {
        QueryNode node;
        node.kind = kind;
        node.pattern = std::move(pattern);
        add(into, std::move(node));
        return true;
      }
      const auto value = at_ <= end ? parse_value(end) : std::nullopt;
      const auto folded = value ? fold_for_search(trim(*value)) : std::string();
      if (folded.empty() || folded == "#") {
        at_ = before;
        return false;
      }
      QueryNode node;
      node.kind = kind;
      node.value = kind == Kind::Tag ? std::string(trim(*value)) : folded;
      add(into, std::move(node));
      return true;
    }
    return false;
  }

  bool parse_property(QueryNode& into, std::size_t end) {
    auto i = at_ + 1;
    std::optional<std::size_t> colon;
    while (i < end && q_[i] != ']') {
      if (q_[i] == '"') {
        const auto close = quote_end(i).value_or(end);
        if (close >= end) return false;
        i = close;
      } else if (q_[i] == ':' && !colon) {
        colon = i;
      }
      ++i;
    }
    if (i >= end) return false;
    const auto part = [&](std::size_t from, std::size_t to) {
      auto text = trim(q_.substr(from, to - from));
      if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        const auto begin = static_cast<std::size_t>(text.data() - q_.data());
        return unquote(begin + 1, begin + text.size() - 1);
      }
      return std::string(text);
    };
    QueryNode node;
    node.kind = Kind::Property;
    node.name = fold_case(part(at_ + 1, colon.value_or(i)));
    node.has_value = colon.has_value();
    if (colon) {
      auto value = part(*colon + 1, i);
      static constexpr std::pair<std::string_view, QueryNode::Compare> kMarks[] = {
          {"<=", QueryNode::Compare::LessOrEqual},
          {">=", QueryNode::Compare::GreaterOrEqual},
          {"<", QueryNode::Compare::Less},
          {">", QueryNode::Compare::Greater}};
      for (const auto& [mark, compare] : kMarks) {
        if (!value.starts_with(mark) || trim(value).size() == mark.size()) continue;
        value = std::string(trim(std::string_view(value).substr(mark.size())));
        node.compare = compare;
        break;
      }
      node.value = fold_for_search(value);
    }
    if (node.name.empty() || node.name.find('[') != std::string::npos ||
        (colon && node.value.empty()))
      return false;
    at_ = i + 1;
    add(into, std::move(node));
    return true;
  }

  void parse_word(QueryNode& into, std::size_t end) {
    const auto begin = at_;
    while (at_ < end && !is_query_space(q_[at_])) ++at_;
    auto word = q_.substr(begin, at_ - begin);
    const bool is_prefix = word.size() > 1 && word.ends_with('*');
    if (is_prefix) word.remove_suffix(1);
    // Only a star directly after a letter or digit is one: `c*(` and `a+*` are literal.
    add_text(into, text_of_word(word, is_prefix && ends_in_word(word)));
  }

  std::string_view q_;
  std::size_t at_ = 0, terms_ = 0;
  bool has_bad_pattern_ = false;
  int piece_depth_ = 0;             ///< inside `line:` and the like
  std::vector<std::size_t> close_;  ///< for each `(` that opens a group: its `)`
};

bool is_literal(const QueryNode& node) {
  return node.kind == QueryNode::Kind::Text && node.text.words.empty();
}

bool has_words(const QueryNode& node) {
  if (node.kind == QueryNode::Kind::Text) return !node.text.words.empty();
  if (node.kind == QueryNode::Kind::Not) return false;
  return std::any_of(node.children.begin(), node.children.end(), has_words);
}

/// `cats & dogs` asks for both animals: lone punctuation counts only when nothing else is asked
/// for.
void drop_literals(QueryNode& node) {
  for (auto& child : node.children) drop_literals(child);
  std::erase_if(node.children, [](const QueryNode& child) {
    const bool is_empty =
        child.children.empty() &&
        (child.kind == QueryNode::Kind::And || child.kind == QueryNode::Kind::Or ||
         child.kind == QueryNode::Kind::Not ||
         (is_piece(child) && child.kind != QueryNode::Kind::Task));
    return is_empty || is_literal(child);  // a task without words stands for any task
  });
}

}  // namespace

Result<QueryNode> parse_query(std::string_view q, bool* has_bad_pattern) {
  if (trim(q).empty())
    return invalid("The query is empty; give at least one word.", {{"field", "q"}});
  if (q.size() > kMaxQueryBytes)
    return invalid(cat("The query is longer than ", kMaxQueryBytes, " bytes; shorten it."),
                   {{"field", "q"}});
  const std::string clean = is_valid_utf8(q) ? std::string(q) : replace_invalid_utf8(q);
  QueryParser parser(clean);
  auto node = parser.parse();
  if (has_bad_pattern != nullptr) *has_bad_pattern = parser.has_bad_pattern();
  if (parser.terms() > kMaxQueryTerms)
    return invalid(cat("The query has more than ", kMaxQueryTerms, " terms; shorten it."),
                   {{"field", "q"}});
  if (has_words(node)) drop_literals(node);
  if (node.children.empty()) {  // `()` and the like: literal text
    QueryNode literal;
    literal.kind = QueryNode::Kind::Text;
    literal.text.exact.push_back(fold_for_search(trim(clean)));
    node.children.push_back(std::move(literal));
  }
  return node;
}

bool has_text(const QueryNode& node) {
  if (node.kind == QueryNode::Kind::Text) return true;
  if (node.kind == QueryNode::Kind::Not || is_piece(node)) return false;
  return std::any_of(node.children.begin(), node.children.end(), has_text);
}

bool asks_only_names(const QueryNode& node) {
  using Kind = QueryNode::Kind;
  if (node.kind == Kind::Path || node.kind == Kind::File) return true;
  if (node.kind != Kind::And && node.kind != Kind::Or) return false;
  const auto is_asked = [](const QueryNode& child) { return child.kind != Kind::Not; };
  return std::any_of(node.children.begin(), node.children.end(), is_asked) &&
         std::all_of(node.children.begin(), node.children.end(), [&](const QueryNode& child) {
           return !is_asked(child) || asks_only_names(child);
         });
}

bool is_piece(const QueryNode& node) {
  return node.kind == QueryNode::Kind::Line || node.kind == QueryNode::Kind::Block ||
         node.kind == QueryNode::Kind::Section || node.kind == QueryNode::Kind::Task;
}

void collect_texts(const QueryNode& node, std::vector<const QueryText*>& out) {
  if (node.kind == QueryNode::Kind::Text) out.push_back(&node.text);
  if (node.kind == QueryNode::Kind::Not) return;
  for (const auto& child : node.children) collect_texts(child, out);
}

std::string fts_phrase(const QueryText& text) {
  return cat(text.is_body_only ? "body : \"" : "\"", join(text.words, " "),
             text.is_prefix ? "\"*" : "\"");
}

}  // namespace indx
