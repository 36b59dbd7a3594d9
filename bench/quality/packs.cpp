#include "bench/quality/packs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace indx::quality {

namespace fs = std::filesystem;

Packs::Packs() : root_("quality") {}

fs::path Packs::source(const std::string& pack) {
  if (pack == "sample-vault") return INDX_SAMPLE_VAULT;
  if (const auto it = unpacked_.find(pack); it != unpacked_.end()) return it->second;
  const char* folder = std::getenv("INDX_PACKS");
  const std::string packs = folder != nullptr ? folder : INDX_PACKS_DEFAULT;
  const auto to = root_.path / "packs";
  fs::create_directories(to);
  const auto command = cat("tar -xzf '", packs, "/", pack, ".tar.gz' -C '", to.string(), "'");
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "quality_bench: no pack %s in %s; name the folder with INDX_PACKS\n",
                 pack.c_str(), packs.c_str());
    std::exit(1);
  }
  // The archive of the scale corpus unpacks to another name.
  const auto name = pack == "scale-vba-docs" ? "h-vba-docs" : pack;
  return unpacked_[pack] = to / name / "vault";
}

fs::path Packs::empty_folder() {
  const auto to = root_.path / cat("copy-", ++copies_);
  fs::create_directories(to / "vault");
  return to;
}

fs::path Packs::copy(const std::string& pack) {
  const auto to = empty_folder();
  fs::copy(source(pack), to / "vault", fs::copy_options::recursive);
  return to;
}

fs::path Packs::folder(const std::string& pack) {
  const auto it = shared_.find(pack);
  return it != shared_.end() ? it->second : shared_[pack] = copy(pack);
}

std::vector<std::string> notes_in(const fs::path& vault) {
  std::vector<std::string> paths;
  for (auto it = fs::recursive_directory_iterator(vault); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->path().filename().string().starts_with('.'))
      it.disable_recursion_pending();  // dotfiles are no notes
    else if (it->is_regular_file() && it->path().extension() == ".md")
      paths.push_back(it->path().lexically_relative(vault).generic_string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace indx::quality
