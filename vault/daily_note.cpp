#include "vault/daily_note.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <fstream>
#include <iterator>

namespace indx {
namespace {

constexpr std::streamsize kMaxSettingsBytes = 1 << 20;

}  // namespace

Result<DailySettings> read_daily_settings(const std::string& vault_dir) {
  DailySettings settings;
  std::ifstream in(vault_dir + "/.obsidian/daily-notes.json", std::ios::binary);
  if (!in) return settings;
  std::string text(static_cast<std::size_t>(kMaxSettingsBytes), '\0');
  in.read(text.data(), kMaxSettingsBytes);
  text.resize(static_cast<std::size_t>(in.gcount()));
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    return make_error(Reason::ParseFailed,
                      ".obsidian/daily-notes.json is not a JSON object; set `daily.folder` and "
                      "`daily.format` in config.json, or mend it.");
  const auto take = [&](const char* key, std::string& field) {
    const auto value = json.find(key);
    if (value == json.end() || !value->is_string()) return;
    const auto trimmed = trim(value->get_ref<const std::string&>());
    if (!trimmed.empty()) field = std::string(trimmed);
  };
  take("folder", settings.folder);
  take("format", settings.format);
  take("template", settings.template_path);
  return settings;
}

Result<NotePath> daily_note_path(const DailySettings& settings, const WallTime& day) {
  auto path = format_moment(day, settings.format);
  if (!settings.folder.empty()) path = cat(settings.folder, "/", path);
  return NotePath::parse(path + ".md");
}

std::string fill_template(std::string_view text, std::string_view title, const WallTime& now) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto open = text.find("{{", at);
    const auto close = open == text.npos ? open : text.find("}}", open);
    if (close == text.npos) {
      out += text.substr(at);
      break;
    }
    out += text.substr(at, open - at);
    const auto inside = trim(text.substr(open + 2, close - open - 2));
    const auto colon = inside.find(':');
    const auto name = to_lower(trim(inside.substr(0, colon)));
    const auto format = colon == inside.npos ? std::string_view() : inside.substr(colon + 1);
    if (name == "title" && colon == inside.npos)
      out += title;
    else if (name == "date")
      out += format_moment(now, format.empty() ? "YYYY-MM-DD" : format);
    else if (name == "time")
      out += format_moment(now, format.empty() ? "HH:mm" : format);
    else
      out += text.substr(open, close + 2 - open);
    at = close + 2;
  }
  return out;
}

}  // namespace indx
