// A stand-in for the vendor's neuron-profile, for tests: takes the documented options and no others, "executes" NEFFs
// by writing traces that name a simulated run, and processes them with the simulator. Three variables steer it:
//   STAND_IN_LOG   file to which every command line is added, a word a line, an empty line at its end
//   STAND_IN_MODE  busy, memory, fail, killed, hang, no-trace, cut-trace, no-profile, cut-profile, refuse-rank-1
//   STAND_IN_STEP  the subcommand that the mode is for; all, if it is not set
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

extern char** environ;

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

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
  std::ofstream(folder / "ntrace.pb") << std::chrono::duration_cast<std::chrono::nanoseconds>(end).count() << "\n";
  std::ofstream(folder / "neff_395760075800974.neff") << "program";
  write_trace(folder / "395760075800974_instid_0_vnc_0.ntff", 7, true);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int view_folder(const Usage& usage) {
  const std::string mode = mode_of("view");
  if (mode == "no-profile") return 0;
  const fs::path folder = usage.values.at("session-dir");
  std::string end_ns;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "ntrace.pb") std::ifstream(entry.path()) >> end_ns;
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

int view(const std::vector<std::string>& arguments) {
  const Usage usage = parse(arguments,
                            {{"neff-path", 'n', true},
                             {"session-file", 's', true},
                             {"session-dir", 'd', true},
                             {"output-format", 0, true},
                             {"output-file", 0, true},
                             {"ignore-device-profile", 0, false}},
                            false);
  if (usage.values.at("output-format") != "json") fail(1, "the stand-in writes JSON only");
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

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.empty()) fail(1, "Please specify one command of: capture, inspect or view");
  if (arguments.front() == "--version") {
    fmt::print("stand-in neuron-profile 2.26.0\n");
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
