#include "http/multipart.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

FileBytes form_bytes(const std::string& text) {
  auto bytes = FileBytes::make_temp("/tmp");
  REQUIRE(bytes);
  REQUIRE(bytes->append(text));
  return *bytes;
}
std::string form_part(const std::string& disposition, const std::string& text) {
  return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + text + "\r\n";
}

}  // namespace

TEST_CASE("a form is cut into fields and files, bytes as they are", "[http][A25]") {
  const std::string binary("\r\n--bx\0\xff\r\n--", 12);
  const auto form = read_form_data(
      form_bytes("preamble\r\n" + form_part("name=\"folder\"", "img") +
                 form_part("name=\"file\"; filename=\"a \\\"b\\\".png\"", binary) + "--b--\r\nend"),
      "b");

  REQUIRE(form);
  CHECK(form->fields == std::vector<std::pair<std::string, std::string>>{{"folder", "img"}});
  REQUIRE(form->files.size() == 1);
  CHECK(form->files[0].name == "a \"b\".png");
  CHECK(*form->files[0].bytes.read_all() == binary);
}

TEST_CASE("a form without its end, its boundary or its names is refused", "[http][A25]") {
  const auto is_refused = [](const std::string& text, const std::string& boundary = "b") {
    return !read_form_data(form_bytes(text), boundary);
  };
  CHECK(is_refused(""));
  CHECK(is_refused("--b--\r\n", ""));
  CHECK(
      is_refused("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nxx"));
  CHECK(is_refused("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n"));
  CHECK(is_refused("--b\r\n\r\nx\r\n--b--"));
  CHECK(is_refused("x--b\r\n" + form_part("name=\"a\"", "1") + "--b--"));
  CHECK(is_refused(form_part("name=\"a\"", std::string(70000, 'x')) + "--b--"));
  CHECK(is_refused(form_part("name=\"a\"", "\xff") + "--b--"));
  CHECK_FALSE(is_refused("--b--\r\n"));
}

TEST_CASE("the boundary of a form is found in its type", "[http][A25]") {
  CHECK(form_boundary("multipart/form-data; boundary=abc") == "abc");
  CHECK(form_boundary("Multipart/Form-Data; charset=x; boundary=\"a b\"") == "a b");
  CHECK(form_boundary("multipart/mixed; boundary=abc").empty());
  CHECK(form_boundary("image/png").empty());
}

TEST_CASE("a file is found whole wherever a block of reading ends", "[http][A25]") {
  SeededRandom random(11);
  for (const std::size_t near : {std::size_t{1} << 20U, std::size_t{2} << 20U})
    for (std::size_t shift = 0; shift < 12; ++shift) {
      const std::string payload(near - 80 + shift, static_cast<char>('a' + random.next() % 20));
      const auto form = read_form_data(
          form_bytes(form_part("name=\"f\"; filename=\"x\"", payload) + "--b--\r\n"), "b");
      REQUIRE(form);
      REQUIRE(form->files.at(0).bytes.size() == payload.size());
    }
}

}  // namespace indx
