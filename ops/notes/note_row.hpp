#pragma once
#include "ops/define.hpp"

#include <string>
#include <vector>

namespace indx {

/// How a note looks in a list.
struct NoteRowView {
  std::string path, title, etag;
  std::size_t size = 0;
  std::string modified;
  std::vector<std::string> tags;
  static Fields<NoteRowView> fields();
};
std::vector<NoteRowView> view_rows(const std::vector<NoteRow>& rows);

}  // namespace indx
