#pragma once
#include "base/json.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace indx {

/// Random vaults and bases: values of every kind that a property may have, filters of every kind
/// that is worth a look.
class RandomBases {
 public:
  explicit RandomBases(unsigned seed) : random_(seed) {}

  std::size_t pick(std::size_t count) { return random_() % count; }
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[pick(choices.size())];
  }

  std::map<std::string, std::string> vault(std::size_t notes) {
    std::map<std::string, std::string> files = {
        {"img.png", "x"}, {"sub/.hidden ext", "x"}, {"sub/a.b.PNG", "x"}, {"q.base", "views:\n"}};
    for (std::size_t i = 0; i < notes; ++i)
      files[one_of({"", "sub/", "sub/deep/", "Sub/", "sub.md/"}) + one_of({"A", "B", "n", "Ä"}) +
            std::to_string(pick(notes)) + ".md"] = note();
    return files;
  }

  std::string note() {
    if (chance(10)) return "no properties #book [[A1]]\n";
    std::string text = "---\n";
    for (const auto* name : {"price", "due", "author", "kinds", "done", "tags"}) {
      if (chance(35)) continue;
      text += spelled(name) + ": " + (std::string(name) == "tags" ? tags() : value()) + "\n";
    }
    if (chance(10)) text += "Price: 3\nPRICE: 4\n";
    return text + "---\n" + one_of({"", "#book ", "#Book/sub ", "#other "}) +
           one_of({"", "[[A1]] ", "[[sub/B2|x]] ", "![[img.png]] ", "[[gone]] ", "[[#h]] ",
                   "[[b2.md]] ", "[x](sub/A1.md) "}) +
           "\n";
  }

  std::string value() {
    return one_of({"10",
                   "9",
                   "\"9\"",
                   "-1.5",
                   "0",
                   "1e3",
                   "\"\"",
                   "text",
                   "Text",
                   "\"a b\"",
                   "true",
                   "false",
                   "\"true\"",
                   "null",
                   "",
                   "2025-01-31",
                   "2025-01-31T13:00",
                   "\"2025-01-31 23:30+05:00\"",
                   "2025-02-30",
                   "\"20250131\"",
                   "[a, b]",
                   "[]",
                   "[9]",
                   "[\"[[A1]]\", b]",
                   "[[a]]",
                   "\"[[A1]]\"",
                   "\"[[sub/B2#h|x]]\"",
                   "\"[[gone]]\"",
                   "\"[x](A1.md)\"",
                   "\"[a]: A1.md (t)\"",
                   "\"(x)\"",
                   "{a: 1}",
                   "{a: [1, 2]}",
                   "\"1d\"",
                   "é",
                   "\"\\\"quoted\\\"\"",
                   "open",
                   "done"});
  }
  std::string tags() { return one_of({"[book]", "[Book/sub, x]", "other", "[]", "3", "[a/b]"}); }
  std::string spelled(std::string name) {
    if (chance(12)) name[0] = static_cast<char>(name[0] - 32);
    return name;
  }

  // ---- expressions

  std::string literal() {
    return one_of({"10",
                   "9",
                   "0",
                   "\"9\"",
                   "\"text\"",
                   "\"\"",
                   "true",
                   "false",
                   "null",
                   "\"2025-01-31\"",
                   "date(\"2025-01-31\")",
                   "date(\"2025-01-31 13:00\")",
                   "now()",
                   "today()",
                   "[\"a\", \"b\"]",
                   "\"open\"",
                   "\"[[A1]]\"",
                   "\"A1\"",
                   "\"a\"",
                   "\"2025-02-01\"",
                   "duration(\"1d\")",
                   "(1 / 0)",
                   "link(\"A1\")"});
  }
  std::string property() {
    return one_of({"price", "due", "author", "kinds", "done", "tags", "Price", "note.price",
                   "note[\"due\"]", "missing", "note.DONE"});
  }
  std::string comparison() { return one_of({"==", "!=", "<", ">", "<=", ">="}); }

  std::string condition() {
    switch (pick(18)) {
      case 0:
        return property();
      case 1:
        return "file.hasTag(" +
               one_of({"\"book\"", "\"#BOOK\"", "\"a\"", "\"x\", \"other\"", "\"\""}) + ")";
      case 2:
        return "file.inFolder(" + one_of({"\"sub\"", "\"/sub/\"", "\"\"", "\"sub/deep\""}) + ")";
      case 3:
        return "file." + one_of({"ext == \"md\"",         "ext == \"png\"",
                                 "folder == \"/\"",       "folder.contains(\"sub\")",
                                 "name > \"B\"",          "path.length > 6",
                                 "basename == \"A1\"",    "size > 40",
                                 "mtime > now()",         "hasProperty(\"price\")",
                                 "hasProperty(\"DUE\")",  "tags.contains(\"book\")",
                                 "hasLink(\"A1\")",       "hasLink(this.file)",
                                 "hasLink(this)",         "hasLink(\"sub/B2.md\")",
                                 "hasLink(\"[[A1#h]]\")", "hasLink(\"Gone\")",
                                 "hasLink(\"A1#h\")",     "hasLink(\"\")",
                                 "hasLink(\"[[#h]]\")",   "hasLink(link(\"A1\"))",
                                 "hasLink(author)",       "links.length > 0",
                                 "nothing == 1"});
      case 4:
        return property() +
               one_of({".isEmpty()", ".isTruthy()", ".isType(\"number\")", ".isType(\"date\")",
                       ".contains(\"a\")", ".toString() == \"9\"", ".abs() > 1", ".length > 1",
                       ".year == 2025", "[0] == \"a\"", ".filter(value == \"a\").length > 0",
                       ".map(value + price).length > 1", ".startsWith(\"t\")",
                       ".lower() == \"text\"", ".asFile().name == \"A1.md\""});
      case 5:
        return property() + " " + comparison() + " " + property();
      case 6:
        return "formula." + one_of({"twice", "bad", "unread", "when", "loop", "none"}) + " " +
               comparison() + " " + literal();
      case 7:
        return "this.price " + comparison() + " " + property();
      case 8:
        return literal() + " " + comparison() + " " + property();
      case 9:
        return literal();
      case 10:
        return "file == " + one_of({"link(\"A1\")", "\"A1.md\"", "author"});
      default:
        return property() + " " + comparison() + " " + literal();
    }
  }
  std::string expression(int depth) {
    if (depth <= 0 || chance(40)) return condition();
    switch (pick(5)) {
      case 0:
        return "!(" + expression(depth - 1) + ")";
      case 1:
        return "(" + expression(depth - 1) + ") || (" + expression(depth - 1) + ")";
      default:
        return "(" + expression(depth - 1) + ") && (" + expression(depth - 1) + ")";
    }
  }
  Json filter(int depth) {
    if (depth <= 0 || chance(50)) return expression(2);
    Json list = Json::array();
    for (auto count = pick(4); count > 0; --count) list.push_back(filter(depth - 1));
    return {{one_of({"and", "and", "or", "not"}), list}};
  }

  Json base() {
    Json view = {{"name", "T"}};
    for (const auto& name : {"file.name", "price", "author", "formula.twice", "file.tags"})
      if (chance(50)) view["order"].push_back(name);
    if (chance(10)) view["order"].push_back(one_of({"file.links", "file.size", "file.backlinks"}));
    if (chance(50)) view["filters"] = filter(2);
    if (chance(50))
      view["sort"].push_back({{"property", one_of({"price", "due", "file.name", "kinds"})},
                              {"direction", one_of({"ASC", "DESC"})}});
    if (chance(30)) view["groupBy"] = {{"property", one_of({"kinds", "author", "done"})}};
    if (chance(20)) view["limit"] = pick(6);
    if (chance(30)) view["summaries"] = {{"price", one_of({"Sum", "Unique", "Filled", "Latest"})}};
    Json base = {{"formulas",
                  {{"twice", "price * 2"},
                   {"bad", "price.abs()"},
                   {"unread", "nope("},
                   {"when", "if(due, due, \"never\")"},
                   {"loop", "formula.loop + 1"}}},
                 {"views", {view}}};
    if (chance(80)) base["filters"] = filter(2);
    return base;
  }

 private:
  std::mt19937 random_;
};

}  // namespace indx
