#pragma once
#include "ops/operation.hpp"

#include <string>

namespace indx {

/// One short line about an answer, made of nothing but the call's input and output, so that the
/// same call says the same twice. By the operation's own template where it has one, else by the
/// shape of the output: a list, a change, a note, or plain facts.
std::string tool_summary(const Operation& operation, const Json& input, const Json& output);

}  // namespace indx
