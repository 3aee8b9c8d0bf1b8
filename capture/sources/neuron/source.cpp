// Neuron Profile JSON: what `neuron-profile view --output-format json` (and summary-json) writes for device and system
// profiles, plain or packed with gzip or zstd. Tables, columns and tracks: read/schemas.h. The same as Parquet tables:
// the folder that `neuron-explorer view --output-format parquet` writes, schema 7.4.0.
//
// Raw traces of the Neuron runtime (.ntff, with the .neff of the program that ran) are of a format that is the vendor's
// own affair: the vendor's tool converts them where it is installed, and the result is read as any other profile. Where
// it is not, the error names the command to run elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/neuron/tool.h"
#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "core/base/own_files.h"
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

namespace fs = std::filesystem;

constexpr int kByEnding = 80;

[[nodiscard]] std::vector<std::string> files_with_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> files;
  std::error_code failure;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    if (entry->path().extension() == ending) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The tool gives a trace and its program names that share a long number.
[[nodiscard]] std::string longest_number(const std::string& text) {
  std::string longest;
  std::string run;
  for (const char c : text + '.') {
    if (c >= '0' && c <= '9') {
      run += c;
      continue;
    }
    if (run.size() > longest.size()) longest = run;
    run.clear();
  }
  constexpr std::size_t kTelling = 6;
  return longest.size() >= kTelling ? longest : std::string{};
}

[[nodiscard]] std::vector<std::string> conversion(const std::string& tool, const std::string& neff,
                                                  const std::string& ntff, const std::string& output) {
  std::vector<std::string> command = neuron_view_arguments(neff, ntff, output);
  command.insert(command.begin(), tool);
  return command;
}

Result<std::string> trace_of(const std::string& path) {
  if (fs::path(path).extension() != ".neff") return path;
  const fs::path same = fs::path(path).replace_extension(".ntff");
  std::error_code failure;
  if (fs::exists(same, failure)) return same.string();
  const std::vector<std::string> traces = files_with_ending(fs::path(path).parent_path(), ".ntff");
  if (traces.size() == 1) return traces.front();
  return Error{fmt::format("{}: this is a compiled program, and {} in its folder; make a trace of it with: {}", path,
                           traces.empty() ? "there is no trace of it" : "it is not clear which trace is its own",
                           system::shell_command({"neuron-profile", "capture", "-n", path, "-s",
                                                  fs::path(path).replace_extension(".ntff").string()}))};
}

[[nodiscard]] Error no_tool(const std::string& ntff, const std::string& neff) {
  return Error{fmt::format(
      "{}: a raw trace has to be converted by the vendor's tool, and neither neuron-profile nor neuron-explorer is on "
      "PATH here; where one is, run: {} and open what it writes",
      ntff,
      system::shell_command(
          conversion(neuron_tool_names().front(), neff, ntff, fs::path(ntff).replace_extension(".json").string())))};
}

}  // namespace

int probe_ntff(std::string_view head, const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  if (ending != ".ntff" && ending != ".neff") return 0;
  return head.starts_with('{') ? 0 : kByEnding;
}

std::string find_neff(const std::string& ntff_path) {
  const fs::path ntff(ntff_path);
  std::error_code failure;
  const fs::path same = fs::path(ntff).replace_extension(".neff");
  if (fs::exists(same, failure)) return same.string();
  const fs::path folder = ntff.parent_path();
  const std::string number = longest_number(ntff.stem().string());
  for (const fs::path& place : {folder, folder / ".."}) {
    const std::vector<std::string> programs = files_with_ending(place, ".neff");
    if (programs.size() == 1) return fs::path(programs.front()).lexically_normal().string();
    for (const std::string& program : programs) {
      if (!number.empty() && longest_number(fs::path(program).stem().string()) == number) {
        return fs::path(program).lexically_normal().string();
      }
    }
  }
  return {};
}

Result<void> import_ntff(const std::string& path, const ImportOptions& options, EventSink& sink) {
  const std::string trace = TRY(trace_of(path));
  const std::string& ntff = trace;
  std::string neff = options.neff;
  if (neff.empty() && ntff != path) neff = path;
  if (neff.empty()) neff = find_neff(ntff);
  const std::string tool = find_neuron_tool();
  if (tool.empty()) return no_tool(ntff, neff.empty() ? "PROGRAM.neff" : neff);
  if (neff.empty()) {
    return Error{fmt::format(
        "{}: the program that was traced is needed too, and no .neff beside it is clearly its own; name it with: "
        "accelscope view -n PROGRAM.neff -s {}",
        ntff, system::shell_quote(ntff))};
  }
  const Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("ntff");
  if (!folder) return Error{fmt::format("{}: it cannot be converted: {}", ntff, folder.message())};
  const std::string converted = (*folder)->file("ntff.json");
  std::vector<std::string> command = conversion(tool, neff, ntff, converted);
  command.insert(command.end(), options.converter_options.begin(), options.converter_options.end());
  const Result<system::ChildOutcome> ended = system::run_child(command, [&] { return sink.cancelled(); });
  if (!ended) return Error{fmt::format("{}: {}", ntff, ended.message())};
  if (ended->cancelled) return Error{fmt::format("{}: the import was cancelled", ntff)};
  const std::string rerun =
      system::shell_command(conversion(tool, neff, ntff, fs::path(ntff).replace_extension(".json").string()));
  if (ended->exit_code != 0) {
    return Error{fmt::format("{}: {} could not convert it (exit code {}); to try by hand: {}; {}", ntff, tool,
                             ended->exit_code, rerun, shown_output(ended->output))};
  }
  Result<std::unique_ptr<json::ByteSource>> bytes = json::ByteSource::open(converted);
  if (!bytes) {
    return Error{fmt::format("{}: {} ended without an error but wrote no profile; to try by hand: {}; {}", ntff, tool,
                             rerun, shown_output(ended->output))};
  }
  return import_neuron_json(std::move(bytes.value()), ntff, options, sink);
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
  const std::vector<ExportFile> files = TRY(find_export_files(path));
  return NeuronImporter(path, options, sink).run(files);
}

namespace {

constexpr const char* kToolFolder = "/opt/aws/neuron/bin";
constexpr std::size_t kShownOutput = 2000;

constexpr std::string_view kBusy =
    "the device is busy: neuron-ls shows which process holds its cores; end that, or choose other cores with "
    "NEURON_RT_VISIBLE_CORES in the environment";
constexpr std::string_view kNoMemory =
    "the device's memory does not suffice: end other programs on it, try --single-io (its outputs are wrong, its times "
    "are not), or leave out --enable-dge-notifs";
constexpr std::string_view kNoDevice =
    "no device was found: check that neuron-ls lists one and that the driver (aws-neuronx-dkms) is loaded";
constexpr std::string_view kOtherVersion =
    "this tool does not read traces of that version: use the tool of the release that made the trace";
constexpr std::string_view kUnknownOption =
    "this release of the tool does not know one of the options: leave that one out, or use another release";

// Words of the runtime's and the tool's messages, in lower case. The first that are found count.
struct Advice {
  std::string_view words;
  std::string_view text;
};
constexpr Advice kAdvice[] = {
    {"resource busy", kBusy},        {"device is busy", kBusy},       {"(s) not available", kBusy},
    {"nc not available", kBusy},     {"nrt_resource", kNoMemory},     {"out of memory", kNoMemory},
    {"no neuron device", kNoDevice}, {"ntff version", kOtherVersion}, {"unknown flag", kUnknownOption},
};

}  // namespace

const std::vector<std::string>& neuron_tool_names() {
  static const std::vector<std::string> kNames = {"neuron-profile", "neuron-explorer"};
  return kNames;
}

std::string find_neuron_tool(std::string_view wanted) {
  for (const std::string& name : neuron_tool_names()) {
    if (!wanted.empty() && name != wanted) continue;
    if (std::string tool = system::find_program(name, {kToolFolder}); !tool.empty()) return tool;
  }
  return {};
}

std::vector<std::string> neuron_view_arguments(const std::string& neff, const std::string& ntff,
                                               const std::string& output) {
  return {"view", "-n", neff, "-s", ntff, "--output-format", "json", "--output-file", output};
}

std::string shown_output(std::string text) {
  if (text.size() > kShownOutput) text = "..." + text.substr(text.size() - kShownOutput);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? "it printed nothing" : "it printed:\n" + text;
}

std::string advice_on_failure(std::string_view output) {
  std::string lower(output);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::find_if(std::begin(kAdvice), std::end(kAdvice),
                                  [&](const Advice& advice) { return lower.find(advice.words) != std::string::npos; });
  return found == std::end(kAdvice) ? std::string() : std::string(found->text);
}

}  // namespace accelscope::capture::sources::neuron
