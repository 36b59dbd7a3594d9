#pragma once
#include <string_view>

namespace indx {

/// Words that shape a question and say nothing of what it is about, as the tokenizer folds them.
/// English; words of other languages all count as content.
bool is_question_word(std::string_view folded);

}  // namespace indx
