#include "tests/support/vendor_server.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kVendorHuge = 50U << 20U;

std::string head_of(const VendorPlan& plan, const std::string& type, const std::string& framing) {
  return cat("HTTP/1.1 ", plan.status, " Scripted\r\nContent-Type: ", type, "\r\n", plan.headers,
             framing, "\r\nConnection: close\r\n\r\n");
}

std::string chunk_of(std::string_view bytes) {
  std::ostringstream size;
  size << std::hex << bytes.size();
  return cat(size.str(), "\r\n", bytes, "\r\n");
}

/// Numbers that differ from text to text.
std::vector<double> vector_of(const std::string& text, std::size_t size) {
  std::vector<double> vector(size, 1.0);
  vector[0] = static_cast<double>(text.size());
  if (size > 1) vector[1] = static_cast<unsigned char>(text.front());
  return vector;
}

}  // namespace

std::vector<std::string> character_pieces(const std::string& text, std::size_t size) {
  std::vector<std::string> pieces;
  std::string piece;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = decode_at(text, at).length;
    piece += text.substr(at, length);
    at += length;
    if (piece.size() >= size) pieces.push_back(std::move(piece)), piece.clear();
  }
  if (!piece.empty()) pieces.push_back(std::move(piece));
  return pieces;
}

VendorServer::VendorServer(const std::string& provider)
    : dialect_(make_vendor_dialect(provider)),
      server_([this](RawConnection& connection) { talk(connection); }) {}

AiConfig VendorServer::config() const {
  AiConfig config;
  config.provider = dialect_->provider();
  if (dialect_->has_embeddings()) config.embeddings_provider = dialect_->provider();
  config.timeout = milliseconds(10000);
  dialect_->configure(config, server_.url(""));
  return config;
}

void VendorServer::plan(VendorPlan plan) {
  const std::scoped_lock lock(mutex_);
  plans_.push_back(std::move(plan));
}

std::vector<VendorRequest> VendorServer::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

bool VendorServer::saw_close() {
  std::unique_lock lock(mutex_);
  return closed_.wait_for(lock, std::chrono::seconds(10), [this] { return closes_ > 0; });
}

VendorPlan VendorServer::next_plan() {
  const std::scoped_lock lock(mutex_);
  if (plans_.empty()) return {};
  auto plan = std::move(plans_.front());
  plans_.pop_front();
  return plan;
}

void VendorServer::talk(RawConnection& connection) {
  const auto text = connection.read_request();
  const auto end = std::min(text.find("\r\n\r\n"), text.size());
  VendorRequest request{text.substr(0, end), "",
                        Json::parse(text.substr(std::min(text.size(), end + 4)), nullptr, false)};
  if (!request.body.is_object()) request.body = Json::object();
  const auto words = split(request.head.substr(0, request.head.find('\r')), ' ');
  if (words.size() > 1) request.target = words[1];
  {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
  }
  const auto plan = next_plan();
  if (plan.fault == VendorFault::Disconnect) return;
  if (plan.fault == VendorFault::Hang) {
    connection.wait_for_close();
  } else if (plan.status != 200) {
    send_body(connection, plan, dialect_->failure(plan.status, plan.message));
  } else if (dialect_->is_models(request.target)) {
    send_body(connection, plan, dialect_->models({"second", "first"}));
  } else if (dialect_->is_embeddings(request.target)) {
    std::vector<std::vector<double>> vectors;
    for (const auto& item : dialect_->texts(request.body))
      vectors.push_back(vector_of(item, plan.vector_size));
    if (plan.loses_a_vector) vectors.pop_back();
    send_body(connection, plan, dialect_->embeddings(vectors));
  } else if (dialect_->is_streamed(request.target, request.body) &&
             plan.fault != VendorFault::NoStream) {
    send_stream(connection, plan);
  } else {
    const bool tells = plan.fault == VendorFault::TellFailure;
    send_body(connection, plan,
              tells ? dialect_->failure(500, plan.message) : dialect_->whole(plan.reply));
  }
  const std::scoped_lock lock(mutex_);
  if (plan.fault == VendorFault::Hang || plan.fault == VendorFault::HangInAnswer) ++closes_;
  closed_.notify_all();
}

void VendorServer::send_body(RawConnection& connection, const VendorPlan& plan, const Json& body) {
  auto text = body.dump();
  if (plan.fault == VendorFault::Huge) text.assign(kVendorHuge, ' ');
  if (plan.fault == VendorFault::BrokenJson) text.resize(text.size() / 2);
  connection.send(head_of(plan, "application/json", cat("Content-Length: ", text.size())));
  const bool is_cut =
      plan.fault == VendorFault::HangInAnswer || plan.fault == VendorFault::BreakInAnswer;
  connection.send(is_cut ? text.substr(0, text.size() / 2) : text);
  if (plan.fault == VendorFault::HangInAnswer) connection.wait_for_close();
}

void VendorServer::send_stream(RawConnection& connection, const VendorPlan& plan) {
  const auto deltas = plan.reply.refusal.empty() ? character_pieces(plan.reply.text, plan.delta)
                                                 : std::vector<std::string>();
  auto events = dialect_->stream(plan.reply, deltas);
  const bool is_cut = plan.fault == VendorFault::HangInAnswer ||
                      plan.fault == VendorFault::BreakInAnswer ||
                      plan.fault == VendorFault::NoEnd || plan.fault == VendorFault::TellFailure;
  if (is_cut) events.resize(std::max<std::size_t>(events.size() / 2, 1));
  if (plan.fault == VendorFault::TellFailure)
    events.push_back(dialect_->failure_event(plan.message));
  auto bytes = join(events, "");
  if (plan.fault == VendorFault::BrokenJson)
    bytes = plan.reply.text.empty() ? "data: {\n\n{\n" : "data: {\"a\"\n\n";
  connection.send(head_of(plan, dialect_->stream_type(), "Transfer-Encoding: chunked"));
  if (plan.fault == VendorFault::Huge) {
    const std::string block(1U << 20U, 'x');
    for (std::size_t sent = 0; sent < kVendorHuge; sent += block.size())
      if (!connection.send(chunk_of(block))) return;
  }
  const auto piece = plan.piece == 0 ? bytes.size() : plan.piece;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    if (!connection.send(chunk_of(std::string_view(bytes).substr(at, piece)))) return;
  if (plan.fault == VendorFault::HangInAnswer) connection.wait_for_close();
  if (plan.fault != VendorFault::BreakInAnswer) connection.send("0\r\n\r\n");
}

std::map<std::string, std::string> provider_variables(const AiConfig& config) {
  return {{"INDX_AI_PROVIDER", config.provider},
          {"INDX_AI_MODEL", config.model},
          {"INDX_OPENAI_BASE_URL", config.openai_base_url},
          {"OPENAI_API_KEY", config.openai_api_key},
          {"INDX_OLLAMA_BASE_URL", config.ollama_base_url},
          {"INDX_ANTHROPIC_BASE_URL", config.anthropic_base_url},
          {"ANTHROPIC_API_KEY", config.anthropic_api_key},
          {"INDX_GEMINI_BASE_URL", config.gemini_base_url},
          {"GEMINI_API_KEY", config.gemini_api_key},
          {"INDX_AI_GATEWAY_BASE_URL", config.gateway_base_url},
          {"INDX_AI_GATEWAY_KEY", config.gateway_api_key}};
}

}  // namespace indx
