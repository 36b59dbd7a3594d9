#pragma once
#include "base/clock.hpp"
#include "base/config.hpp"
#include "store/database.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Answers of models, kept in `ai-cache.db` of the index folder for whoever asks the same again
/// (rows D18, D47 to D52). The file is made by the first use, private to its owner. It never fails
/// its user: what goes wrong with it is a warning in the log and a miss, and a file that is damaged
/// or of another version is made anew. Thread-safe.
class AiCache {
 public:
  struct Settings {
    std::string dir;
    Durability durability = Durability::Normal;
    std::int64_t max_bytes = std::int64_t{256} << 20U;  ///< of answers together
  };
  explicit AiCache(Settings settings) : settings_(std::move(settings)) {}

  /// The answer under this key that is not older than `longest`, nor older than what it was kept
  /// for. Counts a hit or a miss.
  std::optional<Json> find(const std::string& key, Timestamp now, milliseconds longest);

  struct Answer {
    std::string key;
    Json reply;
    milliseconds keep_for{};
  };
  /// Takes the place of what is there. Then answers whose time is over go, and the oldest ones
  /// until the rest fits.
  void put(const std::vector<Answer>& answers, Timestamp now);

  struct Lookups {
    std::int64_t hits = 0, misses = 0;
  };
  /// Of the hour that holds `since` and those after it; at least two days are remembered.
  Lookups lookups_since(Timestamp since);
  /// On disk, with its log; 0: there is no file.
  std::int64_t size_bytes() const;

 private:
  std::string path() const { return settings_.dir + "/ai-cache.db"; }
  Status open();
  void close_and_remove();
  /// False: it did not work out, and the log says why.
  bool use(const std::function<Status(Database&)>& work);
  Status count_lookup(Database& db, Timestamp now, bool is_hit);
  Status make_room(Database& db, Timestamp now);

  const Settings settings_;
  mutable std::mutex mutex_;
  std::optional<Database> db_;
  bool has_warned_ = false;
};

}  // namespace indx
