#include "actors/audit_log.hpp"

#include "base/text.hpp"

#include <charconv>
#include <filesystem>

namespace indx {
namespace {

namespace fs = std::filesystem;
constexpr int kKeptFiles = 5;

Error log_file_error(const std::string& doing) {
  return make_error(Reason::Unavailable,
                    cat("events.log cannot be ", doing, "; check the disk and the permissions."));
}

}  // namespace

AuditLog::AuditLog(std::string dir, std::string epoch, std::size_t max_bytes)
    : path_(dir + "/events.log"), epoch_(std::move(epoch)), max_bytes_(max_bytes) {}

Result<std::int64_t> AuditLog::last_id() {
  std::int64_t last = 0;
  std::size_t whole = 0;
  // The newest whole line may be in the file that was rolled last.
  for (const auto& path : {path_ + ".1", path_}) {
    std::ifstream in(path, std::ios::binary);
    whole = 0;
    for (std::string line; std::getline(in, line) && !in.eof();) {
      whole += line.size() + 1;
      const auto entry = Json::parse(line, nullptr, false);
      const auto id = entry.is_object() ? entry.value("id", std::string()) : std::string();
      if (!id.starts_with(epoch_ + "-")) continue;
      std::from_chars(id.data() + epoch_.size() + 1, id.data() + id.size(), last);
    }
  }
  std::error_code ignored;
  if (fs::exists(path_, ignored) && fs::file_size(path_, ignored) > whole)
    fs::resize_file(path_, whole, ignored);
  size_ = whole;
  out_.open(path_, std::ios::binary | std::ios::app);
  if (!out_) return log_file_error("opened");
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write, ignored);
  return last;
}

Status AuditLog::append(std::string_view line) {
  if (size_ >= max_bytes_) INDX_TRY(roll());
  out_ << line << '\n';
  size_ += line.size() + 1;
  if (!out_) return log_file_error("written");
  return {};
}

Status AuditLog::flush() {
  out_.flush();
  if (!out_) return log_file_error("written");
  return {};
}

Status AuditLog::roll() {
  out_.close();
  std::error_code error;
  for (int i = kKeptFiles - 1; i >= 1; --i)
    fs::rename(cat(path_, ".", i), cat(path_, ".", i + 1), error);
  fs::rename(path_, path_ + ".1", error);
  if (error) return log_file_error("rolled");
  out_.open(path_, std::ios::binary | std::ios::app);
  size_ = 0;
  if (!out_) return log_file_error("opened");
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write, error);
  return {};
}

}  // namespace indx
