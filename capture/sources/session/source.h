// Replays a session file as if it were captured now: its definitions, then its chunks in order of time, byte for
// byte. Takes sessions of one source; one that joins several is refused, since their strings have separate scopes.
#pragma once

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::session {

[[nodiscard]] int probe_session(std::string_view head, const std::string& path);
Result<void> replay_session(const std::string& path, const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::session
