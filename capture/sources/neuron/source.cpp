// Neuron Profile JSON: what `neuron-profile view --output-format json` (and summary-json) writes for device and system
// profiles, plain or packed with gzip or zstd. Tables, columns and tracks: read/schemas.h. The same as Parquet tables:
// the folder that `neuron-explorer view --output-format parquet` writes, schema 7.4.0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/neuron/importer.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr int kNeuronCertain = 90;  // the first table is one of the profile's
constexpr int kNeuronLikely = 60;   // a table of the profile comes later, or the keys of its rows do

[[nodiscard]] std::string first_key(std::string_view text) {
  const auto skip_blanks = [&] {
    while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
      text.remove_prefix(1);
  };
  skip_blanks();
  if (!text.starts_with('{')) return {};
  text.remove_prefix(1);
  skip_blanks();
  if (!text.starts_with('"')) return {};
  const std::size_t end = text.find('"', 1);
  return end == std::string_view::npos ? std::string{} : std::string(text.substr(1, end - 1));
}

}  // namespace

int probe_neuron_json(std::string_view text, const std::string& /*path*/) {
  const std::string key = first_key(text);
  if (key.empty()) return 0;
  // "metadata" and "summary" alone are words that other formats use too.
  constexpr std::array<std::string_view, 4> kCommon = {"metadata", "summary", "error", "errors"};
  const bool common = std::find(kCommon.begin(), kCommon.end(), key) != kCommon.end();
  const bool known =
      find_table_rule(key) != nullptr || is_fact_table(key) || is_summary_key(key) || StackFrames::is_frame_table(key);
  if (known && !common) return kNeuronCertain;
  constexpr std::array<std::string_view, 12> kTelling = {
      "\"instruction\":[",  "\"semaphore_update\":[", "\"dma_queues_info\":[", "\"neff_header\":[",
      "\"pe_clock_freq\":", "\"last_hw_timestamp\":", "\"dma_throughput\":[",  "\"layer_summary\":[",
      "\"trace_events\":[", "\"cpu_util\":[",         "\"neff_node\":[",       "\"total_active_time_percent\":"};
  const bool telling = std::any_of(kTelling.begin(), kTelling.end(),
                                   [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  return telling ? kNeuronLikely : 0;
}

Result<void> import_neuron_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink) {
  return NeuronImporter(name, options, sink).run(std::move(bytes), {});
}

namespace {

constexpr int kFolderOfTables = 90;
constexpr int kSingleTable = 80;

}  // namespace

int probe_neuron_parquet(std::string_view head, const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return is_export_folder(path) ? kFolderOfTables : 0;
  return head.starts_with(accelscope::parquet::kMagic) && !export_table_of(path).empty() ? kSingleTable : 0;
}

Result<void> import_neuron_parquet(const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) {
    const std::string table = export_table_of(path);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return Error{fmt::format(
        "{}: this is {} of a Neuron profile in Parquet, whose tables make one session together: open their folder, {}",
        path, table.empty() ? "a table, if" : "the table " + table, folder.empty() ? "." : folder.string())};
  }
  std::vector<ExportFile> files = TRY(find_export_files(path));
  return NeuronImporter(path, options, sink).run(std::move(files));
}

}  // namespace accelscope::capture::sources::neuron
