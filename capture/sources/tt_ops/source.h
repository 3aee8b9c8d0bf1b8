// Operations reports of tt-metal (ops_perf_results_*.csv, cpp_device_perf_report.csv) of all versions since 2023.
//
// A row becomes an event of the table "op" with every column of the file: on its device's row "Operations" where the
// device told when it ran, else on the host's. Operations that have both times are on the host's row as well, in the
// table "host_op", with an arrow from the one to the other. Signposts are instants of the table "signpost".
//
// Two clocks: the host's ns since the tool began, and each device's cycles. A device's rate is the median of cycles
// over ns of its operations. Where the zero of its clock lies is not in the file: it is taken to be the earliest for
// which no operation begins on the device before the host has asked for it, and the report says that it is an estimate.
// Clocks are called as those of the device log ("chip 0"), so that the log of the same run, opened with the report,
// lies on the same time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::tt_ops {

[[nodiscard]] int probe_ops_report(std::string_view head, const std::string& path);
// Reports of a run that tell nothing of the host: in a folder an operations report beside them says all of it again.
[[nodiscard]] int probe_device_report(std::string_view head, const std::string& path);
[[nodiscard]] std::string folder_of_report(const std::string& path);
// The report is read twice: first to see what its columns hold.
using OpenBytes = std::function<Result<std::unique_ptr<json::ByteSource>>()>;
Result<void> import_ops_report(const OpenBytes& open, const std::string& name, const ImportOptions& options,
                               EventSink& sink);
Result<void> import_ops_report(const std::string& path, const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::tt_ops
