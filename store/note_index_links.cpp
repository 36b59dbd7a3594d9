#include "store/note_index_impl.hpp"

namespace indx {

/// A scan like this that was broken off left links to files that never came: they are looked up
/// again.
Status NoteIndexWriter::Impl::expect(const std::vector<std::string>& coming) {
  std::vector<LinkCandidates::File> present;
  auto query = db.prepare("SELECT id, path FROM files");
  while (INDX_TRY(query.step())) present.push_back({query.integer(0), query.text(1)});
  expected.emplace(std::move(present), coming);
  relinked_up_to.reset();
  if (is_bulk_open) {
    auto lost = db.prepare(
        "SELECT DISTINCT name_key FROM links l WHERE target_id IS NOT NULL AND name_key IS NOT "
        "NULL AND NOT EXISTS(SELECT 1 FROM files WHERE id=l.target_id)");
    while (INDX_TRY(lost.step())) touched_keys.insert(lost.text(0));
  }
  is_bulk_open = true;
  return db.execute("INSERT INTO meta VALUES ('bulk', '1') ON CONFLICT DO NOTHING");
}

/// What was left to the end: links to files that did not come after all, and which notes have no
/// links. Some thousand files at a time; true: done.
Result<bool> NoteIndexWriter::Impl::finish_some() {
  constexpr int kFilesAtATime = 2000;
  if (!expected) return true;
  if (!relinked_up_to) {
    for (const auto& path : expected->missing()) {
      expected->forget(path);
      touched_keys.insert(name_key_of_path(path));
    }
    relinked_up_to = 0;
    return false;
  }
  auto query = db.prepare("SELECT id FROM files WHERE id>?1 ORDER BY id LIMIT ?2");
  query.bind(*relinked_up_to, kFilesAtATime);
  int files = 0;
  for (; INDX_TRY(query.step()); ++files) relinked.insert(*(relinked_up_to = query.integer(0)));
  if (files == kFilesAtATime) return false;
  expected.reset();
  relinked_up_to.reset();
  is_bulk_open = false;
  INDX_TRY(db.execute("DELETE FROM meta WHERE key='bulk'"));
  return true;
}

Result<const LinkCandidates*> NoteIndexWriter::Impl::candidates(CandidateCache& cache,
                                                                const std::string& key) {
  if (const auto found = cache.find(key); found != cache.end()) return &found->second;
  std::vector<LinkCandidates::File> files;
  if (expected) {
    files = expected->with_key(key);
  } else {
    auto query = db.prepare("SELECT id, path FROM files WHERE name_key=?1");
    query.bind(key);
    while (INDX_TRY(query.step())) files.push_back({query.integer(0), query.text(1)});
  }
  return &cache.emplace(key, LinkCandidates(std::move(files))).first->second;
}

/// `key` is the name key of the target.
Result<std::optional<std::int64_t>> NoteIndexWriter::Impl::target_of(CandidateCache& cache,
                                                                     const std::string& key,
                                                                     const std::string& source,
                                                                     std::string_view target,
                                                                     LinkSyntax syntax) {
  using Id = std::optional<std::int64_t>;
  const auto* all = INDX_TRY(candidates(cache, key));
  const auto* file = all->resolve(source, target, syntax);
  return file == nullptr ? Id() : Id(file->id);
}

/// Links of notes indexed before that look for a file which came or went.
Status NoteIndexWriter::Impl::resolve_touched(CandidateCache& cache) {
  struct Row {
    std::int64_t source_id = 0, position = 0;
    std::optional<std::int64_t> target_id;
    std::optional<std::string> group;
  };
  for (const auto& key : touched_keys) {
    std::vector<Row> moved;
    auto query = db.prepare(
        "SELECT l.source_id, l.position, l.target_id, l.target, l.syntax, f.path FROM links l JOIN "
        "files f ON f.id=l.source_id "
        "WHERE l.name_key=?1");
    query.bind(key);
    while (INDX_TRY(query.step())) {
      const auto target = INDX_TRY(target_of(cache, key, query.text(5), query.text(3),
                                             static_cast<LinkSyntax>(query.integer(4))));
      const auto before = query.optional_integer(2);
      if (target == before) continue;
      moved.push_back({query.integer(0), query.integer(1), target,
                       target ? std::nullopt : std::optional(target_key(query.text(3)))});
      relinked.insert(query.integer(0));
      if (before) relinked.insert(*before);
      if (target) relinked.insert(*target);
    }
    for (const auto& row : moved) {
      auto update = db.prepare(
          "UPDATE links SET target_id=?3, target_key=?4 WHERE source_id=?1 AND position=?2");
      INDX_TRY(update.bind(row.source_id, row.position, row.target_id, row.group).run());
    }
  }
  return {};
}

Status NoteIndexWriter::Impl::insert_pending(CandidateCache& cache) {
  for (const auto& [source_id, pending] : pending_links) {
    const auto& source = pending.path;
    int position = 0;
    for (const auto& link : pending.links) {
      std::optional<std::string> key;
      std::optional<std::int64_t> target;
      if (!link.external) {
        key = name_key_of_target(link.target);
        target = key ? INDX_TRY(target_of(cache, *key, source, link.target, link.syntax))
                     : std::optional(source_id);
        if (target) relinked.insert(*target);
      }
      const auto group =
          link.external || target ? std::nullopt : std::optional(target_key(link.target));
      auto insert = db.prepare(
          "INSERT INTO links VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)");
      insert.bind(source_id, position++, static_cast<int>(link.kind), static_cast<int>(link.syntax),
                  link.external, link.target, link.subpath, link.display, link.key, link.line,
                  link.column, link.begin, link.end, key, target, group);
      INDX_TRY(insert.run());
    }
  }
  return {};
}

/// Keeps what `link_orphans` asks for with each file, so that it reads rows of the answer only.
Status NoteIndexWriter::Impl::update_unlinked() {
  for (const auto id : relinked) {
    auto query = db.prepare(
        "SELECT kind=1, unlinked, EXISTS(SELECT 1 FROM links WHERE target_id=?1 AND "
        "source_id<>?1), "
        "EXISTS(SELECT 1 FROM links l JOIN files t ON t.id=l.target_id WHERE l.source_id=?1 AND "
        "l.target_id<>?1 AND t.kind=1) FROM files WHERE id=?1");
    if (!INDX_TRY(query.bind(id).step())) continue;
    const bool has_incoming = query.integer(2) != 0, has_outgoing = query.integer(3) != 0;
    std::optional<std::int64_t> unlinked;
    if (query.integer(0) != 0 && !(has_incoming && has_outgoing))
      unlinked = has_outgoing ? 1 : has_incoming ? 2 : 0;
    if (unlinked == query.optional_integer(1)) continue;
    auto update = db.prepare("UPDATE files SET unlinked=?2 WHERE id=?1");
    INDX_TRY(update.bind(id, unlinked).run());
  }
  return {};
}

}  // namespace indx
