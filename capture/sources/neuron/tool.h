// The vendor's tool for Neuron profiles: where it is, how it converts raw traces, and what its failures mean.
//
// neuron-explorer writes Parquet tables into a folder; neuron-profile, which it has replaced, writes JSON. Releases
// differ in their options: one that the tool does not know is left out, and the tool is run again.
//
//   const auto converted = convert_traces(tool, {.neff = neff, .ntff = ntff, .output = folder}, run_the_tool);
//   if (converted && converted->whole) ... the profile lies in `folder`
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::sources::neuron {

// The files of a folder ("": this one) whose names end so, by name.
[[nodiscard]] std::vector<std::string> files_with_ending(const std::filesystem::path& folder, std::string_view ending);
// The program of a trace: the file beside it of the same name, with the number that the trace's name carries, or the
// only one in its folder, in the folder "neffs" there, or in those of the folder above. "" if none can be told.
[[nodiscard]] std::string find_neff(const std::string& ntff_path);
// The trace of a program: the file beside it of the same name, or the only one there whose program it is. "" if none
// can be told.
[[nodiscard]] std::string find_ntff(const std::string& neff_path);
// All programs that lie there.
[[nodiscard]] std::vector<std::string> find_neffs(const std::string& ntff_path);
// "profile_nc_0_session_1.ntff" holds all that a core ran, which may be several programs; its name has no hash.
[[nodiscard]] bool is_session_trace(std::string_view ntff_path);

// "neuron-explorer" first, then "neuron-profile", which SDKs up to 2.29 have.
[[nodiscard]] const std::vector<std::string>& neuron_tool_names();
// Its whole path: on PATH, else where the vendor's packages put it. "": not there. `wanted`: one of the names; "": any.
[[nodiscard]] std::string find_neuron_tool(std::string_view wanted = {});

enum class ViewFormat : std::uint8_t { parquet, json };

struct ViewRequest {
  std::string neff, ntff;  // a trace and its program, or
  std::string folder;      // what a capture wrote: traces, programs, system traces
  std::string output;      // the folder that gets the profile
  bool without_devices = false;
};

// The arguments of the first try, without the tool itself.
[[nodiscard]] ViewFormat view_format(std::string_view tool);
[[nodiscard]] std::vector<std::string> view_arguments(const ViewRequest& request, ViewFormat format);
// The same without what a message says that the tool does not know. Nothing: it says no such thing.
[[nodiscard]] std::optional<std::vector<std::string>> without_unknown(const ViewRequest& request,
                                                                      const std::vector<std::string>& arguments,
                                                                      std::string_view output);

// Whether a folder that the tool fills with tables is whole. The summary appears early and is filled last.
class ExportWatch {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ExportWatch(std::string folder) : folder_(std::move(folder)) {}

  // Each table has its footer, and a summary is among them. Looks at the files.
  [[nodiscard]] bool whole() const;
  // That, and no file has come, grown or been written for so long. Asked again and again.
  [[nodiscard]] bool whole_and_at_rest(Clock::time_point now, Clock::duration rest);

 private:
  using Listing = std::map<std::string, std::pair<std::uintmax_t, std::filesystem::file_time_type>>;
  [[nodiscard]] Listing list() const;
  std::string folder_;
  Listing seen_;
  Clock::time_point changed_at_;
};

// The folders at or below one that hold the tables of a profile, in natural order.
[[nodiscard]] std::vector<std::string> export_folders_below(const std::string& folder);

struct ToolEnd {
  int exit_code = 0;
  bool cancelled = false;  // by the user, or it took too long
  std::string output;
};
// Runs the tool once. `written` is asked several times a second: once it is true the tool is ended.
using RunTool =
    std::function<Result<ToolEnd>(const std::vector<std::string>& arguments, const std::function<bool()>& written)>;

struct Conversion {
  bool whole = false;                  // the profile is in the folder
  ToolEnd end;                         // of the last try
  std::vector<std::string> arguments;  // of the last try
};
// Fails only if the tool cannot be run. A tool that fails after all was written has written it.
[[nodiscard]] Result<Conversion> convert_traces(const std::string& tool, const ViewRequest& request,
                                                const RunTool& run);

// What the tool printed last, for a message: "it printed:\n...".
[[nodiscard]] std::string shown_output(std::string text);
// What to do about a failure that the tool's output tells of: a busy device, memory that ran out. "": nothing known.
[[nodiscard]] std::string advice_on_failure(std::string_view output);
// The line that says that events of the system trace were dropped, with the variable that raises the limit. "": none.
[[nodiscard]] std::string dropped_system_events(std::string_view output);

inline constexpr const char* kSystemEventsVariable = "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC";

}  // namespace accelscope::capture::sources::neuron
