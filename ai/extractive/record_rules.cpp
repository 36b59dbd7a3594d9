#include "ai/extractive/record_rules.hpp"

#include "ai/extractive/metadata_rules.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace indx {
namespace {

constexpr int kMaxRecordDepth = 8;
constexpr std::size_t kMaxRows = 1000;

bool allows_type(const Json& schema, std::string_view type) {
  const auto it = schema.find("type");
  if (it == schema.end()) return false;
  if (it->is_string()) return *it == type;
  return it->is_array() && std::find(it->begin(), it->end(), type) != it->end();
}

/// The schema with the parts of its `allOf`, which is what a reference becomes.
Json flattened(const Json& schema, int depth = 0) {
  Json result = schema.is_object() ? schema : Json::object();
  if (!result.contains("allOf") || depth > kMaxRecordDepth) return result;
  const Json parts = result["allOf"];
  result.erase("allOf");
  for (const auto& part : parts) {
    const Json flat = flattened(part, depth + 1);
    for (const auto& [keyword, value] : flat.items())
      if (!result.contains(keyword)) result[keyword] = value;
  }
  return result;
}

bool is_object_schema(const Json& schema) {
  return allows_type(schema, "object") || schema.contains("properties");
}

/// The field that ai_metadata would be asked for; nullopt for objects and lists of them.
std::optional<MetadataField> field_of(const std::string& key, const Json& schema) {
  MetadataField field;
  field.key = key;
  if (schema.contains("enum")) {
    for (const auto& value : schema["enum"])
      if (value.is_string()) field.allowed.push_back(value.get<std::string>());
    if (field.allowed.empty()) return std::nullopt;
    field.type = "enum";
    return field;
  }
  if (allows_type(schema, "array")) {
    const Json items = flattened(schema.value("items", Json::object()));
    const auto item = field_of(key, items);
    if (!item || item->type == "list") return std::nullopt;
    field.type = "list";
    field.item_type = item->type;
    field.allowed = item->allowed;
    return field;
  }
  if (is_object_schema(schema)) return std::nullopt;
  if (allows_type(schema, "string"))
    field.type = "string";
  else if (allows_type(schema, "number") || allows_type(schema, "integer"))
    field.type = "number";
  else if (allows_type(schema, "boolean"))
    field.type = "boolean";
  else
    return std::nullopt;
  return field;
}

/// A day where the schema's own words ask for one.
void refine_dates(const Json& schema, MetadataField& field) {
  const auto text = schema.value("description", Json());
  const bool says_date =
      text.is_string() && text.get<std::string>().find("date") != std::string::npos;
  const auto key = field_key(field.key);
  const bool is_named = key.ends_with("date") || key == "due" || key == "deadline" || key == "day";
  if (field.type == "string" && (says_date || is_named)) field.type = "date";
}

class RecordRules {
 public:
  explicit RecordRules(const ExtractionTask& task)
      : task_(task),
        note_(task.note.bytes),
        candidates_(field_candidates(task.note.bytes, note_)) {}

  Extraction run() {
    const Json schema = flattened(task_.schema);
    if (is_object_schema(schema))
      result_.data = object_of(schema, "", 0);
    else if (allows_type(schema, "array"))
      result_.data = rows_of("", flattened(schema.value("items", Json::object())), "");
    if (found_ == 0) return {};
    result_.confidence =
        static_cast<double>(found_) / static_cast<double>(std::max(found_, wanted_));
    return std::move(result_);
  }

 private:
  Json object_of(const Json& schema, const std::string& place, int depth) {
    Json object = Json::object();
    if (!schema.contains("properties") || depth > kMaxRecordDepth) return object;
    const Json required = schema.value("required", Json::array());
    for (const auto& [key, raw] : schema["properties"].items()) {
      const Json property = flattened(raw);
      const auto here = place + "/" + key;
      auto value = value_of(key, property, here, depth);
      const bool is_required = std::find(required.begin(), required.end(), key) != required.end();
      if (!value.is_null() || (is_required && allows_type(property, "null")))
        object[key] = std::move(value);
    }
    return object;
  }

  Json value_of(const std::string& key, const Json& schema, const std::string& place, int depth) {
    if (auto field = field_of(key, schema)) {
      ++wanted_;
      refine_dates(schema, *field);
      return scalar_of(std::move(*field), schema, place);
    }
    if (allows_type(schema, "array")) {
      const Json items = flattened(schema.value("items", Json::object()));
      return is_object_schema(items) ? rows_of(key, items, place) : Json();
    }
    if (!is_object_schema(schema)) return {};
    const auto before = found_;
    Json object = object_of(schema, place, depth + 1);
    return found_ > before ? object : Json();
  }

  /// Under its name, then under its title.
  Json scalar_of(MetadataField field, const Json& schema, const std::string& place) {
    std::vector<std::string> names = {field.key};
    if (const auto title = schema.find("title"); title != schema.end() && title->is_string())
      names.push_back(title->get<std::string>());
    for (const auto& one : names) {
      MetadataTask task = task_.note;
      field.key = one;
      task.fields = {field};
      auto found = extractive_metadata(task).values.at(one);
      if (found.value.is_null() || !is_whole_where_asked(schema, found.value)) continue;
      for (auto& evidence : found.evidence)
        result_.evidence.push_back({place, std::move(evidence)});
      ++found_;
      return std::move(found.value);
    }
    return {};
  }

  static bool is_whole_where_asked(const Json& schema, const Json& value) {
    if (!allows_type(schema, "integer") || allows_type(schema, "number")) return true;
    return value.is_number() && std::floor(value.get<double>()) == value.get<double>();
  }

  /// The column of a row that a property stands for.
  static bool means(const std::string& key, const Json& schema, const FieldCandidate& candidate) {
    const auto wanted = field_key(key);
    if (candidate.key == wanted) return true;
    if (const auto title = schema.find("title"); title != schema.end() && title->is_string())
      if (candidate.key == field_key(title->get<std::string>())) return true;
    if (candidate.origin != FieldOrigin::Task) return false;
    static const std::map<std::string, std::set<std::string>> kTaskWords = {
        {"task", {"text", "title", "description", "action", "todo", "name", "item", "what"}},
        {"due", {"due date", "deadline", "date", "when"}},
        {"done", {"completed", "is done", "checked", "finished"}}};
    const auto it = kTaskWords.find(candidate.key);
    return it != kTaskWords.end() && it->second.contains(wanted);
  }

  /// The rows of the table, or the tasks, that say most of what the objects hold.
  Json rows_of(const std::string& key, const Json& items, const std::string& place) {
    if (!items.contains("properties")) return {};
    const Json& properties = items["properties"];
    std::map<int, std::set<std::string>> covered;  // by group: 0 for tasks
    for (const auto& candidate : candidates_) {
      if (!is_row(candidate)) continue;
      for (const auto& [name, schema] : properties.items())
        if (means(name, flattened(schema), candidate)) covered[group_of(candidate)].insert(name);
    }
    const auto wanted = field_key(key);
    const bool wants_tasks = wanted.ends_with("task") || wanted.ends_with("action item") ||
                             wanted.ends_with("todo") || wanted.ends_with("action");
    const auto best =
        std::max_element(covered.begin(), covered.end(), [&](const auto& a, const auto& b) {
          const bool a_is_task = a.first == 0 && wants_tasks,
                     b_is_task = b.first == 0 && wants_tasks;
          return a_is_task != b_is_task ? b_is_task : a.second.size() < b.second.size();
        });
    if (best == covered.end()) return {};
    std::map<int, Json> rows;
    for (const auto& candidate : candidates_)
      if (is_row(candidate) && group_of(candidate) == best->first && rows.size() < kMaxRows)
        add_cell(properties, candidate, rows);
    Json list = Json::array();
    const auto required = items.value("required", std::vector<std::string>());
    for (auto& [number, row] : rows) {
      const bool is_whole = std::all_of(required.begin(), required.end(),
                                        [&](const auto& one) { return row["data"].contains(one); });
      if (!is_whole) continue;
      const auto here = place + "/" + std::to_string(list.size());
      for (const auto& cell : row["cells"]) {
        result_.evidence.push_back(
            {here + "/" + cell[0].get<std::string>(),
             note_.evidence(cell[1].get<std::size_t>(), cell[2].get<std::size_t>())});
        ++found_;
      }
      list.push_back(std::move(row["data"]));
    }
    return list.empty() ? Json() : list;
  }

  static bool is_row(const FieldCandidate& candidate) {
    return candidate.origin == FieldOrigin::Table || candidate.origin == FieldOrigin::Task;
  }
  static int group_of(const FieldCandidate& candidate) {
    return candidate.origin == FieldOrigin::Task ? 0 : candidate.group;
  }

  void add_cell(const Json& properties, const FieldCandidate& candidate,
                std::map<int, Json>& rows) {
    for (const auto& [name, raw] : properties.items()) {
      const Json schema = flattened(raw);
      auto field = field_of(name, schema);
      if (!field || !means(name, schema, candidate)) continue;
      refine_dates(schema, *field);
      auto value = value_of_text(*field, candidate.text, task_.note.day);
      if (!value || !is_whole_where_asked(schema, *value)) continue;
      Json& row = rows[candidate.row];
      if (row.is_null()) row = {{"data", Json::object()}, {"cells", Json::array()}};
      row["data"][name] = std::move(*value);
      row["cells"].push_back(Json::array({name, candidate.begin, candidate.end}));
    }
  }

  const ExtractionTask& task_;
  const NoteText note_;
  const std::vector<FieldCandidate> candidates_;
  Extraction result_;
  int found_ = 0, wanted_ = 0;
};

}  // namespace

Extraction extractive_record(const ExtractionTask& task) { return RecordRules(task).run(); }

}  // namespace indx
