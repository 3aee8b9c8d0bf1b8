// A server of the Model Context Protocol on two streams, a message a line: requests are answered one after another on a
// thread of their own, so that a cancellation is heard while one is under way. Ends when the input does, after the last
// answer.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/mcp/tool.h"

namespace accelscope::app::mcp {

// Fails where the output cannot be written. Paths are opened before the first request; what cannot be is said on `err`.
[[nodiscard]] Result<void> serve_mcp(std::istream& in, std::ostream& out, std::ostream& err,
                                     const std::vector<std::string>& paths, const ServerDoors& doors);

}  // namespace accelscope::app::mcp
