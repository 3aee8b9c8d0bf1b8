#include "capture/sources/base/source.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "capture/json/byte_source.h"
#include "capture/sources/chrome/source.h"
#include "capture/sources/neuron/source.h"
#include "capture/sources/nsys/source.h"
#include "capture/sources/other_formats.h"
#include "capture/sources/perfetto/source.h"
#include "capture/sources/proton/source.h"
#include "capture/sources/rocm/source.h"
#include "capture/sources/session/source.h"
#include "capture/sources/stacks/source.h"
#include "capture/sources/torch_memory/source.h"
#include "capture/sources/tracy/source.h"
#include "capture/sources/tracy_csv/source.h"
#include "capture/sources/tt_metal/source.h"
#include "capture/sources/tt_noc/source.h"
#include "capture/sources/tt_ops/source.h"
#include "capture/sources/ttnn/source.h"
#include "capture/sources/unitrace/source.h"
#include "capture/sources/vtune/source.h"
#include "capture/sources/xplane/source.h"
#include "core/base/text.h"

namespace accelscope::capture::sources {
namespace {

constexpr std::array kFormats = {
    SourceFormat{"session", "Accelscope session", session::probe_session, session::replay_session, false, true},
    SourceFormat{"neuron-json", "Neuron Profile JSON", neuron::probe_neuron_json, neuron::import_neuron_json},
    SourceFormat{"neuron-parquet", "Neuron profile as Parquet tables (a folder)", neuron::probe_neuron_parquet,
                 neuron::import_neuron_parquet},
    SourceFormat{"ntff", "Neuron trace with its program (NTFF and NEFF)", neuron::probe_ntff, neuron::import_ntff,
                 true},
    SourceFormat{"nsys", "Nsight Systems export (SQLite)", nsys::probe_nsys, nsys::import_nsys, false, true},
    SourceFormat{"nsys-rep", "Nsight Systems report", nsys::probe_nsys_report, nsys::import_nsys_report, true, true},
    SourceFormat{"tt-device-log", "tt-metal device log", tt_metal::probe_device_log, tt_metal::import_device_log},
    SourceFormat{"tt-ops", "tt-metal operations report", tt_ops::probe_ops_report, tt_ops::import_ops_report, false,
                 false, nullptr, true, nullptr, tt_ops::folder_of_report},
    SourceFormat{"tt-device-report", "tt-metal device report (C++ or real-time)", tt_ops::probe_device_report,
                 tt_ops::import_ops_report, false, false, nullptr, true, nullptr, tt_ops::folder_of_report},
    SourceFormat{"tt-noc-trace", "tt-metal network trace", tt_noc::probe_noc_trace, tt_noc::import_noc_trace},
    SourceFormat{"tt-npe", "tt-npe timeline", tt_noc::probe_npe_timeline, tt_noc::import_npe_timeline},
    SourceFormat{"ttnn-report", "TTNN memory report (SQLite)", ttnn::probe_memory_report, ttnn::import_memory_report},
    SourceFormat{"tracy", "Tracy trace", tracy::probe_tracy, tracy::import_tracy},
    SourceFormat{"tracy-csv", "Tracy zones by tracy-csvexport", tracy_csv::probe_tracy_csv,
                 tracy_csv::import_tracy_csv},
    SourceFormat{"rocpd", "ROCm profile of rocprofv3 (rocpd)", rocm::probe_rocpd, rocm::import_rocpd, false, false,
                 nullptr, false, rocm::run_of_rocpd, rocm::output_of_rocprofv3},
    SourceFormat{"rpd", "RPD trace of rocmProfileData", rocm::probe_rpd, rocm::import_rpd},
    SourceFormat{"rocprof-compute", "ROCm Compute Profiler analysis (SQLite)", rocm::probe_rocprof_compute,
                 rocm::import_rocprof_compute},
    SourceFormat{"rocprofv3-json", "rocprofv3 result (JSON)", rocm::probe_rocprofv3_json, rocm::import_rocprofv3_json,
                 false, false, nullptr, false, rocm::run_of_rocprofv3_json, rocm::output_of_rocprofv3},
    SourceFormat{"rocprofv3-csv", "rocprofv3 traces (CSV)", rocm::probe_rocprofv3_csv, rocm::import_rocprofv3_csv,
                 false, false, nullptr, false, rocm::run_of_rocprofv3_csv, rocm::output_of_rocprofv3},
    SourceFormat{"rocprof-db", "rocprof database (SQLite)", rocm::probe_rocprof_database, rocm::import_rocprof_database,
                 false, false, nullptr, false, nullptr, rocm::output_of_rocprof},
    SourceFormat{"rocprof-csv", "rocprof results (CSV)", rocm::probe_rocprof_csv, rocm::import_rocprof_csv, false,
                 false, nullptr, false, nullptr, rocm::output_of_rocprof},
    SourceFormat{"torch-memory", "PyTorch memory snapshot", torch_memory::probe_torch_memory,
                 torch_memory::import_torch_memory, false, false, nullptr, true},
    SourceFormat{"vtune-csv", "VTune external intervals", vtune::probe_intervals, vtune::import_intervals},
    SourceFormat{"vtune-report", "VTune report", vtune::probe_report, vtune::import_report},
    SourceFormat{"unitrace", "text of unitrace", unitrace::probe_unitrace, unitrace::import_unitrace},
    SourceFormat{"proton", "Triton Proton (hatchet)", proton::probe_hatchet, proton::import_hatchet},
    SourceFormat{"perf-script", "text of perf script", stacks::probe_perf_script, stacks::import_perf_script},
    SourceFormat{"collapsed", "collapsed stacks", stacks::probe_collapsed, stacks::import_collapsed},
    SourceFormat{"xplane", "XPlane of the XLA profiler (JAX, TensorFlow, PyTorch/XLA)", xplane::probe_xplane,
                 xplane::import_xplane},
    SourceFormat{"chrome-json", "Chrome JSON trace (PyTorch profiler)", chrome::probe_chrome_json,
                 chrome::import_chrome_json, false, false, chrome::rank_in_chrome_json},
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

}  // namespace

std::span<const SourceFormat> source_formats() { return kFormats; }

Result<const SourceFormat*> find_format(std::string_view name) {
  for (const SourceFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return Error{fmt::format("{}: no such format; known ones are {}", name, known_names())};
}

bool is_recognised(const SourceFormat& format, const std::string& path) {
  const Result<FirstBytes> head = read_first_bytes(path);
  return head && format.probe(head->text, path) > 0 && !(head->packed && format.in_place);
}

std::optional<std::uint32_t> rank_of_file(const SourceFormat& format, const std::string& path) {
  if (format.rank == nullptr) return std::nullopt;
  const Result<FirstBytes> head = read_first_bytes(path);
  return head ? format.rank(head->text) : std::nullopt;
}

Result<const SourceFormat*> guess_format(const std::string& path) {
  const Result<FirstBytes> head = read_first_bytes(path);
  if (!head) return head.error();
  const SourceFormat* best = nullptr;
  int best_confidence = 0;
  for (const SourceFormat& format : kFormats) {
    const int confidence = format.probe(head->text, path);
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
  if (head->packed && best->in_place) {
    return Error{fmt::format("{}: a packed {}, which is read where it lies; unpack it first (gunzip, unzstd)", path,
                             best->title)};
  }
  return best;
}

}  // namespace accelscope::capture::sources
