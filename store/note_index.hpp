#pragma once
#include "base/random.hpp"
#include "store/database.hpp"
#include "vault/chunk.hpp"
#include "vault/markdown.hpp"
#include "vault/note_query.hpp"
#include "vault/retrieval_query.hpp"
#include "vault/vault.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace indx {

class IndexPool;
class RetrievalRun;
class VectorCache;

/// What the index knows of one file without reading it.
struct IndexedFile {
  std::string etag;
  std::size_t size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  std::uint64_t inode = 0;
};

/// The write side of index.db (derived, rebuildable). One thread at a time: the indexer owns it.
class NoteIndexWriter {
 public:
  /// Opens or creates `<dir>/index.db`. A damaged or newer file is moved aside and made anew: it is
  /// a cache.
  static Result<NoteIndexWriter> open(const std::string& dir, Durability durability,
                                      Random& random);

  /// Whether an error of a running index says that its file is broken, so that it has to be made
  /// anew.
  static bool is_damaged(const Error& error);
  /// Takes index.db away, or keeps it as index.db.damaged where somebody may want to look at it; no
  /// writer may be open. Readers notice by themselves.
  static Status discard(const std::string& dir, bool is_kept);

  Status begin();
  Status commit();  ///< also raises the generation when something changed
  /// Inserts or replaces one note; `bytes` null: by name only (attachments, huge or unreadable
  /// files).
  /// `chunks` null: they are made here.
  Status put(const FileInfo& file, const std::string& etag, const std::string& sha256,
             const std::string* bytes, const ParsedNote* note,
             const std::vector<Chunk>* chunks = nullptr);
  Status remove(const std::string& path);
  /// Updates size and mtime of a file whose bytes did not change.
  Status touch(const FileInfo& file);
  Status clear();
  /// For a scan that brings many new files: says which, so that links to them resolve at once.
  /// Until `end_bulk` is done, orphans are not known. A crash in between is made good by the next
  /// `begin_bulk`, which is due when `is_bulk_open`. In a transaction of its own.
  Status begin_bulk(const std::vector<std::string>& coming);
  /// Does a part of what was left to the end, inside the caller's transaction; true: all is done
  /// once that commits.
  Result<bool> end_bulk();
  bool is_bulk_open() const;
  /// All known files by path.
  Result<std::map<std::string, IndexedFile>> files();
  /// Recomputes the resolved path of links whose folded last component is the file's (architecture
  /// 8, Links). Called by put and remove for new and gone paths.
  Result<std::string> generation();

  /// Vectors; each call is a transaction of its own, and none moves the generation.
  Result<std::optional<std::string>> embedding_model();  ///< nullopt: there are none yet
  /// The first ones decide of which model and size all are: `conflict` for others.
  Status put_embeddings(const std::string& model, const std::vector<EmbeddedChunk>& chunks);
  /// Drops all, so that another model can come.
  Status forget_embeddings();
  /// Forgets which chunks were left out, so that they are tried again; gives how many.
  Result<std::int64_t> forget_left_out();
  /// Drops vectors that no chunk has, once there are many: a moved note finds its own again.
  Result<std::int64_t> prune_embeddings(VectorCache& cache);
  /// Whether a chunk was put without a vector since the last call, or (`looks`) is there at all.
  Result<bool> take_unembedded(bool looks);
  /// One piece of work on the graph of vectors; false: it is up to date.
  Result<bool> work_on(VectorCache& cache);

 private:
  struct Impl;
  explicit NoteIndexWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;

 public:
  NoteIndexWriter(NoteIndexWriter&&) noexcept;
  NoteIndexWriter& operator=(NoteIndexWriter&&) noexcept;
  ~NoteIndexWriter();
};

/// The read side: a small pool of read-only connections. Safe from any thread; never waits for the
/// writer.
class NoteIndexReader {
 public:
  static Result<std::unique_ptr<NoteIndexReader>> open(const std::string& dir,
                                                       std::size_t connections = 4);
  ~NoteIndexReader();

  Result<Page<NoteRow>> list(const NoteFilter& filter, int limit, const std::string& cursor);
  Result<std::optional<NoteRow>> find(const std::string& path);
  Result<SearchPage> search(const SearchRequest& request);
  /// What a search by words and by meaning is made of (retrieval_run.hpp). `vector` null: by words
  /// alone.
  Result<std::unique_ptr<RetrievalRun>> retrieve(const RetrievalQuestion& question,
                                                 const std::vector<float>* vector,
                                                 const VectorCache* cache);
  /// Chunks of other notes that are near to the mean of a note's own vectors; nothing where it has
  /// none.
  Result<std::vector<NearChunk>> near_note(const std::string& path, const NoteFilter& filter,
                                           std::size_t most_notes, const VectorCache* cache);
  /// Sorted by count descending, then tag.
  Result<std::vector<TagCount>> tags(const PathScope& scope);
  /// Paths of notes that use the tag or one below it, sorted.
  Result<std::vector<std::string>> paths_with_tag(const std::string& tag, const PathScope& scope);
  Result<IndexCounts> counts(const PathScope& scope);
  Result<std::string> generation();
  /// The generation, and what vectors there are: moves with everything that an answer out of the
  /// index can depend on.
  Result<std::string> revision();
  /// Calls `visit` for each note in path order with its title, headings + body text and its tags;
  /// for corpus statistics.
  struct NoteText {
    std::string path, title, text;
    std::vector<std::string> tags;
  };
  Status visit_texts(const std::function<void(NoteText)>& visit);
  /// The connections, for readers of other parts of the index (LinkIndex).
  IndexPool& pool();

 private:
  struct Impl;
  explicit NoteIndexReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace indx
