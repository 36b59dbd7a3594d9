#include "ai/metadata.hpp"

#include "ai/prompt.hpp"
#include "ai/value_text.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>

namespace indx {
namespace {

constexpr std::size_t kMaxTextBytes = 4000;
constexpr std::size_t kMaxReasonBytes = 500;
constexpr std::size_t kMaxListItems = 1000;

MetadataField item_field(const MetadataField& field) {
  MetadataField item = field;
  item.type = field.item_type;
  item.min = item.max = std::nullopt;
  return item;
}

Json type_schema(const MetadataField& field) {
  if (field.type == "number" || field.type == "boolean") return {{"type", field.type}};
  if (field.type == "enum") return {{"type", "string"}, {"enum", field.allowed}};
  if (field.type == "list") return {{"type", "array"}, {"items", type_schema(item_field(field))}};
  return {{"type", "string"}};
}

/// The same or null, for "the note does not say".
Json nullable_schema(const MetadataField& field) {
  Json schema = type_schema(field);
  schema["type"] = Json::array({schema["type"], "null"});
  if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  return schema;
}

std::string describe_field(const MetadataField& field) {
  Json about{{"key", field.key}, {"type", field.type}};
  if (field.type == "list") about["items"] = field.item_type;
  if (!field.description.empty()) about["description"] = field.description;
  if (!field.allowed.empty()) about["allowed"] = field.allowed;
  if (field.min) about["min"] = *field.min;
  if (field.max) about["max"] = *field.max;
  return json_text(about);
}

std::string metadata_system(const MetadataTask& task) {
  auto text = std::string(
      "You fill in properties of a note from its text. For each key give the value, a confidence "
      "from 0 to 1, one sentence why, and one or two short quotes copied verbatim from the note "
      "that support it. Where the note does not say, the value is null: never guess. A date is "
      "YYYY-MM-DD, a datetime YYYY-MM-DDTHH:mm:ssZ in UTC. Where a list of allowed values is "
      "given, "
      "use one of them exactly as it is spelled. The keys:\n");
  for (const auto& field : task.fields) text += describe_field(field) + "\n";
  if (!task.language.empty())
    text += cat("Write texts in the language ", json_text(Json(task.language)), ". ");
  return text + data_rule("read");
}

std::string no_fit(const MetadataField& field, const char* what) {
  return cat("It is ", what, ", but `", field.key, "` is a ", field.type, ".");
}

std::optional<Json> checked_list(const MetadataField& field, const Json& raw, std::string* why) {
  if (!raw.is_array()) {
    *why = no_fit(field, "no list");
    return std::nullopt;
  }
  if (raw.size() > kMaxListItems) {
    *why = cat("It has ", raw.size(), " items.");
    return std::nullopt;
  }
  Json list = Json::array();
  const auto item = item_field(field);
  for (const auto& one : raw) {
    if (one.is_null()) continue;
    auto value = checked_value(item, one, why);
    if (!value) return std::nullopt;
    if (std::find(list.begin(), list.end(), *value) == list.end())
      list.push_back(std::move(*value));
  }
  const auto count = static_cast<double>(list.size());
  const bool is_outside = (field.min && count < *field.min) || (field.max && count > *field.max);
  if (is_outside) {
    *why = cat("It has ", list.size(), " items.");
    return std::nullopt;
  }
  return list;
}

std::optional<Json> checked_text(const MetadataField& field, const Json& raw, std::string* why) {
  if (!raw.is_string()) {
    *why = no_fit(field, "no text");
    return std::nullopt;
  }
  const auto text = to_nfc(replace_invalid_utf8(trim(raw.get_ref<const std::string&>())));
  if (field.type == "enum") {
    if (std::find(field.allowed.begin(), field.allowed.end(), raw.get<std::string>()) !=
        field.allowed.end())
      return raw;
    *why = "It is none of the allowed values.";
    return std::nullopt;
  }
  if (field.type == "date" || field.type == "datetime") {
    const auto value = field.type == "date" ? normal_date(text) : normal_datetime(text);
    if (value) return Json(*value);
    *why = cat("It is no unambiguous ", field.type, ".");
    return std::nullopt;
  }
  if (text.empty() || text.size() > kMaxTextBytes) {
    *why = text.empty() ? "It is empty." : "It is too long.";
    return std::nullopt;
  }
  return Json(text);
}

}  // namespace

std::optional<Json> checked_value(const MetadataField& field, const Json& raw, std::string* why) {
  if (field.type == "list") return checked_list(field, raw, why);
  if (field.type == "boolean") {
    if (raw.is_boolean()) return raw;
    *why = no_fit(field, "neither true nor false");
    return std::nullopt;
  }
  if (field.type != "number") return checked_text(field, raw, why);
  if (!raw.is_number() || !std::isfinite(raw.get<double>())) {
    *why = no_fit(field, "no number");
    return std::nullopt;
  }
  const double value = raw.get<double>();
  if ((field.min && value < *field.min) || (field.max && value > *field.max)) {
    *why = cat("It is outside of the bounds: ", value, ".");
    return std::nullopt;
  }
  return raw;
}

GenerateRequest metadata_prompt(const MetadataTask& task, const AiConfig& config, std::int64_t seed,
                                int max_tokens) {
  Json keys = Json::object();
  for (const auto& field : task.fields)
    keys[field.key] =
        closed_object({{"value", nullable_schema(field)},
                       {"confidence", {{"type", "number"}}},
                       {"rationale", {{"type", "string"}}},
                       {"quotes", {{"type", "array"}, {"items", {{"type", "string"}}}}}});
  Json schema = closed_object({{"fields", closed_object(std::move(keys))}});
  GenerateRequest request = request_for(config, "metadata", std::move(schema), seed, max_tokens);
  request.system = metadata_system(task);

  const NoteText note(task.bytes);
  const auto id = etag_of(task.bytes);
  auto head = cat(
      "Title: ", json_text(Json(prefix_at_grapheme(replace_invalid_utf8(task.title), 300))), "\n");
  if (!task.properties.empty())
    head +=
        cat("Properties now: ", fit_tokens(json_text(task.properties), config.max_input_tokens / 4),
            "\n");
  const auto body = replace_invalid_utf8(note.body());
  const auto left = config.max_input_tokens - estimate_tokens(request.system) -
                    estimate_tokens(head) - frame_tokens(id);
  const auto text = fit_tokens(body, std::max<std::int64_t>(0, left));
  request.messages = {{"user", cat(head, framed_note(id, text))}};
  return request;
}

std::vector<Evidence> ground_quotes(const NoteText& note, std::string_view bytes,
                                    std::string_view title, const Json& quotes,
                                    const std::function<void()>& on_false) {
  std::vector<Evidence> found;
  if (!quotes.is_array()) return found;
  std::size_t looked_at = 0;
  for (const auto& quote : quotes) {
    if (!quote.is_string()) continue;
    if (++looked_at > kMaxReplyQuotes) break;
    const auto text = trim(quote.get_ref<const std::string&>());
    const bool may_be_elsewhere = text.size() > 1 && has_word(text);
    const auto in_block =
        may_be_elsewhere ? bytes.substr(0, note.body_begin()).find(text) : std::string_view::npos;
    if (auto evidence = note.find_quote(text))
      found.push_back(std::move(*evidence));
    else if (in_block != std::string_view::npos)
      found.push_back(note.evidence(in_block, in_block + text.size()));
    else if (may_be_elsewhere && title.find(text) != std::string_view::npos)
      found.push_back({std::string(text), 0, "", 0, 0});
    else
      on_false();
  }
  return found;
}

Result<MetadataReply> parse_metadata_reply(const MetadataTask& task, const GenerateReply& reply) {
  const auto fields =
      reply.structured.is_object() ? reply.structured.value("fields", Json()) : Json();
  if (!fields.is_object())
    return make_error(Reason::AiProviderError, "The model's answer holds no fields.",
                      {{"cause", "schema"}});
  const NoteText note(task.bytes);
  MetadataReply result;
  for (const auto& field : task.fields) {
    const auto it = fields.find(field.key);
    if (it == fields.end() || !it->is_object()) continue;
    FieldValue& value = result.values[field.key];
    value.value = it->value("value", Json());
    if (value.value.is_null()) continue;
    value.confidence = reply_confidence(*it);
    value.rationale = reply_text(*it, "rationale", kMaxReasonBytes);
    value.evidence =
        ground_quotes(note, task.bytes, task.title, it->value("quotes", Json::array()), [&] {
          result.warnings.push_back({{"code", "citation_invalid"},
                                     {"path", task.path},
                                     {"key", field.key},
                                     {"reason", "A quote does not stand in the note."}});
        });
  }
  return result;
}

}  // namespace indx
