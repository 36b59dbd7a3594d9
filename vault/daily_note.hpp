#pragma once
#include "base/result.hpp"
#include "vault/moment_format.hpp"
#include "vault/note_path.hpp"

#include <string>
#include <string_view>

namespace indx {

/// Where daily notes are and how they begin.
struct DailySettings {
  std::string folder;                 ///< empty: the root
  std::string format = "YYYY-MM-DD";  ///< Moment tokens; slashes make folders
  std::string template_path;          ///< note that a new one begins with; empty: none
};

/// `<vault>/.obsidian/daily-notes.json`, as the core plugin keeps it; defaults where it says
/// nothing. Fails with `parse_failed` when the file is no JSON object.
Result<DailySettings> read_daily_settings(const std::string& vault_dir);

/// The note of the day. Fails with `validation_failed` when folder and format make no path.
Result<NotePath> daily_note_path(const DailySettings& settings, const WallTime& day);

/// A template's text with `{{date}}`, `{{time}}`, `{{title}}` filled in, formats after a colon as
/// in `{{date:YYYY}}`. Other braces stay.
std::string fill_template(std::string_view text, std::string_view title, const WallTime& now);

}  // namespace indx
