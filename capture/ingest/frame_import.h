// Frames on disk, opened like a file: an agent's spool, or what a viewer or `accelscope record` left behind when it
// died. Reads only: the folder stays as it is, also while a living process writes it.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/result.h"
#include "core/store/store.h"

namespace accelscope::capture::ingest {

// A capture's folder of frames, or a folder of such folders.
[[nodiscard]] bool holds_frames(const std::filesystem::path& folder);

// All captures that lie there, each in scopes of its own; damage is counted in the quality report. Fails if nothing can
// be read. keep_going: asked now and then; false ends it with what has been read.
Result<void> import_frames(const std::filesystem::path& folder, Store& store, const std::function<bool()>& keep_going);

}  // namespace accelscope::capture::ingest
