#pragma once
#include "store/database.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

namespace indx {

/// Read-only connections to index.db, lent one at a time. Safe from any thread. A connection
/// notices when the file was made anew, and opens the new one.
class IndexPool {
  struct Connection {
    Database db;
    ino_t inode = 0;  ///< of the file that it reads
  };

 public:
  static Result<std::unique_ptr<IndexPool>> open(const std::string& path, std::size_t connections);

  /// One connection inside one read transaction, so that all its queries see the same state. Ends
  /// the transaction and gives the connection back when destroyed: an open reader would keep the
  /// write-ahead log from being trimmed.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), connection_(other.connection_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Database& operator*() const { return connection_->db; }
    Database* operator->() const { return &connection_->db; }

   private:
    friend class IndexPool;
    Lease(IndexPool* pool, Connection* connection) : pool_(pool), connection_(connection) {}
    IndexPool* pool_;
    Connection* connection_;
  };
  /// Waits for a free connection.
  Result<Lease> take();

 private:
  IndexPool(std::string path, std::vector<Connection> connections);
  static Result<Connection> connect(const std::string& path);
  void give_back(Connection* connection);

  std::string path_;
  std::vector<Connection> connections_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Connection*> free_;
};

}  // namespace indx
