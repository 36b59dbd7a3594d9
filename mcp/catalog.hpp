#pragma once
#include "mcp/protocol.hpp"
#include "ops/operation.hpp"
#include "ops/tool_group.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// The field of a group's input that names the operation.
inline constexpr std::string_view kActionField = "action";

/// A tool: one operation, or a group of them of which `action` names one.
struct Tool {
  std::string name;
  const ToolGroup* group = nullptr;          ///< null: it is one operation
  std::vector<const Operation*> operations;  ///< in the registry's order; never empty

  /// The operation of an action; nullptr: it has no such action.
  const Operation* find_action(std::string_view action) const;
  /// `note_similar, note_diff`: those that the caller may call; null: all.
  std::string action_names(const Principal* caller = nullptr) const;
};

/// What tools/list shows: the tools of the principal in the registry's order, groups behind them.
/// Who may not write sees no tool that writes.
std::vector<Tool> tools_of(const Registry& registry, const Principal& principal,
                           const AiRoles& roles);
/// The tool of that name with all that it can do for anybody; nullopt: there is none.
std::optional<Tool> find_tool(const Registry& registry, std::string_view name);

/// Whether a call by the principal can change nothing.
bool is_read_only(const Operation& operation, const Principal& principal);
/// Whether the catalog of this caller, who has the scopes of the operation, shows it: to who may
/// only read nothing that changes something, were it only a queue.
bool is_shown_to(const Principal& principal, const Operation& operation);

/// One entry of tools/list.
Json tool_descriptor(const Tool& tool, const Principal& principal, const Protocol& protocol);

}  // namespace indx
