#pragma once
#include <set>
#include <string>
#include <vector>

namespace indx::quality {

/// A question with the notes any of which answers it.
struct Question {
  std::string id, pack, kind, text;
  std::set<std::string> relevant;
  std::string answer;  ///< the sentence that answers it, as it stands in a relevant note, or empty
};
struct TagCase {
  std::string id, pack, path;
  std::set<std::string> tags;
};

/// The sets beside this program, or in the folder that INDX_QUALITY_SETS names. A set that cannot
/// be read ends the program.
std::vector<Question> retrieval_questions();
std::vector<Question> unanswerable_questions();
std::vector<TagCase> tag_cases();

}  // namespace indx::quality
