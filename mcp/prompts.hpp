#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Prompts as values: what there is, which operations fill them, and the text that they become.

/// What the text of an argument stands for.
enum class PromptValue : std::uint8_t { Date, Limit, Switch };

struct PromptArgument {
  std::string_view name, title, description;
  PromptValue value = PromptValue::Date;
};

/// The arguments of one prompts/get, understood; those left out have their default.
struct PromptInput {
  std::string date;  ///< YYYY-MM-DD, today, yesterday, tomorrow; empty: left out
  std::chrono::sys_days today;
  int limit = 20;
  bool dry_run = true;

  /// The day that `date` means, today when it is left out; in UTC.
  std::chrono::sys_days day() const;
};

/// One operation whose output goes into the text.
struct PromptCall {
  std::string_view operation;
  Json input = Json::object();
  bool may_be_missing = false;  ///< `not_found` is an answer: the output is null
};

struct Prompt {
  std::string_view name, title, description;
  std::vector<PromptArgument> arguments;  ///< all may be left out
  std::vector<std::string_view> tools;    ///< recommended for the work, the most useful first
  std::function<std::vector<PromptCall>(const PromptInput&)> calls;
  /// `outputs` in the order of the calls; `tools`: those of the above that the client can use.
  std::function<std::string(const PromptInput&, const std::vector<Json>& outputs,
                            const std::vector<std::string>& tools)>
      text;
};

/// In the order of the docs.
const std::vector<Prompt>& prompts();
/// nullptr: there is none.
const Prompt* find_prompt(std::string_view name);

/// One entry of prompts/list, without what depends on the protocol version.
Json prompt_descriptor(const Prompt& prompt);

/// Reads the arguments of prompts/get, null for none; null and empty values count as left out.
/// Errors name the argument in `details.argument`.
Result<PromptInput> prompt_input(const Prompt& prompt, const Json& arguments, Timestamp now);

}  // namespace indx
