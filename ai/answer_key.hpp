#pragma once
#include "ai/provider.hpp"

#include <string>
#include <utility>
#include <vector>

namespace indx {

/// What makes two questions to a model the same one (row D47).
struct AnswerKey {
  std::string operation, provider, model;
  GenerateRequest request;  ///< with the output limit in force
  Json input;               ///< of the operation; what does not change an answer is left out
  /// Path and etag of every note that was read for the question, in any order.
  std::vector<std::pair<std::string, std::string>> content;

  /// 64 hex digits of SHA-256. Neither prompt nor notes can be found from it.
  std::string hash() const;
};

/// The input without what changes no answer of a model: how the call is made (row D48), which notes
/// it names (`content` has those that were read), and what is done with the answer.
Json normalized_input(Json input);

}  // namespace indx
