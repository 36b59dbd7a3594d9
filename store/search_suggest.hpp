#pragma once
#include "store/search_run.hpp"

#include <string>
#include <vector>

namespace indx {

/// Words of the index near to those that no note has, nearest first, then most used: what a typing
/// error may stand for. Only words of notes that the filter shows.
Result<std::vector<std::string>> suggest_words(Database& db, SearchRun& run,
                                               const std::vector<const QueryText*>& texts,
                                               const FilterCheck& check);

}  // namespace indx
