#include "base/text.hpp"
#include "vault/base_expression.hpp"
#include "vault/base_functions.hpp"
#include "vault/base_lexer.hpp"

#include <algorithm>
#include <charconv>

namespace indx {
namespace {

using NodeKind = BaseNode::Kind;
using TokenKind = BaseToken::Kind;

/// How tightly a binary operator binds; 0: none.
int precedence_of(std::string_view symbol) {
  if (symbol == "||") return 1;
  if (symbol == "&&") return 2;
  if (symbol == "==" || symbol == "!=") return 3;
  if (symbol == "<" || symbol == ">" || symbol == "<=" || symbol == ">=") return 4;
  if (symbol == "+" || symbol == "-") return 5;
  if (symbol == "*" || symbol == "/" || symbol == "%") return 6;
  return 0;
}
constexpr int kUnaryPrecedence = 7, kPostfixPrecedence = 8;

class BaseParser {
 public:
  BaseParser(std::string_view source, std::vector<BaseToken> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  Result<BaseNode> run() {
    auto node = INDX_TRY(binary(1));
    if (token().kind != TokenKind::End) return unexpected();
    return node;
  }

 private:
  const BaseToken& token() const { return tokens_[next_]; }
  bool is_symbol(std::string_view symbol) const {
    return token().kind == TokenKind::Symbol && token().text == symbol;
  }
  bool take(std::string_view symbol) {
    if (!is_symbol(symbol)) return false;
    ++next_;
    return true;
  }
  Status expect(std::string_view symbol) {
    if (take(symbol)) return {};
    return base_syntax_error(source_, token().at, cat("Expected `", symbol, "` here."));
  }
  Error unexpected() const {
    if (token().kind == TokenKind::End)
      return base_syntax_error(source_, token().at, "The expression ends too early.");
    return base_syntax_error(source_, token().at, cat("Unexpected `", token().text, "`."));
  }
  /// Counts nesting, so that no input reaches the end of the stack, here or when it is evaluated.
  struct Nesting {
    explicit Nesting(int& depth) : depth_(++depth) {}
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth_;
  };
  Error too_deep() const {
    return base_syntax_error(source_, token().at, "The expression is nested too deeply.");
  }

  /// The node once its children are complete.
  Result<BaseNode> finish(BaseNode node) const {
    for (const auto& child : node.children) node.height = std::max(node.height, child.height + 1);
    if (node.height > kMaxBaseHeight) return too_deep();
    return node;
  }

  static BaseNode make_node(NodeKind kind, const BaseToken& token) {
    BaseNode node;
    node.kind = kind;
    node.text = token.text;
    node.at = token.at;
    return node;
  }

  Result<BaseNode> binary(int lowest) {
    const Nesting nesting(depth_);
    if (depth_ > kMaxBaseDepth) return too_deep();
    auto left = INDX_TRY(unary());
    for (;;) {
      const int precedence = token().kind == TokenKind::Symbol ? precedence_of(token().text) : 0;
      if (precedence < lowest || precedence == 0) return left;
      auto node = make_node(NodeKind::Binary, tokens_[next_++]);
      node.children.push_back(std::move(left));
      node.children.push_back(INDX_TRY(binary(precedence + 1)));
      left = INDX_TRY(finish(std::move(node)));
    }
  }

  Result<BaseNode> unary() {
    if (!is_symbol("!") && !is_symbol("-")) return postfix();
    const Nesting nesting(depth_);
    if (depth_ > kMaxBaseDepth) return too_deep();
    auto node = make_node(NodeKind::Unary, tokens_[next_++]);
    node.children.push_back(INDX_TRY(unary()));
    return finish(std::move(node));
  }

  Result<BaseNode> postfix() {
    auto node = INDX_TRY(primary());
    for (;;) {
      if (is_symbol("(")) {
        node = INDX_TRY(call(std::move(node)));
      } else if (take(".")) {
        if (token().kind != TokenKind::Name) return unexpected();
        auto member = make_node(NodeKind::Member, tokens_[next_++]);
        member.children.push_back(std::move(node));
        node = INDX_TRY(finish(std::move(member)));
      } else if (is_symbol("[")) {
        auto index = make_node(NodeKind::Index, tokens_[next_++]);
        index.text.clear();
        index.children.push_back(std::move(node));
        index.children.push_back(INDX_TRY(binary(1)));
        INDX_TRY(expect("]"));
        node = INDX_TRY(finish(std::move(index)));
      } else {
        return node;
      }
    }
  }

  Result<BaseNode> call(BaseNode callee) {
    const auto open = token().at;
    INDX_TRY(expect("("));
    BaseNode node;
    node.kind = NodeKind::Call;
    node.text = callee.text;
    node.at = callee.at;
    if (callee.kind == NodeKind::Member) {
      node.is_method = true;
      node.children = std::move(callee.children);
      if (!is_base_method(node.text))
        return base_syntax_error(source_, node.at,
                                 cat("No type has a function `", node.text, "`."));
    } else if (callee.kind != NodeKind::Name) {
      return base_syntax_error(source_, open, "Only functions can be called.");
    } else if (!is_base_function(node.text)) {
      return base_syntax_error(source_, node.at, cat("There is no function `", node.text, "`."));
    }
    INDX_TRY(items(")", node.children));
    return finish(std::move(node));
  }

  /// Expressions with commas between, up to the closing symbol.
  Status items(std::string_view close, std::vector<BaseNode>& into) {
    while (!take(close)) {
      into.push_back(INDX_TRY(binary(1)));
      if (!is_symbol(close)) INDX_TRY(expect(","));
    }
    return {};
  }

  Result<BaseNode> primary() {
    const BaseToken current = token();
    switch (current.kind) {
      case TokenKind::End:
        return unexpected();
      case TokenKind::Number: {
        ++next_;
        auto node = make_node(NodeKind::Number, current);
        node.text.clear();
        node.number = current.number;
        return node;
      }
      case TokenKind::Text:
        ++next_;
        return make_node(NodeKind::Text, current);
      case TokenKind::Regexp: {
        ++next_;
        auto node = make_node(NodeKind::Regexp, current);
        node.flags = current.flags;
        auto regexp = BaseRegexp::compile(current.text, current.flags);
        if (!regexp.has_value())
          return base_syntax_error(source_, current.at, regexp.error().message);
        node.regexp = std::move(regexp).value();
        return node;
      }
      case TokenKind::Name:
        ++next_;
        return word(current);
      case TokenKind::Symbol:
        break;
    }
    if (take("(")) {
      auto node = INDX_TRY(binary(1));
      INDX_TRY(expect(")"));
      return node;
    }
    if (take("[")) {
      auto node = make_node(NodeKind::List, current);
      node.text.clear();
      INDX_TRY(items("]", node.children));
      return finish(std::move(node));
    }
    if (take("{")) return object(current);
    return unexpected();
  }

  static BaseNode word(const BaseToken& name) {
    auto node = make_node(NodeKind::Name, name);
    if (name.text == "null") node.kind = NodeKind::Null;
    if (name.text == "true" || name.text == "false") {
      node.kind = NodeKind::Boolean;
      node.number = name.text == "true" ? 1 : 0;
    }
    if (node.kind != NodeKind::Name) node.text.clear();
    return node;
  }

  Result<BaseNode> object(const BaseToken& open) {
    auto node = make_node(NodeKind::Object, open);
    node.text.clear();
    while (!take("}")) {
      if (token().kind != TokenKind::Name && token().kind != TokenKind::Text) return unexpected();
      node.keys.push_back(tokens_[next_++].text);
      INDX_TRY(expect(":"));
      node.children.push_back(INDX_TRY(binary(1)));
      if (!is_symbol("}")) INDX_TRY(expect(","));
    }
    return finish(std::move(node));
  }

  std::string_view source_;
  std::vector<BaseToken> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

// ---- printing

int precedence_of(const BaseNode& node) {
  if (node.kind == NodeKind::Binary) return precedence_of(node.text);
  return node.kind == NodeKind::Unary ? kUnaryPrecedence : kPostfixPrecedence;
}

void print_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  out += '"';
}

void print_node(std::string& out, const BaseNode& node);

void print_operand(std::string& out, const BaseNode& node, int lowest) {
  const bool is_looser = precedence_of(node) < lowest;
  if (is_looser) out += '(';
  print_node(out, node);
  if (is_looser) out += ')';
}

void print_items(std::string& out, const BaseNode& node, std::size_t first) {
  for (std::size_t i = first; i < node.children.size(); ++i) {
    if (i > first) out += ", ";
    if (node.kind == NodeKind::Object) {
      print_text(out, node.keys[i]);
      out += ": ";
    }
    print_node(out, node.children[i]);
  }
}

void print_node(std::string& out, const BaseNode& node) {
  switch (node.kind) {
    case NodeKind::Null:
      out += "null";
      break;
    case NodeKind::Boolean:
      out += node.number != 0 ? "true" : "false";
      break;
    case NodeKind::Number: {
      char digits[64];
      out.append(digits, std::to_chars(digits, digits + sizeof(digits), node.number).ptr);
      break;
    }
    case NodeKind::Text:
      print_text(out, node.text);
      break;
    case NodeKind::Regexp:
      ((out += '/') += node.text) += '/';
      out += node.flags;
      break;
    case NodeKind::List:
      print_items(out += '[', node, 0);
      out += ']';
      break;
    case NodeKind::Object:
      print_items(out += '{', node, 0);
      out += '}';
      break;
    case NodeKind::Name:
      out += node.text;
      break;
    case NodeKind::Unary:
      out += node.text;
      print_operand(out, node.children[0], kUnaryPrecedence);
      break;
    case NodeKind::Binary: {
      const int own = precedence_of(node.text);
      print_operand(out, node.children[0], own);
      ((out += ' ') += node.text) += ' ';
      print_operand(out, node.children[1], own + 1);
      break;
    }
    case NodeKind::Member:
      print_operand(out, node.children[0], kPostfixPrecedence);
      (out += '.') += node.text;
      break;
    case NodeKind::Index:
      print_operand(out, node.children[0], kPostfixPrecedence);
      print_node(out += '[', node.children[1]);
      out += ']';
      break;
    case NodeKind::Call:
      if (node.is_method) {
        print_operand(out, node.children[0], kPostfixPrecedence);
        out += '.';
      }
      print_items((out += node.text) += '(', node, node.is_method ? 1 : 0);
      out += ')';
      break;
  }
}

}  // namespace

bool BaseNode::operator==(const BaseNode& other) const {
  return kind == other.kind && is_method == other.is_method && number == other.number &&
         text == other.text && flags == other.flags && keys == other.keys &&
         children == other.children;
}

Result<BaseNode> parse_base_expression(std::string_view source) {
  return BaseParser(source, INDX_TRY(lex_base_expression(source))).run();
}

std::string print_base_expression(const BaseNode& node) {
  std::string out;
  print_node(out, node);
  return out;
}

}  // namespace indx
