#pragma once
#include "base/unicode.hpp"
#include "vault/base_query.hpp"

#include <algorithm>
#include <map>

namespace indx {

/// Rows of notes given as text, links resolved as the index does.
inline std::vector<BaseFileRow> base_rows_of(const std::map<std::string, std::string>& files) {
  std::vector<BaseFileRow> rows;
  for (const auto& [path, bytes] : files) {
    BaseFileRow row;
    row.path = path;
    row.size = bytes.size();
    row.modified_ms = 1'741'780'800'000;  // 2025-03-12T12:00:00Z
    row.created_ms = 1'741'694'400'000;
    if (path.ends_with(".md")) {
      auto note = parse_note(bytes);
      row.properties = note.frontmatter.values.dump();
      for (const auto& use : note.tags)
        if (std::find(row.tags.begin(), row.tags.end(), use.tag) == row.tags.end())
          row.tags.push_back(use.tag);
      for (const auto& link : note.links)
        row.links.push_back(
            {link.kind, link.external, link.target, link.subpath, link.display, {}});
    }
    rows.push_back(std::move(row));
  }
  const BaseFiles index(rows);
  for (auto& row : rows)
    for (auto& link : row.links)
      if (const auto reached =
              index.resolve({link.target, link.subpath, {}, row.path, link.is_external}))
        link.path = index.row(*reached).path;
  return rows;
}

inline const std::map<std::string, std::string> kBaseVault = {
    {"A.md", "---\nprice: 10\nage: 4\ntags: [book]\ndue: 2025-01-31\ndone: true\n---\n"},
    {"B.md", "---\nprice: 2\ntags: [book/sub]\nauthor: \"[[A]]\"\nkinds: [x, y]\n---\n[[A#h]]\n"},
    {"sub/C.md", "---\nprice: \"9\"\nkinds: [y]\n---\n#Book ![[img.png]] [[nowhere]]\n"},
    {"notes2/D.md", "x\n"},
    {"img.png", "x\n"},
    {"q.base", "views:\n"},
};

inline BaseClock base_test_clock() {
  return {*parse_time("2025-03-14T10:30:00.000Z"), [](Timestamp) { return std::chrono::hours(1); }};
}

inline Result<BaseAnswer> ask_base(const std::string& yaml, BaseQuestion question = {},
                                   const std::map<std::string, std::string>& files = kBaseVault,
                                   BaseRowNeeds* needs_seen = nullptr) {
  const auto base = INDX_TRY(parse_base_definition(yaml));
  question.clock = base_test_clock();
  return run_base_query(base, question,
                        [&](const BaseRowNeeds& needs, const BaseRowVisitor& visit) {
                          if (needs_seen != nullptr) *needs_seen = needs;
                          for (auto& row : base_rows_of(files)) visit(std::move(row));
                          return Status();
                        });
}

inline std::vector<std::string> base_paths(const Result<BaseAnswer>& answer) {
  std::vector<std::string> paths;
  if (!answer.has_value()) return {answer.error().message};
  for (const auto& row : answer->rows) paths.push_back(row.path);
  return paths;
}

}  // namespace indx
