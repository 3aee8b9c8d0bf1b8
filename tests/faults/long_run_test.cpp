// A capture as long as one likes, with a memory budget, a spool and faults: the recorder is killed and started again,
// connections are cut, the spool's disk is full for a while. At its end every event is there once, counted from the
// tables of chunks and from the rows; what both programs held in memory meanwhile is written as a table and a picture.
//
//   ACCELSCOPE_LONG_RUN_MINUTES=15 build/test/bin/faults_tests -tc="a long capture*"
//
// leaves build/test/long-run/memory.csv and memory.svg. Without it, a run of a few seconds.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "tests/faults/counted_events.h"
#include "tests/faults/real_capture.h"
#include "tests/faults/trial_folder.h"
#include "tests/support/cutting_proxy.h"
#include "tests/support/faults/small_disk.h"
#include "tests/support/sanitized.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::CuttingProxy;
using test::SmallDisk;
using test::Trouble;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = 1 << 20;

struct LongRunPlan {
  bool is_long = false;
  double seconds = 2.5;
  const char* rate = "100k";
  std::uint64_t budget = 2 * kMiB;
  std::uint64_t spool_disk = 16 * kMiB;
  milliseconds between_faults{300};
  milliseconds between_samples{50};
};

LongRunPlan plan_of_environment() {
  LongRunPlan plan;
  const char* minutes = std::getenv("ACCELSCOPE_LONG_RUN_MINUTES");
  if (minutes == nullptr) return plan;
  plan.is_long = true;
  plan.seconds = std::max(0.1, std::atof(minutes)) * 60;
  plan.rate = "250k";
  plan.budget = 256 * kMiB;
  plan.spool_disk = 128 * kMiB;
  plan.between_faults = milliseconds(4'000);
  plan.between_samples = milliseconds(1'000);
  return plan;
}

struct MemorySample {
  double seconds = 0;
  std::uint64_t agent_bytes = 0, recorder_bytes = 0;
  std::uint64_t faults = 0;
};

class LongRun {
 public:
  LongRun(const LongRunPlan& plan, const TrialFolder& folder)
      : plan_(plan),
        disk_(folder.path / "spool-disk", plan.spool_disk),
        output_((folder.path / "run.accel").string()),
        retained_(retained_in(folder.path.string())) {
    retained_.push_back("TMPDIR=" + folder.path.string());
    Argv serve = SimulatingAgent::command({"--once", "--rate", plan.rate, "--seconds", fmt::format("{}", plan.seconds),
                                           "--spool", (disk_.folder() / "spool").string()});
    serve = with_environment(retained_, serve);
    agent_.emplace(disk_.there() ? disk_.seen_by(serve) : serve);
    const std::string& address = agent_->address();
    proxy_.emplace(static_cast<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    start_recorder();
    REQUIRE_MESSAGE(agent_->process().wait_for("the capture begins", kPatience).has_value(),
                    agent_->process().output());
  }

  // Until the source has ended.
  void run() {
    const auto begin = Clock::now(),
               end = begin + std::chrono::duration_cast<milliseconds>(std::chrono::duration<double>(plan_.seconds));
    auto next_fault = begin + plan_.between_faults, next_sample = begin;
    while (Clock::now() < end) {
      (void)agent_->process().read_line(milliseconds(10));  // what it says must not fill its pipe
      if (Clock::now() >= next_sample) {
        sample(std::chrono::duration<double>(Clock::now() - begin).count());
        next_sample += plan_.between_samples;
      }
      if (Clock::now() >= next_fault) {
        make_fault();
        next_fault = Clock::now() + plan_.between_faults;
      }
    }
    if (is_full_) disk_.make_room();
  }

  Recorded finish() {
    const auto limit = kPatience + std::chrono::seconds(static_cast<int>(plan_.seconds));
    const int status = recorder_->finish(limit);
    return {status, recorder_->output()};
  }

  [[nodiscard]] SimulatingAgent& agent() { return *agent_; }
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  [[nodiscard]] const std::vector<MemorySample>& samples() const noexcept { return samples_; }
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }
  [[nodiscard]] std::uint64_t kills() const noexcept { return kills_; }

 private:
  void start_recorder() {
    recorder_.emplace(started_program(
        with_environment(retained_, record_command(fmt::format("127.0.0.1:{}", proxy_->port()), output_,
                                                   {"--memory-budget", fmt::format("{}", plan_.budget)}))));
  }

  void sample(double at_s) {
    samples_.push_back({at_s, agent_->process().resident_bytes(), recorder_->resident_bytes(), faults_});
  }

  void make_fault() {
    if (is_full_) {
      disk_.make_room();
      is_full_ = false;
      return;
    }
    ++faults_;
    switch (plan_.is_long ? random_() % 24 : faults_ % 4) {
      case 1:
        ++kills_;
        ::kill(recorder_->id(), SIGKILL);
        (void)recorder_->finish(kPatience);
        recorder_.reset();
        return start_recorder();
      case 2:
        if (!disk_.there()) return proxy_->trouble_all(Trouble::reset);
        is_full_ = true;
        return disk_.fill();
      case 3:
        return proxy_->trouble_all(Trouble::fin);
      case 4:
        return proxy_->trouble_all(Trouble::stall);  // until the silence is noticed: not in a short run
      default:
        return proxy_->trouble_all(Trouble::reset);
    }
  }

  const LongRunPlan plan_;
  SmallDisk disk_;
  const std::string output_;
  Argv retained_;
  std::optional<SimulatingAgent> agent_;
  std::optional<CuttingProxy> proxy_;
  std::optional<test::Process> recorder_;
  std::vector<MemorySample> samples_;
  std::uint64_t faults_ = 0, kills_ = 0;
  bool is_full_ = false;
  std::mt19937 random_{20'261'128};
};

struct MemoryPeaks {
  std::uint64_t agent = 0, recorder = 0;
};

MemoryPeaks peaks_of(const std::vector<MemorySample>& samples) {
  MemoryPeaks peaks;
  for (const MemorySample& sample : samples) {
    peaks.agent = std::max(peaks.agent, sample.agent_bytes);
    peaks.recorder = std::max(peaks.recorder, sample.recorder_bytes);
  }
  return peaks;
}

void write_table(const fs::path& path, const std::vector<MemorySample>& samples) {
  std::ofstream file(path);
  file << "seconds,agent_bytes,recorder_bytes,faults\n";
  for (const MemorySample& each : samples)
    file << fmt::format("{:.2f},{},{},{}\n", each.seconds, each.agent_bytes, each.recorder_bytes, each.faults);
}

// Two lines over time, from nothing to the highest of both.
void write_picture(const fs::path& path, const std::vector<MemorySample>& samples) {
  constexpr double kWidth = 960, kHeight = 360, kEdge = 40;
  const MemoryPeaks peaks = peaks_of(samples);
  const auto highest = static_cast<double>(std::max({peaks.agent, peaks.recorder, std::uint64_t{1}}));
  const double last = samples.empty() ? 1 : std::max(samples.back().seconds, 0.001);
  const auto line = [&](std::uint64_t MemorySample::*side, const char* colour) {
    std::string points;
    for (const MemorySample& each : samples) {
      points += fmt::format("{:.1f},{:.1f} ", kEdge + each.seconds / last * (kWidth - 2 * kEdge),
                            kHeight - kEdge - static_cast<double>(each.*side) / highest * (kHeight - 2 * kEdge));
    }
    return fmt::format("<polyline fill=\"none\" stroke=\"{}\" points=\"{}\"/>\n", colour, points);
  };
  const auto words = [](double x, double y, const char* colour, const std::string& text) {
    return fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", x, y, colour, text);
  };
  constexpr const char *kAgentColour = "#1f77b4", *kRecorderColour = "#d62728", *kAxisColour = "#444444";
  std::ofstream(path) << fmt::format(
                             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                             "font-family=\"sans-serif\" font-size=\"12\">\n"
                             "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                             kWidth, kHeight)
                      << words(kEdge, kEdge - 12, kAxisColour,
                               fmt::format("resident memory, up to {:.0f} MiB; {:.0f} s, {} faults", highest / kMiB,
                                           last, samples.empty() ? 0 : samples.back().faults))
                      << words(kWidth - 220, kEdge - 12, kAgentColour, "accelscope-agent")
                      << words(kWidth - 110, kEdge - 12, kRecorderColour, "recorder")
                      << line(&MemorySample::agent_bytes, kAgentColour)
                      << line(&MemorySample::recorder_bytes, kRecorderColour) << "</svg>\n";
}

// Both hold what they were given: the agent its buffer, the recorder its budget, and a little for each event.
void check_memory(const LongRunPlan& plan, const std::vector<MemorySample>& samples, std::uint64_t events) {
  if (test::sanitized()) return;  // a sanitizer keeps memory of its own
  constexpr std::uint64_t kAgentBuffer = 64 * kMiB, kProgram = 128 * kMiB;
  constexpr std::uint64_t kIndexBytes = 2;  // of an event, in the recorder
  const MemoryPeaks peaks = peaks_of(samples);
  CHECK(peaks.agent < kAgentBuffer + kProgram);
  CHECK(peaks.recorder < plan.budget + kIndexBytes * events + kProgram);
}

TEST_CASE("a long capture with a memory budget, a spool and faults is gapless, and both sides keep to their memory") {
  if (!has_recorder()) return;
  const LongRunPlan plan = plan_of_environment();
  const TrialFolder folder;
  LongRun run(plan, folder);
  run.run();
  const Recorded recorded = run.finish();
  const std::string said = recorded.output + run.agent().process().output();
  CHECK_MESSAGE(recorded.status == 0, said);
  const auto made = run.agent().made();
  REQUIRE_MESSAGE(made.has_value(), said);
  const CountedEvents counted = count_events(run.output());
  CHECK_MESSAGE(counted.of_chunks == *made, said);
  CHECK_MESSAGE(counted.of_rows == *made, said);
  CHECK_MESSAGE(counted.wrong.empty(), counted.wrong);
  CHECK(run.faults() > 0);
  CHECK((run.kills() > 0 || plan.is_long));
  check_memory(plan, run.samples(), *made);

  const fs::path results = plan.is_long ? fs::path(test::programs_folder()) / ".." / "long-run" : folder.path;
  fs::create_directories(results);
  write_table(results / "memory.csv", run.samples());
  write_picture(results / "memory.svg", run.samples());
  CHECK(fs::file_size(results / "memory.csv") > 100);
  CHECK(fs::file_size(results / "memory.svg") > 300);
  const MemoryPeaks peaks = peaks_of(run.samples());
  MESSAGE(fmt::format("{} events, {} faults, {} kills of the recorder; agent at most {} MiB, recorder {} MiB{}", *made,
                      run.faults(), run.kills(), peaks.agent / kMiB, peaks.recorder / kMiB,
                      plan.is_long ? "; over time in " + fs::absolute(results).lexically_normal().string() : ""));
}

}  // namespace
}  // namespace accelscope::capture
