// What an agent costs and what it survives: at rest, with a viewer that has stopped, with a spool, through TLS, and
// with everything cut that can be cut. The programs are those that users have.
#include <fmt/format.h>
#include <csignal>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

#include "tests/bench/base/figures.h"
#include "tests/support/cutting_proxy.h"
#include "tests/support/process.h"

namespace accelscope::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using test::Process;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPatience{30'000};
constexpr double kMiB = 1024.0 * 1024.0;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// The number behind a key of the recorder's JSON line; -1 if it is not there.
double number_of(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\": ");
  return at == std::string::npos ? -1 : std::strtod(json.c_str() + at + key.size() + 4, nullptr);
}

// Seconds of processor time that a process has used.
double cpu_seconds(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  double user = 0;
  double system = 0;
  rest >> user >> system;
  return (user + system) / 100.0;
}

struct Agent {
  std::unique_ptr<Process> process;
  std::string address;
  std::uint16_t port = 0;
};

// The simulated accelerator as fast as it goes unless the options say otherwise.
Agent start_agent(const BenchOptions& options, std::uint16_t port, const std::vector<std::string>& more) {
  std::vector<std::string> argv = {options.program_folder + "/accelscope-agent",
                                   "simulate",
                                   "--detail",
                                   "slim",
                                   "--listen",
                                   fmt::format("127.0.0.1:{}", port)};
  argv.insert(argv.end(), more.begin(), more.end());
  Agent agent;
  Result<Process> started = Process::start(argv);
  if (!started) return agent;
  agent.process = std::make_unique<Process>(std::move(started).value());
  const std::optional<std::string> line = agent.process->wait_for("listening on ", kPatience);
  if (!line) {
    fmt::print(stderr, "accelscope-bench: the agent does not start: {}\n", agent.process->output());
    agent.process.reset();
    return agent;
  }
  agent.address = line->substr(line->find("listening on ") + 13);
  agent.address = agent.address.substr(0, agent.address.find(' '));
  agent.port =
      static_cast<std::uint16_t>(std::strtoul(agent.address.substr(agent.address.rfind(':') + 1).c_str(), nullptr, 10));
  return agent;
}

Result<Process> start_recorder(const BenchOptions& options, const std::string& address, const std::string& path,
                               bool force = true) {
  std::vector<std::string> argv = {
      options.program_folder + "/accelscope", "record", address, "-o", path, "--json", "--accept-new-agent"};
  if (force) argv.emplace_back("--force");
  return Process::start(argv);
}

// Events per second of a whole recording; 0 if it failed.
double stream_rate(const BenchOptions& options, std::uint64_t events, bool tls, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--rate", "max", "--events", std::to_string(events), "--once"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Agent agent = start_agent(options, 0, arguments);
  if (!agent.process) return 0;
  Result<Process> recorder =
      start_recorder(options, (tls ? "tls://" : "") + agent.address, options.work_folder + "/rate.accel");
  if (!recorder || recorder->finish(minutes(5)) != 0) {
    if (recorder) fmt::print(stderr, "accelscope-bench: the recorder failed: {}\n", recorder->output());
    return 0;
  }
  (void)agent.process->finish(kPatience);
  return number_of(recorder->output(), "events") / number_of(recorder->output(), "capture_seconds");
}

double best_rate(const BenchOptions& options, bool tls, bool spool) {
  constexpr int kRuns = 3;
  const auto events = static_cast<std::uint64_t>(50e6 * options.scale);
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::string> more;
    const std::string folder = fmt::format("{}/spool-{}", options.work_folder, run);
    if (spool) more = {"--spool", folder, "--spool-limit", "8GiB"};
    best = std::max(best, stream_rate(options, events, tls, more));
    std::filesystem::remove_all(folder);
  }
  return best;
}

// Secrets and pins of the programs under test, apart from the user's.
void use_own_configuration(const BenchOptions& options) {
  ::setenv("XDG_CONFIG_HOME", (options.work_folder + "/config").c_str(), 1);
}

}  // namespace

void bench_agent_rest(const BenchOptions& options) {
  use_own_configuration(options);
  Agent agent = start_agent(options, 0, {});
  if (!agent.process) return;
  std::this_thread::sleep_for(milliseconds(500));
  const double cpu = cpu_seconds(agent.process->id());
  std::this_thread::sleep_for(milliseconds(5'000));
  const std::string recipe = "accelscope-agent simulate, nobody connected, 5 s";
  report({"agent_rest_memory", static_cast<double>(agent.process->resident_bytes()) / kMiB, "MiB", "at most 32", "", 0,
          recipe});
  report({"agent_rest_cpu", (cpu_seconds(agent.process->id()) - cpu) / 5 * 100, "%", "0", "", 0, recipe});
}

void bench_agent_memory(const BenchOptions& options) {
  use_own_configuration(options);
  for (const bool spool : {false, true}) {
    std::vector<std::string> more = {"--rate", "1M", "--buffer", "64MiB"};
    if (spool) more.insert(more.end(), {"--spool", options.work_folder + "/memory-spool"});
    Agent agent = start_agent(options, 0, more);
    if (!agent.process) return;
    Result<Process> recorder = start_recorder(options, agent.address, options.work_folder + "/memory.accel");
    if (!recorder) return;
    std::this_thread::sleep_for(milliseconds(1'000));
    ::kill(recorder->id(), SIGSTOP);
    std::uint64_t peak = 0;
    const Clock::time_point begin = Clock::now();
    while (seconds_since(begin) < 60 * options.scale) {
      peak = std::max(peak, agent.process->resident_bytes());
      std::this_thread::sleep_for(milliseconds(100));
    }
    ::kill(recorder->id(), SIGCONT);
    std::this_thread::sleep_for(milliseconds(3'000));  // it connects anew and takes what was kept
    recorder->interrupt();
    const int status = recorder->finish(minutes(2));
    const double lost = number_of(recorder->output(), "lost_events");
    report({spool ? "agent_memory_spool" : "agent_memory", static_cast<double>(peak) / kMiB, "MiB",
            "at most 96 (the buffer and 32)", "", 0,
            fmt::format(
                "accelscope-agent simulate --rate 1M --buffer 64MiB{}; the recorder stopped by SIGSTOP for {:.0f} s, "
                "then it went on: status {}, {:.0f} events kept, {:.0f} lost",
                spool ? " --spool" : "", 60 * options.scale, status, number_of(recorder->output(), "events"), lost)});
  }
}

void bench_stream_spool(const BenchOptions& options) {
  use_own_configuration(options);
  const double without = best_rate(options, false, false) / 1e6;
  const double with = best_rate(options, false, true) / 1e6;
  report({"stream_spool", with, "M events/s", "within 15 % of spool off", "the same without a spool", without,
          "accelscope-agent simulate --detail slim --rate max --spool, accelscope record; 50 M slices; best of 3"});
  report({"stream_tls", best_rate(options, true, false) / 1e6, "M events/s", "at least 10", "the same without TLS",
          without, "accelscope record tls://..., certificate pinned, token proved if wanted; 50 M slices; best of 3"});
}

namespace {

// A capture that is cut wherever it can be.
class CutStream {
 public:
  explicit CutStream(const BenchOptions& options) : options_(options) {}

  bool run(int cuts) {
    if (!start_agent_again()) return false;
    port_ = agent_.port;
    proxy_.emplace(port_);
    if (!start_recorder_again()) return false;
    const double bytes_per_cut = static_cast<double>(events_) * kBytesPerEvent / (cuts + 1);
    for (int cut = 0; cut < cuts; ++cut) {
      const std::uint64_t begin = passed();
      const double wanted = bytes_per_cut * std::uniform_real_distribution<>(0.05, 0.3)(random_);
      if (!await([&] { return static_cast<double>(passed() - begin) >= wanted || recorder_->resident_bytes() == 0; }))
        break;
      if (recorder_->resident_bytes() == 0) break;  // it has everything
      cut_once(cut);
      ++cuts_made_;
    }
    return recorder_->finish(minutes(5)) == 0;
  }

  [[nodiscard]] const std::string& output() const { return recorder_->output(); }
  [[nodiscard]] double worst_seconds() const { return worst_; }
  [[nodiscard]] double mean_seconds() const { return sum_ / std::max(1, cuts_made_); }
  [[nodiscard]] int cuts_made() const { return cuts_made_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  static constexpr double kBytesPerEvent = 6.48;

  [[nodiscard]] std::uint64_t passed() const { return proxy_->passed_bytes(test::Towards::client); }

  template <typename Condition>
  static bool await(const Condition& condition) {
    const Clock::time_point begin = Clock::now();
    while (!condition()) {
      if (seconds_since(begin) > 60) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

  bool start_agent_again() {
    agent_ = start_agent(options_, port_,
                         {"--rate", "max", "--events", std::to_string(events_), "--spool",
                          options_.work_folder + "/cut-spool", "--spool-limit", "8GiB"});
    return agent_.process != nullptr;
  }

  bool start_recorder_again() {
    recorder_.reset();
    Result<Process> started = start_recorder(options_, fmt::format("127.0.0.1:{}", proxy_->port()),
                                             options_.work_folder + "/cut.accel", false);
    if (started) recorder_.emplace(std::move(started).value());
    return recorder_.has_value();
  }

  // Streaming again: more has come than greetings are long.
  void cut_once(int cut) {
    Clock::time_point healed = Clock::now();
    std::uint64_t before = passed();
    switch (cut % 4) {
      case 0:
        proxy_->trouble_all(test::Trouble::reset);
        break;
      case 1:
        ::kill(agent_.process->id(), SIGSTOP);
        std::this_thread::sleep_for(milliseconds(200));
        before = passed();
        healed = Clock::now();
        ::kill(agent_.process->id(), SIGCONT);
        break;
      case 2:
        ::kill(recorder_->id(), SIGKILL);
        (void)recorder_->finish(kPatience);
        healed = Clock::now();
        before = passed();
        (void)start_recorder_again();
        break;
      default:
        ::kill(agent_.process->id(), SIGKILL);
        (void)agent_.process->finish(kPatience);
        healed = Clock::now();
        before = passed();
        (void)start_agent_again();
        break;
    }
    if (!await([&] { return passed() > before + 100'000 || recorder_->resident_bytes() == 0; })) return;
    const double took = seconds_since(healed);
    worst_ = std::max(worst_, took);
    sum_ += took;
  }

  BenchOptions options_;
  std::uint64_t events_ = static_cast<std::uint64_t>(50e6 * options_.scale);
  std::uint16_t port_ = 0;
  Agent agent_;
  std::optional<test::CuttingProxy> proxy_;
  std::optional<Process> recorder_;
  std::mt19937 random_{7};
  double worst_ = 0;
  double sum_ = 0;
  int cuts_made_ = 0;
};

}  // namespace

void bench_stream_cuts(const BenchOptions& options) {
  use_own_configuration(options);
  constexpr int kCuts = 100;
  CutStream stream(options);
  const bool whole = stream.run(kCuts);
  const std::string& output = stream.output();
  const std::string recipe = fmt::format(
      "accelscope-agent simulate --rate max --spool, accelscope record; {} cuts in turn: connection reset, agent "
      "stopped for "
      "0.2 s, recorder killed and started again, agent killed and started again; {:.0f} of "
      "{} events recorded, {:.0f} "
      "doubled frames dropped, {}",
      stream.cuts_made(), number_of(output, "events"), stream.events(), number_of(output, "doubled_frames"),
      whole ? "complete" : "NOT complete: " + output);
  report({"stream_cuts_lost", number_of(output, "lost_events"), "events", "0", "", 0, recipe});
  report({"stream_cuts_again", stream.worst_seconds(), "s", "at most 1", "the mean of all cuts", stream.mean_seconds(),
          recipe + "; from the moment when both sides run again to 100 kB of new data"});
}

}  // namespace accelscope::bench
