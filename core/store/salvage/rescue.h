// Saving a session that nobody will hold open any longer: where its file cannot be written, it is saved in another
// folder rather than lost.
#pragma once

#include <string>

#include "core/store/store.h"

namespace accelscope {

struct SavedSession {
  std::string path;     // where it is
  std::string problem;  // why that is not where it was wanted, with what to do; "": it is
};

// First at `path`, then in the folder for temporary files, the user's state folder and the home folder. Fails if it
// could be saved nowhere, with the reason of the first try, or was cancelled.
[[nodiscard]] Result<SavedSession> save_or_rescue(Store& store, const std::string& path, const Progress& progress,
                                                  FileAccess access);

}  // namespace accelscope
