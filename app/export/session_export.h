// A session, or what passes a filter, as files of an export format (core/export/formats): what the command line and
// File > Export write. Files and folders appear under their names when they are complete; of what was not finished
// nothing stays.
#pragma once

#include <iosfwd>
#include <string>

#include "app/export/output_file.h"
#include "core/export/base/export_format.h"

namespace accelscope::app {

// Whether a format writes a folder to this path: it always does, or it can and the path is a folder, ends with a slash
// or has no suffix.
[[nodiscard]] bool exports_folder(const ExportFormat& format, const std::string& path);

// The name that an export gets where the user gives none: "kernel.pftrace", or the folder "kernel-parquet".
[[nodiscard]] std::string default_export(const std::string& input, const ExportFormat& format);

// Why the export may not be written there; nothing to say if it may. What is in a folder is never removed; files of the
// names of tables are replaced, if that was asked for.
[[nodiscard]] Result<void> may_export(const ExportFormat& format, const std::string& path, bool replace,
                                      const std::vector<std::string>& inputs);

// `standard` is what "-" stands for.
[[nodiscard]] Result<ExportReport> write_export(const ExportFormat& format, const ExportRequest& request,
                                                const std::string& path, std::ostream& standard);

// "Wrote 1,204 events to x.pftrace", and what it could not hold, a sentence each.
[[nodiscard]] std::string export_said(const ExportReport& report, const std::string& path);

}  // namespace accelscope::app
