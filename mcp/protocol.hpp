#pragma once
#include "base/json.hpp"
#include "mcp/json_rpc.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace indx {

/// Legacy: initialize, then messages in a session. Modern (2026-07-28): every request carries its
/// version.
enum class Era : std::uint8_t { Legacy, Modern };

/// One protocol version and what its clients understand. What a version does not know is left out
/// of messages: strict clients refuse a whole list for one unknown kind of content.
struct Protocol {
  std::string_view version;
  Era era = Era::Legacy;
  bool has_batch = false;               ///< a POST may carry an array of messages
  bool has_annotations = false;         ///< hints about the behaviour of tools
  bool has_audio = false;               ///< content of type audio
  bool has_progress_message = false;    ///< progress says in words what goes on
  bool has_completions = false;         ///< completion is a capability to declare
  bool has_completion_context = false;  ///< completion knows the arguments given so far
  bool has_structured_content = false;  ///< structuredContent, outputSchema
  bool has_title = false;               ///< titles of tools, resources, prompts and of the server
  bool has_resource_links = false;      ///< content of type resource_link
  bool has_item_meta = false;           ///< _meta on tools, resources, prompts and content
  bool has_elicitation = false;         ///< forms for the user; how to ask depends on the era
  bool has_icons = false;
  bool has_tasks = false;           ///< tasks/… in the core, asked for by the client
  bool has_priming_event = false;   ///< an SSE stream starts with an id and empty data
  bool has_task_extension = false;  ///< io.modelcontextprotocol/tasks, decided by the server
  bool has_caching_hints = false;   ///< ttlMs and cacheScope on lists, reads and discover
  int resource_not_found = kRpcResourceNotFound;  ///< code of the error
};

/// The longest declaration of client capabilities that is taken, as JSON.
inline constexpr std::size_t kMaxClientCapabilities = 16U << 10U;

/// Those we speak, newest first.
const std::vector<Protocol>& protocols();
/// Their names, likewise.
Json protocol_versions();
/// nullptr: not one of ours.
const Protocol* find_protocol(std::string_view version);
/// The answer to an initialize: the version asked for, else the newest of its era.
const Protocol& negotiate_protocol(std::string_view asked);

/// `{name, title, version}`
Json server_info(const Protocol& protocol);
/// What initialize and server/discover offer; only what is implemented. `listChanged` is true only
/// where such notifications are really sent.
Json server_capabilities(const Protocol& protocol);
/// How to use the tools (row B1); under 2 kB.
std::string_view server_instructions();

}  // namespace indx
