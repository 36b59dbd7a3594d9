#pragma once
#include <string_view>
#include <vector>

namespace indx {

/// A tool of MCP that stands for several rare operations: its `action` is the name of one of them.
/// Reads and writes are never in one group, so that its hints are true.
struct ToolGroup {
  std::string_view name, title;
  std::string_view description;  ///< what its actions have in common, and what is done elsewhere
};

const std::vector<ToolGroup>& tool_groups();
/// nullptr: there is none.
const ToolGroup* find_tool_group(std::string_view name);

}  // namespace indx
