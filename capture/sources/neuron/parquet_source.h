// A Neuron profile as Parquet tables: the folder that `neuron-explorer view --output-format parquet` writes, schema
// 7.4.0. The same tables, columns and tracks as of Neuron Profile JSON (source.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/sources/base/source.h"
#include "capture/sources/parquet/bytes.h"

namespace accelscope::capture::sources::neuron {

// Folders that hold tables of the schema, and such a table itself.
[[nodiscard]] int probe_neuron_parquet(std::string_view head, const std::string& path);

// A folder: all its tables, as far as they can be read. Fails if the export is not finished, which its summary shows. A
// single table is refused with a word of its folder.
Result<void> import_neuron_parquet(const std::string& path, const ImportOptions& options, EventSink& sink);

// One table from anywhere; `name` is what messages call it.
Result<void> import_neuron_table(std::unique_ptr<parquet::RandomBytes> bytes, const std::string& name,
                                 const std::string& table, const ImportOptions& options, EventSink& sink);

}  // namespace accelscope::capture::sources::neuron
