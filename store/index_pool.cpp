#include "store/index_pool.hpp"

#include "base/log.hpp"

namespace indx {

constexpr int kReaderCacheKib = 4000;

Result<std::unique_ptr<IndexPool>> IndexPool::open(const std::string& path,
                                                   std::size_t connections) {
  std::vector<Database> databases;
  for (std::size_t i = 0; i < std::max<std::size_t>(connections, 1); ++i)
    databases.push_back(INDX_TRY(Database::open(
        path,
        {.read_only = true, .durability = Durability::Normal, .cache_kib = kReaderCacheKib})));
  return std::unique_ptr<IndexPool>(
      new IndexPool(std::move(databases)));  // NOLINT: the constructor is private
}

IndexPool::IndexPool(std::vector<Database> databases) : databases_(std::move(databases)) {
  for (auto& db : databases_) free_.push_back(&db);
}

Result<IndexPool::Lease> IndexPool::take() {
  Database* db = nullptr;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !free_.empty(); });
    db = free_.back();
    free_.pop_back();
  }
  if (auto begun = db->execute("BEGIN"); !begun.has_value()) {
    give_back(db);
    return begun.error();
  }
  return Lease(this, db);
}

void IndexPool::give_back(Database* db) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(db);
  }
  returned_.notify_one();
}

IndexPool::Lease::~Lease() {
  if (pool_ == nullptr) return;
  if (const auto ended = db_->execute("COMMIT"); !ended.has_value())
    log_warn("a read of the index did not end", {{"error", ended.error().message}});
  pool_->give_back(db_);
}

}  // namespace indx
