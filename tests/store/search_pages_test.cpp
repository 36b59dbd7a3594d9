#include "store/search_cursor.hpp"
#include "tests/store/index_fixture.hpp"

namespace indx {
namespace {

/// Walks through the pages of one search.
class PageWalk {
 public:
  PageWalk(const IndexFixture& index, const std::string& q, int limit,
           SearchMatch match = SearchMatch::AllThenAny)
      : index_(index) {
    request_.q = q;
    request_.limit = limit;
    request_.match = match;
  }

  Result<SearchPage> ask() const { return index_.reader->search(request_); }
  /// Takes the next page; false: there is none after it.
  bool step() {
    const auto page = ask().value();
    for (const auto& hit : page.rows) seen.push_back(hit.path);
    request_.cursor = page.next_cursor.value_or("");
    return page.next_cursor.has_value();
  }
  const std::string& cursor() const { return request_.cursor; }
  void set_cursor(const std::string& cursor) { request_.cursor = cursor; }
  bool has_repeated() const { return std::set(seen.begin(), seen.end()).size() != seen.size(); }

  PathList seen;

 private:
  const IndexFixture& index_;
  SearchRequest request_;
};

std::string times_of(const std::string& word, std::uint64_t count) {
  std::string text;
  for (; count > 0; --count) text += word + " ";
  return text;
}

}  // namespace

TEST_CASE("notes that are added while a search is read neither repeat nor hide a hit",
          "[store][search][A26]") {
  IndexFixture index;
  SeededRandom random(5);
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 40; ++i)
    notes[cat("w", 10 + i, ".md")] =
        times_of("wombat", 1 + random.next() % 5) + times_of("filler", random.next() % 40);
  index.put(notes);
  PageWalk walk(index, "wombat", 3);

  for (int page = 0; page < 4; ++page) REQUIRE(walk.step());
  std::map<std::string, std::string> added;
  for (int i = 0; i < 60; ++i)
    added[cat("new", 10 + i, ".md")] =
        times_of("other", 1 + random.next() % 200) + (i % 4 == 0 ? "wombat" : "");
  index.put(added);
  while (walk.step()) {
  }

  CHECK_FALSE(walk.has_repeated());
  const std::set<std::string> seen(walk.seen.begin(), walk.seen.end());
  for (const auto& [path, text] : notes) CHECK(seen.contains(path));
  CHECK(seen.size() == 40 + 15);
}

TEST_CASE("whatever is written between pages, each hit that was there all the time comes once",
          "[store][search][A26]") {
  SeededRandom random(26);
  for (int round = 0; round < 30; ++round) {
    INFO("round " << round);
    const auto match = static_cast<SearchMatch>(round % 3);
    IndexFixture index;
    std::set<std::string> all, always;  // paths that are there, and that were hits all the time
    int number = 0;
    const auto text = [&](bool is_hit) {
      const auto words = is_hit ? times_of("wombat", 1 + random.next() % 6) +
                                      times_of("river", 1 + random.next() % 3)
                                : std::string("bank ");
      return cat(random.next() % 5 == 0 ? "# " : "", words, times_of("filler", random.next() % 60));
    };
    const auto add = [&](std::map<std::string, std::string>& notes, bool is_hit) {
      const auto path = cat("d", random.next() % 4, "/n", number++, ".md");
      notes[path] = text(is_hit);
      all.insert(path);
      return path;
    };
    std::map<std::string, std::string> notes;
    for (int i = 0; i < 50; ++i) {
      const bool is_hit = random.next() % 5 != 0;
      const auto path = add(notes, is_hit);
      if (is_hit) always.insert(path);
    }
    index.put(notes);
    PageWalk walk(index, "wombat river", 2 + static_cast<int>(random.next() % 5), match);

    while (walk.step()) {
      std::map<std::string, std::string> changed;
      for (auto n = random.next() % 4; n > 0; --n) add(changed, random.next() % 2 == 0);
      for (auto n = random.next() % 4; n > 0; --n) {
        auto at = all.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random.next() % all.size()));
        const bool is_hit = random.next() % 6 != 0;
        changed[*at] = text(is_hit);
        if (!is_hit) always.erase(*at);
      }
      index.put(changed);
      if (random.next() % 3 == 0) {
        const auto path = *all.begin();
        index.remove(path);
        all.erase(path);
        always.erase(path);
      }
    }

    CHECK_FALSE(walk.has_repeated());
    const std::set<std::string> seen(walk.seen.begin(), walk.seen.end());
    for (const auto& path : always) {
      INFO(path);
      CHECK(seen.contains(path));
    }
  }
}

TEST_CASE("a walk past a thousand hits goes on in an unchanged vault and else says what to do",
          "[store][search][A26]") {
  IndexFixture index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 1500; ++i)
    notes[cat("n", 10000 + i, ".md")] = cat("wombat ", times_of("filler", i % 7));
  index.put(notes);
  PageWalk walk(index, "wombat", 190);

  std::string deep;
  while (walk.step()) {
    CHECK(walk.cursor().size() <= kMaxSearchCursorBytes);
    if (walk.seen.size() > kMaxGivenHits && deep.empty()) deep = walk.cursor();
  }
  CHECK(walk.seen.size() == 1500);
  CHECK_FALSE(walk.has_repeated());
  REQUIRE_FALSE(deep.empty());
  index.put("more.md", "wombat\n");
  walk.set_cursor(deep);
  const auto refused = walk.ask();
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == Reason::ValidationFailed);
  CHECK(refused.error().message.find("Narrow it") != std::string::npos);
}

TEST_CASE("a cursor from before the index was made anew is refused, since files have other ids",
          "[store][search][A26]") {
  IndexFixture index;
  const std::map<std::string, std::string> notes = {{"a.md", "w\n"}, {"b.md", "w\n"}};
  index.put(notes);
  PageWalk walk(index, "w", 1);
  REQUIRE(walk.step());

  index.writer.clear().value();
  index.put(notes);

  const auto refused = walk.ask();
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == Reason::ValidationFailed);
  walk.set_cursor("");
  CHECK(walk.step());
}

TEST_CASE("a search cursor comes back as it was written, and a damaged one is refused",
          "[store][search][A26]") {
  const std::string hash(64, 'a');
  SeededRandom random(8);
  for (int round = 0; round < 200; ++round) {
    std::set<std::int64_t> ids;
    const auto most = std::uint64_t{1} << (1 + random.next() % 30);
    for (auto n = random.next() % 900; n > 0; --n)
      ids.insert(1 + static_cast<std::int64_t>(random.next() % most));
    SearchCursor cursor;
    cursor.with_some = round % 2 == 0;
    cursor.generation = "0123456789abcdef-12";
    cursor.numbering = "0123456789abcdef-0";
    cursor.given = FileIds(ids.begin(), ids.end());
    cursor.last = SearchPlace{round % 2, random.uniform() * 9, 1 + round};

    const auto text = write_search_cursor(cursor, hash);
    const auto again = read_search_cursor(text, hash).value();

    CHECK(text.size() <= kMaxSearchCursorBytes);
    CHECK(again.with_some == cursor.with_some);
    CHECK(again.generation == cursor.generation);
    CHECK(again.numbering == cursor.numbering);
    if (again.given) {
      CHECK(*again.given == *cursor.given);
    } else {
      REQUIRE(again.last);
      CHECK(again.last->tier == cursor.last->tier);
      CHECK(again.last->score == cursor.last->score);
      CHECK(again.last->id == cursor.last->id);
    }
    auto damaged = text;
    damaged[random.next() % damaged.size()] = "%.A_"[random.next() % 4];
    const auto read = read_search_cursor(damaged, hash);
    if (!read.has_value()) CHECK(read.error().reason == Reason::ValidationFailed);
    CHECK_FALSE(read_search_cursor(text, std::string(64, 'b')).has_value());
  }
  CHECK_FALSE(read_search_cursor("", hash).has_value());
}

}  // namespace indx
