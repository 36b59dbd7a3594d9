#include "base/text.hpp"
#include "http/router.hpp"
#include "tests/fuzz/claims.hpp"
#include "vault/note_path.hpp"

/// Input: a path as an argument, a raw URL path, a glob. Whatever comes in, a note path stays below
/// the root.

namespace indx::fuzz {
namespace {

void check_path(std::string_view input) {
  const auto path = NotePath::parse(input);
  if (!path.has_value()) {
    CLAIM(path.error().reason == Reason::ValidationFailed);
    return;
  }
  const auto& text = path->str();
  CLAIM(is_valid_utf8(text) && !text.empty());
  CLAIM(text.find('\0') == text.npos && text.find('\\') == text.npos);
  for (const auto segment : pieces(text, '/'))
    CLAIM(!segment.empty() && segment != "." && segment != "..");
  const auto again = NotePath::parse(text);
  CLAIM(again.has_value() && *again == *path);
  CLAIM(path->folder().size() + path->name().size() <= text.size());
  if (path->check_creatable().has_value()) {
    CLAIM(!path->is_ignored());
    CLAIM(text.find_first_of("#^[]|:*?\"<>") == text.npos);
  }
}

class Kept : public Responder::Target {
 public:
  void send(HttpResponse response) override { status = response.status; }
  std::shared_ptr<ResponseStream> begin_stream(HttpResponse) override { return nullptr; }
  void on_disconnect(std::function<void()>) override {}
  int status = 0;
};

const Router& routes() {
  static const Router router = [] {
    Router made;
    for (const char* pattern :
         {"/v1/notes/{path}", "/v1/notes", "/v1/notes/{path}/outline", "/v1/notes/{from}/move",
          "/v1/versions/{path}/{id}", "/v1/jobs/{id}", "/v1/tags/{tag}/rename"})
      made.add("GET", pattern,
               [](const HttpRequest&, const std::map<std::string, std::string>& captures,
                  const Responder& responder) {
                 for (const auto& [name, value] : captures) {
                   CLAIM(is_valid_utf8(value) && value.find('\0') == value.npos);
                   CLAIM(!value.empty());
                   check_path(value);
                 }
                 responder.send({});
               });
    return made;
  }();
  return router;
}

void check(const Parts& parts) {
  check_path(parts[0]);
  HttpRequest request;
  request.method = "GET";
  request.path = std::string(parts[1]);
  const auto kept = std::make_shared<Kept>();
  routes().handle(request, Responder(kept));
  CLAIM(kept->status == 200 || kept->status == 404 || kept->status == 405 || kept->status == 400);

  for (const auto part : {parts[0], parts[1]}) {
    CLAIM(percent_decode(percent_encode(part)) == part);
    CLAIM(percent_decode(percent_encode(part, true)) == part);
  }
  glob_match(parts[2], parts[0]);
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  indx::fuzz::check(indx::fuzz::Parts(FUZZ_INPUT(data, size)));
  return 0;
}
