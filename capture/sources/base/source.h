// File formats that can be imported, or replayed by the agent. A format is one row of a table: a name, a probe that
// recognises it by its first bytes, and a function that writes it into a sink. A new format adds its folder beside this
// one, its functions to base/importers.h and a row to sources/formats.cpp; nothing else learns of it.
//
//   Result<const SourceFormat*> format = guess_format(path);      // or find_format("neuron-json")
//   Result<void> done = (*format)->run(path, options, sink);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "capture/json/byte_source.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

struct ImportOptions {
  std::vector<std::string> source_roots;  // folders in which source files that the input names are looked for
  std::string neff;                       // the program of a raw Neuron trace; "": found beside it
  // Further files of the same run and format, which are read into the same session on one time (SourceFormat::run_of).
  std::vector<std::string> companions;
  std::vector<std::string> converter_options;  // passed on to a vendor's tool that converts the input
  // What an operation is called that a device ("chip 0") ran by that number, from a report of the same run; "" or null:
  // not known.
  std::function<std::string(const std::string& device, std::uint64_t call)> operation_name;
  // Called now and then with the done and total parts of the input in any unit (total 0: unknown). Cancelling is the
  // business of the sink.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

inline constexpr std::size_t kProbeBytes = 64U << 10;

// How sure a format is that the input is its own: 0 (no) to 100. Sees at most the first kProbeBytes bytes, inflated;
// none if the path is a folder.
using Probe = int(std::string_view head, const std::string& path);
// Writes the whole input into the sink: definitions before the chunks that use them, partial input as far as it goes
// with quality entries. Fails only if nothing could be read, it was cancelled, or the sink failed.
using ImportPath = Result<void>(const std::string& path, const ImportOptions& options, EventSink& sink);
// The same of bytes that are read once, from wherever they come; `name` is what messages call them.
using ImportBytes = Result<void>(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink);
// What files that belong together have in common; "": the file stands for itself.
using FilesInCommon = std::string(const std::string& path);

// What is particular to some formats.
struct FormatFacts {
  bool raw = false;       // what a vendor's tool has to convert first; its conversion beside it is read in its place
  bool in_place = false;  // a packed one is not read, and nothing is read ahead of the sink
  // Tells of one side of a run only, such as its memory: opened beside a file of another format, both are one session.
  bool one_side = false;
  // The number of the rank of a job that the input is of, as it says itself near its beginning; null: such inputs do
  // not say.
  std::optional<std::uint32_t> (*rank)(std::string_view head) = nullptr;
  // What files of one run have in common, such as the host whose processes left one each: they are read as one input,
  // the first with the others as its companions. Null: all files stand for themselves.
  FilesInCommon* run_of = nullptr;
  // What files in which a tool writes the same events in several formats have in common: in a folder, those of the
  // format that stands first in the table are read. Null: the tool writes one format.
  FilesInCommon* output_of = nullptr;
};

struct SourceFormat {
  std::string_view name;   // what --format takes: "neuron-json"
  std::string_view title;  // "Neuron Profile JSON"
  Probe* probe;
  std::variant<ImportBytes*, ImportPath*> import;  // of files that are read once, from begin to end, or of all others
  FormatFacts facts = {};

  // The importer is a thread ahead of the sink, which checks and indexes a chunk while the next one is built.
  Result<void> run(const std::string& path, const ImportOptions& options, EventSink& sink) const;
};

// The same for an importer that is known.
Result<void> import_file(ImportBytes& import, const std::string& path, const ImportOptions& options, EventSink& sink);

[[nodiscard]] std::span<const SourceFormat> source_formats();
[[nodiscard]] Result<const SourceFormat*> find_format(std::string_view name);
// Whether the format takes the file for its own.
[[nodiscard]] bool is_recognised(const SourceFormat& format, const std::string& path);
// Opens the file and asks every probe.
[[nodiscard]] Result<const SourceFormat*> guess_format(const std::string& path);
// The rank that a file of the format says that it is of; nothing if it does not, or cannot be read.
[[nodiscard]] std::optional<std::uint32_t> rank_of_file(const SourceFormat& format, const std::string& path);

// A file of another tool that is not read here: a refusal says what it is, and how to get one that is.
struct OtherFormat {
  std::string title;   // "an Nsight Compute report"
  std::string advice;  // what to do instead; "": nothing is known
};
// Looks at the file's first bytes, unpacked if it is packed, its name, and the tables of a database. Asked only once no
// format has taken the file.
[[nodiscard]] std::optional<OtherFormat> find_other_format(const std::string& path);
// "FILE: this is an Nsight Compute report, which is not read here; ..."
[[nodiscard]] std::string refusal(const std::string& path, const OtherFormat& format);

}  // namespace accelscope::capture::sources
