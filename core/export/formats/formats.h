// The formats that sessions are exported in, a row each: the command line (`view --output-format`) and the viewer's
// File > Export offer what is in this table. To add one, write a function like ExportFormat::write in a room of its own
// and add its row.
#pragma once

#include <span>

#include "core/export/base/export_format.h"

namespace accelscope::exporting {

[[nodiscard]] std::span<const ExportFormat> export_formats() noexcept;
// Fails where the format could hold nothing of the session.
[[nodiscard]] Result<void> check_export(const ExportFormat& format, const Snapshot& snapshot);
[[nodiscard]] const ExportFormat* find_export_format(std::string_view name) noexcept;  // null: unknown

}  // namespace accelscope::exporting
