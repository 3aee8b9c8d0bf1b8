// What the Neuron runtime records is of formats that are the vendor's own affair: device traces (.ntff, with the .neff
// of the program that ran) and system traces (.pb). The vendor's tool converts them where it is installed, and what it
// writes is read as any other profile. Where it is not, the error names the command to run elsewhere.
//
// A trace is converted with its program. What a capture has left in a folder - system traces, session traces of one
// process - is converted as a whole, into one profile of the system and one of each device trace. What the framework
// and its allocator have left beside is read with them, unless the tool has put it into the system profile.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/neuron/tool.h"
#include "capture/sources/parquet/footer.h"
#include "capture/sources/parquet/table_reader.h"
#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

namespace fs = std::filesystem;

constexpr int kByEnding = 80;
constexpr int kByName = 90;
constexpr int kMostDepth = 3;  // of folders below that of a capture
constexpr std::size_t kMostFiles = 10'000;
constexpr std::size_t kMostHead = 64U << 10;  // bytes of a system trace that are looked at
constexpr const char* kNoProgram = "PROGRAM.neff";

// Files of a system trace, by name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSystemFiles = {
    {{"trace_info.pb", "the facts of a system trace"},
     {"ntrace.pb", "the events of a system trace"},
     {"cpu_util.pb", "the CPUs' utilisation of a system trace"},
     {"host_mem.pb", "the host's memory of a system trace"}}};

[[nodiscard]] std::string_view title_of_system_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto* const found =
      std::ranges::find(kSystemFiles, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kSystemFiles.end() ? std::string_view() : found->second;
}

[[nodiscard]] bool holds_system_trace(const fs::path& folder) {
  std::error_code failure;
  return std::ranges::any_of(
      kSystemFiles, [&](const auto& file) { return fs::is_regular_file(folder / fs::path(file.first), failure); });
}

// "i-<instance>_pid_<number>", which the runtime makes for each process.
[[nodiscard]] bool is_process_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with("i-") && name.find("_pid_") != std::string::npos;
}

[[nodiscard]] bool holds_session_traces_alone(const fs::path& folder) {
  const std::vector<std::string> traces = files_with_ending(folder, ".ntff");
  return !traces.empty() && std::ranges::all_of(traces, is_session_trace);
}

[[nodiscard]] std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failure;
  fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    std::error_code unknown;
    if (entry->is_directory(unknown)) found.push_back(entry->path());
  }
  return found;
}

// What a capture wrote: of one process, with a folder for each time that it was profiled, or of several.
[[nodiscard]] bool is_capture_folder(const std::string& path) {
  std::error_code failure;
  fs::path folder = fs::absolute(path, failure).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  const auto holds_one = [](const fs::path& process) {
    return holds_system_trace(process) || std::ranges::any_of(folders_in(process), holds_system_trace);
  };
  if (holds_system_trace(folder)) return true;
  if (is_process_folder(folder)) return holds_session_traces_alone(folder) || holds_one(folder);
  return std::ranges::any_of(folders_in(folder),
                             [&](const fs::path& each) { return is_process_folder(each) && holds_one(each); });
}

struct CaptureFolder {
  std::string path;
  std::vector<std::string> systems, traces, programs;
  std::vector<std::string> frameworks, snapshots;  // of PyTorch: traces of its profiler, of its memory
  std::vector<std::string> converted;              // profiles that the tool has made of it before
};

[[nodiscard]] CaptureFolder look_into(const std::string& path) {
  CaptureFolder found{.path = path};
  std::error_code failure;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, failure);
  for (std::size_t files = 0; !failure && entry != fs::recursive_directory_iterator() && files < kMostFiles;
       entry.increment(failure), ++files) {
    std::error_code unknown;
    const fs::path& file = entry->path();
    const std::string name = file.filename().string();
    const std::string ending = file.extension().string();
    if (entry->is_directory(unknown)) {
      const bool is_export = is_export_folder(file.string());
      if (is_export) found.converted.push_back(file.string());
      if (is_export || entry.depth() >= kMostDepth) entry.disable_recursion_pending();
    } else if (!title_of_system_file(file).empty()) {
      found.systems.push_back(file.string());
    } else if (ending == ".ntff") {
      found.traces.push_back(file.string());
    } else if (ending == ".neff") {
      found.programs.push_back(file.string());
    } else if (name == "trace.json" || (name.starts_with("neuron_framework_trace_rank_") && ending == ".json")) {
      found.frameworks.push_back(file.string());
    } else if (name == "system_profile.json" || (name.starts_with("device_profile_model_") && ending == ".json")) {
      found.converted.push_back(file.string());
    } else if ((ending == ".pickle" || ending == ".pkl") && recognise(file.string()).name() == "torch-memory") {
      found.snapshots.push_back(file.string());
    }
  }
  for (std::vector<std::string>* files :
       {&found.systems, &found.traces, &found.programs, &found.frameworks, &found.snapshots, &found.converted})
    std::ranges::sort(*files, natural_less);
  return found;
}

[[nodiscard]] bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Whether fields of a message fill the bytes, behind which as many as `further` lie.
[[nodiscard]] bool are_fields(std::string_view bytes, std::uint64_t further) {
  constexpr unsigned kVarint = 0, kEightBytes = 1, kSized = 2, kFourBytes = 5;
  while (!bytes.empty()) {
    std::uint64_t key = 0;
    std::uint64_t size = 0;
    if (!take_varint(bytes, key)) return further > 0;
    const unsigned type = key & 7U;
    if (key >> 3U == 0 || (type != kVarint && type != kEightBytes && type != kSized && type != kFourBytes))
      return false;
    if (type == kVarint || type == kSized) {
      if (!take_varint(bytes, size)) return further > 0;
    }
    size = type == kVarint ? 0 : type == kEightBytes ? 8 : type == kFourBytes ? 4 : size;
    if (size > bytes.size()) return size <= bytes.size() + further;
    bytes.remove_prefix(size);
  }
  return true;
}

// Messages one behind another, each behind its length.
[[nodiscard]] bool are_sized_messages(std::string_view bytes, std::uint64_t further) {
  while (!bytes.empty()) {
    std::uint64_t size = 0;
    if (!take_varint(bytes, size)) return further > 0;
    if (size > bytes.size()) return size <= bytes.size() + further && are_fields(bytes, further);
    if (!are_fields(bytes.substr(0, size), 0)) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

// What is wrong with the bytes of a system trace, which the tool alone understands; "": nothing can be told.
[[nodiscard]] std::string problem_of(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (failure) return {};
  if (size == 0) return fmt::format("{}: the file is empty; was its writer stopped early?", path);
  std::string head(static_cast<std::size_t>(std::min<std::uintmax_t>(size, kMostHead)), '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head.data(), static_cast<std::streamsize>(head.size()))) return {};
  const std::uint64_t further = size - head.size();
  if (json::is_packed(head) || are_fields(head, further) || are_sized_messages(head, further)) return {};
  return fmt::format("{}: this is no protobuf message, which a file of that name is; copy it again", path);
}

Result<std::string> trace_of(const std::string& path) {
  if (fs::path(path).extension() != ".neff") return path;
  if (std::string trace = find_ntff(path); !trace.empty()) return trace;
  const std::vector<std::string> traces = files_with_ending(fs::path(path).parent_path(), ".ntff");
  return Error{fmt::format("{}: this is a compiled program, and {} in its folder; make a trace of it with: {}", path,
                           traces.empty() ? "there is no trace of it" : "it is not clear which trace is its own",
                           system::shell_command({neuron_tool_names().front(), "capture", "-n", path, "-s",
                                                  fs::path(path).replace_extension(".ntff").string()}))};
}

// What is run by hand where the tool is, for messages: the tables go into a folder beside the trace or its folder.
[[nodiscard]] std::string by_hand(const std::string& tool, ViewRequest request) {
  const std::string folder = fs::path(request.folder + "/.").lexically_normal().parent_path().string();
  request.output = request.ntff.empty() ? fmt::format("{}{}", folder, kConvertedFolder)
                                        : fs::path(request.ntff).replace_extension().string();
  std::vector<std::string> command = view_arguments(request, view_format(tool));
  command.insert(command.begin(), tool);
  return system::shell_command(command);
}

// What can be seen of a program where its trace cannot be converted; "" without one.
[[nodiscard]] std::string advice_on_programs(const std::vector<std::string>& programs) {
  if (programs.empty()) return {};
  const std::string& first = programs.front();
  const std::string command = find_ntff(first).empty()
                                  ? system::shell_command({"accelscope", first})
                                  : system::shell_command({"accelscope", "view", first, "--format", "neuron-neff"});
  return fmt::format("; what a program holds shows without a trace: {}{}", command,
                     programs.size() > 1 ? fmt::format(" (of {} programs)", programs.size()) : "");
}

[[nodiscard]] std::string linked(const fs::path& file, const fs::path& place) {
  std::error_code failure;
  fs::create_directories(place.parent_path(), failure);
  if (fs::exists(place, failure)) return {};
  fs::create_hard_link(file, place, failure);
  if (failure) fs::copy_file(file, place, failure);
  return failure ? failure.message() : std::string();
}

// Traces below a folder and all programs near it in a folder of their own, by links where the file system allows.
Result<std::string> laid_together(const fs::path& folder, const std::vector<std::string>& traces,
                                  const std::vector<std::string>& programs, const std::string& own) {
  for (const std::string& program : programs) {
    if (const std::string why = linked(program, fs::path(own) / fs::path(program).filename()); !why.empty())
      return Error{fmt::format("{}: it cannot be laid beside its trace: {}", program, why)};
  }
  for (const std::string& trace : traces) {
    const fs::path name = fs::path(trace).lexically_relative(folder.empty() ? fs::path(".") : folder);
    if (const std::string why = linked(trace, fs::path(own) / name); !why.empty())
      return Error{fmt::format("{}: it cannot be laid beside its programs: {}", trace, why)};
  }
  return own;
}

// The traces and programs of a session trace: its own folder where that holds nothing else.
Result<std::string> session_folder(const std::string& ntff, const std::string& own) {
  const fs::path folder = fs::path(ntff).parent_path();
  const std::vector<std::string> programs = find_neffs(ntff);
  const auto lies_within = [&](const std::string& program) {
    const fs::path place = fs::path(program).lexically_relative(folder.empty() ? "." : folder);
    return !place.empty() && *place.begin() != "..";
  };
  const bool is_alone = files_with_ending(folder, ".ntff").size() == 1;
  if (is_alone && !programs.empty() && std::ranges::all_of(programs, lies_within))
    return folder.empty() ? std::string(".") : folder.string();
  return laid_together(folder, {ntff}, programs, own);
}

[[nodiscard]] Error no_tool(const std::string& ntff, const ViewRequest& request,
                            const std::vector<std::string>& programs) {
  return Error{fmt::format(
      "{}: a raw trace has to be converted by the vendor's tool, and {} is on PATH here; where {} is, run: {} and open "
      "what it writes{}",
      ntff, request.folder.empty() ? "neither neuron-explorer nor neuron-profile" : "no neuron-explorer",
      request.folder.empty() ? "one" : "it", by_hand(neuron_tool_names().front(), request),
      advice_on_programs(programs))};
}

// Where the tool's output lies there may be no room for it, which not every tool tells; "": there is.
[[nodiscard]] std::string advice_on_room(const std::string& folder) {
  constexpr std::uintmax_t kLeast = 1U << 20;
  std::error_code failure;
  const fs::space_info room = fs::space(folder, failure);
  if (failure || room.available >= kLeast) return {};
  return fmt::format("the disk of {} is full: set TMPDIR to a folder with more room; ", folder);
}

// One run of the tool, into the folder; `shown` is what messages call its input, `rerun` the command to try by hand.
Result<Converted> convert(const std::string& tool, ViewRequest request, const std::string& shown,
                          const std::string& rerun, const std::shared_ptr<OwnTemporaryFolder>& folder,
                          const ImportOptions& options, const EventSink& sink) {
  request.output = folder->file("profile");
  std::error_code failure;
  fs::create_directories(request.output, failure);
  const auto run_once = [&](const std::vector<std::string>& arguments,
                            const std::function<bool()>& written) -> Result<ToolEnd> {
    std::vector<std::string> command = arguments;
    command.insert(command.begin(), tool);
    command.insert(command.end(), options.converter_options.begin(), options.converter_options.end());
    const Result<system::ChildOutcome> ended =
        system::run_child(command, [&] { return sink.cancelled() || written(); });
    if (!ended) return Error{fmt::format("{}: {}", shown, ended.message())};
    return ToolEnd{ended->exit_code, ended->cancelled && sink.cancelled(), ended->output};
  };
  const Conversion done = TRY(convert_traces(tool, request, run_once));
  if (done.end.cancelled) return Error{fmt::format("{}: the import was cancelled", shown)};
  if (!done.whole && done.end.exit_code == 0) {
    return Error{fmt::format("{}: {} ended without an error but wrote no profile; {}to try by hand: {}; {}", shown,
                             tool, advice_on_room(request.output), rerun, shown_output(done.end.output))};
  }
  if (!done.whole) {
    const std::string advice = advice_on_failure(done.end.output);
    return Error{fmt::format("{}: {} could not convert it (exit code {}); {}{}{}to try by hand: {}; {}", shown, tool,
                             done.end.exit_code, advice, advice.empty() ? "" : "; ", advice_on_room(request.output),
                             rerun, shown_output(done.end.output))};
  }
  Converted made{.folder = folder, .paths = export_folders_below(request.output), .shown = shown};
  if (made.paths.empty()) {
    made.paths = {request.output + "/ntff.json"};
    made.format = "neuron-json";
  }
  if (const std::string dropped = dropped_system_events(done.end.output); !dropped.empty())
    made.findings.push_back({"buffer_overflow", 1, dropped});
  return made;
}

Result<Converted> convert_trace(const std::string& path, const ImportOptions& options, const EventSink& sink) {
  const std::string ntff = TRY(trace_of(path));
  ViewRequest request{.neff = options.neff, .ntff = ntff};
  if (request.neff.empty() && ntff != path) request.neff = path;
  const std::vector<std::string> near = find_neffs(ntff);
  const bool is_session = request.neff.empty() && is_session_trace(ntff) && !near.empty();
  if (request.neff.empty() && !is_session) request.neff = find_neff(ntff);
  const Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("ntff");
  if (!folder) return Error{fmt::format("{}: it cannot be converted: {}", ntff, folder.message())};
  const std::string tool = find_neuron_tool(is_session ? neuron_tool_names().front() : "");
  if (is_session) {
    const std::string around = fs::path(ntff).has_parent_path() ? fs::path(ntff).parent_path().string() : ".";
    request.folder = tool.empty() ? around : TRY(session_folder(ntff, (*folder)->file("session")));
  }
  if (tool.empty()) {
    const std::vector<std::string> programs = request.neff.empty() ? near : std::vector{request.neff};
    if (request.neff.empty()) request.neff = kNoProgram;
    return no_tool(ntff, request, programs);
  }
  if (request.neff.empty() && !is_session) {
    return Error{fmt::format(
        "{}: the program that was traced is needed too, and no .neff beside it is clearly its own; name it with: "
        "accelscope view -n {} -s {}",
        ntff, kNoProgram, system::shell_quote(ntff))};
  }
  return convert(tool, request, ntff, by_hand(tool, request), *folder, options, sink);
}

// Whether the tool has put what the framework recorded into a system profile.
[[nodiscard]] bool has_framework_events(const std::string& profile) {
  const Result<std::vector<ExportFile>> files = find_export_files(profile);
  for (std::size_t i = 0; files && i < files->size(); ++i) {
    if ((*files)[i].table != "SystemProfileEvents") continue;
    auto bytes = parquet::RandomBytes::open((*files)[i].path);
    if (!bytes) continue;
    auto table = parquet::TableReader::open(std::move(bytes).value());
    while (table && (*table)->next()) {
      if (std::ranges::any_of((*table)->fields(), [](const json::JsonField& field) {
            return field.key == "trace_event_source" && field.text == "framework";
          }))
        return true;
    }
  }
  return false;
}

// What lies in the folder beside what the tool converts.
void add_beside(const CaptureFolder& capture, Converted& made) {
  std::vector<std::string> beside = capture.snapshots;
  if (capture.frameworks.empty() || std::ranges::none_of(made.paths, has_framework_events)) {
    beside.insert(beside.end(), capture.frameworks.begin(), capture.frameworks.end());
  } else {
    made.findings.push_back(
        {"files_skipped", capture.frameworks.size(),
         fmt::format("traces of the framework, such as {}: the system profile has their events; name such a file "
                     "itself to read it",
                     capture.frameworks.front())});
  }
  for (const std::string& file : beside) {
    const RecognisedFile known = recognise(file);
    if (known.format() != nullptr) {
      made.paths.push_back(file);
    } else {
      made.findings.push_back({"unreadable_input", 1, known.why_not + "; what else the capture holds was read"});
    }
  }
}

// "trace_info.pb, ntrace.pb, 2 device traces".
[[nodiscard]] std::string content_of(const CaptureFolder& capture) {
  std::vector<std::string> parts;
  for (const std::string& file : capture.systems) {
    std::string name = fs::path(file).filename().string();
    if (std::ranges::find(parts, name) == parts.end()) parts.push_back(std::move(name));
  }
  if (!capture.traces.empty()) parts.push_back(counted(capture.traces.size(), "device trace", "device traces"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Everything in the folder in one run.
Result<Converted> convert_capture(const std::string& path, const ImportOptions& options, const EventSink& sink) {
  const std::string_view title = title_of_system_file(path);
  const std::string parent = fs::path(path).parent_path().string();
  const CaptureFolder capture = look_into(title.empty() ? path : parent.empty() ? "." : parent);
  std::vector<QualityEntry> problems;
  std::string wrong;
  for (const std::string& file : capture.systems) {
    const std::string problem = problem_of(file);
    if (problem.empty()) continue;
    problems.push_back({"unreadable_input", 1, problem});
    wrong += "; " + problem;
  }
  Converted made;
  if (!capture.converted.empty()) {
    made.paths = capture.converted;
    made.findings.push_back(
        {"files_skipped", capture.systems.size() + capture.traces.size(),
         fmt::format("raw traces in {}: the profiles that were made of them lie beside them and are "
                     "read in their place",
                     capture.path)});
    add_beside(capture, made);
    return made;
  }
  const std::vector<std::string> near = capture.programs.empty() && !capture.traces.empty()
                                            ? find_neffs(capture.traces.front())
                                            : std::vector<std::string>();
  ViewRequest request{.neff = {}, .ntff = {}, .folder = capture.path, .output = {}};
  if (!near.empty()) request.folder = (fs::path(capture.path) / "..").lexically_normal().string();
  const std::string& name = neuron_tool_names().front();
  const std::string tool = find_neuron_tool(name);
  if (tool.empty()) {
    const std::string what = title.empty()
                                 ? fmt::format("this is a raw capture of the Neuron runtime ({})", content_of(capture))
                                 : fmt::format("this holds {}", title);
    return Error{fmt::format(
        "{}: {}, and the vendor's tool has to convert all of its capture; no {} is on PATH here; where it is, run: {} "
        "and open what it writes{}{}",
        path, what, name, by_hand(name, request), advice_on_programs(near.empty() ? capture.programs : near), wrong)};
  }
  const Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("ntff");
  if (!folder) return Error{fmt::format("{}: it cannot be converted: {}", path, folder.message())};
  const std::string rerun = by_hand(tool, request);
  if (!near.empty()) {
    std::vector<std::string> traces = capture.systems;
    traces.insert(traces.end(), capture.traces.begin(), capture.traces.end());
    request.folder = TRY(laid_together(capture.path, traces, near, (*folder)->file("session")));
  }
  Result<Converted> done = convert(tool, request, path, rerun, *folder, options, sink);
  if (!done) return Error{done.message() + wrong};
  made = std::move(done).value();
  made.findings.insert(made.findings.end(), problems.begin(), problems.end());
  add_beside(capture, made);
  return made;
}

}  // namespace

int probe_ntff(std::string_view head, const std::string& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) return is_capture_folder(path) ? kByName : 0;
  if (!title_of_system_file(path).empty()) return kByName;
  const std::string ending = fs::path(path).extension().string();
  if (ending != ".ntff" && ending != ".neff") return 0;
  return head.starts_with('{') ? 0 : kByEnding;
}

Result<Converted> convert_ntff(const std::string& path, const ImportOptions& options, const EventSink& sink) {
  std::error_code failure;
  const bool is_capture = fs::is_directory(path, failure) || !title_of_system_file(path).empty();
  return is_capture ? convert_capture(path, options, sink) : convert_trace(path, options, sink);
}

}  // namespace accelscope::capture::sources::neuron
