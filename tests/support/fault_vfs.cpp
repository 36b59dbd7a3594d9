#include "tests/support/fault_vfs.hpp"

#include "base/assert.hpp"

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <mutex>
#include <string_view>

namespace indx {

struct FaultVfs::Impl {
  static constexpr std::size_t kFiles = 4, kCalls = 8, kFaults = 4;

  std::string name;
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs shim = {};

  mutable std::mutex mutex;
  std::array<std::array<std::int64_t, kCalls>, kFiles> counts = {};
  std::array<std::int64_t, kFaults> chances = {};
  bool is_planned = false;
  Plan plan;
  std::int64_t hits = 0;

  static bool can_hit(Fault fault, Call call) {
    switch (fault) {
      case Fault::IoError:
        return true;
      case Fault::DiskFull:
      case Fault::ShortWrite:
        return call == Call::Write;
      case Fault::SyncFails:
        return call == Call::Sync;
    }
    return false;
  }

  /// Counts the call; true: it fails by the plan.
  bool fails(File file, Call call) {
    const std::scoped_lock lock(mutex);
    ++counts[static_cast<std::size_t>(file)][static_cast<std::size_t>(call)];
    bool hit = false;
    for (std::size_t i = 0; i < kFaults; ++i) {
      const auto fault = static_cast<Fault>(i);
      if (!can_hit(fault, call)) continue;
      const auto number = ++chances[i];
      if (is_planned && fault == plan.fault)
        hit = number == plan.at || (plan.is_lasting && number > plan.at);
    }
    hits += hit ? 1 : 0;
    return hit;
  }
  Fault fault() const {
    const std::scoped_lock lock(mutex);
    return plan.fault;
  }
};

namespace {

using File = FaultVfs::File;
using Call = FaultVfs::Call;
using Fault = FaultVfs::Fault;

/// SQLite gives the memory: this, and behind it the file of the real VFS.
struct ShimFile {
  sqlite3_file base;
  FaultVfs::Impl* owner;  ///< null: a file that nobody asked about
  File kind;
  sqlite3_file* real;
};
constexpr std::size_t kShimSize = (sizeof(ShimFile) + 15) / 16 * 16;

ShimFile* shim_of(sqlite3_file* file) { return reinterpret_cast<ShimFile*>(file); }
FaultVfs::Impl* impl_of(sqlite3_vfs* vfs) { return static_cast<FaultVfs::Impl*>(vfs->pAppData); }
sqlite3_vfs* real_of(sqlite3_vfs* vfs) { return impl_of(vfs)->real; }

bool call_fails(const ShimFile* shim, Call call) {
  return shim->owner != nullptr && shim->owner->fails(shim->kind, call);
}

int shim_close(sqlite3_file* file) {
  ShimFile* shim = shim_of(file);
  const bool fails = call_fails(shim, Call::Close);
  const int code = shim->real->pMethods->xClose(shim->real);  // it is closed either way
  return fails ? SQLITE_IOERR_CLOSE : code;
}

int shim_read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  ShimFile* shim = shim_of(file);
  if (call_fails(shim, Call::Read)) return SQLITE_IOERR_READ;
  return shim->real->pMethods->xRead(shim->real, into, size, offset);
}

int shim_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  ShimFile* shim = shim_of(file);
  if (!call_fails(shim, Call::Write))
    return shim->real->pMethods->xWrite(shim->real, bytes, size, offset);
  const Fault fault = shim->owner->fault();
  if (fault == Fault::DiskFull) return SQLITE_FULL;
  if (fault == Fault::ShortWrite && size > 1) {
    const int code = shim->real->pMethods->xWrite(shim->real, bytes, size / 2, offset);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_IOERR_WRITE;
}

int shim_truncate(sqlite3_file* file, sqlite3_int64 size) {
  ShimFile* shim = shim_of(file);
  if (call_fails(shim, Call::Truncate)) return SQLITE_IOERR_TRUNCATE;
  return shim->real->pMethods->xTruncate(shim->real, size);
}

int shim_sync(sqlite3_file* file, int flags) {
  ShimFile* shim = shim_of(file);
  if (call_fails(shim, Call::Sync)) return SQLITE_IOERR_FSYNC;
  return shim->owner != nullptr ? SQLITE_OK : shim->real->pMethods->xSync(shim->real, flags);
}

int shim_file_size(sqlite3_file* file, sqlite3_int64* size) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xFileSize(shim->real, size);
}

int shim_lock(sqlite3_file* file, int level) {
  ShimFile* shim = shim_of(file);
  if (call_fails(shim, Call::Lock)) return SQLITE_IOERR_LOCK;
  return shim->real->pMethods->xLock(shim->real, level);
}
int shim_unlock(sqlite3_file* file, int level) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xUnlock(shim->real, level);
}
int shim_check_reserved_lock(sqlite3_file* file, int* is_held) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xCheckReservedLock(shim->real, is_held);
}

int shim_file_control(sqlite3_file* file, int what, void* argument) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xFileControl(shim->real, what, argument);
}
int shim_sector_size(sqlite3_file* file) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xSectorSize(shim->real);
}
int shim_device(sqlite3_file* file) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xDeviceCharacteristics(shim->real);
}

int shim_shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xShmMap(shim->real, region, size, extend, memory);
}
int shim_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  ShimFile* shim = shim_of(file);
  if ((flags & SQLITE_SHM_LOCK) != 0 && shim->owner != nullptr &&
      shim->owner->fails(File::Wal, Call::Lock))
    return SQLITE_IOERR_SHMLOCK;
  return shim->real->pMethods->xShmLock(shim->real, offset, count, flags);
}
void shim_shm_barrier(sqlite3_file* file) {
  ShimFile* shim = shim_of(file);
  shim->real->pMethods->xShmBarrier(shim->real);
}
int shim_shm_unmap(sqlite3_file* file, int deletes) {
  ShimFile* shim = shim_of(file);
  return shim->real->pMethods->xShmUnmap(shim->real, deletes);
}

const sqlite3_io_methods kShimMethods = {2,
                                         shim_close,
                                         shim_read,
                                         shim_write,
                                         shim_truncate,
                                         shim_sync,
                                         shim_file_size,
                                         shim_lock,
                                         shim_unlock,
                                         shim_check_reserved_lock,
                                         shim_file_control,
                                         shim_sector_size,
                                         shim_device,
                                         shim_shm_map,
                                         shim_shm_lock,
                                         shim_shm_barrier,
                                         shim_shm_unmap,
                                         nullptr,
                                         nullptr};

bool is_counted(const FaultVfs::Impl& impl, const char* path) {
  if (path == nullptr) return false;
  const std::string_view whole = path;
  return whole.substr(whole.rfind('/') + 1).starts_with(impl.name);
}

File kind_of(int flags) {
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return File::MainDb;
  if ((flags & SQLITE_OPEN_WAL) != 0) return File::Wal;
  if ((flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0) return File::Journal;
  return File::Other;
}

File kind_of_name(std::string_view path) {
  if (path.ends_with("-wal")) return File::Wal;
  return path.ends_with("-journal") ? File::Journal : File::Other;
}

int vfs_open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  auto* impl = impl_of(vfs);
  ShimFile* shim = shim_of(file);
  *shim = {{nullptr},
           is_counted(*impl, path) ? impl : nullptr,
           kind_of(flags),
           reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kShimSize)};
  if (call_fails(shim, Call::Open)) return SQLITE_CANTOPEN;
  std::memset(shim->real, 0, static_cast<std::size_t>(impl->real->szOsFile));
  const int code = impl->real->xOpen(impl->real, path, shim->real, flags, out_flags);
  // As the contract of xOpen says: set, also after a failure, when there is something to close.
  if (shim->real->pMethods != nullptr) shim->base.pMethods = &kShimMethods;
  return code;
}

int vfs_delete(sqlite3_vfs* vfs, const char* path, int syncs_folder) {
  auto* impl = impl_of(vfs);
  if (is_counted(*impl, path) && impl->fails(kind_of_name(path), Call::Delete))
    return SQLITE_IOERR_DELETE;
  return impl->real->xDelete(impl->real, path, syncs_folder);
}

int vfs_access(sqlite3_vfs* vfs, const char* path, int flags, int* answer) {
  return real_of(vfs)->xAccess(real_of(vfs), path, flags, answer);
}
int vfs_full_pathname(sqlite3_vfs* vfs, const char* path, int size, char* out) {
  return real_of(vfs)->xFullPathname(real_of(vfs), path, size, out);
}
void* vfs_dl_open(sqlite3_vfs* vfs, const char* path) {
  return real_of(vfs)->xDlOpen(real_of(vfs), path);
}
void vfs_dl_error(sqlite3_vfs* vfs, int size, char* out) {
  real_of(vfs)->xDlError(real_of(vfs), size, out);
}
using Symbol = void (*)();
Symbol vfs_dl_sym(sqlite3_vfs* vfs, void* library, const char* symbol) {
  return real_of(vfs)->xDlSym(real_of(vfs), library, symbol);
}
void vfs_dl_close(sqlite3_vfs* vfs, void* library) {
  real_of(vfs)->xDlClose(real_of(vfs), library);
}
int vfs_randomness(sqlite3_vfs* vfs, int size, char* out) {
  return real_of(vfs)->xRandomness(real_of(vfs), size, out);
}
int vfs_sleep(sqlite3_vfs* vfs, int micros) { return real_of(vfs)->xSleep(real_of(vfs), micros); }
int vfs_current_time(sqlite3_vfs* vfs, double* days) {
  return real_of(vfs)->xCurrentTime(real_of(vfs), days);
}
int vfs_last_error(sqlite3_vfs* vfs, int size, char* out) {
  return real_of(vfs)->xGetLastError(real_of(vfs), size, out);
}
int vfs_current_millis(sqlite3_vfs* vfs, sqlite3_int64* millis) {
  return real_of(vfs)->xCurrentTimeInt64(real_of(vfs), millis);
}

}  // namespace

FaultVfs::FaultVfs(const std::string& name) : impl_(std::make_unique<Impl>()) {
  impl_->name = name;
  impl_->real = sqlite3_vfs_find(nullptr);
  INDX_ASSERT(impl_->real != nullptr);
  auto& shim = impl_->shim;
  shim.iVersion = 2;
  shim.szOsFile = static_cast<int>(kShimSize) + impl_->real->szOsFile;
  shim.mxPathname = impl_->real->mxPathname;
  shim.zName = "indx-fault";
  shim.pAppData = impl_.get();
  shim.xOpen = vfs_open;
  shim.xDelete = vfs_delete;
  shim.xAccess = vfs_access;
  shim.xFullPathname = vfs_full_pathname;
  shim.xDlOpen = vfs_dl_open;
  shim.xDlError = vfs_dl_error;
  shim.xDlSym = vfs_dl_sym;
  shim.xDlClose = vfs_dl_close;
  shim.xRandomness = vfs_randomness;
  shim.xSleep = vfs_sleep;
  shim.xCurrentTime = vfs_current_time;
  shim.xGetLastError = vfs_last_error;
  shim.xCurrentTimeInt64 = vfs_current_millis;
  INDX_ASSERT(sqlite3_vfs_register(&shim, 1) == SQLITE_OK);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&impl_->shim);
  sqlite3_vfs_register(impl_->real, 1);
}

void FaultVfs::plan(const Plan& plan) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->is_planned = true;
  impl_->plan = plan;
  impl_->chances = {};
  impl_->hits = 0;
}

void FaultVfs::heal() {
  const std::scoped_lock lock(impl_->mutex);
  impl_->is_planned = false;
  impl_->chances = {};
}

std::int64_t FaultVfs::chances(Fault fault) const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->chances[static_cast<std::size_t>(fault)];
}

std::int64_t FaultVfs::hits() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->hits;
}

std::int64_t FaultVfs::count(File file, Call call) const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->counts[static_cast<std::size_t>(file)][static_cast<std::size_t>(call)];
}

}  // namespace indx
