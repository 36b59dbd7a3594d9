#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {

TEST_CASE("every word of a note in any script finds the note", "[store][search_words]") {
  const std::vector<std::string> texts = {
      "The naïve café sells C++ books, co-op 1.0.21, don\u2019t panic",
      "Ο Ελληνικός λόγος είναι ΜΕΓΆΛΟΣ και ωραίος",
      "Съешь ещё этих мягких французских булок",
      "いろはにほへと 日本語の文章をテストする カタカナ",
      "我们在这里测试中文搜索 繁體中文",
      "한국어 텍스트를 검색합니다",
      "ภาษาไทยไม่มีช่องว่าง ลาว ພາສາລາວ ភាសាខ្មែរ မြန်မာစာ",
      "العربية مَدْرَسَة والكتاب עִבְרִית שלום",
      "हिन्दी में खोज करें বাংলা ভাষা தமிழ் తెలుగు ქართული հայերեն አማርኛ",
      "Straße Größe ÆØÅ İstanbul ıspanak ŁÓDŹ çok",
      "e\u0301te\u0301 A\u030angstro\u0308m ﬁne ２０２６ Ⅻ",
      "snake_case kebab-case path/to.file user@example.org #tag/sub 3.14 x=y"};
  IndexFixture index;
  std::map<std::string, std::string> notes;
  for (std::size_t i = 0; i < texts.size(); ++i) notes[cat("n", i, ".md")] = texts[i] + "\n";
  index.put(notes);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto path = cat("n", i, ".md");
    for (const auto& word : split(texts[i], ' ')) {
      for (const auto& q : {word, to_nfc(word), to_lower(word), cat("\"", word, "\"")}) {
        INFO(q << " in " << path);
        const auto found = index.find(q, SearchMatch::All);
        // A word of signs alone, or one that means something in a query, finds what it then means.
        CHECK(std::find(found.begin(), found.end(), path) != found.end());
      }
    }
  }
}

TEST_CASE("every substring of a text without spaces finds it", "[store][search_words]") {
  const std::string text = "日本語の文章をテスト中文搜索ไทยไม่มี";
  IndexFixture index;
  index.put("a.md", text + "\n");
  std::vector<std::size_t> borders = {0};
  while (borders.back() < text.size())
    borders.push_back(borders.back() + decode_at(text, borders.back()).length);
  for (std::size_t from = 0; from + 1 < borders.size(); ++from)
    for (std::size_t to = from + 1; to < std::min(from + 6, borders.size()); ++to) {
      const auto q = text.substr(borders[from], borders[to] - borders[from]);
      INFO(q);
      // A mark belongs to the character before it and is no word of its own.
      if (is_mark(decode_at(q, 0).value)) continue;
      CHECK(index.find(q, SearchMatch::All) == PathList{"a.md"});
    }
}

}  // namespace indx
