#include "vault/text_edit.hpp"

namespace indx {

std::string apply_edits(std::string_view bytes, const std::vector<TextEdit>& edits) {
  std::string out;
  std::size_t copied_to = 0;
  for (const auto& edit : edits) {
    out.append(bytes.substr(copied_to, edit.begin - copied_to)).append(edit.text);
    copied_to = edit.end;
  }
  return out.append(bytes.substr(copied_to));
}

bool are_applicable(const std::vector<TextEdit>& edits, std::size_t size) {
  std::size_t free_from = 0;
  for (const auto& edit : edits) {
    if (edit.begin < free_from || edit.end < edit.begin || edit.end > size) return false;
    free_from = edit.end;
  }
  return true;
}

}  // namespace indx
