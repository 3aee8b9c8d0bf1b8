// What a client can read besides calling tools: the tables of each open session with their columns, its data-quality
// report, and what figures mean.
#pragma once

#include <string>
#include <string_view>

#include "app/mcp/shelf.h"

namespace accelscope::app {

[[nodiscard]] std::string resource_list(const SessionShelf& shelf);  // {"resources": [...]}
[[nodiscard]] std::string resource_templates();                      // {"resourceTemplates": [...]}
// {"contents": [...]}. Fails on an address that there is nothing at.
[[nodiscard]] Result<std::string> read_resource(const std::string& uri, SessionShelf& shelf);

}  // namespace accelscope::app
