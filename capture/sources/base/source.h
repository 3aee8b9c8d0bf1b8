// File formats that can be imported, or replayed by the agent. A format is one row of a table: a name, a probe that
// recognises it by its first bytes, and a function that writes it into a sink. A new format adds its folder beside this
// one, its functions to base/importers.h and a row to sources/formats.cpp; nothing else learns of it.
//
//   const RecognisedFile file = recognise(path);
//   if (!file.format()) ... file.why_not
//   Result<void> done = file.format()->run(path, options, sink);
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
#include "core/base/own_files.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

namespace sqlite {
class ForeignDatabase;
}

struct ImportOptions {
  std::vector<std::string> source_roots;  // folders in which source files that the input names are looked for
  std::string neff;                       // the program of a raw Neuron trace; "": found beside it
  // Further files of the same run and format, which are read into the same session on one time (SourceFormat::run_of).
  std::vector<std::string> companions;
  std::vector<std::string> converter_options;  // passed on to a vendor's tool that converts the input
  // What the input is called, where it was converted from another one; "": its path.
  std::string shown;
  bool beside_others = false;  // in one session, whose time may be another than the input's own
  // What an operation is called that a device ("chip 0") ran by that number, from a report of the same run; "" or null:
  // not known.
  std::function<std::string(const std::string& device, std::uint64_t call)> operation_name;
  // Called now and then with the done and total parts of the input in any unit (total 0: unknown). Cancelling is the
  // business of the sink.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

inline constexpr std::size_t kProbeBytes = 64U << 10;
inline constexpr std::string_view kSessionFormat = "session";

// The beginning of a file, which is read once for all formats.
struct FileHead {
  std::string path;
  std::string bytes;  // at most the first kProbeBytes, inflated; none if the path is a folder
  bool packed = false;
  bool is_foreign_database = false;                         // of SQLite, and no session
  std::shared_ptr<const sqlite::ForeignDatabase> database;  // null: it is none, or cannot be opened
};

// How sure a format is that the input is its own: 0 (no) to 100.
using Probe = int(std::string_view head, const std::string& path);
// The same of formats that are tables of an SQLite database. Asked of databases alone, and not of sessions.
using DatabaseProbe = int(const FileHead& head);
// Writes the whole input into the sink: definitions before the chunks that use them, partial input as far as it goes
// with quality entries. Fails only if nothing could be read, it was cancelled, or the sink failed.
using ImportPath = Result<void>(const std::string& path, const ImportOptions& options, EventSink& sink);
// The same of bytes that are read once, from wherever they come; `name` is what messages call them.
using ImportBytes = Result<void>(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink);
// What a vendor's tool made of a raw input, which is read in its place.
struct Converted {
  std::shared_ptr<OwnTemporaryFolder> folder;  // that it lies in
  std::vector<std::string> paths;              // sides of one run: what was made, and what lies beside the raw input
  std::string_view format = {};                // of those that are not recognised
  std::vector<QualityEntry> findings = {};
  std::string shown = {};  // what a single one is called; "": the raw input
};
// Ends the name of the folder beside a raw one into which messages propose to convert it by hand.
inline constexpr std::string_view kConvertedFolder = "_profile";
// Has the tool run. The sink gets nothing, and says whether anybody still waits for it.
using ConvertRaw = Result<Converted>(const std::string& path, const ImportOptions& options, const EventSink& sink);
// What files that belong together have in common; "": the file stands for itself.
using FilesInCommon = std::string(const std::string& path);

// What is particular to some formats.
struct FormatFacts {
  bool in_place = false;  // a packed one is not read, and nothing is read ahead of the sink
  // A profile of its own: several in a folder, unless they are ranks of one job, are not one session.
  bool stands_alone = false;
  // Tells of one side of a run only, such as its memory: opened beside a file of another format, both are one session.
  bool one_side = false;
  // The number of the rank of a job that the input is of, as it says itself near its beginning; null: such inputs do
  // not say.
  std::optional<std::uint32_t> (*rank)(std::string_view head) = nullptr;
  // What files of one run have in common, such as the host whose processes left one each: they are read as one input,
  // the first with the others as its companions. Null, or "": the file stands for itself.
  std::string (*run_of)(const FileHead& head) = nullptr;
  // What files in which a tool writes the same events in several formats have in common: in a folder, those of the
  // format that stands first in the table are read. Null: the tool writes one format.
  FilesInCommon* output_of = nullptr;
};

struct SourceFormat {
  std::string_view name;   // what --format takes: "neuron-json"
  std::string_view title;  // "Neuron Profile JSON"
  std::variant<Probe*, DatabaseProbe*> probe;
  // Of files that are read once, from begin to end; of all others; of what a vendor's tool has to convert first, and
  // whose conversion beside it is read in its place.
  std::variant<ImportBytes*, ImportPath*, ConvertRaw*> import;
  FormatFacts facts = {};

  [[nodiscard]] ConvertRaw* converter() const {
    const auto* raw = std::get_if<ConvertRaw*>(&import);
    return raw == nullptr ? nullptr : *raw;
  }
  // Of a format without a converter; import_input() reads the others too.
  // The importer is a thread ahead of the sink, which checks and indexes a chunk while the next one is built.
  Result<void> run(const std::string& path, const ImportOptions& options, EventSink& sink) const;
};

// The same for an importer that is known.
Result<void> import_file(ImportBytes& import, const std::string& path, const ImportOptions& options, EventSink& sink);

[[nodiscard]] std::span<const SourceFormat> source_formats();
[[nodiscard]] Result<const SourceFormat*> find_format(std::string_view name);

// What a path is, as one reading of its first bytes and its name tell.
struct RecognisedFile {
  std::string path;
  bool is_readable = false;                  // it, or the folder that it is
  bool is_session = false;                   // a session file, whole or damaged; a whole one is of kSessionFormat
  std::vector<const SourceFormat*> formats;  // that take it for their own, the surest first
  std::optional<std::uint32_t> rank;         // FormatFacts::rank, of the surest
  std::string run;                           // FormatFacts::run_of, of the surest
  std::string title;    // of what another tool wrote and is not read here, "an Nsight Compute report"; "": not known
  std::string why_not;  // where it is neither profile nor whole session: what it is, or how to get one that is read

  [[nodiscard]] const SourceFormat* format() const { return formats.empty() ? nullptr : formats.front(); }
  [[nodiscard]] std::string_view name() const { return formats.empty() ? std::string_view() : formats.front()->name; }
};

// Reads each file's first bytes once, and asks every probe.
[[nodiscard]] RecognisedFile recognise(const std::string& path);
[[nodiscard]] std::vector<RecognisedFile> recognise(const std::vector<std::string>& paths);

}  // namespace accelscope::capture::sources
