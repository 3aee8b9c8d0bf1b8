// The registry of file formats that can be imported, or replayed by the agent. A format is one row of a table: a
// name, a probe that recognises it by its first bytes, and a function that writes it into a sink. A new format adds
// its folder beside this file and one line in sources/formats.cpp; nothing else learns of it.
//
//   Result<const SourceFormat*> format = guess_format(path);      // or find_format("neuron-json")
//   Result<void> done = (*format)->run(path, options, sink);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

struct SourceFormat {
  std::string_view name;   // what --format takes: "neuron-json"
  std::string_view title;  // "Neuron Profile JSON"
  // How sure the format is that the input is its own: 0 (no) to 100. Sees at most the first kProbeBytes bytes,
  // inflated; none if the path is a folder.
  int (*probe)(std::string_view head, const std::string& path);
  // Writes the whole input into the sink: definitions before the chunks that use them, partial input as far as it goes
  // with quality entries. Fails only if nothing could be read or the sink failed.
  Result<void> (*run)(const std::string& path, const ImportOptions& options, EventSink& sink);
  bool raw = false;       // what a vendor's tool has to convert first; its conversion beside it is read in its place
  bool in_place = false;  // a packed one is not read
  // The number of the rank of a job that the input is of, as it says itself near its beginning; null: such inputs do
  // not say.
  std::optional<std::uint32_t> (*rank)(std::string_view head) = nullptr;
  // Tells of one side of a run only, such as its memory: opened beside a file of another format, both are one session.
  bool one_side = false;
  // What files that belong together have in common, such as the host whose processes left one each: they are read as
  // one input, the first with the others as its companions. "": the file stands for itself; null: all files do.
  std::string (*run_of)(const std::string& path) = nullptr;
  // What files in which a tool writes the same events in several formats have in common: in a folder, those of the
  // format that stands first in the table are read. "": none; null: the tool writes one format.
  std::string (*output_of)(const std::string& path) = nullptr;
};

[[nodiscard]] std::span<const SourceFormat> source_formats();
[[nodiscard]] Result<const SourceFormat*> find_format(std::string_view name);
// Whether the format takes the file for its own.
[[nodiscard]] bool is_recognised(const SourceFormat& format, const std::string& path);
// Opens the file and asks every probe.
[[nodiscard]] Result<const SourceFormat*> guess_format(const std::string& path);
// The rank that a file of the format says that it is of; nothing if it does not, or cannot be read.
[[nodiscard]] std::optional<std::uint32_t> rank_of_file(const SourceFormat& format, const std::string& path);

}  // namespace accelscope::capture::sources
