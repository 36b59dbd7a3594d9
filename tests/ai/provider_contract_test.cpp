// What every provider keeps, streamed and not: the same cases for each wire format.
#include "tests/ai/provider_contract.hpp"

#include "ai/prices.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <atomic>
#include <thread>

namespace indx {
namespace {

/// Every vendor, and both ways to call it.
#define FOR_EVERY_PROVIDER()                                \
  const auto vendor = GENERATE(from_range(vendor_names())); \
  const bool is_streamed = GENERATE(false, true);           \
  CAPTURE(vendor, is_streamed)

VendorPlan plan_of(const VendorReply& reply) {
  VendorPlan plan;
  plan.reply = reply;
  return plan;
}

VendorPlan fault_plan(VendorFault fault) {
  VendorPlan plan;
  plan.reply.text = kContractText;
  plan.fault = fault;
  return plan;
}

VendorPlan status_plan(int status, const std::string& headers = "") {
  VendorPlan plan;
  plan.status = status;
  plan.headers = headers;
  return plan;
}

VendorPlan json_plan(const std::string& text, bool is_tool_call = false) {
  VendorPlan plan;
  plan.reply.text = text;
  plan.reply.is_tool_call = is_tool_call;
  return plan;
}

}  // namespace

TEST_CASE("provider contract: text comes back with usage, cost and finish reason",
          "[ai][contract][G3][G6][G7][D7][D9][D55][D56]") {
  FOR_EVERY_PROVIDER();
  VendorServer server(vendor);
  VendorReply reply;
  reply.text = kContractText;
  server.plan(plan_of(reply));
  const auto provider = contract_provider(server.config());

  const auto call = contract_call(*provider, contract_question(), is_streamed);

  REQUIRE(call.reply.has_value());
  CHECK(call.reply->text == kContractText);
  CHECK(call.reply->structured.is_null());
  CHECK(call.reply->finish_reason == FinishReason::Stop);
  CHECK(call.reply->usage.input_tokens == kVendorInputTokens);
  CHECK(call.reply->usage.output_tokens == kVendorOutputTokens);
  CHECK(call.reply->usage.source == "reported");
  REQUIRE(call.reply->usage.cost_usd.has_value());
  CHECK(*call.reply->usage.cost_usd ==
        *cost_of(vendor, provider->model(), kVendorInputTokens, kVendorOutputTokens));
  if (is_streamed) CHECK(call.deltas == kContractText);
}

TEST_CASE("provider contract: the streamed reply equals the other one, however the bytes are cut",
          "[ai][contract][G8][D42]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  const auto piece = GENERATE(as<std::size_t>(), 0, 1, 2, 3, 7, 64);
  const auto delta = GENERATE(as<std::size_t>(), 1, 5, 1000);
  CAPTURE(vendor, piece, delta);
  VendorServer server(vendor);
  VendorPlan plan;
  plan.reply.text = kContractText;
  plan.piece = piece;
  plan.delta = delta;
  server.plan(plan);
  server.plan(plan);
  const auto provider = contract_provider(server.config());
  std::vector<std::string> deltas;

  const auto whole = provider->generate(contract_question(), CancelToken());
  const auto streamed =
      provider->generate_stream(contract_question(), CancelToken(),
                                [&](std::string_view text) { deltas.emplace_back(text); });

  REQUIRE(whole.has_value());
  REQUIRE(streamed.has_value());
  CHECK(to_json(*streamed) == to_json(*whole));
  CHECK(join(deltas, "") == whole->text);
  for (const auto& text : deltas) CHECK(is_valid_utf8(text));
  if (delta == 1) CHECK(deltas.size() > 10);
}

TEST_CASE("provider contract: a server that answers a stream with one body is understood",
          "[ai][contract]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  server.plan(fault_plan(VendorFault::NoStream));
  const auto call = contract_call(*contract_provider(server.config()), contract_question(), true);
  REQUIRE(call.reply.has_value());
  CHECK(call.reply->text == kContractText);
  CHECK(call.deltas == kContractText);
}

TEST_CASE("provider contract: usage that is missing is estimated and labelled so",
          "[ai][contract][G7]") {
  FOR_EVERY_PROVIDER();
  VendorServer server(vendor);
  VendorReply reply;
  reply.text = "12345678";
  reply.has_usage = false;
  server.plan(plan_of(reply));

  const auto call =
      contract_call(*contract_provider(server.config()), contract_question(), is_streamed);

  REQUIRE(call.reply.has_value());
  CHECK(call.reply->usage.source == "estimated");
  CHECK(call.reply->usage.output_tokens == 2);
  CHECK(call.reply->usage.input_tokens > 4);
}

TEST_CASE("provider contract: a cut answer says so", "[ai][contract][D9]") {
  FOR_EVERY_PROVIDER();
  VendorServer server(vendor);
  VendorReply reply;
  reply.finish = VendorFinish::Length;
  server.plan(plan_of(reply));
  const auto call =
      contract_call(*contract_provider(server.config()), contract_question(), is_streamed);
  REQUIRE(call.reply.has_value());
  CHECK(call.reply->finish_reason == FinishReason::Length);
}

TEST_CASE("provider contract: a refusal and a filtered answer are refusals, billed",
          "[ai][contract][D9]") {
  FOR_EVERY_PROVIDER();
  if (!make_vendor_dialect(vendor)->can_refuse()) return;
  VendorReply refusal, filtered;
  refusal.text = filtered.text = "";
  refusal.refusal = "OTHER";
  filtered.finish = VendorFinish::Filter;
  for (const auto& reply : {refusal, filtered}) {
    const auto error = contract_error(vendor, plan_of(reply), is_streamed);
    CHECK(error.name() == "ai_provider_error");
    CHECK(error.details["cause"] == "refused");
    CHECK(error.details["usage"].is_object());
    CHECK_FALSE(is_transient(error));
  }
}

TEST_CASE("provider contract: JSON comes back checked, as text or as the call of a tool",
          "[ai][contract][D39]") {
  FOR_EVERY_PROVIDER();
  const bool is_tool_call = GENERATE(false, true);
  CAPTURE(is_tool_call);
  VendorServer server(vendor);
  auto plan = json_plan(kContractJson, is_tool_call);
  plan.piece = 5;
  server.plan(plan);

  const auto call =
      contract_call(*contract_provider(server.config()), contract_json_question(), is_streamed);

  REQUIRE(call.reply.has_value());
  CHECK(call.reply->structured == Json::parse(kContractJson));
  CHECK(call.reply->text == Json::parse(kContractJson).dump());
  if (is_streamed) CHECK(Json::parse(call.deltas) == Json::parse(kContractJson));
  CHECK(server.requests()[0].body.dump().find("\"kind\"") != std::string::npos);
}

TEST_CASE("provider contract: JSON that breaks the schema in any way is refused",
          "[ai][contract][D59]") {
  FOR_EVERY_PROVIDER();
  for (const char* text : {R"({"title": "t", "count": 2, "kind": "a"})",
                           R"({"title": 5, "count": 2, "kind": "a", "tags": []})",
                           R"({"title": "", "count": 2, "kind": "a", "tags": []})",
                           R"({"title": "t", "count": 2.5, "kind": "a", "tags": []})",
                           R"({"title": "t", "count": -1, "kind": "a", "tags": []})",
                           R"({"title": "t", "count": 2, "kind": "c", "tags": []})",
                           R"({"title": "t", "count": 2, "kind": "a", "tags": ["x", "y", "z"]})",
                           R"({"title": "t", "count": 2, "kind": "a", "tags": [null]})",
                           R"({"title": "t", "count": 2, "kind": "a", "tags": {}})",
                           R"({"title": "t", "count": 2, "kind": "a", "tags": [], "more": 1})",
                           R"([])", R"("text")", R"(null)"}) {
    CAPTURE(text);
    const auto error =
        contract_error(vendor, json_plan(text), is_streamed, contract_json_question());
    CHECK(error.details["cause"] == "schema");
    CHECK(error.details["usage"]["source"] == "reported");
    CHECK_FALSE(is_transient(error));
  }
}

TEST_CASE("provider contract: an answer that should be JSON and is none, or is cut, is refused",
          "[ai][contract][D59]") {
  FOR_EVERY_PROVIDER();
  auto cut = json_plan(kContractJson);
  cut.reply.finish = VendorFinish::Length;
  for (const auto& plan : {json_plan("Sure! Here it is."), json_plan(R"({"title": )"),
                           json_plan(std::string(200, '[')), json_plan("{\"title\": NaN}"), cut})
    CHECK(contract_error(vendor, plan, is_streamed, contract_json_question()).details["cause"] ==
          "parse");
}

TEST_CASE("provider contract: a failed call tells status and message, and whether to try again",
          "[ai][contract][D59]") {
  FOR_EVERY_PROVIDER();
  for (const int status : {400, 401, 403, 404, 408, 409, 429, 500, 503, 529}) {
    CAPTURE(status);
    const auto error = contract_error(vendor, status_plan(status), is_streamed);
    CHECK(error.name() == "ai_provider_error");
    CHECK(error.details["provider"] == vendor);
    CHECK(error.details["upstream_status"] == status);
    CHECK(error.details["upstream_message"] == "Scripted failure.");
    CHECK(error.details["cause"] == "status");
    CHECK(is_transient(error) == (status == 408 || status == 429 || status >= 500));
  }
}

TEST_CASE("provider contract: Retry-After is told", "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  const auto error = contract_error(vendor, status_plan(429, "Retry-After: 7\r\n"), is_streamed);
  CHECK(retry_after(error) == milliseconds(7000));
}

TEST_CASE("provider contract: a redirect is not followed", "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  std::atomic<int> followed = 0;
  RawServer elsewhere([&](RawConnection& connection) {
    ++followed;
    connection.read_request();
  });
  const auto error = contract_error(
      vendor, status_plan(302, cat("Location: ", elsewhere.url("/"), "\r\n")), is_streamed);
  CHECK(error.details["upstream_status"] == 302);
  CHECK_FALSE(is_transient(error));
  CHECK(followed == 0);
}

TEST_CASE("provider contract: the key is in no error, even when the server repeats it",
          "[ai][contract][D70]") {
  FOR_EVERY_PROVIDER();
  if (vendor == "ollama") return;  // which has none
  auto plan = status_plan(401);
  plan.message = cat("Wrong key ", kVendorKey, " for ", kVendorKey);
  const auto error = contract_error(vendor, plan, is_streamed);
  CHECK(error.details["upstream_message"] == "Wrong key [redacted] for [redacted]");
  CHECK(error.message.find("check INDX_") != std::string::npos);
}

TEST_CASE("provider contract: the key goes into one header and nowhere else", "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  if (vendor == "ollama") return;
  VendorServer server(vendor);
  contract_call(*contract_provider(server.config()), contract_question(), is_streamed);
  const auto request = server.requests().at(0);
  CHECK(split(replace_all(request.head, kVendorKey, "\x01"), '\x01').size() == 2);
  CHECK(request.target.find(kVendorKey) == std::string::npos);
  CHECK(request.body.dump().find(kVendorKey) == std::string::npos);
}

TEST_CASE("provider contract: a prompt that the model cannot take is ai_input_too_large",
          "[ai][contract][D12][D61]") {
  FOR_EVERY_PROVIDER();
  for (const char* message : {"This model's maximum context length is 128000 tokens.",
                              "prompt is too long: 210000 tokens > 200000 maximum",
                              "The input token count (1100000) exceeds the maximum number of "
                              "tokens allowed (1048576)."}) {
    auto plan = status_plan(400);
    plan.message = message;
    CHECK(contract_error(vendor, plan, is_streamed).name() == "ai_input_too_large");
  }
  VendorServer server(vendor);
  auto config = server.config();
  config.max_input_tokens = 3;
  const auto call = contract_call(*contract_provider(config), contract_question(), is_streamed);
  REQUIRE_FALSE(call.reply.has_value());
  CHECK(call.reply.error().name() == "ai_input_too_large");
  CHECK(server.requests().empty());
}

TEST_CASE("provider contract: a connection that breaks before or in the answer is transient",
          "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  for (const auto fault : {VendorFault::Disconnect, VendorFault::BreakInAnswer}) {
    const auto error = contract_error(vendor, fault_plan(fault), is_streamed);
    CHECK(error.details["cause"] == "connect");
    CHECK(is_transient(error));
    const bool has_begun = is_streamed && fault == VendorFault::BreakInAnswer;
    CHECK(error.details.contains("usage") == has_begun);
  }
}

TEST_CASE("provider contract: a stream that ends before its answer is no answer",
          "[ai][contract]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  const auto error = contract_error(vendor, fault_plan(VendorFault::NoEnd), true);
  CHECK(error.details["cause"] == "connect");
  CHECK(error.details["usage"].is_object());
}

TEST_CASE("provider contract: a failure told inside of an answer is one", "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  const auto error = contract_error(vendor, fault_plan(VendorFault::TellFailure), is_streamed);
  CHECK(error.details["cause"] == "status");
  CHECK(error.details["upstream_message"] == "Scripted failure.");
  CHECK(is_transient(error));
}

TEST_CASE("provider contract: a body or event that is no JSON is refused", "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  const auto error = contract_error(vendor, fault_plan(VendorFault::BrokenJson), is_streamed);
  CHECK(error.details["cause"] == "parse");
  CHECK_FALSE(is_transient(error));
}

TEST_CASE("provider contract: an answer of 50 MB is refused with an error of its own",
          "[ai][contract]") {
  FOR_EVERY_PROVIDER();
  const auto error = contract_error(vendor, fault_plan(VendorFault::Huge), is_streamed);
  CHECK(error.details["cause"] == "too_large");
  CHECK_FALSE(is_transient(error));
}

TEST_CASE("provider contract: silence is a timeout, of the whole call, the first byte, or between",
          "[ai][contract][D19]") {
  FOR_EVERY_PROVIDER();
  const std::string limit = GENERATE(as<std::string>(), "whole", "first_byte", "idle");
  CAPTURE(limit);
  VendorServer server(vendor);
  server.plan(fault_plan(limit == "idle" ? VendorFault::HangInAnswer : VendorFault::Hang));
  auto config = server.config();
  (limit == "whole"        ? config.timeout
   : limit == "first_byte" ? config.first_byte_timeout
                           : config.idle_timeout) = milliseconds(80);

  const auto call = contract_call(*contract_provider(config), contract_question(), is_streamed);

  REQUIRE_FALSE(call.reply.has_value());
  CHECK(call.reply.error().details["cause"] == "timeout");
  CHECK(call.reply.error().details["limit"] == limit);
  CHECK(is_transient(call.reply.error()));
}

TEST_CASE("provider contract: cancel closes the connection within a second",
          "[ai][contract][D46]") {
  FOR_EVERY_PROVIDER();
  const auto fault = GENERATE(VendorFault::Hang, VendorFault::HangInAnswer);
  VendorServer server(vendor);
  server.plan(fault_plan(fault));
  const auto provider = contract_provider(server.config());
  const CancelToken cancel;
  std::atomic<std::chrono::steady_clock::time_point> cancelled_at;
  const std::jthread canceller([&](const std::stop_token& stop) {
    while (server.requests().empty() && !stop.stop_requested())
      std::this_thread::sleep_for(milliseconds(2));
    cancelled_at = std::chrono::steady_clock::now();
    cancel.cancel(CancelReason::Requested);
  });

  const auto call = contract_call(*provider, contract_question(), is_streamed, cancel);

  REQUIRE_FALSE(call.reply.has_value());
  CHECK(call.reply.error().name() == "cancelled");
  CHECK(server.saw_close());
  CHECK(std::chrono::steady_clock::now() - cancelled_at.load() < std::chrono::seconds(1));
}

TEST_CASE("provider contract: who has read enough of a stream ends the call",
          "[ai][contract][D46]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  server.plan(fault_plan(VendorFault::HangInAnswer));
  const auto provider = contract_provider(server.config());
  const CancelToken cancel;
  std::chrono::steady_clock::time_point cancelled_at;

  const auto reply = provider->generate_stream(contract_question(), cancel, [&](std::string_view) {
    cancelled_at = std::chrono::steady_clock::now();
    cancel.cancel(CancelReason::Requested);
  });

  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "cancelled");
  CHECK(server.saw_close());
  CHECK(std::chrono::steady_clock::now() - cancelled_at < std::chrono::seconds(1));
}

TEST_CASE("provider contract: models are listed", "[ai][contract][G4]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  server.plan({});
  server.plan(status_plan(401));
  const auto provider = contract_provider(server.config());

  const auto models = provider->list_models(CancelToken());
  const auto failed = provider->list_models(CancelToken());

  REQUIRE(models.has_value());
  CHECK(*models == std::vector<std::string>{"first", "second"});
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().details["upstream_status"] == 401);
}

TEST_CASE("provider contract: the call goes through the proxy of the environment",
          "[ai][contract]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  std::string seen;
  RawServer proxy([&](RawConnection& connection) {
    seen = connection.read_request();
    connection.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
  });
  AiConfig config;
  config.provider = vendor;
  make_vendor_dialect(vendor)->configure(config, "http://models.test");
  config.proxies.http = proxy.url("");

  const auto call = contract_call(*contract_provider(config), contract_question(), false);

  REQUIRE_FALSE(call.reply.has_value());
  CHECK(call.reply.error().details["upstream_status"] == 503);
  CHECK(seen.starts_with("POST http://models.test/"));
}

#undef FOR_EVERY_PROVIDER

}  // namespace indx
