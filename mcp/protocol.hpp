#pragma once
#include "base/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Legacy: initialize, then messages in a session. Modern (2026-07-28): every request carries its
/// version.
enum class Era : std::uint8_t { Legacy, Modern };

/// One protocol version and what its clients understand.
struct Protocol {
  std::string_view version;
  Era era = Era::Legacy;
  bool has_structured_content = true;  ///< structuredContent, outputSchema, title
  bool has_priming_event = false;      ///< an SSE stream starts with an id and empty data
};

/// Those we speak, newest first.
const std::vector<Protocol>& protocols();
/// nullptr: not one of ours.
const Protocol* find_protocol(std::string_view version);
/// The answer to an initialize: the version asked for, else the newest of its era.
const Protocol& negotiate_protocol(std::string_view asked);

/// `{name, title, version}`
Json server_info();
/// What initialize offers; only what is implemented.
Json server_capabilities(const Protocol& protocol);
/// How to use the tools (row B1); under 2 kB.
std::string_view server_instructions();

}  // namespace indx
