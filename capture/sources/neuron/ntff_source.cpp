#include "capture/sources/neuron/ntff_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "capture/sources/neuron/source.h"
#include "capture/sources/neuron/tool.h"
#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "core/base/own_files.h"

namespace accelscope::capture::sources::neuron {
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
  const Result<std::string> trace = trace_of(path);
  if (!trace) return trace.error();
  const std::string& ntff = trace.value();
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

}  // namespace accelscope::capture::sources::neuron
