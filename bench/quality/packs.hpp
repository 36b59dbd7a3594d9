#pragma once
#include "bench/support.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace indx::quality {

/// The vaults that are measured: packs unpacked from the folder that INDX_PACKS names, and the
/// sample vault, each copied below one temporary folder. A pack that cannot be unpacked ends the
/// program.
class Packs {
 public:
  Packs();

  /// A folder with the pack as `vault`, unchanged; the index that is made beside it stays for the
  /// next task.
  std::filesystem::path folder(const std::string& pack);
  /// A new folder with an empty `vault`.
  std::filesystem::path empty_folder();
  /// The notes of the pack as they were unpacked: to be read only.
  std::filesystem::path source(const std::string& pack);
  /// A new folder with a copy of the pack as `vault`, to be changed at will.
  std::filesystem::path copy(const std::string& pack);

 private:
  bench::Folder root_;
  int copies_ = 0;
  std::map<std::string, std::filesystem::path> unpacked_, shared_;
};

/// Vault-relative paths of the notes below a vault, sorted.
std::vector<std::string> notes_in(const std::filesystem::path& vault);
std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace indx::quality
