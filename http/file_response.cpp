#include "http/file_response.hpp"

#include "base/clock.hpp"
#include "base/json_text.hpp"
#include "base/media_type.hpp"
#include "base/text.hpp"
#include "http/byte_ranges.hpp"
#include "http/rest.hpp"

#include <Poco/DateTime.h>
#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeFormatter.h>
#include <Poco/DateTimeParser.h>
#include <Poco/Timestamp.h>

#include <algorithm>

namespace indx {
namespace {

std::string text_in(const Json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string http_date(Timestamp time) {
  return Poco::DateTimeFormatter::format(
      Poco::Timestamp::fromEpochTime(static_cast<std::time_t>(to_millis(time) / 1000)),
      Poco::DateTimeFormat::HTTP_FORMAT);
}

/// Seconds since 1970; nullopt for what is no date.
std::optional<std::int64_t> read_http_date(const std::string& text) {
  Poco::DateTime date;
  int zone = 0;
  if (text.empty() ||
      !Poco::DateTimeParser::tryParse(Poco::DateTimeFormat::HTTP_FORMAT, text, date, zone))
    return std::nullopt;
  return date.timestamp().epochTime();
}

/// `inline; filename*=UTF-8''a%20b.png`: the name is the last part of the path.
std::string disposition(const std::string& path, bool is_shown) {
  const auto name = path.substr(path.rfind('/') + 1);
  return cat(is_shown ? "inline" : "attachment",
             name.empty() ? "" : "; filename*=UTF-8''" + percent_encode(name));
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
  return cat("bytes ", range.begin, "-", range.begin + range.size - 1, "/", size);
}

/// A line that no part holds is not needed: lengths are known, and a client that goes by the
/// boundary is safe as long as nobody can foresee it.
std::string new_boundary() {
  SystemRandom random;
  return "indx-" + new_ulid(SystemClock().now(), random);
}

class FileAnswer {
 public:
  FileAnswer(const Json& data, std::shared_ptr<const FileBytes> file,
             const FileConditions& conditions, const RequestId& id)
      : file_(std::move(file)),
        conditions_(conditions),
        id_(id),
        path_(text_in(data, "path")),
        etag_(text_in(data, "etag")),
        media_type_(text_in(data, "media_type")) {
    if (const auto time = parse_time(text_in(data, "modified"))) modified_ = *time;
    if (media_type_.empty()) media_type_ = media_type_of(path_);
    answer_ = json_text(data);
  }

  HttpResponse respond() const {
    if (is_changed()) {
      auto failed =
          error_response(make_error(Reason::EtagMismatch, "The file is another one by now.",
                                    {{"path", path_}, {"actual", etag_}}),
                         id_);
      return failed;
    }
    if (is_known()) {
      HttpResponse response = head(304);
      return response;
    }
    const bool takes_range = conditions_.is_get && !conditions_.range.empty() && fits_range();
    const auto ranges = takes_range ? read_ranges(conditions_.range, file_->size()) : RangeAnswer{};
    switch (ranges.kind) {
      case RangeAnswer::Kind::None: {
        auto refused = error_response(
            invalid(cat("The file has ", file_->size(), " bytes; none of those asked for."),
                    {{"header", "Range"}, {"size", file_->size()}}),
            id_);
        refused.status = 416;
        refused.headers.emplace_back("Content-Range", cat("bytes */", file_->size()));
        return refused;
      }
      case RangeAnswer::Kind::Parts:
        return ranges.ranges.size() == 1 ? one_part(ranges.ranges[0]) : many_parts(ranges.ranges);
      case RangeAnswer::Kind::Whole:
        break;
    }
    HttpResponse response = head(200);
    add_content_headers(response, typed());
    response.file = file_;
    response.parts.push_back({"", 0, file_->size()});
    return response;
  }

 private:
  bool is_changed() const {
    if (!conditions_.if_match.empty()) return !names_etag(conditions_.if_match, etag_, false);
    const auto since = read_http_date(conditions_.if_unmodified_since);
    return since && modified_ && to_millis(*modified_) / 1000 > *since;
  }
  bool is_known() const {
    if (!conditions_.if_none_match.empty())
      return names_etag(conditions_.if_none_match, etag_, true);
    const auto since = read_http_date(conditions_.if_modified_since);
    return since && modified_ && to_millis(*modified_) / 1000 <= *since;
  }
  /// If-Range: a part is only sent of the very file that the client has the rest of.
  bool fits_range() const {
    const auto& wanted = conditions_.if_range;
    if (wanted.empty()) return true;
    if (wanted.find('"') != wanted.npos) return wanted == "\"" + etag_ + "\"";
    return modified_ && wanted == http_date(*modified_);
  }

  std::string typed() const {
    return media_type_.starts_with("text/") ? media_type_ + "; charset=utf-8" : media_type_;
  }
  HttpResponse head(int status) const {
    HttpResponse response;
    response.status = status;
    response.headers = {{"X-Request-Id", id_.value},
                        {"Accept-Ranges", "bytes"},
                        {"Cache-Control", "private, no-cache"},
                        {"ETag", "\"" + etag_ + "\""}};
    if (modified_) response.headers.emplace_back("Last-Modified", http_date(*modified_));
    return response;
  }
  void add_content_headers(HttpResponse& response, const std::string& type) const {
    const bool is_shown = is_safe_to_show(media_type_);
    response.headers.emplace_back("Content-Type", type);
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("Content-Disposition", disposition(path_, is_shown));
    if (!is_shown)
      response.headers.emplace_back("Content-Security-Policy", "default-src 'none'; sandbox");
    response.headers.emplace_back("X-Indx-Answer", percent_encode(answer_));
  }

  HttpResponse one_part(const ByteRange& range) const {
    HttpResponse response = head(206);
    add_content_headers(response, typed());
    response.headers.emplace_back("Content-Range", content_range(range, file_->size()));
    response.file = file_;
    response.parts.push_back({"", range.begin, range.size});
    return response;
  }
  HttpResponse many_parts(const std::vector<ByteRange>& ranges) const {
    const auto boundary = new_boundary();
    HttpResponse response = head(206);
    add_content_headers(response, "multipart/byteranges; boundary=" + boundary);
    response.file = file_;
    for (const auto& range : ranges)
      response.parts.push_back(
          {cat("\r\n--", boundary, "\r\nContent-Type: ", typed(),
               "\r\nContent-Range: ", content_range(range, file_->size()), "\r\n\r\n"),
           range.begin, range.size});
    response.parts.push_back({cat("\r\n--", boundary, "--\r\n"), 0, 0});
    return response;
  }

  const std::shared_ptr<const FileBytes> file_;  // shared: with the response
  const FileConditions& conditions_;
  const RequestId& id_;
  const std::string path_, etag_;
  std::string media_type_, answer_;
  std::optional<Timestamp> modified_;
};

}  // namespace

bool names_etag(const std::string& header, const std::string& etag, bool is_weak) {
  const auto parts = split(header, ',');
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    auto text = trim(part);
    if (is_weak && text.starts_with("W/")) text.remove_prefix(2);
    return text == "*" || text == "\"" + etag + "\"";
  });
}

FileConditions file_conditions(const HttpRequest& request) {
  return {request.method == "GET",
          request.header("if-match"),
          request.header("if-none-match"),
          request.header("if-modified-since"),
          request.header("if-unmodified-since"),
          request.header("if-range"),
          request.header("range")};
}

HttpResponse file_response(const Json& data, std::shared_ptr<const FileBytes> file,
                           const FileConditions& conditions, const RequestId& id) {
  return FileAnswer(data, std::move(file), conditions, id).respond();
}

}  // namespace indx
