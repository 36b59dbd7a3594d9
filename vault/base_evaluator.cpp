#include "vault/base_evaluator.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_functions.hpp"

#include <cmath>

namespace indx {
namespace {

using ValueType = BaseValue::Type;
using ExpressionKind = BaseNode::Kind;

BaseValue number_or_error(double number) {
  if (!std::isfinite(number)) return BaseValue::error("The result is no finite number.");
  return number;
}

bool is_time(const BaseValue& value) { return value.is(ValueType::Date); }

/// A text, or what becomes one when a text is added.
bool joins_as_text(const BaseValue& value) {
  return value.is(ValueType::Text) || value.is(ValueType::Link) || value.is(ValueType::File) ||
         value.is(ValueType::Markup);
}

}  // namespace

BaseColumn BaseColumn::parse(std::string_view written) {
  BaseColumn column;
  column.id = written;
  const auto after = [&](std::string_view prefix) {
    if (!written.starts_with(prefix)) return false;
    column.name = written.substr(prefix.size());
    return !column.name.empty();
  };
  if (after("file."))
    column.kind = Kind::File;
  else if (after("formula."))
    column.kind = Kind::Formula;
  else if (!after("note."))
    column.name = written;
  return column;
}

BaseEvaluator::BaseEvaluator(const BaseEnvironment& environment)
    : environment_(environment), random_(environment.seed) {}

void BaseEvaluator::set_row(std::size_t row) {
  row_ = row;
  formulas_done_.clear();
}

void BaseEvaluator::reset() {
  steps_ = 0;
  depth_ = 0;
  bindings_.clear();
  formulas_running_.clear();
}

bool BaseEvaluator::charge(std::size_t steps) {
  total_steps_ += steps;
  steps_ += steps;
  return steps_ <= kMaxBaseSteps;
}

BaseValue BaseEvaluator::evaluate(const BaseNode& node) {
  reset();
  return run(node);
}

BaseValue BaseEvaluator::evaluate(const BaseColumn& column) {
  reset();
  charge(1);
  if (column.kind == BaseColumn::Kind::Note) return property(row_, column.name);
  if (column.kind == BaseColumn::Kind::File) return file_field(row_, column.name);
  return formula(column.name);
}

BaseValue BaseEvaluator::evaluate_summary(const BaseNode& node, BaseValue values) {
  reset();
  bindings_.emplace_back("values", std::move(values));
  return run(node);
}

double BaseEvaluator::random() { return std::generate_canonical<double, 53>(random_); }

BaseValue BaseEvaluator::run_with(const BaseNode& body, Bindings bindings) {
  const auto kept = bindings_.size();
  for (auto& binding : bindings) bindings_.push_back(std::move(binding));
  auto value = run(body);
  bindings_.resize(kept);
  return value;
}

const BaseValue* BaseEvaluator::binding(std::string_view name) const {
  for (auto it = bindings_.rbegin(); it != bindings_.rend(); ++it)
    if (it->first == name) return &it->second;
  return nullptr;
}

BaseValue BaseEvaluator::run(const BaseNode& node) {
  if (!charge(1)) return BaseValue::error("The expression does too much work.");
  if (depth_ >= kMaxBaseEvaluationDepth)
    return BaseValue::error("The expression is nested too deeply.");
  ++depth_;
  BaseValue value;
  switch (node.kind) {
    case ExpressionKind::Null:
      break;
    case ExpressionKind::Boolean:
      value = node.number != 0;
      break;
    case ExpressionKind::Number:
      value = node.number;
      break;
    case ExpressionKind::Text:
      charge_text(node.text.size());
      value = node.text;
      break;
    case ExpressionKind::Regexp:
      value = *node.regexp;
      break;
    case ExpressionKind::List: {
      BaseList list;
      for (const auto& child : node.children) list.items.push_back(run(child));
      for (const auto& item : list.items)
        if (item.is_error()) {
          value = item;
          break;
        }
      if (!value.is_error()) value = std::move(list);
      break;
    }
    case ExpressionKind::Object: {
      BaseObject object;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        object.fields.emplace_back(node.keys[i], run(node.children[i]));
        if (object.fields.back().second.is_error()) value = object.fields.back().second;
      }
      if (!value.is_error()) value = std::move(object);
      break;
    }
    case ExpressionKind::Name:
      value = run_name(node);
      break;
    case ExpressionKind::Unary:
      value = run_unary(node);
      break;
    case ExpressionKind::Binary:
      value = run_binary(node);
      break;
    case ExpressionKind::Member: {
      bool is_done = false;
      value = run_member(node.children[0], node.text, &is_done);
      if (!is_done) value = field(run(node.children[0]), node.text);
      break;
    }
    case ExpressionKind::Index:
      value = run_index(node);
      break;
    case ExpressionKind::Call:
      value = call_base_function(*this, node);
      break;
  }
  --depth_;
  return value;
}

BaseValue BaseEvaluator::run_name(const BaseNode& node) {
  if (const auto* bound = binding(node.text)) return *bound;
  if (node.text == "file") return BaseFile{row_};
  if (node.text == "note") return all_properties(row_);
  if (node.text == "this")
    return environment_.this_row ? BaseValue(BaseFile{*environment_.this_row}) : BaseValue();
  if (node.text == "formula") return BaseValue::error("`formula` needs the name of a formula.");
  return property(row_, node.text);
}

/// Fields of the words that are no values of their own.
BaseValue BaseEvaluator::run_member(const BaseNode& object, std::string_view name, bool* is_done) {
  if (object.kind != ExpressionKind::Name || binding(object.text) != nullptr) return {};
  *is_done = true;
  if (object.text == "note") return property(row_, name);
  if (object.text == "formula") return formula(name);
  if (object.text == "this") {
    if (!environment_.this_row) return {};
    if (name == "file") return BaseFile{*environment_.this_row};
    if (name == "note") return all_properties(*environment_.this_row);
    return property(*environment_.this_row, name);
  }
  *is_done = false;
  return {};
}

BaseValue BaseEvaluator::run_index(const BaseNode& node) {
  auto key = run(node.children[1]);
  if (key.is_error()) return key;
  if (key.is(ValueType::Text)) {
    bool is_done = false;
    auto value = run_member(node.children[0], key.text(), &is_done);
    return is_done ? value : field(run(node.children[0]), key.text());
  }
  auto object = run(node.children[0]);
  if (object.is_error() || object.is(ValueType::Null)) return object;
  if (!key.is(ValueType::Number))
    return BaseValue::error(cat("A ", key.type_name(), " is no index."));
  const double index = key.number();
  if (object.is(ValueType::List)) {
    const auto& items = object.list().items;
    if (index < 0 || index >= static_cast<double>(items.size()) || std::trunc(index) != index)
      return {};
    return items[static_cast<std::size_t>(index)];
  }
  if (object.is(ValueType::Text)) {
    const auto& text = object.text();
    if (!charge_text(text.size()) || index < 0) return {};
    double at = 0;
    for (std::size_t i = 0; i < text.size(); ++at) {
      const auto length = decode_at(text, i).length;
      if (at == index) return text.substr(i, length);
      i += length;
    }
    return {};
  }
  return BaseValue::error(cat("A ", object.type_name(), " has no items."));
}

BaseValue BaseEvaluator::run_unary(const BaseNode& node) {
  auto value = run(node.children[0]);
  if (value.is_error()) return value;
  if (node.text == "!") return !value.is_truthy();
  if (value.is(ValueType::Duration))
    return BaseDuration{-value.duration().months, -value.duration().millis};
  const auto number = base_number_of(value);
  if (!number) return BaseValue::error(cat("A ", value.type_name(), " cannot be negated."));
  return -*number;
}

BaseValue BaseEvaluator::run_binary(const BaseNode& node) {
  const auto& op = node.text;
  auto a = run(node.children[0]);
  if (a.is_error()) return a;
  if (op == "&&") return a.is_truthy() ? run(node.children[1]) : a;
  if (op == "||") return a.is_truthy() ? a : run(node.children[1]);
  auto b = run(node.children[1]);
  if (b.is_error()) return b;
  if (op == "==") return equals(a, b);
  if (op == "!=") return !equals(a, b);
  if (op == "+") return add_values(a, b);
  if (op == "-") return subtract_values(a, b);
  if (op == "*" || op == "/" || op == "%") return scale_values(op[0], a, b);
  const auto order = compare(a, b);
  if (!order) return false;
  if (op == "<") return *order < 0;
  if (op == ">") return *order > 0;
  return op == "<=" ? *order <= 0 : *order >= 0;
}

BaseValue BaseEvaluator::add_values(const BaseValue& a, const BaseValue& b) {
  if (a.is(ValueType::List) || b.is(ValueType::List)) {
    BaseList list;
    for (const auto* part : {&a, &b}) {
      if (!part->is(ValueType::List)) {
        list.items.push_back(*part);
        continue;
      }
      if (!charge(part->list().items.size())) return BaseValue::error("The list becomes too long.");
      list.items.insert(list.items.end(), part->list().items.begin(), part->list().items.end());
    }
    return list;
  }
  for (const bool swapped : {false, true}) {
    const auto& date = swapped ? b : a;
    const auto& other = swapped ? a : b;
    if (!is_time(date) || is_time(other)) continue;
    std::optional<BaseDuration> duration;
    if (other.is(ValueType::Duration)) duration = other.duration();
    if (other.is(ValueType::Number)) duration = BaseDuration{0, other.number()};
    if (other.is(ValueType::Text) && !swapped) {
      duration = parse_base_duration(other.text());
      if (!duration) return BaseValue::error(cat("`", other.text(), "` is no duration."));
    }
    if (!duration) continue;
    const auto moved = add(date.date(), *duration, 1);
    return moved ? BaseValue(*moved) : BaseValue::error("The date is out of range.");
  }
  if (joins_as_text(a) || joins_as_text(b)) {
    auto text = to_text(a) + to_text(b);
    if (!charge_text(text.size())) return BaseValue::error("The text becomes too long.");
    return text;
  }
  if (a.is(ValueType::Duration) && b.is(ValueType::Duration))
    return BaseDuration{a.duration().months + b.duration().months,
                        a.duration().millis + b.duration().millis};
  const auto left = base_number_of(a), right = base_number_of(b);
  if (!left || !right || (is_time(a) && is_time(b)))
    return BaseValue::error(
        cat("A ", a.type_name(), " and a ", b.type_name(), " cannot be added."));
  return number_or_error(*left + *right);
}

BaseValue BaseEvaluator::subtract_values(const BaseValue& a, const BaseValue& b) {
  if (is_time(a)) {
    std::optional<BaseDuration> duration;
    std::optional<BaseDate> other;
    if (is_time(b)) other = b.date();
    if (b.is(ValueType::Text)) {
      duration = parse_base_duration(b.text());
      if (!duration) other = parse_base_date(b.text(), environment_.clock);
      if (!duration && !other)
        return BaseValue::error(cat("`", b.text(), "` is no duration and no date."));
    }
    if (b.is(ValueType::Duration)) duration = b.duration();
    if (b.is(ValueType::Number)) duration = BaseDuration{0, b.number()};
    if (other) return BaseDuration{0, static_cast<double>(a.date().millis - other->millis)};
    if (duration) {
      const auto moved = add(a.date(), *duration, -1);
      return moved ? BaseValue(*moved) : BaseValue::error("The date is out of range.");
    }
  }
  if (a.is(ValueType::Duration) && b.is(ValueType::Duration))
    return BaseDuration{a.duration().months - b.duration().months,
                        a.duration().millis - b.duration().millis};
  const auto left = base_number_of(a), right = base_number_of(b);
  if (!left || !right || is_time(a) || is_time(b))
    return BaseValue::error(
        cat("A ", b.type_name(), " cannot be taken from a ", a.type_name(), "."));
  return number_or_error(*left - *right);
}

BaseValue BaseEvaluator::scale_values(char op, const BaseValue& a, const BaseValue& b) {
  const auto left = base_number_of(a), right = base_number_of(b);
  if (!left || !right || is_time(a) || is_time(b))
    return BaseValue::error(
        cat("`", op, "` does not work on a ", a.type_name(), " and a ", b.type_name(), "."));
  const bool is_by_zero = op != '*' && *right == 0;
  if (is_by_zero) return BaseValue::error("Division by zero.");
  const bool a_lasts = a.is(ValueType::Duration), b_lasts = b.is(ValueType::Duration);
  if (a_lasts != b_lasts && op != '%' && (a_lasts || op == '*')) {
    const double factor = op == '*' ? (a_lasts ? *right : *left) : 1 / *right;
    return number_or_error((a_lasts ? *left : *right) * factor).is_error()
               ? BaseValue::error("The duration is out of range.")
               : BaseValue(BaseDuration{0, (a_lasts ? *left : *right) * factor});
  }
  if (op == '*') return number_or_error(*left * *right);
  if (op == '/') return number_or_error(*left / *right);
  return number_or_error(std::fmod(*left, *right));
}

BaseValue BaseEvaluator::formula(std::string_view name) {
  const auto key = fold_case(name);
  const auto it = environment_.formulas.find(key);
  if (it == environment_.formulas.end())
    return BaseValue::error(cat("There is no formula `", name, "`."));
  if (!it->second.has_value())
    return BaseValue::error(
        cat("The formula `", name, "` cannot be read: ", it->second.error().message));
  if (const auto done = formulas_done_.find(key); done != formulas_done_.end()) return done->second;
  if (!formulas_running_.insert(key).second)
    return BaseValue::error(cat("The formula `", name, "` uses itself."));
  auto kept = std::exchange(bindings_, {});
  auto value = run(*it->second);
  bindings_ = std::move(kept);
  formulas_running_.erase(key);
  // Inside of another formula a value may hold an error of the cycle that is only its caller's.
  if (formulas_running_.empty()) formulas_done_.emplace(key, value);
  return value;
}

BaseValue BaseEvaluator::property(std::size_t row, std::string_view name) {
  charge(files().row(row).properties.size() / 256 + 1);
  const auto value = files().property(row, name);
  if (!value) return {};
  const bool is_tags = value->is_array() && fold_case(name) == "tags";
  return base_value_of(*value, files().row(row).path, is_tags);
}

BaseValue BaseEvaluator::all_properties(std::size_t row) {
  const auto properties = files().properties(row);
  charge(files().row(row).properties.size() / 64 + 1);
  return base_value_of(*properties, files().row(row).path);
}

BaseValue BaseEvaluator::field(const BaseValue& value, std::string_view name) {
  switch (value.type()) {
    case ValueType::Null:
    case ValueType::Error:
      return value;
    case ValueType::Text:
      if (name == "length") {
        charge_text(value.text().size());
        return static_cast<double>(count_code_points(value.text()));
      }
      break;
    case ValueType::List:
      if (name == "length") return static_cast<double>(value.list().items.size());
      break;
    case ValueType::Object: {
      const auto key = fold_case(name);
      if (!charge(value.object().fields.size())) return {};
      for (const auto& [own, item] : value.object().fields)
        if (own == name) return item;
      for (const auto& [own, item] : value.object().fields)
        if (fold_case(own) == key) return item;
      return {};
    }
    case ValueType::File:
      return file_field(value.file().row, name);
    case ValueType::Date: {
      const auto time = wall_time(value.date());
      if (name == "year") return static_cast<double>(static_cast<int>(time.date.year()));
      if (name == "month") return static_cast<double>(static_cast<unsigned>(time.date.month()));
      if (name == "day") return static_cast<double>(static_cast<unsigned>(time.date.day()));
      if (name == "hour") return static_cast<double>(time.hour);
      if (name == "minute") return static_cast<double>(time.minute);
      if (name == "second") return static_cast<double>(time.second);
      if (name == "millisecond") return static_cast<double>(time.millisecond);
      break;
    }
    case ValueType::Duration: {
      const double millis = value.duration().total_millis();
      if (name == "days") return millis / 86'400'000;
      if (name == "hours") return millis / 3'600'000;
      if (name == "minutes") return millis / 60'000;
      if (name == "seconds") return millis / 1000;
      if (name == "milliseconds") return millis;
      break;
    }
    default:
      break;
  }
  return BaseValue::error(cat("A ", value.type_name(), " has no field `", name, "`."));
}

}  // namespace indx
