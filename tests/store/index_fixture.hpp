#pragma once
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "store/link_index.hpp"
#include "store/note_index.hpp"
#include "vault/canvas_content.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <unistd.h>

namespace indx {

/// A folder that is gone when the test ends.
class IndexFolder {
 public:
  IndexFolder() {
    static int number = 0;
    path_ =
        std::filesystem::temp_directory_path() / cat("indx-store-test-", getpid(), "-", ++number);
    std::filesystem::create_directories(path_);
  }
  ~IndexFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  IndexFolder(const IndexFolder&) = delete;
  IndexFolder& operator=(const IndexFolder&) = delete;
  std::string str() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// An index of notes given as text, in a folder of its own.
struct IndexFixture {
  IndexFolder folder;
  SeededRandom random{1};
  NoteIndexWriter writer;
  std::unique_ptr<NoteIndexReader> reader;

  IndexFixture()
      : writer(NoteIndexWriter::open(folder.str(), Durability::Off, random).value()),
        reader(NoteIndexReader::open(folder.str(), 2).value()) {}

  void put_open(const std::string& path, const std::string& text) {
    const FileInfo file{NotePath::parse(path).value(), text.size(), 1'700'000'000'123'000'000, 0};
    const bool is_note = file.path.is_note();
    const bool is_canvas = is_canvas_path(path);
    auto canvas = is_canvas ? canvas_content(text) : CanvasContent();
    const auto note = is_note ? parse_note(text) : std::move(canvas.note);
    const auto* searched = is_note ? &text : is_canvas ? &canvas.text : nullptr;
    writer
        .put(file, etag_of(text), sha256_hex(text), searched, searched != nullptr ? &note : nullptr)
        .value();
  }
  void put(const std::map<std::string, std::string>& files) {
    writer.begin().value();
    for (const auto& [path, text] : files) put_open(path, text);
    writer.commit().value();
  }
  void put(const std::string& path, const std::string& text) { put({{path, text}}); }
  void remove(const std::string& path) {
    writer.begin().value();
    writer.remove(path).value();
    writer.commit().value();
  }

  LinkIndex links() const { return LinkIndex(reader->pool()); }

  std::vector<std::string> find(const std::string& q, SearchMatch match = SearchMatch::All,
                                const NoteFilter& filter = {}) const {
    SearchRequest request;
    request.q = q;
    request.match = match;
    request.filter = filter;
    request.limit = 50;
    std::vector<std::string> paths;
    const auto page = reader->search(request).value();
    for (const auto& hit : page.rows) paths.push_back(hit.path);
    return paths;
  }
  SearchHit first_hit(const std::string& q) const {
    SearchRequest request;
    request.q = q;
    const auto page = reader->search(request).value();
    REQUIRE_FALSE(page.rows.empty());
    return page.rows.front();
  }
  /// What each link of a note reaches, "-" for nothing.
  std::vector<std::string> reached(const std::string& path) const {
    std::vector<std::string> paths;
    const auto links = this->links().forward(path).value();
    for (const auto& link : links->links) paths.push_back(link.path.value_or("-"));
    return paths;
  }
};

using PathList = std::vector<std::string>;

}  // namespace indx
