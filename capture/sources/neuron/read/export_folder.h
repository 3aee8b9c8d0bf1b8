// What neuron-explorer writes as Parquet: a folder with a file for each table, Instruction.parquet, Summary.parquet
// ..., large tables in parts, DmaPacket_0.parquet, DmaPacket_1.parquet ... Finds them by name, and says whether the
// export is whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::sources::neuron {

struct ExportFile {
  std::string path;
  std::string table;  // "DmaPacket"
  std::uint64_t bytes = 0;
};

// "DmaPacket" of ".../DmaPacket_0.parquet" if it is a table of the schema (version 7.4.0), else "".
[[nodiscard]] std::string export_table_of(std::string_view path);

// Whether the folder holds a table of the schema directly.
[[nodiscard]] bool is_export_folder(const std::string& path);

// Its files, part after part of each table; dependencies last, for they name events by number. Other Parquet files are
// among them. Fails if the export is not whole: its summary is filled last.
[[nodiscard]] Result<std::vector<ExportFile>> find_export_files(const std::string& folder);

// How the tables of an export are made: the command, for messages.
inline constexpr std::string_view kExportCommand =
    "neuron-explorer view -n PROGRAM.neff -s TRACE.ntff --output-format parquet --output-file FOLDER --disable-ui "
    "--ignore-event-trace";

}  // namespace accelscope::capture::sources::neuron
