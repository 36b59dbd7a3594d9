#include "base/event.hpp"

#include "base/text.hpp"

namespace indx {

Json Event::to_json(const std::string& epoch) const {
  Json json = Json::object();
  if (id > 0) json["id"] = cat(epoch, "-", id);
  json["kind"] = kind;
  json["at"] = format_time(at);
  json["actor"] = actor;
  json["subject"] = subject;
  if (!job_id.empty()) json["job_id"] = job_id;
  for (const auto& [key, value] : data.items())
    if (!json.contains(key)) json[key] = value;  // the envelope is ours
  return json;
}

bool kind_matches(const std::string& kind, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return true;
  for (const std::string_view pattern : patterns) {
    const bool is_prefix = pattern.size() > 1 && pattern.ends_with(".*");
    if (is_prefix ? kind.starts_with(pattern.substr(0, pattern.size() - 1)) : kind == pattern)
      return true;
  }
  return false;
}

}  // namespace indx
