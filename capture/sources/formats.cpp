#include "capture/sources/base/source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <utility>
#include <variant>

#include "capture/json/byte_source.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "core/base/file_system.h"
#include "core/base/text.h"
#include "core/store/session_check.h"

namespace accelscope::capture::sources {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFormats = {
    SourceFormat{
        kSessionFormat, "Accelscope session", session::probe_session, session::replay_session, {.in_place = true}},
    SourceFormat{"neuron-json", "Neuron Profile JSON", neuron::probe_neuron_json, neuron::import_neuron_json},
    SourceFormat{"neuron-parquet",
                 "Neuron profile as Parquet tables (a folder)",
                 neuron::probe_neuron_parquet,
                 neuron::import_neuron_parquet,
                 {.stands_alone = true}},
    SourceFormat{"neuron-csv",
                 "tables of Neuron Explorer's visible range (CSV)",
                 neuron::probe_neuron_csv,
                 neuron::import_neuron_csv,
                 {.run_of = neuron::run_of_neuron_csv}},
    SourceFormat{"neuron-summary", "Neuron summary as text", neuron::probe_neuron_summary,
                 neuron::import_neuron_summary},
    SourceFormat{"ntff", "raw Neuron capture (NTFF with NEFF, system traces)", neuron::probe_ntff,
                 neuron::convert_ntff},
    SourceFormat{"neuron-neff", "Neuron program without a trace (NEFF)", neuron::probe_neff, neuron::import_neff},
    SourceFormat{"nsys", "Nsight Systems export (SQLite)", nsys::probe_nsys, nsys::import_nsys, {.in_place = true}},
    SourceFormat{
        "nsys-rep", "Nsight Systems report", nsys::probe_nsys_report, nsys::convert_nsys_report, {.in_place = true}},
    SourceFormat{"tt-device-log", "tt-metal device log", tt_metal::probe_device_log, tt_metal::import_device_log},
    SourceFormat{"tt-ops",
                 "tt-metal operations report",
                 tt_ops::probe_ops_report,
                 tt_ops::import_ops_report,
                 {.one_side = true, .output_of = tt_ops::folder_of_report}},
    SourceFormat{"tt-device-report",
                 "tt-metal device report (C++ or real-time)",
                 tt_ops::probe_device_report,
                 tt_ops::import_ops_report,
                 {.one_side = true, .output_of = tt_ops::folder_of_report}},
    SourceFormat{"tt-noc-trace", "tt-metal network trace", tt_noc::probe_noc_trace, tt_noc::import_noc_trace},
    SourceFormat{"tt-npe", "tt-npe timeline", tt_noc::probe_npe_timeline, tt_noc::import_npe_timeline},
    SourceFormat{"ttnn-report", "TTNN memory report (SQLite)", ttnn::probe_memory_report, ttnn::import_memory_report},
    SourceFormat{"tracy", "Tracy trace", tracy::probe_tracy, tracy::import_tracy},
    SourceFormat{"tracy-csv", "Tracy zones by tracy-csvexport", tracy_csv::probe_tracy_csv,
                 tracy_csv::import_tracy_csv},
    SourceFormat{"rocpd",
                 "ROCm profile of rocprofv3 (rocpd)",
                 rocm::probe_rocpd,
                 rocm::import_rocpd,
                 {.run_of = rocm::run_of_rocpd, .output_of = rocm::output_of_rocprofv3}},
    SourceFormat{"rpd", "RPD trace of rocmProfileData", rocm::probe_rpd, rocm::import_rpd},
    SourceFormat{"rocprof-compute", "ROCm Compute Profiler analysis (SQLite)", rocm::probe_rocprof_compute,
                 rocm::import_rocprof_compute},
    SourceFormat{"rocprofv3-json",
                 "rocprofv3 result (JSON)",
                 rocm::probe_rocprofv3_json,
                 rocm::import_rocprofv3_json,
                 {.run_of = rocm::run_of_rocprofv3_json, .output_of = rocm::output_of_rocprofv3}},
    SourceFormat{"rocprofv3-csv",
                 "rocprofv3 traces (CSV)",
                 rocm::probe_rocprofv3_csv,
                 rocm::import_rocprofv3_csv,
                 {.run_of = rocm::run_of_rocprofv3_csv, .output_of = rocm::output_of_rocprofv3}},
    SourceFormat{"rocprof-db",
                 "rocprof database (SQLite)",
                 rocm::probe_rocprof_database,
                 rocm::import_rocprof_database,
                 {.output_of = rocm::output_of_rocprof}},
    SourceFormat{"rocprof-csv",
                 "rocprof results (CSV)",
                 rocm::probe_rocprof_csv,
                 rocm::import_rocprof_csv,
                 {.output_of = rocm::output_of_rocprof}},
    SourceFormat{"torch-memory",
                 "PyTorch memory snapshot",
                 torch_memory::probe_torch_memory,
                 torch_memory::import_torch_memory,
                 {.one_side = true}},
    SourceFormat{"vtune-csv", "VTune external intervals", vtune::probe_intervals, vtune::import_intervals},
    SourceFormat{"vtune-report", "VTune report", vtune::probe_report, vtune::import_report},
    SourceFormat{"unitrace", "text of unitrace", unitrace::probe_unitrace, unitrace::import_unitrace},
    SourceFormat{"proton", "Triton Proton (hatchet)", proton::probe_hatchet, proton::import_hatchet},
    SourceFormat{"perf-script", "text of perf script", stacks::probe_perf_script, stacks::import_perf_script},
    SourceFormat{"collapsed", "collapsed stacks", stacks::probe_collapsed, stacks::import_collapsed},
    SourceFormat{"xplane", "XPlane of the XLA profiler (JAX, TensorFlow, PyTorch/XLA)", xplane::probe_xplane,
                 xplane::import_xplane},
    SourceFormat{"chrome-json",
                 "Chrome JSON trace (PyTorch profiler)",
                 chrome::probe_chrome_json,
                 static_cast<ImportBytes*>(chrome::import_chrome_json),
                 {.rank = chrome::rank_in_chrome_json}},
    SourceFormat{"perfetto", "Perfetto trace (protobuf)", perfetto::probe_perfetto, perfetto::import_perfetto},
};

std::string known_names() {
  std::string names;
  for (const SourceFormat& format : kFormats) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

Result<void> check_readable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Error{path + ": there is no such file; check the path"};
  if (!fs::status_known(status)) return Error{fmt::format("{}: cannot be opened: {}", path, error.message())};
  if (fs::is_socket(status)) return Error{path + ": is a socket, not a file; name a profile or a session"};
  if (is_pipe_or_device(path)) return Error{path + ": is a pipe or a device; save what it gives to a file"};
  if (::access(path.c_str(), R_OK) == 0) return {};
  return Error{fmt::format("{}: cannot be read: {}; check its permissions", path, std::strerror(errno))};
}

// Some of it is enough: a file that is damaged behind it can be recognised all the same.
Result<FileHead> read_head(const std::string& path) {
  TRY(check_readable(path));
  FileHead head;
  head.path = path;
  std::error_code failure;
  if (fs::is_directory(path, failure)) return head;
  const std::unique_ptr<json::ByteSource> source = TRY(json::ByteSource::open(path));
  head.packed = source->packed();
  head.bytes.resize(kProbeBytes);
  std::size_t size = 0;
  while (size < head.bytes.size()) {
    const Result<std::size_t> count = source->read(std::span(head.bytes).subspan(size));
    if (!count || *count == 0) break;
    size += *count;
  }
  head.bytes.resize(size);
  if (size == 0 && !head.packed) {
    return Error{fmt::format("{}: the file is empty; was its writer stopped early?", path)};
  }
  head.is_foreign_database = sqlite::is_database(head.bytes) && session::probe_session(head.bytes, path) == 0;
  if (!head.is_foreign_database) return head;
  if (Result<sqlite::ForeignDatabase> opened = sqlite::ForeignDatabase::open(path)) {
    head.database = std::make_shared<const sqlite::ForeignDatabase>(std::move(*opened));
  }
  return head;
}

std::vector<const SourceFormat*> formats_of(const FileHead& head) {
  std::vector<std::pair<int, const SourceFormat*>> sure;
  for (const SourceFormat& format : kFormats) {
    const auto* probe = std::get_if<Probe*>(&format.probe);
    if (probe == nullptr && !head.is_foreign_database) continue;
    const int confidence =
        probe != nullptr ? (*probe)(head.bytes, head.path) : std::get<DatabaseProbe*>(format.probe)(head);
    if (confidence > 0) sure.emplace_back(confidence, &format);
  }
  std::ranges::stable_sort(sure, std::greater(), &std::pair<int, const SourceFormat*>::first);
  std::vector<const SourceFormat*> formats;
  for (const auto& [confidence, format] : sure) formats.push_back(format);
  return formats;
}

// What another tool wrote, and is not read here.
struct OtherFormat {
  std::string_view title;   // "an Nsight Compute report"
  std::string_view advice;  // how to get a file that is read; "": nothing is known
};

constexpr std::string_view kChromeAdvice = "convert it to a Chrome JSON trace first";

// By how the text begins, blanks and a mark of the byte order left out, and by a word in its first bytes.
struct TextRow {
  std::string_view begin;  // "": anything
  std::string_view word;   // "": none
  std::string_view title;
  std::string_view advice;
};

// The first row that fits. Words are those that the tools themselves write.
constexpr std::array kTexts = {
    TextRow{"\"Name\",\"Calls\"", "TotalDurationNs", "a table of statistics of rocprofv3",
            "import the traces beside it: *_kernel_trace.csv, *_hip_api_trace.csv"},
    TextRow{"{", "speedscope.app/file-format-schema", "a speedscope profile", kChromeAdvice},
    TextRow{"{", "\"forwarding_channel_pairs\"", "a topology for tt-npe", "it holds no events"},
    TextRow{"\xff\xfe", "", "a text in UTF-16", "save it as UTF-8"},
    TextRow{"\xfe\xff", "", "a text in UTF-16", "save it as UTF-8"},
    TextRow{"PERFILE2", "", "a recording of Linux perf", "convert it with perf script > samples.txt"},
    TextRow{"PAR1", "", "a Parquet table", "a Neuron profile in Parquet is a folder of tables with names of its own"},
    TextRow{"\x7f"
            "ELF",
            "", "a program", "a capture runs it: accelscope-agent run -o run.accel -- PROGRAM"},
    TextRow{"<!DOCTYPE html", "", "a web page", "was it downloaded in place of the file itself?"},
    TextRow{"<html", "", "a web page", "was it downloaded in place of the file itself?"},
    TextRow{"version https://git-lfs", "", "a pointer to a file that Git LFS keeps",
            "fetch the file itself with git lfs pull"},
    TextRow{"PK\x03\x04", "", "a zip archive", "unpack it first"},
};

// By the file's name alone, where the bytes say little.
struct NameRow {
  std::string_view ending;
  std::string_view title;
  std::string_view advice;
};

constexpr std::array kNames = {
    NameRow{".qdstrm", "an Nsight Systems recording", "make a report of it with QdstrmImporter, and open that"},
    NameRow{".ncu-rep", "an Nsight Compute report", ""},
    NameRow{".tracy", "a Tracy trace of a version before 0.9, or damaged at its begin",
            "convert it with tracy-update of Tracy 0.10"},
};

[[nodiscard]] std::string_view trimmed_begin(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

[[nodiscard]] bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

[[nodiscard]] std::optional<OtherFormat> other_format(const FileHead& head) {
  const std::string_view text = trimmed_begin(head.bytes);
  for (const TextRow& row : kTexts) {
    if (text.starts_with(row.begin) && has(text, row.word)) return OtherFormat{row.title, row.advice};
  }
  for (const NameRow& row : kNames) {
    if (head.path.ends_with(row.ending)) return OtherFormat{row.title, row.advice};
  }
  constexpr std::size_t kTarMark = 257;
  if (head.bytes.size() > kTarMark && head.bytes.substr(kTarMark).starts_with("ustar")) {
    return OtherFormat{"a tar archive", "unpack it first"};
  }
  return std::nullopt;
}

// Of a file that no format takes, or that is called a session and is none.
void explain(const FileHead& head, bool is_database, RecognisedFile& file) {
  const std::optional<OtherFormat> other = is_database ? OtherFormat{"an SQLite database of another program",
                                                                     "open a session file (.accel) or import a profile"}
                                                       : other_format(head);
  if (file.is_session) {
    file.why_not = file.path + ": this is not a session file, or its beginning is damaged";
  } else if (other) {
    file.title = other->title;
    file.why_not = fmt::format("{}: this is {}, which is not read here{}{}", file.path, other->title,
                               other->advice.empty() ? "" : "; ", other->advice);
  } else {
    file.why_not =
        fmt::format("{}: the format was not recognised; if it is one of {}, read it with accelscope import --format",
                    file.path, known_names());
  }
}

void ask_formats(const FileHead& head, RecognisedFile& file) {
  const bool is_database = !head.packed && sqlite::is_database(head.bytes);
  file.formats = formats_of(head);
  if (is_database) {
    file.is_session = file.formats.empty() ? !tables_of_other_database(file.path) : file.name() == kSessionFormat;
  }
  if (file.formats.empty() || (file.is_session && file.name() != kSessionFormat)) explain(head, is_database, file);
  if (file.formats.empty()) return;
  const SourceFormat& format = *file.format();
  if (head.packed && format.facts.in_place) {
    file.formats.clear();
    file.why_not = fmt::format("{}: a packed {}, which is read where it lies; unpack it first (gunzip, unzstd)",
                               file.path, format.title);
    return;
  }
  if (format.facts.rank != nullptr) file.rank = format.facts.rank(head.bytes);
  if (format.facts.run_of != nullptr) file.run = format.facts.run_of(head);
}

}  // namespace

Result<void> import_file(ImportBytes& import, const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::unique_ptr<json::ByteSource> bytes = TRY(json::ByteSource::open(path));
  AsyncSink receiver(sink);
  const std::string& name = options.shown.empty() ? path : options.shown;
  if (Result<void> done = import(std::move(bytes), name, options, receiver); !done) return done;
  return receiver.finish();
}

Result<void> SourceFormat::run(const std::string& path, const ImportOptions& options, EventSink& sink) const {
  if (const auto* of_bytes = std::get_if<ImportBytes*>(&import)) return import_file(**of_bytes, path, options, sink);
  if (converter() != nullptr) return Error{path + ": has to be converted first"};
  if (facts.in_place) return std::get<ImportPath*>(import)(path, options, sink);
  AsyncSink receiver(sink);
  if (Result<void> done = std::get<ImportPath*>(import)(path, options, receiver); !done) return done;
  return receiver.finish();
}

std::span<const SourceFormat> source_formats() { return kFormats; }

Result<const SourceFormat*> find_format(std::string_view name) {
  for (const SourceFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return Error{fmt::format("{}: no such format; known ones are {}", name, known_names())};
}

RecognisedFile recognise(const std::string& path) {
  RecognisedFile file;
  file.path = path;
  std::error_code failure;
  file.is_session = fs::path(path).extension() == ".accel" && !fs::is_directory(path, failure);
  const Result<FileHead> head = read_head(path);
  file.is_readable = head.ok();
  if (head) {
    ask_formats(*head, file);
  } else {
    file.why_not = head.message();
  }
  return file;
}

std::vector<RecognisedFile> recognise(const std::vector<std::string>& paths) {
  std::vector<RecognisedFile> files;
  for (const std::string& path : paths) files.push_back(recognise(path));
  return files;
}

}  // namespace accelscope::capture::sources
