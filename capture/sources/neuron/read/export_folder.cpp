#include "capture/sources/neuron/read/export_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "capture/sources/parquet/bytes.h"
#include "capture/sources/parquet/footer.h"
#include "core/base/natural_order.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".parquet";
constexpr std::string_view kSummaryTable = "Summary";
constexpr std::string_view kDependencyTable = "Flow";
constexpr std::uint64_t kLeastSummaryBytes = 1000;  // the footer of its hundred columns alone is longer
constexpr std::size_t kMostFilesInExport = 10'000;

constexpr std::array<std::string_view, 50> kExportTables = {"ActiveTime",
                                                            "AssemblyInstruction",
                                                            "BirInstruction",
                                                            "CcInstruction",
                                                            "CcOp",
                                                            "CcStream",
                                                            "CoreBarriers",
                                                            "CpuUsage",
                                                            "DeviceProfileList",
                                                            "DmaPacket",
                                                            "DmaPacketAggregated",
                                                            "DmaQueuesInfo",
                                                            "DmaUsage",
                                                            "DmaUsageSummary",
                                                            "Error",
                                                            "ExecutionInfo",
                                                            "Flow",
                                                            "FrameworkInstruction",
                                                            "FrameworkNode",
                                                            "HbmUsage",
                                                            "HbmUsageSummaryByType",
                                                            "HloInstruction",
                                                            "HostMemUsage",
                                                            "Instruction",
                                                            "KernelInstructions",
                                                            "KernelIterationVariables",
                                                            "KernelStackFrames",
                                                            "Metadata",
                                                            "NeffHeader",
                                                            "OpcodeSummary",
                                                            "PendingDma",
                                                            "PenguinInstruction",
                                                            "PsumUsage",
                                                            "SbufAllocation",
                                                            "SbufUsage",
                                                            "SchemaFields",
                                                            "SemaphoreUpdate",
                                                            "StackFrame",
                                                            "StackFrameFileLocation",
                                                            "StackFrameFileName",
                                                            "StackFrameFunctionName",
                                                            "Summary",
                                                            "SystemProfileEvents",
                                                            "SystemProfileHbmUsage",
                                                            "SystemProfileMetadata",
                                                            "TensorInfo",
                                                            "Throttle",
                                                            "ThrottleSummary",
                                                            "Warning",
                                                            "MemoryBandwidthPoint"};

// Without the number of a part.
[[nodiscard]] std::string_view table_in_name(std::string_view stem) noexcept {
  const std::size_t last = stem.find_last_not_of("0123456789");
  const bool numbered = last != std::string_view::npos && last > 0 && last + 1 < stem.size() && stem[last] == '_';
  return numbered ? stem.substr(0, last) : stem;
}

[[nodiscard]] bool is_parquet(const fs::path& path) { return lower_case(path.extension().string()) == kEnding; }

[[nodiscard]] Error unfinished(const std::string& path, const std::string& why) {
  return Error{fmt::format(
      "{}: the export is not finished: {}. neuron-explorer fills this file last; let it end, or export again with: {} "
      "(without --disable-ui it does not end)",
      path, why, kExportCommand)};
}

[[nodiscard]] Result<void> check_summary(const ExportFile& summary) {
  if (summary.bytes < kLeastSummaryBytes)
    return unfinished(summary.path, fmt::format("it has {} bytes", summary.bytes));
  Result<std::unique_ptr<parquet::RandomBytes>> bytes = parquet::RandomBytes::open(summary.path);
  if (!bytes) return bytes.error();
  const Result<parquet::Footer> footer = parquet::Footer::read(**bytes);
  if (!footer) return unfinished(summary.path, footer.message());
  return {};
}

}  // namespace

std::string export_table_of(std::string_view path) {
  const fs::path file(path);
  if (!is_parquet(file)) return {};
  const std::string stem = file.stem().string();
  const std::string_view table = table_in_name(stem);
  const bool known = std::find(kExportTables.begin(), kExportTables.end(), table) != kExportTables.end();
  return known ? std::string(table) : std::string{};
}

bool is_export_folder(const std::string& path) {
  std::error_code failure;
  fs::directory_iterator entry(path, failure);
  std::size_t looked_at = 0;
  for (; !failure && entry != fs::directory_iterator() && looked_at < kMostFilesInExport; entry.increment(failure)) {
    ++looked_at;
    if (!export_table_of(entry->path().string()).empty()) return true;
  }
  return false;
}

Result<std::vector<ExportFile>> find_export_files(const std::string& folder) {
  std::vector<ExportFile> files;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator() && files.size() < kMostFilesInExport; entry.increment(failure)) {
    std::error_code unknown;
    if (!is_parquet(entry->path()) || !entry->is_regular_file(unknown)) continue;
    const std::string stem = entry->path().stem().string();
    const std::uintmax_t bytes = entry->file_size(unknown);
    files.push_back(
        {entry->path().string(), std::string(table_in_name(stem)), unknown ? 0 : static_cast<std::uint64_t>(bytes)});
  }
  if (failure) return Error{fmt::format("{}: the folder cannot be read: {}", folder, failure.message())};
  std::sort(files.begin(), files.end(), [](const ExportFile& a, const ExportFile& b) {
    const bool a_last = a.table == kDependencyTable;
    const bool b_last = b.table == kDependencyTable;
    return a_last != b_last ? b_last : natural_less(a.path, b.path);
  });
  for (const ExportFile& file : files) {
    if (file.table != kSummaryTable) continue;
    if (Result<void> whole = check_summary(file); !whole) return whole.error();
  }
  return files;
}

}  // namespace accelscope::capture::sources::neuron
