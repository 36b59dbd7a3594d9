#pragma once
#include "store/search_run.hpp"
#include "vault/note_query.hpp"

namespace indx {

struct FoundFile : Found {
  std::string path;
};

/// What an answer shows of a note that was found: which parts hold the words, a snippet, and where
/// in the file its first match is. Of a file without text: path and name.
Result<SearchHit> make_hit(Database& db, const FoundFile& found, const QueryNode& query,
                           const SearchPlan& plan);

}  // namespace indx
