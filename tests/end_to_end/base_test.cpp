#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// A list of the vault as a client that wants lines gets it.
HttpClientResponse lines_from(const RunningServer& server, const std::string& target) {
  HttpClientRequest request;
  request.url = server.url() + target;
  request.headers = {{"Authorization", "Bearer " + server.token()},
                     {"Accept", "application/x-ndjson"}};
  const auto response = http_exchange(request, {});
  REQUIRE(response.has_value());
  return *response;
}

/// Three notes with a price and a base over them.
void fill_with_prices(const TempFolder& vault) {
  for (int i = 1; i <= 3; ++i) vault.write(cat("n", i, ".md"), cat("---\nprice: ", i, "\n---\n"));
  vault.write("q.base",
              "filters: 'file.ext == \"md\"'\nproperties:\n  price:\n    displayName: Price\n"
              "views:\n  - name: T\n    order: [file.name, price]\n");
}

}  // namespace

TEST_CASE("a base as NDJSON gives its rows, on the command line and over REST",
          "[end_to_end][A24][A56][A96]") {
  const TempFolder vault;
  fill_with_prices(vault);
  RunningServer server(vault);

  const auto printed = run_indx({"--vault", vault.path(), "base", "query", "q.base", "--ndjson"});
  const auto streamed = lines_from(server, "/v1/bases/q.base/query");

  CHECK(printed.code == 0);
  const auto lines = split(std::string(trim(printed.out)), '\n');
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json row = Json::parse(lines[i], nullptr, false);
    CHECK(row["path"] == cat("n", i + 1, ".md"));
    CHECK(row["cells"]["price"] == i + 1);
  }
  CHECK(streamed.body == printed.out);
}

TEST_CASE("a format of a base prints the text itself, all pages as one file", "[end_to_end][A56]") {
  const TempFolder vault;
  fill_with_prices(vault);
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--vault", vault.path(), "base", "query", "q.base"});
    return run_indx(more);
  };

  CHECK(run({"--format", "csv"}).out ==
        "path,name,Price\r\nn1.md,n1.md,1\r\nn2.md,n2.md,2\r\nn3.md,n3.md,3\r\n");
  CHECK(run({"--format", "md"}).out.starts_with("| path | name | Price |\n| --- | --- | --- |\n"));
  CHECK(run({"--format", "ndjson"}).out.starts_with("{\"path\":\"n1.md\",\"cells\":{"));
  const auto page = run({"--format", "csv", "--limit", "1"});
  CHECK(page.out == "path,name,Price\r\nn1.md,n1.md,1\r\n");
  REQUIRE(page.err.starts_with("next_cursor: "));
  const auto cursor = std::string(trim(page.err.substr(page.err.find(' '))));
  CHECK(run({"--format", "csv", "--limit", "1", "--cursor", cursor}).out == "n2.md,n2.md,2\r\n");
  const auto as_json = Json::parse(run({"--format", "csv", "--json"}).out, nullptr, false);
  CHECK(as_json["text"].get<std::string>().starts_with("path,name,Price\r\n"));

  for (int i = 10; i < 650; ++i) vault.write(cat("m", i, ".md"), "x\n");
  const auto whole = run({"--format", "csv"});
  CHECK(split(whole.out, '\n').size() == 1 + 3 + 640 + 1);
  CHECK(whole.out.find("path,name", 1) == std::string::npos);
  CHECK(whole.err.find("next_cursor") == std::string::npos);
}

TEST_CASE("an answer that is no single list stays whole when lines are wanted",
          "[end_to_end][A24][A96]") {
  const TempFolder vault;
  fill_with_prices(vault);
  vault.write("a.md", "[[n1]]\n");
  RunningServer server(vault);

  const auto done = run_indx({"--vault", vault.path(), "graph", "neighbors", "a.md", "--ndjson"});

  CHECK(done.code == 0);
  const Json graph = Json::parse(done.out, nullptr, false);
  REQUIRE(graph.is_object());
  CHECK(graph["nodes"].size() == 2);
  CHECK(graph["edges"].size() == 1);
  const Json over_rest = Json::parse(lines_from(server, "/v1/graph/a.md").body, nullptr, false);
  CHECK(over_rest["data"]["edges"].size() == 1);
  for (const auto* more : {"", "&limit=5"}) {
    const auto text = lines_from(server, cat("/v1/bases/q.base/query?format=csv", more));
    CHECK(Json::parse(text.body, nullptr, false)["data"]["text"].get<std::string>().starts_with(
        "path,name,Price\r\n"));
  }
}

TEST_CASE("a base block of a note is asked like a file", "[end_to_end][A56]") {
  const TempFolder vault;
  fill_with_prices(vault);
  vault.write("note.md", "see\n\n```base\nfilters: 'file.name == this.file.name'\n```\n");
  RunningServer server(vault);

  const auto answer = server.call("GET", "/v1/bases/note.md/query");

  CHECK(answer.status == 200);
  REQUIRE(answer.body["data"]["rows"].size() == 1);
  CHECK(answer.body["data"]["rows"][0]["path"] == "note.md");
  CHECK(server.call("GET", "/v1/bases/n1.md/query").status == 422);
}

}  // namespace indx
