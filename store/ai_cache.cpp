#include "store/ai_cache.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "generated/ai_cache_sql.hpp"
#include "store/columns.hpp"

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace indx {
namespace {

constexpr int kAnswerCacheKib = 2000;
constexpr int kExpiredAtOnce = 500;
constexpr std::chrono::hours kLookupsKept{72};

const std::vector<Migration>& answer_migrations() {
  static const std::vector<Migration> kMigrations = {{1, ai_cache_sql::k_0001_initial}};
  return kMigrations;
}

std::int64_t hour_of(Timestamp at) {
  return std::chrono::floor<std::chrono::hours>(at).time_since_epoch().count();
}

/// Not one that passes, such as a full disk.
bool is_beyond_use(const Error& error) {
  return error.reason == Reason::Internal || error.reason == Reason::UnsupportedVersion;
}

}  // namespace

Status AiCache::open() {
  if (db_) return {};
  // Made before SQLite does, so that nobody else can read it; its log takes over the mode.
  if (const int fd = ::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); fd >= 0)
    ::close(fd);
  const auto durability =
      settings_.durability == Durability::Off ? Durability::Off : Durability::Normal;
  Database db =
      INDX_TRY(Database::open(path(), {.durability = durability, .cache_kib = kAnswerCacheKib}));
  INDX_TRY(migrate(db, path(), answer_migrations()));
  db_.emplace(std::move(db));
  return {};
}

void AiCache::close_and_remove() {
  db_.reset();
  std::error_code ignored;
  for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path() + suffix, ignored);
}

bool AiCache::use(const std::function<Status(Database&)>& work) {
  for (const bool is_last : {false, true}) {
    Status done = open();
    if (done.has_value()) done = work(*db_);
    if (done.has_value()) return true;
    if (!is_last && is_beyond_use(done.error())) {
      log_warn("ai-cache.db cannot be used and is made anew", {{"error", done.error().message}});
      close_and_remove();
      continue;
    }
    // Once: every call of a model would say it again.
    if (!std::exchange(has_warned_, true))
      log_warn("answers of models are not kept", {{"error", done.error().message}});
    return false;
  }
  return false;
}

Status AiCache::count_lookup(Database& db, Timestamp now, bool is_hit) {
  INDX_TRY(db.prepare("INSERT INTO lookups VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET hits = "
                      "hits + excluded.hits, misses = misses + excluded.misses")
               .bind(hour_of(now), is_hit ? 1 : 0, is_hit ? 0 : 1)
               .run());
  return {};
}

std::optional<Json> AiCache::find(const std::string& key, Timestamp now, milliseconds longest) {
  const std::scoped_lock lock(mutex_);
  std::optional<Json> found;
  const bool is_usable = use([&](Database& db) -> Status {
    found.reset();
    {
      auto query = db.prepare(
          "SELECT reply FROM answers WHERE key = ?1 AND expires_at > ?2 AND created_at > ?3");
      query.bind(key, to_millis(now), to_millis(now - longest));
      if (INDX_TRY(query.step())) found = json_value(query.text(0));
    }
    if (found && found->is_null()) found.reset();
    const Status counted = count_lookup(db, now, found.has_value());
    // On a full disk nothing can be counted, but what is there was paid for.
    const bool may_pass = !counted.has_value() && !is_beyond_use(counted.error());
    return found && may_pass ? Status() : counted;
  });
  return is_usable ? found : std::nullopt;
}

void AiCache::put(const std::vector<Answer>& answers, Timestamp now) {
  if (answers.empty()) return;
  const std::scoped_lock lock(mutex_);
  use([&](Database& db) -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(db));
    for (const auto& answer : answers) {
      const auto text = json_text(answer.reply);
      INDX_TRY(db.prepare("DELETE FROM answers WHERE key = ?1").bind(answer.key).run());
      INDX_TRY(db.prepare("INSERT INTO answers (key, reply, bytes, created_at, expires_at) "
                          "VALUES (?1, ?2, ?3, ?4, ?5)")
                   .bind(answer.key, text, text.size() + answer.key.size(), to_millis(now),
                         to_millis(now + answer.keep_for))
                   .run());
    }
    INDX_TRY(make_room(db, now));
    return transaction.commit();
  });
}

Status AiCache::make_room(Database& db, Timestamp now) {
  INDX_TRY(
      db.prepare("DELETE FROM lookups WHERE hour < ?1").bind(hour_of(now - kLookupsKept)).run());
  INDX_TRY(db.prepare("DELETE FROM answers WHERE id IN (SELECT id FROM answers WHERE expires_at <= "
                      "?1 ORDER BY expires_at LIMIT ?2)")
               .bind(to_millis(now), kExpiredAtOnce)
               .run());
  std::int64_t too_much = 0, last = 0;
  {
    auto total = db.prepare("SELECT bytes FROM total");
    if (INDX_TRY(total.step())) too_much = total.integer(0) - settings_.max_bytes;
  }
  if (too_much <= 0) return {};
  {
    auto oldest = db.prepare("SELECT id, bytes FROM answers ORDER BY id");
    while (too_much > 0 && INDX_TRY(oldest.step())) {
      last = oldest.integer(0);
      too_much -= oldest.integer(1);
    }
  }
  INDX_TRY(db.prepare("DELETE FROM answers WHERE id <= ?1").bind(last).run());
  return {};
}

AiCache::Lookups AiCache::lookups_since(Timestamp since) {
  const std::scoped_lock lock(mutex_);
  Lookups lookups;
  std::error_code ignored;
  if (!db_ && !std::filesystem::exists(path(), ignored)) return lookups;  // asking makes no file
  use([&](Database& db) -> Status {
    auto query = db.prepare(
        "SELECT IFNULL(SUM(hits), 0), IFNULL(SUM(misses), 0) FROM lookups WHERE hour >= ?1");
    query.bind(hour_of(since));
    if (INDX_TRY(query.step())) lookups = {query.integer(0), query.integer(1)};
    return {};
  });
  return lookups;
}

std::int64_t AiCache::size_bytes() const {
  std::int64_t size = 0;
  for (const auto* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path() + suffix, error);
    if (!error) size += static_cast<std::int64_t>(bytes);
  }
  return size;
}

}  // namespace indx
