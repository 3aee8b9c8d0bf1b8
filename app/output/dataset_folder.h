// The folder of a data set (core/export/dataset) as sessions are exported into it: the files of a session appear when
// all of them are complete, each in the place of the one before, and what an earlier export of the session has left
// under another date goes. Several programs may add sessions to one folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/export/dataset/dataset.h"

namespace accelscope::app::output {

// The named tables of the session, none: all.
[[nodiscard]] Result<exporting::ExportReport> add_to_dataset(const std::string& folder,
                                                             const exporting::ExportRequest& request,
                                                             const exporting::DatasetSession& session,
                                                             const std::vector<std::string>& tables);

}  // namespace accelscope::app::output
