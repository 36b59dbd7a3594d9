#include "ai/value_text.hpp"

#include <catch2/catch.hpp>

#include <utility>

namespace indx {

TEST_CASE("a date is normalised where it has one reading, and refused where not", "[ai][C66]") {
  const std::pair<const char*, const char*> table[] = {{"2024-03-05", "2024-03-05"},
                                                       {" 2024-3-5 ", "2024-03-05"},
                                                       {"2024/03/05", "2024-03-05"},
                                                       {"20240305", "2024-03-05"},
                                                       {"5.3.2024", "2024-03-05"},
                                                       {"5 March 2024", "2024-03-05"},
                                                       {"March 5th, 2024", "2024-03-05"},
                                                       {"5th of March 2024", "2024-03-05"},
                                                       {"Sept. 1, 2023", "2023-09-01"},
                                                       {"13/4/2024", "2024-04-13"},
                                                       {"4/13/2024", "2024-04-13"},
                                                       {"4/4/2024", "2024-04-04"},
                                                       {"2024-02-29", "2024-02-29"},
                                                       {"2024-03-05T23:30:00-05:00", "2024-03-05"},
                                                       {"3/4/2024", ""},
                                                       {"2023-02-29", ""},
                                                       {"2024-13-01", ""},
                                                       {"yesterday", ""},
                                                       {"next Tuesday", ""},
                                                       {"March 2024", ""},
                                                       {"5 March 24", ""},
                                                       {"2024-03-05T25:00", ""},
                                                       {"12345678", ""},
                                                       {"", ""}};
  for (const auto& [text, wanted] : table) {
    INFO(text);
    CHECK(normal_date(text).value_or("") == wanted);
  }
}

TEST_CASE("a datetime is normalised to UTC", "[ai][C66]") {
  const std::pair<const char*, const char*> table[] = {
      {"2024-03-05T10:00:00Z", "2024-03-05T10:00:00Z"},
      {"2024-03-05 10:00", "2024-03-05T10:00:00Z"},
      {"2024-03-05T10:00:00.123Z", "2024-03-05T10:00:00Z"},
      {"2024-03-05T01:30:00+02:00", "2024-03-04T23:30:00Z"},
      {"2024-12-31T23:30:00-0100", "2025-01-01T00:30:00Z"},
      {"2024-03-05", ""},
      {"tomorrow at noon", ""},
      {"2024-03-05T10:60:00Z", ""},
      {"2024-03-05T10:00:00 CET", ""}};
  for (const auto& [text, wanted] : table) {
    INFO(text);
    CHECK(normal_datetime(text).value_or("") == wanted);
  }
}

TEST_CASE("dates are found in running text and counted from a day", "[ai]") {
  const auto found = find_date("The review is due on March 5, 2024, at noon.");
  REQUIRE(found);
  CHECK(found->date == "2024-03-05");
  CHECK(found->begin == 21);
  CHECK_FALSE(find_date("Version 1.2.3 of 12345678 has no date, nor has 3/4/2024."));

  CHECK(relative_date("tomorrow", "2024-02-28").value_or("") == "2024-02-29");
  CHECK(relative_date("in 2 weeks", "2024-12-25").value_or("") == "2025-01-08");
  CHECK_FALSE(relative_date("tomorrow", ""));
  CHECK_FALSE(relative_date("soon", "2024-02-28"));
}

TEST_CASE("numbers and truth values are read strictly", "[ai]") {
  CHECK(number_of_text("42").value() == 42);
  CHECK(number_of_text("-1.5").value() == -1.5);
  CHECK(number_of_text("1,234,567.5").value() == 1234567.5);
  CHECK_FALSE(number_of_text("1,23"));
  CHECK_FALSE(number_of_text("42 kg"));
  CHECK(number_of_text("42 kg", true).value() == 42);
  CHECK(number_of_text("$1,200", true).value() == 1200);
  CHECK_FALSE(number_of_text("about 42"));
  CHECK_FALSE(number_of_text("nan"));
  CHECK_FALSE(number_of_text("1e999"));
  CHECK(boolean_of_text(" Yes ").value());
  CHECK_FALSE(boolean_of_text("off").value());
  CHECK_FALSE(boolean_of_text("maybe"));
}

}  // namespace indx
