#pragma once
#include "mcp/protocol.hpp"
#include "mcp/resource_uri.hpp"
#include "ops/operation.hpp"

#include <string>
#include <string_view>

namespace indx {

/// Resources that an operation answers (rows B50 to B54, B59): which one, and with what.

/// The operation behind a URI: of a file the one that gives its bytes.
std::string_view operation_name_of(const ResourceUri& uri);
/// Whether the answer is the bytes of a file instead of a JSON document.
bool is_bytes(const ResourceUri& uri);
/// The input of that operation. `validation_failed`: an argument of the query is not one that the
/// resource takes, or the file is none of its kind.
Result<Json> operation_input(const ResourceUri& uri, const Operation& operation);

/// Those without arguments, as entries of resources/list.
Json synthetic_entries(const Registry& registry, const Principal& principal, const AiRoles& roles,
                       const Protocol& protocol);
/// The body of resources/templates/list.
Json resource_templates(const Registry& registry, const Principal& principal, const AiRoles& roles,
                        const Protocol& protocol);

}  // namespace indx
