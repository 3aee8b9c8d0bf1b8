// Neuron Profile JSON: what `neuron-profile view --output-format json` (and summary-json) writes for device and system
// profiles, plain or packed with gzip or zstd. Tables, columns and tracks: read/schemas.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/sources/base/source.h"
#include "capture/sources/parquet/bit_runs.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::neuron {

[[nodiscard]] int probe_neuron_json(std::string_view head, const std::string& path);

// The whole file, as far as it can be read; what could not is in the quality report. Fails only if it is no JSON at
// all, holds no table, or the sink fails.
Result<void> import_neuron_json(const std::string& path, const ImportOptions& options, EventSink& sink);

// The same for bytes from anywhere; `name` is what messages call them.
Result<void> import_neuron_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink);

// Raw traces of the Neuron runtime (.ntff, with the .neff of the program that ran). Their format is the vendor's own
// affair: the vendor's tool converts them where it is installed, and the result is read as any other profile. Where it
// is not, the error names the command to run elsewhere.

// By the file's ending; a text file with that ending is none.
[[nodiscard]] int probe_ntff(std::string_view head, const std::string& path);

// `path` is the trace, or the program of the only trace that belongs to it.
Result<void> import_ntff(const std::string& path, const ImportOptions& options, EventSink& sink);

// The program of a trace: the file beside it of the same name, with the number that the trace's name carries, or the
// only one in its folder or the one above. "" if none can be told.
[[nodiscard]] std::string find_neff(const std::string& ntff_path);

// A Neuron profile as Parquet tables: the folder that `neuron-explorer view --output-format parquet` writes, schema
// 7.4.0. The same tables, columns and tracks as of Neuron Profile JSON (source.h).

// Folders that hold tables of the schema, and such a table itself.
[[nodiscard]] int probe_neuron_parquet(std::string_view head, const std::string& path);

// A folder: all its tables, as far as they can be read. Fails if the export is not finished, which its summary shows. A
// single table is refused with a word of its folder.
Result<void> import_neuron_parquet(const std::string& path, const ImportOptions& options, EventSink& sink);

// One table from anywhere; `name` is what messages call it.
Result<void> import_neuron_table(std::unique_ptr<parquet::RandomBytes> bytes, const std::string& name,
                                 const std::string& table, const ImportOptions& options, EventSink& sink);

// The vendor's tool for Neuron profiles: where it is, how it converts a raw trace, and what its failures mean.

// "neuron-profile" first, then its successor "neuron-explorer".
[[nodiscard]] const std::vector<std::string>& neuron_tool_names();
// Its whole path: on PATH, else where the vendor's packages put it. "": not there. `wanted`: one of the names; "": any.
[[nodiscard]] std::string find_neuron_tool(std::string_view wanted = {});

// The arguments that write the profile of a trace as JSON, without the tool itself.
[[nodiscard]] std::vector<std::string> neuron_view_arguments(const std::string& neff, const std::string& ntff,
                                                             const std::string& output);

// What the tool printed last, for a message: "it printed:\n...".
[[nodiscard]] std::string shown_output(std::string text);
// What to do about a failure that the tool's output tells of: a busy device, memory that ran out. "": nothing known.
[[nodiscard]] std::string advice_on_failure(std::string_view output);

}  // namespace accelscope::capture::sources::neuron
