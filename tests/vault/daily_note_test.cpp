#include "vault/daily_note.hpp"

#include "base/time_zone.hpp"
#include "tests/support/temp_dir.hpp"
#include "vault/conflict_copy.hpp"
#include "vault/list_query.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace indx {
namespace {

WallTime at(const char* time, int offset_minutes = 0) {
  return wall_time(*parse_time(time), std::chrono::minutes(offset_minutes));
}

TEST_CASE("dates are written in Moment's tokens", "[vault][daily]") {
  const auto time = at("2026-03-05T15:04:09.078Z", 120);
  const auto is = [&](const char* format, const char* text) {
    INFO(format);
    CHECK(format_moment(time, format) == text);
  };

  is("YYYY-MM-DD", "2026-03-05");
  is("dddd, MMMM Do YYYY", "Thursday, March 5th 2026");
  is("D/M/YY ddd dd d E", "5/3/26 Thu Th 4 4");
  is("HH:mm:ss.SSS h:m:s A a", "17:04:09.078 5:4:9 PM pm");
  is("[Week] ww gggg, [ISO] WW GGGG", "Week 10 2026, ISO 10 2026");
  is("DDD DDDD DDDo Q Qo", "64 064 64th 1 1st");
  is("Z ZZ X x", "+02:00 +0200 1772723049 1772723049078");
  is("YYYY/[Q]Q/YYYY-MM-DD", "2026/Q1/2026-03-05");
  is("L LL LLL LLLL LT LTS",
     "03/05/2026 March 5, 2026 March 5, 2026 5:04 PM Thursday, March 5, 2026 5:04 PM 5:04 PM "
     "5:04:09 PM");
  is("\\Y[[]日]", "Y[日]");
}

TEST_CASE("weeks at the turn of a year are those of Moment", "[vault][daily]") {
  // Values of Moment 2.30: `moment(date).format("GGGG-[W]WW gggg-ww")`.
  const auto is = [](const char* day, const char* text) {
    INFO(day);
    CHECK(format_moment(at((std::string(day) + "T00:00:00.000Z").c_str()), "GGGG-[W]WW gggg-ww") ==
          text);
  };

  is("2021-01-01", "2020-W53 2021-01");
  is("2021-01-03", "2020-W53 2021-02");
  is("2021-01-04", "2021-W01 2021-02");
  is("2024-12-30", "2025-W01 2025-01");
  is("2026-12-31", "2026-W53 2027-01");
  is("2023-01-01", "2022-W52 2023-01");
}

TEST_CASE("a daily note is where the settings of the vault say", "[vault][daily]") {
  const TempDir dir;
  const auto vault = dir.path();
  CHECK(read_daily_settings(vault).value().format == "YYYY-MM-DD");
  std::filesystem::create_directories(dir.path() + "/.obsidian");
  const auto settings = [&](const std::string& json) {
    std::ofstream(dir.path() + "/.obsidian/daily-notes.json") << json;
    return read_daily_settings(vault);
  };

  const auto read =
      settings(R"({"format":"YYYY/MM/DD","folder":" Journal ","template":"T/Day"})").value();
  CHECK(read.template_path == "T/Day");
  CHECK(daily_note_path(read, at("2026-03-05T00:00:00.000Z")).value().str() ==
        "Journal/2026/03/05.md");
  CHECK(settings(R"({"format":"","folder":7})").value().format == "YYYY-MM-DD");
  CHECK(settings("[").error().reason == Reason::ParseFailed);
  DailySettings hostile;
  hostile.folder = "../..";
  CHECK(daily_note_path(hostile, at("2026-03-05T00:00:00.000Z")).error().reason ==
        Reason::ValidationFailed);
}

TEST_CASE("a template is filled in and foreign braces stay", "[vault][daily]") {
  const auto now = at("2026-03-05T15:04:09.078Z");
  CHECK(fill_template("# {{title}} {{ Date }} {{date:dddd}} {{time}} {{x}} {{", "T", now) ==
        "# T 2026-03-05 Thursday 15:04 {{x}} {{");
}

TEST_CASE("time zones know their offsets, summer time and before", "[base][daily]") {
  const auto berlin = TimeZone::load("Europe/Berlin").value();
  const auto hours = [&](const char* time) {
    return std::chrono::duration_cast<std::chrono::hours>(berlin.offset_at(*parse_time(time)))
        .count();
  };
  CHECK(hours("2026-01-15T00:00:00.000Z") == 1);
  CHECK(hours("2026-03-29T00:59:59.000Z") == 1);
  CHECK(hours("2026-03-29T01:00:00.000Z") == 2);
  CHECK(hours("2026-07-15T00:00:00.000Z") == 2);
  CHECK(TimeZone::load("UTC").value().offset_at(Timestamp()).count() == 0);
  for (const auto* name : {"../../etc/passwd", "/etc/localtime", "Nowhere/Land", "a b"})
    CHECK(TimeZone::load(name).error().reason == Reason::ValidationFailed);
  CHECK_FALSE(TimeZone::parse("TZif2").has_value());
  CHECK_FALSE(TimeZone::parse(std::string("TZif2") + std::string(60, '\xff')).has_value());
}

TEST_CASE("conflict copies of sync tools are told by name", "[vault][W-13]") {
  const auto original = [](const char* path) {
    return original_of_conflict_copy(path).value_or("-");
  };
  CHECK(original("a (conflict 2026-01-01).md") == "a.md");
  CHECK(original("d/a.sync-conflict-20260101-000000-ABC.md") == "d/a.md");
  CHECK(original("a (Kim's conflicted copy 2026-01-01).md") == "a.md");
  CHECK(original("a (Conflicted copy phone 202601010000).md") == "a.md");
  CHECK(original("a (conflict).md") == "-");
  CHECK(original("On conflict (2026).md") == "-");
  CHECK(original("conflict 2026.md") == "-");
  CHECK(original("") == "-");
}

TEST_CASE("the type of a property is that of its value", "[vault][lists]") {
  CHECK(property_type("d", "2026-03-16") == "date");
  CHECK(property_type("d", "2026-03-16T10:00") == "datetime");
  CHECK(property_type("d", "2026-03-16 10:00:00") == "datetime");
  CHECK(property_type("d", "2026-3-16") == "text");
  CHECK(property_type("Tags", "a") == "tags");
  CHECK(property_type("d", Json()) == "empty");
  CHECK(property_type("d", Json::array()) == "list");
  CHECK(property_type("d", true) == "checkbox");
  CHECK(property_type("d", 1.5) == "number");
}

}  // namespace
}  // namespace indx
