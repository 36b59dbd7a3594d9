#pragma once
#include "ai/extraction.hpp"

namespace indx {

/// A record without a model (builtin-ai.md section 4): each property of the schema is looked for
/// under its name, then under its title, as ai_metadata's rules do; lists of objects come from the
/// rows of a table or the tasks of the note whose columns fit best. What the note does not say is
/// left out, or null where null is allowed. `data` is null when nothing was found at all.
Extraction extractive_record(const ExtractionTask& task);

}  // namespace indx
