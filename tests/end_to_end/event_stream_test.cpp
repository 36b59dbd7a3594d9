#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/metrics_text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

constexpr int kPages = 7, kJobsOfPage = 3;

void fill_tagged(const TempFolder& vault) {
  std::string text = "About";
  for (int i = 0; i < kPages * kJobsOfPage; ++i) text += cat(" #old", i);
  vault.write("Tags.md", text + "\n");
}

std::string start_rename(const RunningServer& server, int number) {
  return server.start_job("/v1/tags/rename",
                          {{"from", cat("old", number)}, {"to", cat("new", number)}});
}

bool has_created(const EventFeed& feed, const std::string& job) {
  return feed.wait_for([&](const EventFeed::Frame& frame) {
    return frame.event == "job.created" && frame.data.value("job_id", "") == job;
  });
}

}  // namespace

TEST_CASE("seven pages that each watch three jobs leave room for an ordinary request",
          "[end_to_end][jobs-39]") {
  const TempFolder vault;
  fill_tagged(vault);
  RunningServer server(vault, {}, {{"INDX_HTTP_WORKERS", "1"}, {"INDX_JOBS_RUNNERS", "1"}});
  std::vector<std::string> jobs;
  for (int i = 0; i < kPages * kJobsOfPage; ++i) jobs.push_back(start_rename(server, i));

  std::vector<std::unique_ptr<EventFeed>> pages;
  for (std::size_t i = 0; i < jobs.size(); i += kJobsOfPage)
    pages.push_back(std::make_unique<EventFeed>(
        server, cat("?kinds=job.*&jobs=", jobs[i], ",", jobs[i + 1], ",", jobs[i + 2])));
  const EventFeed shared(server, "?kinds=job.*&jobs=" + join(jobs, ","));
  const auto began = std::chrono::steady_clock::now();
  const auto answer = server.call("GET", "/v1/vault/status");
  const auto took = std::chrono::steady_clock::now() - began;

  CHECK(answer.status == 200);
  CHECK(took < std::chrono::seconds(1));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    CHECK(has_created(*pages[i / kJobsOfPage], jobs[i]));
    CHECK(has_created(shared, jobs[i]));  // one connection does for all of them
  }
  for (std::size_t page = 0; page < pages.size(); ++page)
    for (const auto& frame : pages[page]->frames()) {
      const auto of = std::find(jobs.begin(), jobs.end(), frame.data.value("job_id", ""));
      REQUIRE(of != jobs.end());
      CHECK(static_cast<std::size_t>(of - jobs.begin()) / kJobsOfPage == page);
    }
}

TEST_CASE("a client whose id is gone gets a snapshot, and goes on from it over a restart",
          "[end_to_end][jobs-34]") {
  const TempFolder vault;
  fill_tagged(vault);
  std::string position, before, during;
  {
    RunningServer server(vault);
    before = start_rename(server, 0);
    server.wait_for_job(before);
    EventFeed feed(server, "", "000000000000-1");
    REQUIRE(feed.wait_for([](const EventFeed::Frame& frame) { return frame.event == "reset"; }));
    const auto reset = feed.frames()[0];
    position = reset.id;
    CHECK(position == reset.data.value("newest", ""));
    for (const auto& live : reset.data["jobs"]) CHECK(live.value("id", "") != before);
    during = start_rename(server, 1);
    server.wait_for_job(during);
    server.kill();
  }
  RunningServer server(vault);
  const EventFeed feed(server, "?kinds=job.*", position);

  CHECK(has_created(feed, during));
  int finished = 0;
  for (const auto& frame : feed.frames()) {
    CHECK(frame.event != "reset");
    CHECK(frame.data.value("job_id", "") != before);
    finished += frame.event == "job.finished" && frame.data.value("job_id", "") == during ? 1 : 0;
  }
  CHECK(finished == 1);
}

TEST_CASE("a served vault tells its numbers, and a job is once in the audit log",
          "[end_to_end][H28]") {
  const TempFolder vault;
  fill_tagged(vault);
  RunningServer server(vault);
  const auto job = start_rename(server, 0);
  server.wait_for_job(job);

  HttpClientRequest request;
  request.url = server.url() + "/metrics";
  const auto response = http_exchange(request, {});
  REQUIRE(response);
  const auto read = test::parse_metrics(response->body);
  CHECK(server.stop() == 0);

  CHECK(response->status == 200);
  CHECK(read.fault.empty());
  CHECK(read.value("indx_jobs", {{"kind", "tag_rename"}, {"state", "succeeded"}}) == 1.0);
  CHECK(read.value("indx_http_requests_total",
                   {{"route", "/v1/tags/rename"}, {"method", "POST"}, {"status", "2xx"}}) == 1.0);
  int created = 0;
  for (const auto& line : audit_lines(vault)) created += line["kind"] == "job.created" ? 1 : 0;
  CHECK(created == 1);
}

}  // namespace indx
