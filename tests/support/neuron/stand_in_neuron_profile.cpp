// A stand-in for the vendor's tools, for tests: takes the documented options and no others, "executes" NEFFs by writing
// traces that name a simulated run, and processes them with the simulator. As neuron-profile it writes JSON. As
// neuron-explorer it has the manners of a release: up to 2.29 it knows no --ingest-only and never ends, later ones want
// a --display-name, and from 2.34 on there is no JSON. Variables steer it:
// As neuron-ls it lists a device.
//   STAND_IN_LOG      file to which every command line is added, a word a line, an empty line at its end
//   STAND_IN_MODE     busy, memory, fail, killed, hang, no-trace, cut-trace, no-profile, cut-profile, refuse-rank-1,
//                     port-taken, dropped, dropped-table, framework
//   STAND_IN_STEP     the subcommand that the mode is for; all, if it is not set
//   STAND_IN_RELEASE  2.29, 2.31, 2.33 or 2.34; not set: 2.33 as neuron-explorer
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/neuron/simulated_profile.h"
#include "tests/support/parquet/parquet_writer.h"

extern char** environ;

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_explorer = false;
double release = 0;  // of the SDK
constexpr double kSdk29 = 2.29, kSdk33 = 2.33, kSdk34 = 2.34;

struct Usage {
  std::map<std::string, std::string> values;  // by long name; flags "on"
  std::vector<std::string> words;             // that are no options
};

struct Known {
  const char* name;
  char letter;
  bool has_value;
};

[[noreturn]] void fail(int code, const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(code);
}

// As the real one reads them: --name=value, --name value, -n value, flags.
Usage parse(const std::vector<std::string>& arguments, const std::vector<Known>& known, bool stops_at_word) {
  Usage usage;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("-")) {
      usage.words.push_back(word);
      if (!stops_at_word) continue;
      usage.words.insert(usage.words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto option = std::find_if(known.begin(), known.end(), [&](const Known& candidate) {
      return name == fmt::format("--{}", candidate.name) || name == fmt::format("-{}", candidate.letter);
    });
    if (option == known.end()) fail(1, fmt::format("unknown flag `{}'", name));
    if (!option->has_value && equals != std::string::npos) fail(1, fmt::format("flag `{}' takes no value", name));
    if (!option->has_value) {
      usage.values[option->name] = "on";
    } else if (equals != std::string::npos) {
      usage.values[option->name] = word.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      usage.values[option->name] = arguments[++i];
    } else {
      fail(1, fmt::format("flag `{}' needs a value", name));
    }
  }
  return usage;
}

int number(const Usage& usage, const std::string& name, int otherwise) {
  const auto found = usage.values.find(name);
  return found == usage.values.end() ? otherwise : std::stoi(found->second);
}

void require_file(const Usage& usage, const std::string& name) {
  const auto found = usage.values.find(name);
  if (found == usage.values.end()) fail(1, fmt::format("the required flag `--{}' was not specified", name));
  if (!fs::is_regular_file(found->second)) fail(1, fmt::format("open {}: no such file or directory", found->second));
}

std::string mode_of(const std::string& step) {
  const std::string wanted = variable("STAND_IN_STEP");
  return wanted.empty() || wanted == step ? variable("STAND_IN_MODE") : "";
}

void play_failure(const std::string& mode) {
  if (mode == "busy") fail(1, "ERROR  NRT:nrt_allocate  NeuronCore(s) not available - Requested:1 Available:0");
  if (mode == "memory") fail(1, "ERROR  NRT_RESOURCE: failed to allocate 512MB on device");
  if (mode == "fail") fail(3, "execution failed");
  if (mode == "killed") ::raise(SIGKILL);
  if (mode == "hang") {
    fmt::print("waiting for the device\n");
    std::fflush(stdout);
    for (;;) ::pause();
  }
}

// "stand-in trace", the seed of the run, "end".
void write_trace(const fs::path& path, int seed, bool whole) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream(path) << "stand-in trace\n" << seed << "\n" << (whole ? "end\n" : "");
}

int read_trace(const std::string& path) {
  std::ifstream file(path);
  std::string head;
  std::string end;
  int seed = 0;
  std::getline(file, head);
  file >> seed >> end;
  if (head != "stand-in trace" || end != "end") fail(1, path + ": unexpected end of file");
  return seed;
}

void write_profile(int seed, const std::string& path, bool whole) {
  accelscope::capture::sim::SimulationOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.kernels = 1;
  if (auto done = accelscope::write_simulated_profile(options, path); !done) fail(1, done.message());
  if (!whole) fs::resize_file(path, fs::file_size(path) / 2);
}

int capture(const std::vector<std::string>& arguments) {
  const Usage usage = parse(arguments,
                            {{"neff", 'n', true},
                             {"session-file", 's', true},
                             {"profile-nth-exec", 0, true},
                             {"num-exec", 0, true},
                             {"ignore-exec-errors", 0, false},
                             {"single-io", 0, false},
                             {"save-output", 0, false},
                             {"enable-dge-notifs", 0, false},
                             {"collectives-workers-per-node", 'r', true},
                             {"collectives-worker-start-id", 0, true},
                             {"collectives-worker-count", 0, true},
                             {"collectives-profile-id", 'i', true}},
                            false);
  require_file(usage, "neff");
  if (usage.words.size() % 2 != 0) fail(1, "inputs must be pairs of NAME and FILE");
  for (std::size_t i = 1; i < usage.words.size(); i += 2) {
    if (!fs::is_regular_file(usage.words[i])) fail(1, fmt::format("open {}: no such file", usage.words[i]));
  }
  const std::string mode = mode_of("capture");
  fmt::print("INFO executing {}\n", usage.values.at("neff"));
  std::fflush(stdout);
  play_failure(mode);
  if (usage.values.contains("save-output")) std::ofstream("output_0.npy", std::ios::binary) << "output";
  if (mode == "no-trace") return 0;
  const fs::path session = usage.values.contains("session-file") ? usage.values.at("session-file") : "profile.ntff";
  const std::string stem = session.parent_path() / session.stem();
  const std::string execution =
      usage.values.contains("profile-nth-exec") ? "_exec_" + usage.values.at("profile-nth-exec") : "";
  const int workers = number(usage, "collectives-workers-per-node", 0);
  const int start = number(usage, "collectives-worker-start-id", 0);
  if (workers == 0) {
    write_trace(stem + execution + ".ntff", 1, mode != "cut-trace");
    return 0;
  }
  const std::string profiled =
      usage.values.contains("collectives-profile-id") ? usage.values.at("collectives-profile-id") : "all";
  for (int rank = start; rank < start + workers; ++rank) {
    if (profiled != "all" && profiled != std::to_string(rank)) continue;
    write_trace(fmt::format("{}_rank_{}{}.ntff", stem, rank, execution), rank + 1,
                mode != "cut-trace" && !(mode == "refuse-rank-1" && rank == 1));
  }
  return 0;
}

// What an inspected program leaves: a folder of its process with everything that was recorded.
int inspect(const std::vector<std::string>& arguments) {
  const Usage usage = parse(arguments, {{"output-dir", 'o', true}, {"num-trace-events", 'n', true}}, true);
  const std::string mode = mode_of("inspect");
  play_failure(mode);
  std::vector<char*> words;
  for (const std::string& word : usage.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t id = 0;
  if (posix_spawnp(&id, words.front(), nullptr, nullptr, words.data(), environ) != 0) fail(1, "cannot run the program");
  std::signal(SIGINT, SIG_IGN);  // what the program recorded is written also when it is interrupted
  int status = 0;
  ::waitpid(id, &status, 0);
  if (mode == "no-trace") return 0;
  const fs::path folder = fs::path(usage.values.at("output-dir")) / "i-0123_pid_42";
  fs::create_directories(folder);
  const auto end = std::chrono::system_clock::now().time_since_epoch();
  std::ofstream(folder / "ntrace.pb") << "\x0a\x13"
                                      << std::chrono::duration_cast<std::chrono::nanoseconds>(end).count();
  std::ofstream(folder / "neff_395760075800974.neff") << "program";
  write_trace(folder / "395760075800974_instid_0_vnc_0.ntff", 7, true);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// The time in a system trace: digits, in a message where it was written as one.
std::int64_t read_system_trace(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  while (file && (file.peek() < '0' || file.peek() > '9')) file.get();
  std::int64_t time = 0;
  file >> time;
  return time;
}

int view_folder(const Usage& usage) {
  const std::string mode = mode_of("view");
  if (mode == "no-profile") return 0;
  const fs::path folder = usage.values.at("session-dir");
  std::int64_t end_ns = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "ntrace.pb") end_ns = read_system_trace(entry.path());
  }
  std::ofstream("system_profile.json")
      << R"({"trace_events":[{"timestamp":)" << end_ns
      << R"(,"duration":27094,"name":"nrt_execute","group":"nrt-nc-000",)"
         R"("id":1,"instance_id":"i-0123","lnc_idx":"0","process_id":"42","thread_id":42,"type":11}]})";
  if (usage.values.contains("ignore-device-profile")) return 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ntff") continue;
    write_profile(read_trace(entry.path()), "device_profile_model_1.json", true);
  }
  return 0;
}

void write_tables(int seed, const std::string& folder, bool whole) {
  accelscope::capture::sim::SimulationOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.kernels = 1;
  if (auto done = accelscope::write_simulated_tables(options, folder); !done) fail(1, done.message());
  if (!whole) fs::resize_file(fs::path(folder) / "Instruction.parquet", 1000);
}

// A system profile of one call of the runtime, and of the framework where that was recorded.
void write_system_tables(std::int64_t begin_ns, const fs::path& folder, const std::string& mode) {
  using accelscope::test::ParquetColumn;
  const std::size_t rows = mode == "framework" ? 2 : 1;
  const auto number = [&](const char* name, std::int64_t value) {
    return ParquetColumn{name, accelscope::test::kParquetInt64, std::vector<ParquetColumn::Value>(rows, value)};
  };
  const auto text = [&](const char* name, std::string value) {
    return ParquetColumn{name, accelscope::test::kParquetBytes,
                         std::vector<ParquetColumn::Value>(rows, std::move(value))};
  };
  const auto write = [&](const char* table, const std::vector<ParquetColumn>& columns) {
    std::ofstream(folder / table, std::ios::binary) << accelscope::test::parquet_file(columns);
  };
  fs::create_directories(folder);
  ParquetColumn source = text("trace_event_source", "nrt-nc-000");
  if (mode == "framework") source.values.back() = std::string("framework");
  write("SystemProfileEvents.parquet",
        {number("start_ts", begin_ns), number("end_ts", begin_ns + 27094), number("duration_ns", 27094),
         text("name", "nrt_execute"), source, number("id", 1), text("instance_id", "i-0123"), number("nc_idx", 0),
         number("process_id", 42), number("thread_id", 42)});
  write("SystemProfileMetadata.parquet", {text("first_ts_ns", std::to_string(begin_ns))});
  if (mode == "dropped-table") {
    write("Warning.parquet",
          {text("category", "system"), text("message", "1234 system trace events were dropped on nc 0")});
  }
}

// As the real one finds them: of every program that a trace of a folder ran, the NEFF has to lie near it.
void explore_folder(const Usage& usage, const fs::path& output) {
  const fs::path folder = usage.values.at("session-dir");
  std::vector<fs::path> traces;
  std::int64_t end_ns = 0;
  std::size_t programs = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "ntrace.pb") end_ns = read_system_trace(entry.path());
    if (entry.path().extension() == ".ntff") traces.push_back(entry.path());
    programs += entry.path().extension() == ".neff" ? 1 : 0;
  }
  if (traces.empty() && end_ns == 0) fail(1, fmt::format("no profiles found in {}", folder.string()));
  if (end_ns != 0) write_system_tables(end_ns, output / "system", mode_of("view"));
  if (usage.values.contains("ignore-device-profile")) return;
  if (!traces.empty() && programs == 0) fail(1, "no NEFF for " + traces.front().string());
  std::sort(traces.begin(), traces.end());
  for (const fs::path& trace : traces) {
    if (trace.stem().string().find("_session_") != std::string::npos && programs < 2)
      fail(1, fmt::format("a NEFF of {} is missing", trace.string()));
    write_tables(read_trace(trace), output / ("device_" + trace.stem().string()), true);
  }
}

int explore(const Usage& usage) {
  const std::string mode = mode_of("view");
  play_failure(mode);
  const std::string format = usage.values.contains("output-format") ? usage.values.at("output-format") : "parquet";
  if (format != "parquet" && !(format == "json" && release < kSdk34)) {
    fail(1, fmt::format("Invalid value `{}' for option `--output-format'. Allowed values are: parquet, perfetto, "
                        "summary-json or summary-text",
                        format));
  }
  if (release > kSdk29 && !usage.values.contains("display-name")) fail(1, "FATAL the display name is not set");
  if (format == "json") fmt::print("WARN --output-format json ends with the next release\n");
  if (mode == "dropped") fmt::print("WARN 1234 system trace events were dropped on nc 0\n");
  if (mode == "no-profile") return 0;
  const fs::path output = usage.values.at("output-file");
  if (usage.values.contains("session-dir")) {
    explore_folder(usage, output);
  } else {
    require_file(usage, "neff-path");
    require_file(usage, "session-file");
    const int seed = read_trace(usage.values.at("session-file"));
    fmt::print("INFO processing {}\n", usage.values.at("session-file"));
    write_tables(seed, output, mode != "cut-profile");
  }
  if (mode == "port-taken") fail(1, "listen tcp 127.0.0.1:3002: bind: address already in use");
  std::fflush(stdout);
  while (!usage.values.contains("ingest-only")) ::pause();  // it serves what it has written
  return 0;
}

int view(const std::vector<std::string>& arguments) {
  std::vector<Known> known = {{"neff-path", 'n', true},   {"session-file", 's', true},
                              {"session-dir", 'd', true}, {"output-format", 0, true},
                              {"output-file", 0, true},   {"ignore-device-profile", 0, false}};
  // A link of the old name leads to the successor in releases without neuron-profile.
  if (is_explorer) known.push_back({"disable-ui", 0, false});
  if (is_explorer && release > kSdk29)
    known.insert(known.end(), {{"ingest-only", 0, false}, {"display-name", 0, true}});
  const Usage usage = parse(arguments, known, false);
  if (is_explorer) return explore(usage);
  const std::string mode = mode_of("view");
  play_failure(mode);
  if (usage.values.contains("session-dir")) return view_folder(usage);
  require_file(usage, "neff-path");
  require_file(usage, "session-file");
  const int seed = read_trace(usage.values.at("session-file"));
  fmt::print("INFO processing {}\n", usage.values.at("session-file"));
  if (mode == "no-profile") return 0;
  write_profile(seed, usage.values.at("output-file"), mode != "cut-profile");
  return 0;
}

// One device of eight cores. Without facts of the instance up to 2.33, whose tool knows both ways of asking.
int list_devices(const std::vector<std::string>& arguments) {
  const Usage usage =
      parse(arguments,
            release >= kSdk34   ? std::vector<Known>{{"output-format", 'o', true}}
            : release >= kSdk33 ? std::vector<Known>{{"output-format", 'o', true}, {"json-output", 'j', false}}
                                : std::vector<Known>{{"json-output", 'j', false}},
            false);
  const std::string list = R"([{"neuron_device": 0, "bdf": "00:1e.0", "nc_count": 8, "memory_size": 103079215104}])";
  const bool is_new = usage.values.contains("output-format");
  fmt::print("{}\n", is_new ? R"({"instance_type": "trn2.48xlarge", "neuron_devices": )" + list + "}" : list);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  const std::string sdk = variable("STAND_IN_RELEASE");
  release = sdk.empty() ? kSdk33 : std::stod(sdk);
  is_explorer = fs::path(words[0]).filename() == "neuron-explorer" || (!sdk.empty() && release > kSdk29);
  if (fs::path(words[0]).filename() == "neuron-ls") return list_devices(arguments);
  if (arguments.empty()) fail(1, "Please specify one command of: capture, inspect or view");
  if (arguments.front() == "--version") {
    fmt::print("stand-in {}\n", is_explorer ? fmt::format("neuron-explorer {}", release) : "neuron-profile 2.26.0");
    return 0;
  }
  if (const std::string log = variable("STAND_IN_LOG"); !log.empty()) {
    std::ofstream file(log, std::ios::app);
    for (const std::string& word : arguments) file << word << '\n';
    file << '\n';
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (arguments.front() == "capture") return capture(rest);
  if (arguments.front() == "inspect") return inspect(rest);
  if (arguments.front() == "view") return view(rest);
  fail(1, fmt::format("Unknown command `{}'", arguments.front()));
}
