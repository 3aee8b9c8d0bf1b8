// Neuron profiles as text: the tables that the viewer's visible range is exported to, a CSV file each, and the figures
// of summary-text, in two columns with a line before each block that names its graph or its system.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/neuron/importer.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

namespace fs = std::filesystem;

constexpr int kCertain = 90;
constexpr std::string_view kFirstColumn = "timeline_track";

// "Instruction" of "visible_Instruction.csv"; the name without its ending if no known table's is in it.
[[nodiscard]] std::string table_of_csv(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  std::string_view longest;
  for (const TableFacts& known : known_schema()) {
    if (known.name.size() > longest.size() && stem.find(known.name) != std::string::npos) longest = known.name;
  }
  return longest.empty() ? stem : std::string(longest);
}

// "n_0123..." or "s_0123..." if the line names the block that follows; else nothing.
[[nodiscard]] std::string_view block_of_line(std::string_view line) {
  constexpr std::size_t kKeyBytes = 42;
  for (std::size_t at = 0; at + kKeyBytes <= line.size(); ++at) {
    if (const std::string_view key = line.substr(at, kKeyBytes); is_summary_key(key)) return key;
  }
  return {};
}

// "total_time" and "0.25" of "| total_time   0.25 |".
struct Figure {
  std::string_view name;
  std::string_view value;
};
[[nodiscard]] Figure figure_of_line(std::string_view line) {
  const auto without_frame = [](std::string_view text) {
    constexpr std::string_view kFrame = " \t|:=";
    text.remove_prefix(std::min(text.find_first_not_of(kFrame), text.size()));
    return text.substr(0, text.find_last_not_of(kFrame) + 1);
  };
  const auto is_of_name = [](char c) {
    return is_digit(c) || c == '_' || (lower_case(c) >= 'a' && lower_case(c) <= 'z');
  };
  line = without_frame(line);
  const auto end = static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_of_name) - line.begin());
  return {line.substr(0, end), without_frame(line.substr(end))};
}

}  // namespace

Result<void> NeuronImporter::run_summary(std::unique_ptr<json::ByteSource> source) {
  LineBlocks blocks(std::move(source));
  std::vector<char> buffer;
  std::string block;
  std::uint64_t& figures = row_counts_["summary"];
  for (std::string_view text = blocks.next(buffer); !text.empty(); text = blocks.next(buffer)) {
    for_each_line(text, [&](std::string_view line) {
      if (const std::string_view named = block_of_line(line); !named.empty()) {
        block = named;
        return;
      }
      const Figure figure = figure_of_line(line);
      if (block.empty() || figure.name.empty() || figure.value.empty()) return;
      json::JsonField field{figure.name, figure.value, json::JsonKind::number};
      if (!json::to_double(field)) field.kind = json::JsonKind::string;
      facts_.add(block, std::span(&field, 1));
      ++figures;
    });
  }
  report_.add(blocks);
  if (figures == 0) return Error{fmt::format("{}: holds no figures of a Neuron profile", path_)};
  format_ = "neuron-summary";
  return finish();
}

int probe_neuron_csv(std::string_view text, const std::string& /*path*/) {
  const std::string_view first = text.substr(0, text.find_first_of(",\r\n"));
  return first == kFirstColumn || first == fmt::format("\"{}\"", kFirstColumn) ? kCertain : 0;
}

std::string run_of_neuron_csv(const FileHead& head) { return fs::path(head.path).parent_path().string() + "/"; }

Result<void> import_neuron_csv(const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::vector<std::string> paths = options.companions;
  paths.insert(paths.begin(), path);
  std::vector<ExportFile> files;
  for (const std::string& each : paths) {
    std::string table = table_of_csv(each);
    const bool is_second =
        std::any_of(files.begin(), files.end(), [&](const ExportFile& other) { return other.table == table; });
    if (is_second) table = fs::path(each).stem().string();
    std::error_code unknown;
    const std::uintmax_t bytes = fs::file_size(each, unknown);
    files.push_back({each, std::move(table), unknown ? 0 : static_cast<std::uint64_t>(bytes)});
  }
  return NeuronImporter(path, options, sink).run(std::move(files), "neuron-csv");
}

int probe_neuron_summary(std::string_view text, const std::string& /*path*/) {
  constexpr std::size_t kBegin = 4096;
  if (text.starts_with('{')) return 0;
  text = text.substr(0, kBegin);
  const std::size_t figure = text.find("total_");
  return figure != std::string_view::npos && !block_of_line(text.substr(0, figure)).empty() ? kCertain : 0;
}

Result<void> import_neuron_summary(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                   const ImportOptions& options, EventSink& sink) {
  return NeuronImporter(name, options, sink).run_summary(std::move(bytes));
}

}  // namespace accelscope::capture::sources::neuron
