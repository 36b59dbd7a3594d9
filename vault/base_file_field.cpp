#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_evaluator.hpp"

#include <set>

namespace indx {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
}
/// Without the dot; empty: none.
std::string_view extension_of(std::string_view path) {
  const auto name = file_name(path);
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
}

std::string base_name(std::string_view path) {
  const auto name = file_name(path);
  const auto extension = extension_of(path);
  return std::string(extension.empty() ? name : name.substr(0, name.size() - extension.size() - 1));
}

}  // namespace

BaseValue BaseEvaluator::file_field(std::size_t row, std::string_view name) {
  const auto& file = files().row(row);
  const auto links = [&](bool embeds_only) {
    BaseList list;
    charge(file.links.size());
    for (const auto& link : file.links)
      if (!link.is_external && (!embeds_only || link.kind == LinkKind::Embed))
        list.items.emplace_back(
            BaseLink{link.target, link.subpath, link.display, file.path, false});
    return list;
  };
  if (name == "name") return BaseValue::text(file_name(file.path));
  if (name == "basename") return base_name(file.path);
  if (name == "path") return file.path;
  if (name == "ext") return BaseValue::text(extension_of(file.path));
  if (name == "folder") {
    const auto slash = file.path.rfind('/');
    return slash == std::string::npos ? BaseValue::text("/")
                                      : BaseValue(file.path.substr(0, slash));
  }
  if (name == "size") return static_cast<double>(file.size);
  if (name == "mtime") return environment_.clock.local(from_millis(file.modified_ms));
  if (name == "ctime") {
    if (!file.created_ms) return {};
    return environment_.clock.local(from_millis(*file.created_ms));
  }
  if (name == "tags") {
    BaseList list;
    list.is_tags = true;
    charge(file.tags.size());
    for (const auto& tag : file.tags) list.items.emplace_back(tag);
    return list;
  }
  if (name == "links") return links(false);
  if (name == "embeds") return links(true);
  if (name == "backlinks") {
    BaseList list;
    charge(files().backlinks(row).size());
    for (const auto source : files().backlinks(row)) list.items.emplace_back(BaseFile{source});
    return list;
  }
  if (name == "properties") return all_properties(row);
  if (name == "file") return BaseFile{row};
  return BaseValue::error(cat("A file has no field `", name, "`."));
}

std::optional<std::size_t> BaseEvaluator::file_of(const BaseValue& value) {
  charge(4);
  switch (value.type()) {
    case BaseValue::Type::File:
      return value.file().row;
    case BaseValue::Type::Link:
      return files().resolve(value.link());
    case BaseValue::Type::Text: {
      const auto source = source_path();
      if (auto link = parse_base_link(value.text(), source)) return files().resolve(*link);
      if (const auto exact = files().find(value.text())) return exact;
      return value.text().empty() ? std::nullopt
                                  : files().resolve({value.text(), "", {}, source, false});
    }
    default:
      return std::nullopt;
  }
}

bool BaseEvaluator::equals(const BaseValue& a, const BaseValue& b) {
  using Type = BaseValue::Type;
  if (!charge(1)) return false;
  const auto is_reference = [](const BaseValue& value) {
    return value.is(Type::Link) || value.is(Type::File);
  };
  if (is_reference(a) || is_reference(b)) {
    if (a.is(Type::Null) || b.is(Type::Null)) return false;
    const auto left = file_of(a), right = file_of(b);
    if (left || right) return left == right;
    return to_text(a) == to_text(b) ||
           (a.is(Type::Link) && b.is(Type::Text) && a.link().target == b.text()) ||
           (b.is(Type::Link) && a.is(Type::Text) && b.link().target == a.text());
  }
  if (a.is(Type::Date) || b.is(Type::Date)) {
    const auto date_of = [&](const BaseValue& value) -> std::optional<BaseDate> {
      if (value.is(Type::Date)) return value.date();
      return value.is(Type::Text) ? parse_base_date(value.text(), environment_.clock)
                                  : std::nullopt;
    };
    const auto left = date_of(a), right = date_of(b);
    if (!left || !right) return false;
    if (left->has_time && right->has_time) return left->millis == right->millis;
    return midnight_of(*left).millis == midnight_of(*right).millis;
  }
  if (a.type() != b.type()) {
    if (a.is(Type::Null) || b.is(Type::Null)) return false;
    const auto is_plain = [](const BaseValue& value) {
      return value.is(Type::Number) || value.is(Type::Text) || value.is(Type::Duration);
    };
    if (!is_plain(a) || !is_plain(b)) return false;
    const auto left = base_number_of(a), right = base_number_of(b);
    return left && right && *left == *right;
  }
  switch (a.type()) {
    case Type::Null:
      return true;
    case Type::Boolean:
      return a.boolean() == b.boolean();
    case Type::Number:
      return a.number() == b.number();
    case Type::Text:
      charge_text(a.text().size());
      return a.text() == b.text();
    case Type::Duration:
      return a.duration().total_millis() == b.duration().total_millis();
    case Type::List: {
      const auto &left = a.list().items, &right = b.list().items;
      if (left.size() != right.size()) return false;
      for (std::size_t i = 0; i < left.size(); ++i)
        if (!equals(left[i], right[i])) return false;
      return true;
    }
    default:
      return to_text(a) == to_text(b);
  }
}

std::optional<int> BaseEvaluator::compare(const BaseValue& a, const BaseValue& b) {
  using Type = BaseValue::Type;
  const auto sign = [](auto left, auto right) { return left < right ? -1 : left > right ? 1 : 0; };
  if (a.is(Type::Null) || b.is(Type::Null)) return std::nullopt;
  if (a.is(Type::Date) || b.is(Type::Date)) {
    const auto date_of = [&](const BaseValue& value) -> std::optional<BaseDate> {
      if (value.is(Type::Date)) return value.date();
      return value.is(Type::Text) ? parse_base_date(value.text(), environment_.clock)
                                  : std::nullopt;
    };
    const auto left = date_of(a), right = date_of(b);
    if (!left || !right) return std::nullopt;
    if (left->has_time && right->has_time) return sign(left->millis, right->millis);
    // `>=` and `==` agree: where one side has no time, days are compared.
    return sign(midnight_of(*left).millis, midnight_of(*right).millis);
  }
  if (a.is(Type::Text) && b.is(Type::Text)) {
    charge_text(a.text().size() + b.text().size());
    return sign(a.text().compare(b.text()), 0);
  }
  if (a.is(Type::Link) || b.is(Type::Link) || a.is(Type::File) || b.is(Type::File))
    return sign(to_text(a).compare(to_text(b)), 0);
  const auto left = base_number_of(a), right = base_number_of(b);
  if (!left || !right) return std::nullopt;
  return sign(*left, *right);
}

std::string BaseEvaluator::identity(const BaseValue& value) {
  using Type = BaseValue::Type;
  if (value.is(Type::Link) || value.is(Type::File))
    if (const auto row = file_of(value)) return cat("file ", files().row(*row).path);
  return cat(value.type_name(), ' ', to_text(value));
}

std::string BaseEvaluator::to_text(const BaseValue& value) {
  using Type = BaseValue::Type;
  std::string text;
  switch (value.type()) {
    case Type::Null:
      return "";
    case Type::Boolean:
      return value.boolean() ? "true" : "false";
    case Type::Number:
      return format_base_number(value.number());
    case Type::Text:
      text = value.text();
      break;
    case Type::Date:
      return format_base_date(value.date());
    case Type::Duration:
      return format_base_number(value.duration().total_millis());
    case Type::List:
      for (const auto& item : value.list().items) {
        if (!charge(1)) break;
        if (&item != &value.list().items.front()) text += ", ";
        text += to_text(item);
      }
      break;
    case Type::Link:
      return format_base_link(value.link());
    case Type::File:
      return files().row(value.file().row).path;
    case Type::Object:
      text = json_text(to_json(value));
      break;
    case Type::Regexp:
      return cat('/', value.regexp().pattern(), '/', value.regexp().flags());
    case Type::Markup:
      text = value.markup().text;
      break;
    case Type::Error:
      return value.failure().message;
  }
  charge_text(text.size());
  return text;
}

Json BaseEvaluator::to_json(const BaseValue& value) {
  using Type = BaseValue::Type;
  switch (value.type()) {
    case Type::Null:
      return nullptr;
    case Type::Boolean:
      return value.boolean();
    case Type::Number: {
      const double number = value.number();
      constexpr double kExact = 9'007'199'254'740'992;
      if (number > -kExact && number < kExact &&
          number == static_cast<double>(static_cast<std::int64_t>(number)))
        return static_cast<std::int64_t>(number);
      return number;
    }
    case Type::Text:
      return value.text();
    case Type::Date:
      return format_base_date(value.date());
    case Type::Duration:
      return {{"type", "duration"}, {"milliseconds", value.duration().total_millis()}};
    case Type::List: {
      Json list = Json::array();
      for (const auto& item : value.list().items) {
        if (!charge(1)) break;
        list.push_back(to_json(item));
      }
      return list;
    }
    case Type::Link: {
      const auto& link = value.link();
      Json json = {{"type", "link"}, {"target", link.target}};
      if (!link.subpath.empty()) json["subpath"] = link.subpath;
      if (link.display) json["display"] = *link.display;
      const auto row = file_of(value);
      json["path"] = row ? Json(files().row(*row).path) : Json();
      return json;
    }
    case Type::File:
      return {{"type", "file"}, {"path", files().row(value.file().row).path}};
    case Type::Object: {
      Json object = Json::object();
      for (const auto& [key, item] : value.object().fields) {
        if (!charge(1)) break;
        object[key] = to_json(item);
      }
      return object;
    }
    case Type::Regexp:
      return {{"type", "regexp"},
              {"pattern", value.regexp().pattern()},
              {"flags", value.regexp().flags()}};
    case Type::Markup:
      return {{"type", value.markup().kind}, {"text", value.markup().text}};
    case Type::Error:
      break;
  }
  return {{"error", value.failure().message}};
}

}  // namespace indx
