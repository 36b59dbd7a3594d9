#include "http/router.hpp"

#include <catch2/catch.hpp>

using namespace indx;

namespace {

struct KeptAnswer : Responder::Target {
  HttpResponse response;
  void send(HttpResponse r) override { response = std::move(r); }
  std::shared_ptr<ResponseStream> begin_stream(HttpResponse) override { return nullptr; }
  void on_disconnect(std::function<void()>) override {}
};

/// Routes that answer with their pattern and captures.
Router make_router() {
  Router router;
  for (const auto& [method, pattern] :
       std::vector<std::pair<std::string, std::string>>{{"GET", "/v1/notes"},
                                                        {"GET", "/v1/notes/{path}"},
                                                        {"PUT", "/v1/notes/{path}"},
                                                        {"POST", "/v1/notes/{from}/move"},
                                                        {"POST", "/v1/notes/{path}/tag"},
                                                        {"GET", "/v1/links/{path}/forward"},
                                                        {"GET", "/v1/links/unresolved"},
                                                        {"GET", "/v1/jobs/{id}"},
                                                        {"GET", "/v1/jobs/{id}/events"},
                                                        {"GET", "/v1/tags/{tag}/notes"}})
    router.add(
        method, pattern,
        [pattern = pattern](const HttpRequest&, const std::map<std::string, std::string>& captures,
                            Responder responder) {
          HttpResponse response;
          response.body = pattern;
          for (const auto& [name, value] : captures) response.body += " " + name + "=" + value;
          responder.send(response);
        });
  return router;
}

HttpResponse routed(const std::string& method, const std::string& path) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  const auto kept = std::make_shared<KeptAnswer>();
  make_router().handle(request, Responder(kept));
  return kept->response;
}

}  // namespace

TEST_CASE("the most specific route wins, and paths may hold slashes", "[http]") {
  CHECK(routed("GET", "/v1/notes").body == "/v1/notes");
  CHECK(routed("GET", "/v1/notes/a/b.md").body == "/v1/notes/{path} path=a/b.md");
  CHECK(routed("POST", "/v1/notes/a/b.md/move").body == "/v1/notes/{from}/move from=a/b.md");
  CHECK(routed("POST", "/v1/notes/tag/tag").body == "/v1/notes/{path}/tag path=tag");
  CHECK(routed("GET", "/v1/notes/a/move").body == "/v1/notes/{path} path=a/move");
  CHECK(routed("GET", "/v1/links/a/forward/b/forward").body ==
        "/v1/links/{path}/forward path=a/forward/b");
  CHECK(routed("GET", "/v1/links/unresolved").body == "/v1/links/unresolved");
  CHECK(routed("GET", "/v1/jobs/1/events").body == "/v1/jobs/{id}/events id=1");
  CHECK(routed("GET", "/v1/tags/a/b/notes").body == "/v1/tags/{tag}/notes tag=a/b");
}

TEST_CASE("captures are decoded once, segment by segment", "[http][A2]") {
  CHECK(routed("GET", "/v1/notes/Ideas%20%231%2050%25%20%C3%A9.md").body ==
        "/v1/notes/{path} path=Ideas #1 50% é.md");
  CHECK(routed("GET", "/v1/notes/%2E%2E/x.md").body == "/v1/notes/{path} path=../x.md");
  CHECK(routed("GET", "/v1/notes/%2Fx.md").body == "/v1/notes/{path} path=/x.md");
  CHECK(routed("GET", "/v1/notes/a%252Fb.md").body == "/v1/notes/{path} path=a%2Fb.md");
  CHECK(routed("GET", "/v1/notes/a%5Cb+c.md").body == "/v1/notes/{path} path=a\\b+c.md");
  CHECK(routed("GET", "/v1/notes/a%2Fb.md").status == 404);
  CHECK(routed("GET", "/v1/notes/").status == 404);
  CHECK(routed("GET", "/v1/notes/a%00.md").status == 400);
  CHECK(routed("GET", "/v1/notes/%FF.md").status == 400);
}

TEST_CASE("an unknown path is 404, a known one with another method 405 with Allow", "[http][A79]") {
  const auto unknown = routed("GET", "/v2/x");
  const auto wrong = routed("POST", "/v1/jobs/1");

  CHECK(unknown.status == 404);
  CHECK(Json::parse(unknown.body)["error"]["code"] == "not_found");
  CHECK(wrong.status == 405);
  CHECK(Json::parse(wrong.body)["error"]["code"] == "method_not_allowed");
  CHECK(std::find(wrong.headers.begin(), wrong.headers.end(),
                  std::pair<std::string, std::string>("Allow", "GET, HEAD")) !=
        wrong.headers.end());
  CHECK(routed("HEAD", "/v1/jobs/1").body == "/v1/jobs/{id} id=1");
  CHECK(routed("GET", "/v1/jobs/a/b").status == 404);
}

TEST_CASE("a request leads to a route of its own method that nothing more specific takes",
          "[http]") {
  const Router router = make_router();
  const auto leads = [&](const std::string& method, const std::string& path) {
    HttpRequest request;
    request.method = method;
    request.path = path;
    return router.leads_to(request, {"PUT /v1/notes/{path}", "POST /v1/notes/{path}/tag"});
  };
  CHECK(leads("PUT", "/v1/notes/a/b.md"));
  CHECK(leads("POST", "/v1/notes/a/b.md/tag"));
  CHECK_FALSE(leads("GET", "/v1/notes/a/b.md"));
  CHECK_FALSE(leads("POST", "/v1/notes/a/b.md/move"));
  CHECK_FALSE(leads("PU", "/v1/notes/a/b.md"));
  CHECK_FALSE(leads("PUT", "/v1/notes"));
}
