#include "capture/kinds/program/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/program/start.h"
#include "capture/request/options.h"

namespace accelscope::capture::kinds::program {
namespace {

using namespace std::chrono_literals;

constexpr auto kProgramTurn = 50ms;          // how long a stop or a pause may go unnoticed
constexpr auto kProgramFlushPeriod = 100ms;  // how long what happened may stay unseen
constexpr auto kUnfinished = 1s;             // after which a line without an end is shown
constexpr auto kProgramAfterTheEnd = 1s;     // for children that still hold the streams
constexpr std::size_t kProgramReadBytes = 64U << 10;
constexpr std::array kProgramStreams = {system::OutputStream::out, system::OutputStream::err};

[[nodiscard]] std::size_t index(system::OutputStream stream) { return static_cast<std::size_t>(stream); }

}  // namespace

Result<void> ProgramRun::run(const system::ChildStart& start) {
  ProgramFacts facts = facts_of(run_.request, run_.work_folder);
  set_facts(start, facts);
  const std::string command = facts.command;
  std::unique_ptr<system::SupervisedChild> child = TRY(system::SupervisedChild::start(start));
  child_ = std::move(child);
  begin_ = flushed_at_ = shown_at_ = sample_at_ = Clock::now();
  const bool counters = options_.counters && ProcessTree::available();
  // As probes inside it name it, so that its rows stand together.
  facts.name = fmt::format("{} ({})", facts.name, child_->id());
  events_.emplace(writer_, std::move(facts), options_.lines, counters);
  if (counters) tree_.emplace(child_->id());
  while (turn()) {
  }
  if (asked_at_) child_->signal_group(SIGKILL);  // what it started and left behind
  // What it printed last may be read after its end.
  const Clock::time_point ended = left_open_ ? *ended_at_ : std::max({*ended_at_, read_at_[0], read_at_[1]});
  const int id = child_->id();
  const system::ChildEnd end = child_->finish();
  events_->add_life(run_.ns_of(begin_), run_.ns_of(ended), id, end);
  report(end, command);
  report_output();
  if (run_.watch.ended) run_.watch.ended(end.exit_code);
  return writer_.finish();
}

void ProgramRun::set_facts(const system::ChildStart& start, const ProgramFacts& facts) {
  writer_.set_meta("program.command", facts.command);
  writer_.set_meta("program.directory", facts.directory);
  if (start.environment.empty()) return;
  // Values stay out of sessions: they may be secrets.
  std::string names;
  for (const std::string& setting : start.environment) {
    names += (names.empty() ? "" : " ") + setting.substr(0, setting.find('='));
  }
  writer_.set_meta("program.environment_names", names);
}

bool ProgramRun::turn() {
  Clock::time_point now = Clock::now();
  auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kProgramTurn);
  if (tree_) patience = std::min(patience, std::chrono::ceil<std::chrono::milliseconds>(sample_at_ - now));
  child_->wait(patience);
  for (const system::OutputStream stream : kProgramStreams) read(stream);
  now = Clock::now();
  if (child_->ended() && !ended_at_) ended_at_ = now;
  show_unfinished(now);
  if (tree_ && !ended_at_ && now >= sample_at_) sample(now);
  if (now - flushed_at_ >= kProgramFlushPeriod && writer_.event_count() != flushed_events_) {
    writer_.flush();
    flushed_at_ = now;
    flushed_events_ = writer_.event_count();
  }
  if (options_.on_each_turn) options_.on_each_turn();
  if (asked_at_ || writer_.cancelled()) stop_in_order(now);
  return !over(now);
}

void ProgramRun::read(system::OutputStream stream) {
  std::array<char, kProgramReadBytes>
      buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): only what was read is used
  const std::size_t got = child_->read(stream, buffer);
  if (got == 0) return;
  const std::string_view bytes(buffer.data(), got);
  const Clock::time_point now = Clock::now();
  read_at_[index(stream)] = now;
  if (run_.watch.printed) run_.watch.printed(stream == system::OutputStream::err, bytes);
  if (!options_.lines) return;
  lines_[index(stream)].feed(bytes,
                             [&](const OutputPiece& piece) { events_->add_line(stream, run_.ns_of(now), piece); });
}

// Prompts that stand, and progress bars that run.
void ProgramRun::show_unfinished(Clock::time_point now) {
  if (!options_.lines || now - shown_at_ < kUnfinished) return;
  shown_at_ = now;
  for (const system::OutputStream stream : kProgramStreams) {
    OutputLines& lines = lines_[index(stream)];
    if (now - read_at_[index(stream)] < kUnfinished && !lines.rewriting()) continue;
    lines.feed_unfinished([&](const OutputPiece& piece) { events_->add_line(stream, run_.ns_of(now), piece); });
  }
}

void ProgramRun::sample(Clock::time_point now) {
  sample_at_ = std::max(sample_at_ + std::chrono::duration_cast<Clock::duration>(options_.sample_interval), now);
  if (sink_.paused()) {
    was_paused_ = true;
    return;
  }
  const std::optional<TreeUsage> usage = tree_->sample();
  // The first sample after a pause spans it.
  if (usage && !std::exchange(was_paused_, false)) events_->add_usage(run_.ns_of(now), *usage);
}

void ProgramRun::stop_in_order(Clock::time_point now) {
  if (!asked_at_) {
    asked_at_ = now;
    child_->signal_group(options_.stop_signal);
  } else if (!killed_ && now - *asked_at_ >= options_.grace) {
    killed_ = true;
    child_->signal_group(SIGKILL);
  }
}

bool ProgramRun::over(Clock::time_point now) {
  if (!ended_at_) return false;
  if (!child_->any_open()) return true;
  // Children that were asked to end as well may take as long as the program.
  const Clock::time_point begin =
      asked_at_ ? std::max(*ended_at_, *asked_at_ + std::chrono::duration_cast<Clock::duration>(options_.grace))
                : *ended_at_;
  left_open_ = now - begin >= kProgramAfterTheEnd;
  return left_open_;
}

void ProgramRun::report(const system::ChildEnd& end, const std::string& command) {
  writer_.set_meta(std::string(kExitStatusFact), fmt::format("{}", end.exit_code));
  if (end.signal != 0) writer_.set_meta("program.signal", system::signal_name(end.signal));
  const std::string how = end.signal == SIGKILL && asked_at_ ? "did not end in time and was killed"
                          : end.signal != 0
                              ? (asked_at_ ? "ended by " : "was ended by ") + system::signal_name(end.signal)
                              : fmt::format("ended with status {}", end.exit_code);
  const bool failed = !asked_at_ && end.exit_code != 0;
  tell(writer_, command + ": ",
       {{QualityKind("program_stopped").as(killed_ ? Severity::warning : Severity::note), asked_at_ ? 1U : 0U,
         "the capture was stopped; the program " + how},
        {QualityKind("program_failed").as(end.signal != 0 ? Severity::error : Severity::warning), failed ? 1U : 0U,
         "the program " + how + "; what it printed last is on the tracks stdout and stderr"},
        {"output_left_open", left_open_ ? 1U : 0U,
         "processes that the program started live on and hold its output; what they print later is not in the "
         "session"}});
}

void ProgramRun::report_output() {
  if (!options_.lines) return;
  std::uint64_t cut = 0;
  std::uint64_t bad = 0;
  for (const system::OutputStream stream : kProgramStreams) {
    OutputLines& lines = lines_[index(stream)];
    const Clock::time_point came = std::max(read_at_[index(stream)], shown_at_);
    lines.finish([&](const OutputPiece& piece) { events_->add_line(stream, run_.ns_of(came), piece); });
    cut += lines.cut_lines();
    bad += lines.bad_bytes();
  }
  tell(writer_, "",
       {{"long_lines_cut", cut,
         fmt::format("lines of output longer than {} KiB were cut into pieces; nothing is missing",
                     OutputLines::kMaxPieceBytes >> 10)},
        {"output_bytes_replaced", bad,
         "bytes of output that are no UTF-8 text, or control characters, were replaced by U+FFFD"}});
}

namespace {

request::KindFacts declare_program() {
  return {.name = "program",
          .title = "Program output and resources",
          .explanation = "Runs a program: every line that it prints, its CPU time, memory, threads and exit status.",
          .needs_program = true,
          .options = program_options()};
}

std::vector<request::KindCheck> check_program() {
  std::vector<request::KindCheck> checks;
  checks.push_back({true, "runs programs as this user, in a session of their own"});
  // Without counters the kind still works.
  checks.push_back({true, ProcessTree::available() ? "samples their resources from /proc"
                                                   : "takes no samples of resources: /proc cannot be read here"});
  return checks;
}

Result<std::string> describe_program(const request::CaptureRequest& request, const request::OptionReader& /*options*/,
                                     const std::string& work_folder) {
  return shown_program(request, work_folder);
}

Result<void> run_program(const request::KindRun& run, EventSink& sink) {
  const system::ChildStart start = TRY(prepare_program(run));
  return ProgramRun(run, sink, read_program_options(*run.options)).run(start);
}

}  // namespace

request::CaptureKind program_kind() {
  return {declare_program, check_program, describe_program, run_program, accept_program_options};
}

}  // namespace accelscope::capture::kinds::program
