// Imports what the user names - files, and folders of ranks - into one session: every source gets a sink of its own,
// so that numbers and strings of several do not meet. A file that was named must be readable; of a folder's files
// those that are not are told of in the quality report, and the others are read.
//
//   import_input({recognise("profiles/")}, {}, [&] { return std::make_unique<StoreSink>(store); });
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources {

struct InputOptions {
  ImportOptions import;  // progress is told in bytes of all files together
  std::string format;    // what --format takes; "": the one that each file is recognised as
  bool one_run = false;  // the profiles of a folder are sides of one run, as whoever had them made knows
};

using MakeSink = std::function<std::unique_ptr<EventSink>()>;

Result<void> import_input(const std::vector<RecognisedFile>& files, const InputOptions& options,
                          const MakeSink& make_sink);

}  // namespace accelscope::capture::sources
