#pragma once
#include "store/expected_files.hpp"
#include "store/note_index.hpp"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace indx {

/// The state of a NoteIndexWriter. Parts: `note_index_writer.cpp` opens and commits,
/// `note_index_put.cpp` writes the rows of one file, `note_index_links.cpp` resolves links,
/// `note_index_embed.cpp` keeps vectors.
struct NoteIndexWriter::Impl {
  Database db;
  bool in_transaction = false;
  bool changed = false;
  std::optional<Error> failed;  ///< of this transaction: commit rolls back and returns it
  std::string epoch;
  std::int64_t counter = 0;
  std::unordered_set<std::string> touched_keys;  ///< of files that came or went in this transaction
  struct Pending {
    std::string path;
    std::vector<Link> links;
  };
  std::map<std::int64_t, Pending> pending_links;  ///< of the notes put in this transaction, by file
  std::unordered_set<std::int64_t>
      relinked;  ///< files whose links, or those to them, changed in this transaction
  std::optional<ExpectedFiles> expected;  ///< while a scan brings many new files
  bool has_bulk_memory = false;
  bool is_bulk_open = false;    ///< what such a scan leaves to its end is not done yet
  bool has_unembedded = false;  ///< a chunk was put that has no vector
  std::optional<std::int64_t> relinked_up_to;  ///< file id, when that end has begun

  explicit Impl(Database database) : db(std::move(database)) {}

  Status load_generation(Random& random);
  Status roll_back();
  template <typename Body>
  Status change(Body body);
  template <typename Body>
  Status change_vectors(Body body);

  /// What `put` writes into the row of a file.
  struct FileRow {
    std::string title;
    int kind = 0;
    std::size_t headings = 0, chunks = 0, tasks = 0;
  };

  Status expect(const std::vector<std::string>& coming);
  Result<bool> finish_some();
  Result<std::optional<std::int64_t>> find_id(const std::string& path);
  Status put_file(const FileInfo& file, const std::string& etag, const std::string& sha256,
                  const std::string* bytes, const ParsedNote* note,
                  const std::vector<Chunk>& chunks);
  Result<std::int64_t> put_row(const FileInfo& file, const std::string& etag,
                               const std::string& sha256, const FileRow& row);
  Status put_text(std::int64_t id, const FileInfo& file, const std::string& title,
                  std::string_view bytes, const ParsedNote& note);
  Status put_tags(std::int64_t id, const ParsedNote& note);
  Status put_chunks(std::int64_t id, const std::string& title, const std::vector<Chunk>& chunks);
  Result<bool> is_embedded(std::string_view key);
  Status put_tasks(std::int64_t id, const ParsedNote& note);
  Status put_properties(std::int64_t id, const Json& values);
  Status remove_properties(std::int64_t id);
  Status remove_text(std::int64_t id);
  Status remove_file(const std::string& path);

  using CandidateCache = std::unordered_map<std::string, LinkCandidates>;
  Result<const LinkCandidates*> candidates(CandidateCache& cache, const std::string& key);
  Result<std::optional<std::int64_t>> target_of(CandidateCache& cache, const std::string& key,
                                                const std::string& source, std::string_view target,
                                                LinkSyntax syntax);
  Status resolve_touched(CandidateCache& cache);
  Status insert_pending(CandidateCache& cache);
  Status update_unlinked();
};

/// A change that failed half-way spoils the transaction: commit then undoes all of it.
template <typename Body>
Status NoteIndexWriter::Impl::change(Body body) {
  INDX_ASSERT(in_transaction);
  auto done = body();
  if (!done.has_value() && !failed) failed = done.error();
  changed = true;
  return done;
}

}  // namespace indx
