#pragma once
#include "store/database.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace indx {

/// Read-only connections to index.db, lent one at a time. Safe from any thread.
class IndexPool {
 public:
  static Result<std::unique_ptr<IndexPool>> open(const std::string& path, std::size_t connections);

  /// One connection inside one read transaction, so that all its queries see the same state. Ends
  /// the transaction and gives the connection back when destroyed: an open reader would keep the
  /// write-ahead log from being trimmed.
  class Lease {
   public:
    Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), db_(other.db_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Database& operator*() const { return *db_; }
    Database* operator->() const { return db_; }

   private:
    friend class IndexPool;
    Lease(IndexPool* pool, Database* db) : pool_(pool), db_(db) {}
    IndexPool* pool_;
    Database* db_;
  };
  /// Waits for a free connection.
  Result<Lease> take();

 private:
  explicit IndexPool(std::vector<Database> databases);
  void give_back(Database* db);

  std::vector<Database> databases_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Database*> free_;
};

}  // namespace indx
