#pragma once
#include "tests/support/raw_server.hpp"
#include "tests/support/vendor_dialect.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace indx {

enum class VendorFault : std::uint8_t {
  None,
  Hang,           ///< no answer at all
  HangInAnswer,   ///< half of it, then silence
  Disconnect,     ///< closed without an answer
  BreakInAnswer,  ///< closed in the middle
  Huge,           ///< 50 MB
  BrokenJson,     ///< a body or event that is no JSON
  TellFailure,    ///< a failure told inside of an answer with status 200
  NoEnd,          ///< of a stream: it ends before its last events
  NoStream        ///< of a stream: one whole body instead
};

/// One answer of the server.
struct VendorPlan {
  VendorReply reply;
  VendorFault fault = VendorFault::None;
  int status = 200;
  std::string message = "Scripted failure.";
  std::string headers;    ///< more of them, each with its line end
  std::size_t piece = 0;  ///< bytes of a stream that are sent at a time; 0: all at once
  std::size_t delta = 3;  ///< bytes of text an event, or a few more: characters stay whole
  std::size_t vector_size = 4;
  bool loses_a_vector = false;
};

struct VendorRequest {
  std::string head, target;
  Json body;
};

/// A model server on loopback that speaks one provider's format; what is not planned is answered
/// with `VendorPlan{}`. A text's vector is made of its length and its first byte.
class VendorServer {
 public:
  explicit VendorServer(const std::string& provider);
  const VendorDialect& dialect() const { return *dialect_; }
  /// The configuration that calls this server.
  AiConfig config() const;
  void plan(VendorPlan plan);
  std::vector<VendorRequest> requests() const;
  /// Waits until a client has closed a connection that hangs; false after ten seconds.
  bool saw_close();

 private:
  void talk(RawConnection& connection);
  VendorPlan next_plan();
  void send_body(RawConnection& connection, const VendorPlan& plan, const Json& body);
  void send_stream(RawConnection& connection, const VendorPlan& plan);

  const std::unique_ptr<VendorDialect> dialect_;
  mutable std::mutex mutex_;
  std::condition_variable closed_;
  int closes_ = 0;
  std::deque<VendorPlan> plans_;
  std::vector<VendorRequest> requests_;
  RawServer server_;  // last: its thread uses the rest
};

/// Cut into pieces of about `size` bytes, never inside a character.
std::vector<std::string> character_pieces(const std::string& text, std::size_t size);

/// The variables that lead the program to this vendor's server.
std::map<std::string, std::string> provider_variables(const AiConfig& config);

}  // namespace indx
