#pragma once
#include "ai/provider.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace indx {

/// What a model puts into other words for a table of contents: titles of groups, and descriptions
/// of items from the text that is quoted for each. What is in it was chosen without the model.
struct TocWork {
  struct Item {
    std::string id, title;
    std::string text;  ///< of the note; empty: nothing to describe
  };
  struct Group {
    std::string id, title;  ///< of which tag, folder, terms; empty title: the whole note
    std::vector<Item> items;
  };
  std::vector<Group> groups;
  bool with_titles = false, with_descriptions = false;
  std::string language;  ///< empty: that of the notes
};
struct TocWording {
  std::map<std::string, std::string> titles, descriptions;  ///< by id; one line each
  std::vector<Json> warnings;
};

/// Leaves out items at the ends of groups until prompt and answer fit the limits, the same number
/// of each group at most; gives how many it left out. `ai_input_too_large` when not even the groups
/// fit.
Result<std::size_t> fit_toc_work(TocWork& work, const AiConfig& config, int max_tokens);
GenerateRequest toc_prompt(const TocWork& work, const AiConfig& config, std::int64_t seed,
                           int max_tokens);
/// Only what was asked for is taken. A description with a number that its text does not hold, or,
/// unless another language is wanted, without one word of it, says something else than the text: it
/// is left out with the warning `ungrounded_dropped`.
Result<TocWording> parse_toc_reply(const TocWork& work, const GenerateReply& reply);

}  // namespace indx
