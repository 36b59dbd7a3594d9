#pragma once
#include "base/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace indx {

struct TableSize {
  std::size_t columns = 80, rows = 24;
};

/// Public records of jobs as lines of at most `size.columns`, at most `size.rows` of them: a
/// header, those that run, then the others; what does not fit is counted in the last line. Each
/// line ends with a line break.
std::string job_table_text(const std::vector<Json>& records, TableSize size, bool has_color);

/// One line about a job that ended, of at most `columns`, from the data of its event.
std::string ended_job_text(const Json& event_data, std::size_t columns, bool has_color);

}  // namespace indx
