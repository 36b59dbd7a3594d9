#include "http/file_response.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

const std::string kLetters = "abcdefghijklmnopqrstuvwxyz";

HttpResponse file_answer(const FileConditions& conditions, const std::string& path = "img/a b.png",
                         const std::string& media_type = "image/png") {
  auto bytes = FileBytes::make_temp("/tmp");
  REQUIRE(bytes);
  REQUIRE(bytes->append(kLetters));
  return file_response({{"path", path},
                        {"etag", "e1"},
                        {"modified", "2026-03-16T10:00:00.500Z"},
                        {"media_type", media_type}},
                       std::make_shared<const FileBytes>(*bytes), conditions, {"r1"});
}
std::string header_of(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return {};
}
std::string body_of(const HttpResponse& response) {
  std::string text = response.body;
  for (const auto& part : response.parts) {
    text += part.text;
    if (part.size > 0) text += *response.file->read(part.begin, part.size);
  }
  CHECK(text.size() == response.body_size());
  return text;
}
const std::string kModified = "Mon, 16 Mar 2026 10:00:00 GMT";

}  // namespace

TEST_CASE("a file comes whole, with its type and validators", "[http][A25]") {
  const auto response = file_answer({});

  CHECK(response.status == 200);
  CHECK(body_of(response) == kLetters);
  CHECK(header_of(response, "Content-Type") == "image/png");
  CHECK(header_of(response, "ETag") == "\"e1\"");
  CHECK(header_of(response, "Last-Modified") == kModified);
  CHECK(header_of(response, "Accept-Ranges") == "bytes");
  CHECK(header_of(response, "X-Content-Type-Options") == "nosniff");
  CHECK(header_of(response, "Content-Disposition") == "inline; filename*=UTF-8''a%20b.png");
}

TEST_CASE("what could run as a page is sent as a download", "[http][A25]") {
  for (const auto* type : {"text/html", "image/svg+xml", "application/xml", "text/javascript",
                           "application/octet-stream"}) {
    const auto response = file_answer({}, "x", type);
    CHECK(header_of(response, "Content-Disposition") == "attachment; filename*=UTF-8''x");
    CHECK(header_of(response, "Content-Security-Policy") == "default-src 'none'; sandbox");
  }
}

TEST_CASE("one range is a part of the file", "[http][A25]") {
  const auto response = file_answer({.range = "bytes=2-4"});

  CHECK(response.status == 206);
  CHECK(body_of(response) == "cde");
  CHECK(header_of(response, "Content-Range") == "bytes 2-4/26");
}

TEST_CASE("several ranges are a multipart body", "[http][A25]") {
  const auto response = file_answer({.range = "bytes=0-1,-2"});

  CHECK(response.status == 206);
  const auto type = header_of(response, "Content-Type");
  REQUIRE(type.starts_with("multipart/byteranges; boundary="));
  const auto boundary = type.substr(type.find('=') + 1);
  const auto part = [&](const char* range, const char* text) {
    return cat("\r\n--", boundary, "\r\nContent-Type: image/png\r\nContent-Range: bytes ", range,
               "/26\r\n\r\n", text);
  };
  CHECK(body_of(response) ==
        part("0-1", "ab") + part("24-25", "yz") + cat("\r\n--", boundary, "--\r\n"));
}

TEST_CASE("a range outside the file is 416 with its length", "[http][A25]") {
  const auto response = file_answer({.range = "bytes=26-"});

  CHECK(response.status == 416);
  CHECK(header_of(response, "Content-Range") == "bytes */26");
}

TEST_CASE("conditions decide before ranges do", "[http][A12][A25]") {
  const auto status = [](FileConditions conditions) {
    conditions.range = "bytes=0-0";
    return file_answer(conditions).status;
  };
  CHECK(status({.if_none_match = "\"e1\""}) == 304);
  CHECK(status({.if_none_match = "W/\"e1\", \"x\""}) == 304);
  CHECK(status({.if_none_match = "\"e2\""}) == 206);
  CHECK(status({.if_modified_since = kModified}) == 304);
  CHECK(status({.if_modified_since = "Mon, 16 Mar 2026 09:59:59 GMT"}) == 206);
  CHECK(status({.if_none_match = "\"e2\"", .if_modified_since = kModified}) == 206);
  CHECK(status({.if_match = "\"e2\""}) == 412);
  CHECK(status({.if_match = "\"e1\""}) == 206);
  CHECK(status({.if_match = "W/\"e1\""}) == 412);
  CHECK(status({.if_unmodified_since = "Mon, 16 Mar 2026 09:00:00 GMT"}) == 412);
  CHECK(status({.if_range = "\"e1\""}) == 206);
  CHECK(status({.if_range = "\"e2\""}) == 200);
  CHECK(status({.if_range = "W/\"e1\""}) == 200);
  CHECK(status({.if_range = kModified}) == 206);
  CHECK(status({.if_range = "Mon, 16 Mar 2026 10:00:01 GMT"}) == 200);
  CHECK(status({.is_get = false}) == 200);
  CHECK(body_of(file_answer({.if_none_match = "\"e1\""})).empty());
}

}  // namespace indx
