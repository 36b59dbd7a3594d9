#include "vault/base_functions.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace indx {
namespace {

using CallType = BaseValue::Type;

const BaseFunction* find_function(const BaseFunctionTable& table, std::string_view name) {
  for (const auto& function : table)
    if (function.name == name) return &function;
  return nullptr;
}

const BaseFunctionTable* methods_of(CallType type) {
  switch (type) {
    case CallType::Text:
      return &base_text_methods();
    case CallType::Number:
      return &base_number_methods();
    case CallType::List:
      return &base_list_methods();
    case CallType::Date:
      return &base_date_methods();
    case CallType::Link:
      return &base_link_methods();
    case CallType::File:
      return &base_file_methods();
    case CallType::Object:
      return &base_object_methods();
    case CallType::Regexp:
      return &base_regexp_methods();
    default:
      return nullptr;
  }
}

// ---- globals

BaseValue global_if(BaseCall& call) {
  const auto condition = call.evaluator.run(call.body(0));
  if (condition.is_error()) return condition;
  if (condition.is_truthy()) return call.evaluator.run(call.body(1));
  return call.node.children.size() > 2 ? call.evaluator.run(call.body(2)) : BaseValue();
}

BaseValue global_date(BaseCall& call) {
  const auto& value = call.arguments[0];
  if (value.is(CallType::Date) || value.is(CallType::Null)) return value;
  if (value.is(CallType::Number)) {
    if (std::abs(value.number()) > 2.5e14) return BaseValue::error("The date is out of range.");
    return call.evaluator.environment().clock.local(
        from_millis(static_cast<std::int64_t>(value.number())));
  }
  const auto text = call.text(0);
  const auto date = parse_base_date(text, call.evaluator.environment().clock);
  return date ? BaseValue(*date) : BaseValue::error(cat("`", text, "` is no date."));
}

BaseValue global_duration(BaseCall& call) {
  const auto& value = call.arguments[0];
  if (value.is(CallType::Duration) || value.is(CallType::Null)) return value;
  if (value.is(CallType::Number)) return BaseDuration{0, value.number()};
  const auto text = call.text(0);
  const auto duration = parse_base_duration(text);
  return duration ? BaseValue(*duration) : BaseValue::error(cat("`", text, "` is no duration."));
}

BaseValue global_escape_html(BaseCall& call) {
  std::string out;
  for (const char c : call.text(0)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  call.evaluator.charge_text(out.size());
  return out;
}

BaseValue global_file(BaseCall& call) {
  const auto row = call.evaluator.file_of(call.arguments[0]);
  return row ? BaseValue(BaseFile{*row}) : BaseValue();
}

BaseValue global_link(BaseCall& call) {
  const auto& value = call.arguments[0];
  const auto source = call.evaluator.source_path();
  if (value.is(CallType::Null)) return {};
  BaseLink link;
  if (value.is(CallType::Link)) {
    link = value.link();
  } else {
    const auto text = call.text(0);
    auto parsed = parse_base_link(text, source);
    link = parsed ? std::move(*parsed) : BaseLink{text, "", {}, source, false};
    if (const auto hash = link.target.find('#'); !parsed && hash != std::string::npos) {
      link.subpath = link.target.substr(hash + 1);
      link.target.resize(hash);
    }
    link.is_external = link.is_external || link.target.find("://") != std::string::npos;
  }
  if (call.has(1)) link.display = call.text(1);
  return link;
}

BaseValue global_list(BaseCall& call) {
  const auto& value = call.arguments[0];
  if (value.is(CallType::List)) return value;
  BaseList list;
  if (!value.is(CallType::Null)) list.items.push_back(value);
  return list;
}

BaseValue extreme_of(BaseCall& call, bool wants_greatest) {
  std::optional<double> best;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto number = call.number(i);
    if (!number || !call.arguments[i].is(CallType::Number))
      return BaseValue::error(cat("A ", call.arguments[i].type_name(), " is no number."));
    if (!best || (wants_greatest ? *number > *best : *number < *best)) best = number;
  }
  return best ? BaseValue(*best) : BaseValue();
}
BaseValue global_max(BaseCall& call) { return extreme_of(call, true); }
BaseValue global_min(BaseCall& call) { return extreme_of(call, false); }

BaseValue global_number(BaseCall& call) {
  const auto& value = call.arguments[0];
  if (value.is(CallType::Null)) return value;
  if (value.is(CallType::Date)) {  // back from the wall clock, so that `date(number(d))` is d
    const auto& clock = call.evaluator.environment().clock;
    const auto millis = value.date().millis;
    const auto offset = clock.utc_offset ? clock.utc_offset(from_millis(millis)).count() : 0;
    return static_cast<double>(millis - offset * 1000);
  }
  const auto number = call.number(0);
  if (!number)
    return BaseValue::error(value.is(CallType::Text)
                                ? cat("`", value.text(), "` is no number.")
                                : cat("A ", value.type_name(), " is no number."));
  return *number;
}

BaseValue global_now(BaseCall& call) {
  const auto& clock = call.evaluator.environment().clock;
  return clock.local(clock.now);
}
BaseValue global_today(BaseCall& call) {
  const auto& clock = call.evaluator.environment().clock;
  return midnight_of(clock.local(clock.now));
}
BaseValue global_random(BaseCall& call) { return call.evaluator.random(); }
BaseValue global_html(BaseCall& call) { return BaseMarkup{"html", call.text(0)}; }
BaseValue global_image(BaseCall& call) { return BaseMarkup{"image", call.text(0)}; }
BaseValue global_icon(BaseCall& call) { return BaseMarkup{"icon", call.text(0)}; }

// ---- of any type

BaseValue any_is_truthy(BaseCall& call) { return call.self.is_truthy(); }
BaseValue any_is_type(BaseCall& call) {
  const auto wanted = to_lower(call.text(0));
  return call.self.type_name() == wanted || (wanted == "text" && call.self.is(CallType::Text));
}
BaseValue any_to_string(BaseCall& call) { return call.evaluator.to_text(call.self); }
BaseValue any_is_empty(BaseCall& call) { return call.self.is_empty(); }

constexpr std::size_t kManyArguments = 1000;

}  // namespace

const BaseFunctionTable& base_globals() {
  static const BaseFunctionTable table = {
      {"date", 1, 1, false, global_date},
      {"duration", 1, 1, false, global_duration},
      {"escapeHTML", 1, 1, false, global_escape_html},
      {"file", 1, 1, false, global_file},
      {"html", 1, 1, false, global_html},
      {"icon", 1, 1, false, global_icon},
      {"if", 2, 3, true, global_if},
      {"image", 1, 1, false, global_image},
      {"link", 1, 2, false, global_link},
      {"list", 1, 1, false, global_list},
      {"max", 1, kManyArguments, false, global_max},
      {"min", 1, kManyArguments, false, global_min},
      {"now", 0, 0, false, global_now},
      {"number", 1, 1, false, global_number},
      {"random", 0, 0, false, global_random},
      {"today", 0, 0, false, global_today},
  };
  return table;
}

const BaseFunctionTable& base_any_methods() {
  static const BaseFunctionTable table = {
      {"isEmpty", 0, 0, false, any_is_empty},
      {"isTruthy", 0, 0, false, any_is_truthy},
      {"isType", 1, 1, false, any_is_type},
      {"toString", 0, 0, false, any_to_string},
  };
  return table;
}

bool is_base_function(std::string_view name) {
  return find_function(base_globals(), name) != nullptr;
}

bool is_base_method(std::string_view name) {
  if (find_function(base_any_methods(), name) != nullptr) return true;
  for (const auto type : {CallType::Text, CallType::Number, CallType::List, CallType::Date,
                          CallType::Link, CallType::File, CallType::Object, CallType::Regexp})
    if (find_function(*methods_of(type), name) != nullptr) return true;
  return false;
}

BaseValue call_base_function(BaseEvaluator& evaluator, const BaseNode& node) {
  BaseCall call{evaluator, node, {}, {}};
  const BaseFunction* function = nullptr;
  if (node.is_method) {
    call.self = evaluator.run(node.children[0]);
    if (call.self.is_error()) return call.self;
    if (const auto* table = methods_of(call.self.type()))
      function = find_function(*table, node.text);
    if (function == nullptr) function = find_function(base_any_methods(), node.text);
    if (function == nullptr)
      return BaseValue::error(
          cat("A ", call.self.type_name(), " has no function `", node.text, "`."));
  } else {
    function = find_function(base_globals(), node.text);
    if (function == nullptr)
      return BaseValue::error(cat("There is no function `", node.text, "`."));
  }
  const std::size_t first = node.is_method ? 1 : 0;
  const auto given = node.children.size() - first;
  if (given < function->min_arguments || given > function->max_arguments)
    return BaseValue::error(cat("`", node.text, "` takes ", function->min_arguments,
                                function->max_arguments == function->min_arguments ? ""
                                : function->max_arguments == kManyArguments
                                    ? " or more"
                                    : cat(" to ", function->max_arguments),
                                " arguments, not ", given, "."));
  if (!function->is_lazy)
    for (std::size_t i = first; i < node.children.size(); ++i) {
      call.arguments.push_back(evaluator.run(node.children[i]));
      if (call.arguments.back().is_error()) return call.arguments.back();
    }
  auto value = function->run(call);
  return evaluator.charge(1) ? value : BaseValue::error("The expression does too much work.");
}

bool is_base_tag_match(std::string_view tag, std::string_view wanted) {
  const auto plain = [](std::string_view text) {
    text = trim(text);
    if (text.starts_with('#')) text.remove_prefix(1);
    return fold_case(text);
  };
  const auto own = plain(tag), asked = plain(wanted);
  return !asked.empty() && (own == asked || (own.size() > asked.size() && own.starts_with(asked) &&
                                             own[asked.size()] == '/'));
}

}  // namespace indx
