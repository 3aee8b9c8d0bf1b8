// The tools by what they are about; tool.cpp joins them.
#pragma once

#include <vector>

#include "app/mcp/tool.h"
#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app {

[[nodiscard]] std::vector<Tool> session_tools();  // opening, listing, figures
[[nodiscard]] std::vector<Tool> table_tools();    // SQL, listings, costs, advice
[[nodiscard]] std::vector<Tool> event_tools();    // one event and what it waited for
[[nodiscard]] std::vector<Tool> program_tools();  // pictures, captures, whole commands
[[nodiscard]] std::vector<Tool> compare_tools();  // several sessions

// What most tools begin with.
[[nodiscard]] Result<ShelvedSession*> session_of(ToolCall& call);
[[nodiscard]] QueryContext query_of(ToolCall& call, const ShelvedSession& session);
// Of the arguments range, filter and tracks.
[[nodiscard]] Result<EventFilter> filter_of(ToolCall& call, const ShelvedSession& session);

}  // namespace accelscope::app
