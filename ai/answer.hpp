#pragma once
#include "ai/provider.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// What is answered when the notes do not hold the answer (row C23), word for word.
inline constexpr std::string_view kNoAnswer = "I don't know based on the indexed vault.";

/// A piece of a note that may answer, as a prompt shows it.
struct AnswerBlock {
  std::string path, title;
  std::string section;  ///< headings from the top down; empty: before the first
  std::string id;       ///< hash of bytes that the text is part of
  std::string text;
};
struct AnswerOptions {
  std::string style = "neutral";  ///< neutral | bullets | executive | technical
  std::string language;           ///< empty: that of the question
  bool cite = true;
  std::vector<ChatMessage> history;  ///< earlier turns, oldest first
};
/// What a model gives. Nothing of it is verified yet.
struct AnswerReply {
  bool is_supported = false;  ///< false: the context does not hold the answer
  std::string answer;
  std::string confidence = "unknown";  ///< high | medium | low | unknown
  std::vector<Json> citations;         ///< `{path, snippet}`
  std::vector<std::string> followups;
};

/// Asks for an answer from these blocks alone (row G21): each stands below a line
/// `[Note: "title" | Section: "headings"]`, marked as data.
GenerateRequest answer_prompt(const std::string& question, const std::vector<AnswerBlock>& blocks,
                              const AnswerOptions& options, const AiConfig& config,
                              std::int64_t seed, int max_tokens);
/// Tokens of that prompt besides its blocks; of one block; of a block besides its text.
std::int64_t answer_overhead(const std::string& question, const AnswerOptions& options);
std::int64_t block_tokens(const AnswerBlock& block);
std::int64_t block_overhead(const AnswerBlock& block);

/// `ai_provider_error` with cause `schema` when the answer is no object.
Result<AnswerReply> parse_answer_reply(const GenerateReply& reply);

}  // namespace indx
