#include "capture/sources/neuron/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <system_error>

#include "capture/sources/neuron/importer.h"
#include "capture/sources/parquet/footer.h"
#include "capture/system/child_process.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view kExplorer = "neuron-explorer";
constexpr std::string_view kProfile = "neuron-profile";
constexpr const char* kToolFolder = "/opt/aws/neuron/bin";
constexpr std::size_t kShownOutput = 2000;
constexpr std::size_t kMostFiles = 100'000;

// With --ingest-only the tool ends by itself once it has written everything, which may be several profiles; a pause
// between two of them is shorter than this.
constexpr auto kRestOfEndingTool = 30s;
// Without, it goes on serving what it has written.
constexpr auto kRestOfServingTool = 1500ms;

[[nodiscard]] std::array<fs::path, 4> places_of_programs(const fs::path& trace) {
  const fs::path folder = trace.parent_path();
  return {folder, folder / "neffs", folder / "..", folder / ".." / "neffs"};
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
constexpr std::string_view kPortTaken =
    "another server has its port (3002): end that one, such as a neuron-explorer view that still runs";

// Words of the runtime's and the tool's messages, in lower case. The first that are found count.
struct Advice {
  std::string_view words;
  std::string_view text;
};
constexpr Advice kAdvice[] = {
    {"resource busy", kBusy},         {"device is busy", kBusy},
    {"(s) not available", kBusy},     {"nc not available", kBusy},
    {"nrt_resource", kNoMemory},      {"out of memory", kNoMemory},
    {"no neuron device", kNoDevice},  {"ntff version", kOtherVersion},
    {"unknown flag", kUnknownOption}, {"address already in use", kPortTaken},
};

// Options that a profile can be had without, and what stands in their place.
struct Dispensable {
  std::string_view name;
  bool has_value = false;
  std::string_view instead;
};
constexpr Dispensable kDispensable[] = {
    {"--ingest-only", false, "--disable-ui"}, {"--disable-ui", false, {}}, {"--display-name", true, {}}};

// The first line that says that something is not known, in lower case.
[[nodiscard]] std::string refusal_in(std::string_view output) {
  constexpr std::array<std::string_view, 6> kWords = {"unknown",     "unrecognized",  "unsupported",
                                                      "not support", "invalid value", "no longer"};
  while (!output.empty()) {
    const std::string line = lower_case(output.substr(0, output.find('\n')));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    if (std::ranges::any_of(kWords, [&](std::string_view word) { return line.find(word) != std::string::npos; }))
      return line;
  }
  return {};
}

[[nodiscard]] std::string profile_name(const ViewRequest& request) {
  const std::string name = fs::path(request.ntff).stem().string();
  return name.empty() ? fs::path(request.folder).lexically_normal().filename().string() : name;
}

[[nodiscard]] bool is_whole_folder(const std::string& folder) {
  const Result<std::vector<ExportFile>> files = find_export_files(folder);
  return files && std::ranges::all_of(*files, [](const ExportFile& file) {
           const auto bytes = parquet::RandomBytes::open(file.path);
           return bytes && parquet::Footer::read(**bytes);
         });
}

}  // namespace

std::vector<std::string> files_with_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> files;
  std::error_code failure;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    if (entry->path().extension() == ending) files.push_back(entry->path().lexically_normal().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string find_neff(const std::string& ntff_path) {
  const fs::path ntff(ntff_path);
  std::error_code failure;
  const fs::path same = fs::path(ntff).replace_extension(".neff");
  if (fs::exists(same, failure)) return same.string();
  const std::string number = longest_number(ntff.stem().string());
  for (const fs::path& place : places_of_programs(ntff)) {
    const std::vector<std::string> programs = files_with_ending(place, ".neff");
    if (programs.size() == 1) return programs.front();
    for (const std::string& program : programs) {
      if (!number.empty() && longest_number(fs::path(program).stem().string()) == number) return program;
    }
  }
  return {};
}

std::string find_ntff(const std::string& neff_path) {
  const fs::path neff(neff_path);
  std::error_code failure;
  const fs::path same = fs::path(neff).replace_extension(".ntff");
  if (fs::exists(same, failure)) return same.string();
  std::vector<std::string> traces = files_with_ending(neff.parent_path(), ".ntff");
  std::erase_if(traces, [&](const std::string& trace) {
    const std::string program = find_neff(trace);
    return program.empty() || !fs::equivalent(program, neff, failure);
  });
  return traces.size() == 1 ? traces.front() : std::string();
}

std::vector<std::string> find_neffs(const std::string& ntff_path) {
  std::vector<std::string> all;
  for (const fs::path& place : places_of_programs(ntff_path)) {
    const std::vector<std::string> there = files_with_ending(place, ".neff");
    all.insert(all.end(), there.begin(), there.end());
  }
  return all;
}

bool is_session_trace(std::string_view ntff_path) {
  const std::string stem = fs::path(ntff_path).stem().string();
  return stem.starts_with("profile_nc_") && stem.find("_session_") != std::string::npos;
}

const std::vector<std::string>& neuron_tool_names() {
  static const std::vector<std::string> kNames = {std::string(kExplorer), std::string(kProfile)};
  return kNames;
}

std::string find_neuron_tool(std::string_view wanted) {
  for (const std::string& name : neuron_tool_names()) {
    if (!wanted.empty() && name != wanted) continue;
    if (std::string tool = system::find_program(name, {kToolFolder}); !tool.empty()) return tool;
  }
  return {};
}

ViewFormat view_format(std::string_view tool) {
  return fs::path(tool).filename() == kProfile ? ViewFormat::json : ViewFormat::parquet;
}

std::vector<std::string> view_arguments(const ViewRequest& request, ViewFormat format) {
  std::vector<std::string> arguments = {"view"};
  if (request.folder.empty()) {
    arguments.insert(arguments.end(), {"-n", request.neff, "-s", request.ntff});
  } else {
    arguments.insert(arguments.end(), {"-d", request.folder});
  }
  if (format == ViewFormat::parquet) {
    arguments.insert(arguments.end(), {"--ingest-only", "--output-format", "parquet", "--output-file", request.output,
                                       "--display-name", profile_name(request)});
  } else {
    arguments.insert(arguments.end(), {"--output-format", "json"});
    // Of a folder it writes a file for each profile, into the folder that it runs in.
    if (request.folder.empty()) arguments.insert(arguments.end(), {"--output-file", request.output + "/ntff.json"});
  }
  if (request.without_devices) arguments.emplace_back("--ignore-device-profile");
  return arguments;
}

std::optional<std::vector<std::string>> without_unknown(const ViewRequest& request,
                                                        const std::vector<std::string>& arguments,
                                                        std::string_view output) {
  const std::string line = refusal_in(output);
  if (line.empty()) return std::nullopt;
  for (const Dispensable& option : kDispensable) {
    const auto at = std::ranges::find(arguments, option.name);
    if (at == arguments.end() || line.find(option.name.substr(2)) == std::string::npos) continue;
    std::vector<std::string> fewer(arguments.begin(), at);
    if (!option.instead.empty()) fewer.emplace_back(option.instead);
    fewer.insert(fewer.end(), at + (option.has_value ? 2 : 1), arguments.end());
    return fewer;
  }
  for (const auto& [format, word] : {std::pair(ViewFormat::parquet, "parquet"), std::pair(ViewFormat::json, "json")}) {
    if (std::ranges::find(arguments, word) == arguments.end() || line.find(word) == std::string::npos) continue;
    return view_arguments(request, format == ViewFormat::parquet ? ViewFormat::json : ViewFormat::parquet);
  }
  return std::nullopt;
}

std::vector<std::string> export_folders_below(const std::string& folder) {
  std::vector<std::string> found;
  if (is_export_folder(folder)) found.push_back(folder);
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    std::error_code unknown;
    if (entry->is_directory(unknown) && is_export_folder(entry->path().string()))
      found.push_back(entry->path().string());
  }
  std::ranges::sort(found, natural_less);
  return found;
}

ExportWatch::Listing ExportWatch::list() const {
  Listing files;
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder_, fs::directory_options::skip_permission_denied, failure);
  for (; !failure && entry != fs::recursive_directory_iterator() && files.size() < kMostFiles;
       entry.increment(failure)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown))
      files[entry->path().string()] = {entry->file_size(unknown), entry->last_write_time(unknown)};
  }
  return files;
}

bool ExportWatch::whole() const {
  const std::vector<std::string> folders = export_folders_below(folder_);
  const auto has_summary = [](const std::string& folder) {
    std::error_code failure;  // a system profile has no summary but facts of its own
    return fs::exists(fs::path(folder) / "Summary.parquet", failure) ||
           fs::exists(fs::path(folder) / "SystemProfileMetadata.parquet", failure);
  };
  return std::ranges::any_of(folders, has_summary) && std::ranges::all_of(folders, is_whole_folder);
}

bool ExportWatch::whole_and_at_rest(Clock::time_point now, Clock::duration rest) {
  Listing files = list();
  if (files != seen_ || files.empty()) {
    seen_ = std::move(files);
    changed_at_ = now;
    return false;
  }
  return now - changed_at_ >= rest && whole();
}

Result<Conversion> convert_traces(const std::string& tool, const ViewRequest& request, const RunTool& run) {
  Conversion done{.arguments = view_arguments(request, view_format(tool))};
  constexpr int kMostTries = 6;  // each option once, and both formats
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto uses = [&](std::string_view word) {
      return std::ranges::find(done.arguments, word) != done.arguments.end();
    };
    const bool tables = uses("parquet");
    const auto rest = uses("--ingest-only") ? ExportWatch::Clock::duration(kRestOfEndingTool) : kRestOfServingTool;
    ExportWatch watch(request.output);
    done.end =
        TRY(run(done.arguments, [&] { return tables && watch.whole_and_at_rest(ExportWatch::Clock::now(), rest); }));
    if (done.end.cancelled) return done;
    std::error_code failure;
    done.whole = tables ? watch.whole() : done.end.exit_code == 0 && !fs::is_empty(request.output, failure) && !failure;
    if (done.whole || done.end.exit_code == 0) return done;
    std::optional<std::vector<std::string>> fewer = without_unknown(request, done.arguments, done.end.output);
    if (!fewer) return done;
    done.arguments = std::move(*fewer);
  }
  return done;
}

std::string shown_output(std::string text) {
  if (text.size() > kShownOutput) text = "..." + text.substr(text.size() - kShownOutput);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? "it printed nothing" : "it printed:\n" + text;
}

std::string advice_on_failure(std::string_view output) {
  const std::string lower = lower_case(output);
  const auto* const found = std::find_if(std::begin(kAdvice), std::end(kAdvice), [&](const Advice& advice) {
    return lower.find(advice.words) != std::string::npos;
  });
  return found == std::end(kAdvice) ? std::string() : std::string(found->text);
}

std::string dropped_system_events(std::string_view output) {
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    const std::string lower = lower_case(line);
    if (lower.find("dropped") == std::string::npos || lower.find("event") == std::string::npos) continue;
    return fmt::format(
        "{}; the oldest events of a core go where it makes more than the limit: raise {} (1,000,000 unless it is set; "
        "--num-trace-events)",
        trimmed(line), kSystemEventsVariable);
  }
  return {};
}

}  // namespace accelscope::capture::sources::neuron
