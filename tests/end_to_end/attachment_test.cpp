#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace indx {
namespace {

namespace fs = std::filesystem;

/// Every byte there is, so that nothing may touch one.
std::string all_bytes(std::size_t times = 5) {
  std::string bytes;
  for (std::size_t i = 0; i < 256 * times; ++i) bytes += static_cast<char>(i % 256);
  return bytes;
}
std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

using Headers = std::vector<std::pair<std::string, std::string>>;

HttpClientResponse send_to(const RunningServer& server, const std::string& method,
                           const std::string& target, const std::string& body = {},
                           Headers headers = {}, const std::string& token = {}) {
  HttpClientRequest request;
  request.method = method;
  request.url = server.url() + target;
  request.body = body;
  request.headers = std::move(headers);
  request.headers.emplace_back("Authorization",
                               "Bearer " + (token.empty() ? server.token() : token));
  const auto response = http_exchange(request, {});
  INFO((response ? "" : response.error().message));
  REQUIRE(response);
  return *response;
}
std::string code_of(const HttpClientResponse& response) {
  return Json::parse(response.body, nullptr, false)["error"].value("code", "");
}

}  // namespace

TEST_CASE("an attachment comes back as it was sent, in all ways to ask for it",
          "[end_to_end][A25]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto bytes = all_bytes();

  const auto made = send_to(server, "PUT", "/v1/files/img/new%20one.png", bytes);
  CHECK(made.status == 200);
  const Json data = Json::parse(made.body)["data"];
  CHECK(data["created"] == true);
  CHECK(file_text(vault.path() + "/img/new one.png") == bytes);
  const auto etag = data["etag"].get<std::string>();

  const auto whole = send_to(server, "GET", "/v1/files/img/new%20one.png");
  CHECK(whole.body == bytes);
  CHECK(whole.headers.at("content-type") == "image/png");
  CHECK(whole.headers.at("etag") == "\"" + etag + "\"");
  const auto head = send_to(server, "HEAD", "/v1/files/img/new%20one.png");
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == std::to_string(bytes.size()));
  const auto part =
      send_to(server, "GET", "/v1/files/img/new%20one.png", {}, {{"Range", "bytes=250-260"}});
  CHECK(part.status == 206);
  CHECK(part.body == bytes.substr(250, 11));
  CHECK(send_to(server, "GET", "/v1/files/img/new%20one.png", {}, {{"Range", "bytes=9999-"}})
            .headers.at("content-range") == cat("bytes */", bytes.size()));
  CHECK(send_to(server, "GET", "/v1/files/img/new%20one.png", {},
                {{"If-None-Match", "\"" + etag + "\""}})
            .status == 304);
  const Json list = server.call("GET", "/v1/files?extensions=png").body["data"]["attachments"];
  REQUIRE(list.size() == 1);
  CHECK(list[0]["path"] == "img/new one.png");
  CHECK(list[0]["etag"] == etag);
  CHECK(server.call("GET", "/v1/files?extensions=zzz,PNG").body["data"]["attachments"] == list);
  const Json found = server.call("GET", "/v1/search?q=path:img%20file:.png").body["data"];
  REQUIRE(found["results"].size() == 1);
  CHECK(found["results"][0]["path"] == "img/new one.png");
  CHECK(found["results"][0]["title"] == "new one.png");
  CHECK(found["warnings"].empty());
  CHECK(server.call("GET", "/v1/search?q=%2F(%3F%3Dx)%2F").body["data"]["warnings"] ==
        Json({"regex_not_supported"}));
}

TEST_CASE("attachments are written under guards, once for a key, and told about",
          "[end_to_end][A25][A85][A92]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  EventFeed feed(server, "?kinds=attachment.*");
  const auto etag =
      Json::parse(send_to(server, "PUT", "/v1/files/a.bin", "one").body)["data"]["etag"]
          .get<std::string>();
  CHECK(feed.wait_for("attachment.created", "a.bin"));

  CHECK(send_to(server, "PUT", "/v1/files/a.bin", "two", {{"If-None-Match", "*"}}).status == 409);
  CHECK(send_to(server, "PUT", "/v1/files/a.bin", "two", {{"If-Match", "\"0000\""}}).status == 412);
  CHECK(send_to(server, "PUT", "/v1/files/c.bin", "two", {{"If-Match", "*"}}).status == 412);
  CHECK(send_to(server, "PUT", "/v1/files/a.bin", "one", {{"If-Match", "*"}}).status == 200);
  CHECK(send_to(server, "PUT", "/v1/files/q.base", "views: []\n").status == 200);
  CHECK(vault.read("q.base") == "views: []\n");
  CHECK(
      send_to(server, "PUT", "/v1/files/a.bin", "two", {{"If-Match", "\"" + etag + "\""}}).status ==
      200);
  CHECK(feed.wait_for("attachment.updated", "a.bin"));
  const Headers key = {{"Idempotency-Key", "k1"}};
  const auto first = send_to(server, "PUT", "/v1/files/b.bin", "x", key);
  const auto again = send_to(server, "PUT", "/v1/files/b.bin", "x", key);
  CHECK(again.body == first.body);
  CHECK(again.headers.at("x-indx-idempotent-replay") == "true");
  CHECK(code_of(send_to(server, "PUT", "/v1/files/b.bin", "y", key)) == "idempotency_key_reused");

  CHECK(send_to(server, "DELETE", "/v1/files/a.bin").status == 200);
  CHECK(file_text(vault.path() + "/.trash/a.bin") == "two");
  CHECK(feed.wait_for("attachment.deleted", "a.bin"));
  CHECK(send_to(server, "DELETE", "/v1/files/b.bin?permanent=true").status == 200);
  CHECK_FALSE(fs::exists(vault.path() + "/.trash/b.bin"));
  CHECK(send_to(server, "DELETE", "/v1/files/b.bin").status == 404);
}

TEST_CASE("a form uploads one file under its name", "[end_to_end][A25]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto upload = [&](const std::string& name, const std::string& bytes,
                          const std::string& fields = {}, const std::string& query = {}) {
    return send_to(server, "POST", "/v1/files" + query,
                   fields + "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" +
                       name + "\"\r\n\r\n" + bytes + "\r\n--x--\r\n",
                   {{"Content-Type", "multipart/form-data; boundary=x"}});
  };
  const std::string folder =
      "--x\r\nContent-Disposition: form-data; name=\"folder\"\r\n\r\nimg\r\n";

  CHECK(upload("C:\\pics\\p.png", all_bytes(), folder).status == 201);
  CHECK(file_text(vault.path() + "/img/p.png") == all_bytes());
  CHECK(upload("p.png", "other", folder).status == 409);
  const auto renamed = upload("p.png", "other", folder, "?on_conflict=rename");
  CHECK(Json::parse(renamed.body)["data"]["path"] == "img/p 1.png");
  CHECK(upload("../../out.png", "x").status == 201);
  CHECK(file_text(vault.path() + "/out.png") == "x");
  CHECK(upload("n.md", "x").status == 400);
  CHECK(upload("", "x").status == 400);
  CHECK(upload("a|b.png", "x").status == 400);
  CHECK(send_to(server, "POST", "/v1/files", "no form",
                {{"Content-Type", "multipart/form-data; boundary=x"}})
            .status == 400);
  CHECK(send_to(server, "POST", "/v1/files?name=raw.txt", "raw").status == 201);
}

TEST_CASE("attachments keep to the rules of paths, scopes and sizes", "[end_to_end][A2][A25]") {
  const TempFolder vault;
  fill_vault(vault);
  const TempFolder outside;
  outside.write("secret.txt", "s");
  fs::create_symlink(outside.path() + "/secret.txt", vault.path() + "/link.txt");
  fs::create_directory_symlink(outside.path(), vault.path() + "/dir");
  vault.write(".obsidian/app.json", "{}");
  RunningServer server(vault, {}, {{"INDX_ATTACHMENTS_MAX_BYTES", "1000"}});
  const auto before = vault_files(vault);

  const auto get = [&](const std::string& path) {
    return send_to(server, "GET", "/v1/files/" + path).status;
  };
  const auto put = [&](const std::string& path, const std::string& bytes = "x") {
    return send_to(server, "PUT", "/v1/files/" + path, bytes).status;
  };
  CHECK(get("Plan.md") == 400);
  CHECK(get(".obsidian/app.json") == 404);
  CHECK(get(".indx/token") == 404);
  CHECK(get("link.txt") >= 400);
  CHECK(get("dir/secret.txt") >= 400);
  CHECK(get("%2e%2e/secret.txt") >= 400);
  CHECK(get("..%2fsecret.txt") >= 400);
  CHECK(put("Plan.md") == 400);
  CHECK(put("x.MD") == 400);
  CHECK(put("b.canvas") == 400);
  CHECK(put(".obsidian/app.json") == 403);
  CHECK(put(".indx/config.json") == 403);
  CHECK(put("node_modules/x.js") == 403);
  CHECK(put("link.txt") >= 400);
  CHECK(put("dir/new.txt") >= 400);
  CHECK(put("%2e%2e/new.txt") >= 400);
  CHECK(put("big.bin", std::string(1001, 'x')) == 413);
  CHECK(put("bigger.bin", std::string(300000, 'x')) == 413);
  const auto reader = server.make_token({"vault:read"})["token"].get<std::string>();
  const auto narrow = server.make_token({"vault:write"}, {"Public/**"})["token"].get<std::string>();
  CHECK(send_to(server, "PUT", "/v1/files/r.bin", "x", {}, reader).status == 403);
  CHECK(send_to(server, "PUT", "/v1/files/r.bin", "x", {}, narrow).status == 403);
  CHECK(send_to(server, "PUT", "/v1/files/r.bin", "x", {}, "indx_none").status == 401);
  CHECK(vault_files(vault) == before);
  CHECK(send_to(server, "PUT", "/v1/files/Public/r.bin", "x", {}, narrow).status == 200);
  CHECK(put("ok.bin", std::string(1000, 'x')) == 200);
}

TEST_CASE("a large file goes both ways in pieces", "[end_to_end][A25]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto bytes = all_bytes(80000);  // 20 MB, more than a request may hold in memory

  CHECK(send_to(server, "PUT", "/v1/files/film.mp4", bytes).status == 200);
  HttpClientRequest request;
  request.url = server.url() + "/v1/files/film.mp4";
  request.headers.emplace_back("Authorization", "Bearer " + server.token());
  request.max_response_bytes = 64U << 20U;
  const auto got = http_exchange(request, {});
  REQUIRE(got);
  CHECK(got->body == bytes);
  // A client that leaves early costs nothing but its own connection.
  std::size_t seen = 0;
  CHECK(http_stream(request, {}, [&](std::string_view piece) {
    seen += piece.size();
    return seen < 100000;
  }));
  CHECK(server.call("GET", "/healthz").status == 200);
}

TEST_CASE("the attachment commands do the same here and at a server", "[end_to_end][A25][A97]") {
  const TempFolder vault, files;
  fill_vault(vault);
  files.write("in.png", all_bytes());
  const auto in = files.path() + "/in.png", out = files.path() + "/out.png";
  const auto check_all = [&] {
    const auto indx = [&](std::vector<std::string> args, const std::string& input = "") {
      args.insert(args.begin(), {"--vault", vault.path()});
      return run_indx(args, {}, input);
    };
    const auto put = indx({"attachment", "put", "img/a.png", in});
    INFO(put.err);
    CHECK(put.code == 0);
    CHECK(Json::parse(put.out)["path"] == "img/a.png");
    CHECK(indx({"attachment", "get", "img/a.png"}).out == all_bytes());
    const auto told = indx({"attachment", "get", "img/a.png", "--output", out});
    CHECK(Json::parse(told.out)["media_type"] == "image/png");
    CHECK(file_text(out) == all_bytes());
    CHECK(indx({"attachment", "put", "b.txt", "-"}, "from stdin").code == 0);
    CHECK(indx({"attachment", "put", "b.txt", "-", "--if-not-exists"}, "x").code == 4);
    CHECK(Json::parse(indx({"attachment", "upload", in, "--folder", "up"}).out)["path"] ==
          "up/in.png");
    CHECK(Json::parse(indx({"attachment", "list"}).out)["attachments"].size() == 3);
    CHECK(indx({"attachment", "delete", "b.txt"}).code == 4);
    for (const auto* path : {"b.txt", "img/a.png", "up/in.png"})
      CHECK(indx({"attachment", "delete", path, "--yes"}).code == 0);
    CHECK(indx({"attachment", "get", "b.txt"}).code == 3);
  };
  check_all();
  RunningServer server(vault);
  check_all();
}

}  // namespace indx
