#include "capture/kinds/neuron/tool_steps.h"

#include <csignal>
#include <filesystem>
#include <utility>
#include <vector>

#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"

namespace accelscope::capture::kinds::neuron {
namespace {

using namespace std::chrono_literals;

constexpr auto kToolTurn = 50ms;      // how long a stop may go unnoticed
constexpr auto kFlushPeriod = 100ms;  // how long what happened may stay unseen
constexpr auto kAfterTheEnd = 1s;     // for children that still hold the streams,
constexpr auto kLongAfterIt = 10s;    // and for those that go on printing
constexpr std::size_t kToolReadBytes = 64U << 10;
constexpr std::array kStreams = {system::OutputStream::out, system::OutputStream::err};

std::string command_of(const system::ChildStart& start) {
  std::vector<std::string> argv = {start.program};
  argv.insert(argv.end(), start.arguments.begin(), start.arguments.end());
  return system::shell_command(argv);
}

}  // namespace

ToolSteps::ToolSteps(const request::KindRun& run, EventSink& sink, std::string device)
    : run_(run),
      writer_(sink),
      events_(writer_, {.name = std::move(device), .command = "", .directory = ""}, true, false),
      flushed_at_(Clock::now()) {}

Result<StepEnd> ToolSteps::run(const ToolStep& step) {
  const Clock::time_point begin = Clock::now();
  Result<std::unique_ptr<system::SupervisedChild>> started = system::SupervisedChild::start(step.start);
  if (!started) return started.error();
  system::SupervisedChild& child = **started;
  StepEnd end;
  watch(child, step, end);
  if (end.stopped || end.timed_out) child.signal_group(SIGKILL);  // what it started and left behind
  const int id = child.id();
  const system::ChildEnd ended = child.finish();
  end.exit_code = ended.exit_code;
  end.signal = ended.signal;
  const Clock::time_point now = Clock::now();
  for (const system::OutputStream stream : kStreams) {
    lines_[static_cast<std::size_t>(stream)].finish(
        [&](const kinds::program::OutputPiece& piece) { events_.add_line(stream, run_.ns_of(now), piece); });
  }
  events_.set_command(command_of(step.start), step.start.directory);
  events_.add_life(run_.ns_of(begin), run_.ns_of(now), id, ended);
  writer_.flush();
  if (Result<void> kept = writer_.status(); !kept) return kept.error();
  return end;
}

void ToolSteps::watch(system::SupervisedChild& child, const ToolStep& step, StepEnd& end) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point asked;
  Clock::time_point ended;
  bool killed = false;
  for (;;) {
    child.wait(kToolTurn);
    bool more = false;
    for (const system::OutputStream stream : kStreams) more = read(child, stream, end) || more;
    const Clock::time_point now = Clock::now();
    flush(now);
    if (child.ended()) {
      if (ended == Clock::time_point()) ended = now;
      if (!child.any_open() || now - ended >= (more ? kLongAfterIt : kAfterTheEnd)) return;
      continue;
    }
    if (!end.stopped && !end.timed_out) {
      end.stopped = !step.after_stop && writer_.cancelled();
      end.timed_out = !end.stopped && step.limit.count() > 0 && now - begin >= step.limit;
      if (!end.stopped && !end.timed_out) continue;
      asked = now;
      child.signal_group(SIGINT);
    } else if (!killed && now - asked >= step.grace) {
      killed = true;
      child.signal_group(SIGKILL);
    }
  }
}

bool ToolSteps::read(system::SupervisedChild& child, system::OutputStream stream, StepEnd& end) {
  std::array<char, kToolReadBytes>
      buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): only what was read is used
  const std::size_t got = child.read(stream, buffer);
  if (got == 0) return false;
  const std::string_view bytes(buffer.data(), got);
  end.output.append(bytes);
  if (end.output.size() > 2 * system::kMaxOutputBytes) end.output.erase(0, end.output.size() - system::kMaxOutputBytes);
  show(stream, bytes);
  return true;
}

void ToolSteps::show(system::OutputStream stream, std::string_view bytes) {
  if (run_.watch.printed) run_.watch.printed(stream == system::OutputStream::err, bytes);
  const std::int64_t now = run_.now_ns();
  lines_[static_cast<std::size_t>(stream)].feed(
      bytes, [&](const kinds::program::OutputPiece& piece) { events_.add_line(stream, now, piece); });
}

void ToolSteps::note(std::string_view text) {
  show(system::OutputStream::out, std::string(text) + "\n");
  writer_.flush();
}

void ToolSteps::flush(Clock::time_point now) {
  if (now - flushed_at_ < kFlushPeriod) return;
  flushed_at_ = now;
  writer_.flush();
}

}  // namespace accelscope::capture::kinds::neuron
