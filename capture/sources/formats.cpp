#include "capture/sources/base/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <variant>

#include "capture/json/byte_source.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "core/base/text.h"
#include "core/store/session_check.h"

namespace accelscope::capture::sources {
namespace {

constexpr std::array kFormats = {
    SourceFormat{"session", "Accelscope session", session::probe_session, session::replay_session, {.in_place = true}},
    SourceFormat{"neuron-json", "Neuron Profile JSON", neuron::probe_neuron_json, neuron::import_neuron_json},
    SourceFormat{"neuron-parquet", "Neuron profile as Parquet tables (a folder)", neuron::probe_neuron_parquet,
                 neuron::import_neuron_parquet},
    SourceFormat{"ntff",
                 "Neuron trace with its program (NTFF and NEFF)",
                 neuron::probe_ntff,
                 neuron::import_ntff,
                 {.raw = true}},
    SourceFormat{"nsys", "Nsight Systems export (SQLite)", nsys::probe_nsys, nsys::import_nsys, {.in_place = true}},
    SourceFormat{"nsys-rep",
                 "Nsight Systems report",
                 nsys::probe_nsys_report,
                 nsys::import_nsys_report,
                 {.raw = true, .in_place = true}},
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
                 chrome::import_chrome_json,
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

struct FirstBytes {
  std::string text;  // inflated
  bool packed = false;
};

// Some of it is enough: a file that is damaged behind it can be recognised all the same.
Result<FirstBytes> read_first_bytes(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return FirstBytes{};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: cannot be opened: {}; check the path", path, std::strerror(errno))};
  std::string head(kProbeBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.empty()) return Error{fmt::format("{}: the file is empty; was its writer stopped early?", path)};
  if (!json::is_packed(head)) return FirstBytes{std::string(without_byte_order_mark(head))};
  return FirstBytes{json::read_head(path, kProbeBytes), true};
}

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

[[nodiscard]] std::optional<OtherFormat> binary_format(std::string_view bytes) {
  constexpr std::size_t kTarMark = 257;
  if (bytes.size() > kTarMark && bytes.substr(kTarMark).starts_with("ustar")) {
    return OtherFormat{"a tar archive", "unpack it first"};
  }
  return std::nullopt;
}

}  // namespace

Result<void> import_file(ImportBytes& import, const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::unique_ptr<json::ByteSource> bytes = TRY(json::ByteSource::open(path));
  AsyncSink receiver(sink);
  if (Result<void> done = import(std::move(bytes), path, options, receiver); !done) return done;
  return receiver.finish();
}

Result<void> SourceFormat::run(const std::string& path, const ImportOptions& options, EventSink& sink) const {
  if (const auto* of_bytes = std::get_if<ImportBytes*>(&import)) return import_file(**of_bytes, path, options, sink);
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

bool is_recognised(const SourceFormat& format, const std::string& path) {
  const Result<FirstBytes> head = read_first_bytes(path);
  return head && format.probe(head->text, path) > 0 && !(head->packed && format.facts.in_place);
}

std::optional<std::uint32_t> rank_of_file(const SourceFormat& format, const std::string& path) {
  if (format.facts.rank == nullptr) return std::nullopt;
  const Result<FirstBytes> head = read_first_bytes(path);
  return head ? format.facts.rank(head->text) : std::nullopt;
}

Result<const SourceFormat*> guess_format(const std::string& path) {
  const FirstBytes head = TRY(read_first_bytes(path));
  const SourceFormat* best = nullptr;
  int best_confidence = 0;
  for (const SourceFormat& format : kFormats) {
    const int confidence = format.probe(head.text, path);
    if (confidence > best_confidence) {
      best = &format;
      best_confidence = confidence;
    }
  }
  if (best == nullptr) {
    if (const auto other = find_other_format(path)) return Error{refusal(path, *other)};
    return Error{
        fmt::format("{}: the format was not recognised; if it is one of {}, read it with accelscope import --format",
                    path, known_names())};
  }
  if (head.packed && best->facts.in_place) {
    return Error{fmt::format("{}: a packed {}, which is read where it lies; unpack it first (gunzip, unzstd)", path,
                             best->title)};
  }
  return best;
}

std::optional<OtherFormat> find_other_format(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return std::nullopt;
  if (tables_of_other_database(path)) {
    return OtherFormat{"an SQLite database of another program", "open a session file (.accel) or import a profile"};
  }
  const std::string bytes = json::read_head(path, kProbeBytes);
  const std::string_view text = trimmed_begin(bytes);
  for (const TextRow& row : kTexts) {
    if (text.starts_with(row.begin) && has(text, row.word)) {
      return OtherFormat{std::string(row.title), std::string(row.advice)};
    }
  }
  for (const NameRow& row : kNames) {
    if (path.ends_with(row.ending)) return OtherFormat{std::string(row.title), std::string(row.advice)};
  }
  return binary_format(bytes);
}

std::string refusal(const std::string& path, const OtherFormat& format) {
  return fmt::format("{}: this is {}, which is not read here{}{}", path, format.title,
                     format.advice.empty() ? "" : "; ", format.advice);
}

}  // namespace accelscope::capture::sources
