#include "store/index_pool.hpp"

#include "base/log.hpp"

#include <sys/stat.h>

namespace indx {

constexpr int kReaderCacheKib = 4000;

namespace {
/// 0 when there is no such file.
ino_t inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}
}  // namespace

Result<IndexPool::Connection> IndexPool::connect(const std::string& path) {
  const ino_t inode = inode_of(path);
  auto db = INDX_TRY(Database::open(
      path, {.read_only = true, .durability = Durability::Normal, .cache_kib = kReaderCacheKib}));
  bool has_tables = false;
  {
    auto version = db.prepare("PRAGMA user_version");
    has_tables = INDX_TRY(version.step()) && version.integer(0) > 0;
  }
  if (!has_tables)
    return make_error(Reason::Unavailable, "The index is being made anew; try again in a second.",
                      {{"retry_after_s", 1}});
  return Connection{std::move(db), inode};
}

Result<std::unique_ptr<IndexPool>> IndexPool::open(const std::string& path,
                                                   std::size_t connections) {
  std::vector<Connection> opened;
  for (std::size_t i = 0; i < std::max<std::size_t>(connections, 1); ++i)
    opened.push_back(INDX_TRY(connect(path)));
  return std::unique_ptr<IndexPool>(
      new IndexPool(path, std::move(opened)));  // NOLINT: the constructor is private
}

IndexPool::IndexPool(std::string path, std::vector<Connection> connections)
    : path_(std::move(path)), connections_(std::move(connections)) {
  for (auto& connection : connections_) free_.push_back(&connection);
}

Result<IndexPool::Lease> IndexPool::take() {
  Connection* connection = nullptr;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !free_.empty(); });
    connection = free_.back();
    free_.pop_back();
  }
  const auto begin = [&]() -> Status {
    if (connection->inode != inode_of(path_)) *connection = INDX_TRY(connect(path_));
    return connection->db.execute("BEGIN");
  };
  if (auto begun = begin(); !begun.has_value()) {
    give_back(connection);
    return begun.error();
  }
  return Lease(this, connection);
}

void IndexPool::give_back(Connection* connection) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(connection);
  }
  returned_.notify_one();
}

IndexPool::Lease::~Lease() {
  if (pool_ == nullptr) return;
  if (const auto ended = connection_->db.execute("COMMIT"); !ended.has_value())
    log_warn("a read of the index did not end", {{"error", ended.error().message}});
  pool_->give_back(connection_);
}

}  // namespace indx
