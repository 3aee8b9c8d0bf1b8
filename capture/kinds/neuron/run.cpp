#include "capture/kinds/neuron/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "capture/kinds/neuron/settings.h"
#include "capture/kinds/program/start.h"
#include "capture/request/kind.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"
#include "capture/system/child_process.h"
#include "capture/system/descriptor.h"
#include "capture/system/shown_command.h"
#include "core/base/format.h"
#include "core/base/text.h"

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
  std::unique_ptr<system::SupervisedChild> started = TRY(system::SupervisedChild::start(step.start));
  system::SupervisedChild& child = *started;
  StepEnd end;
  watch(child, step, end);
  if (end.stopped || end.timed_out || end.done) child.signal_group(SIGKILL);  // what it started and left behind
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
  TRY(writer_.status());
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
    if (!end.stopped && !end.timed_out && !end.done) {
      const bool stopping = !step.after_stop && writer_.cancelled();
      const bool done = step.done && step.done(stopping);
      end.stopped = stopping && (done || !step.done);
      end.done = done && !end.stopped;
      end.timed_out = !end.stopped && !end.done && step.limit.count() > 0 && now - begin >= step.limit;
      if (!end.stopped && !end.timed_out && !end.done) continue;
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

namespace {

constexpr auto kBetweenTries = 500ms;
constexpr auto kLongestAnswer = 600s;  // the end of a profile is answered once it is written
constexpr std::size_t kMostAnswerBytes = 64U << 10;

// The status of the answer.
Result<int> post(std::uint16_t port, const std::string& path) {
  const system::Descriptor server = TRY(system::connect_to_loopback(port));
  TRY(system::write_all(server, fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n"
                                            "Connection: close\r\n\r\n",
                                            path, port)));
  const auto until = std::chrono::steady_clock::now() + kLongestAnswer;
  const std::string answer =
      TRY(system::read_to_end(server, kMostAnswerBytes, [&] { return std::chrono::steady_clock::now() > until; }));
  int status = 0;
  const std::size_t at = answer.find(' ');
  if (!answer.starts_with("HTTP/") || at == std::string::npos ||
      std::from_chars(answer.data() + at + 1, answer.data() + answer.size(), status).ec != std::errc())
    return Error{fmt::format("127.0.0.1:{}{}: the answer is not HTTP", port, path)};
  return status;
}

}  // namespace

ServerProfile::ServerProfile(std::uint16_t port, std::chrono::nanoseconds time,
                             std::function<void(std::string_view)> note)
    : port_(port), time_(time), note_(std::move(note)) {}

void ServerProfile::ask(const char* path) {
  answer_ = std::async(std::launch::async, [port = port_, path] { return post(port, path); });
}

bool ServerProfile::done(bool stopping) {
  constexpr int kMostGoodStatus = 299;
  const Clock::time_point now = Clock::now();
  if (answer_.valid()) {
    if (answer_.wait_for(0s) != std::future_status::ready) return false;
    const Result<int> status = answer_.get();
    const bool is_good = status && *status <= kMostGoodStatus;
    problem_ = !status ? status.message() : is_good ? "" : fmt::format("the server answered with status {}", *status);
    since_ = now;
    if (state_ == State::ending) {
      state_ = State::ended;
      note_(is_good ? "the server has written its profile" : "the server's profile was not ended: " + problem_);
    } else if (is_good) {
      state_ = State::running;
      note_("the server is profiled");
    }
  }
  if (state_ == State::ended || (state_ == State::waiting && stopping)) return true;
  if (state_ == State::waiting && now - since_ >= kBetweenTries) {
    ask("/start_profile");
  } else if (state_ == State::running && (stopping || (time_.count() > 0 && now - since_ >= time_))) {
    state_ = State::ending;
    ask("/stop_profile");
  }
  return false;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 1U << 20;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  return read_number(text, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> execution_of(const std::string& path) {
  constexpr std::string_view kWord = "exec_";
  const std::string stem = fs::path(path).stem().string();
  const std::size_t at = stem.rfind(kWord);
  return at == std::string::npos ? std::nullopt : whole_number(std::string_view(stem).substr(at + kWord.size()));
}

// "rank 3" of the file, or of the folder that it lies in.
std::string rank_of(const fs::path& path) {
  std::string label = sources::label_of_path(path.filename().string());
  if (label.empty()) label = sources::label_of_path(path.parent_path().filename().string());
  return label.substr(0, label.find(" run "));
}

std::string listed(const std::vector<kinds::program::FolderWatch::File>& files) {
  std::string text;
  for (std::size_t i = 0; i < files.size(); ++i) {
    text += fmt::format("\n{}. {} ({})", i + 1, files[i].path, format_bytes(files[i].bytes));
  }
  return text;
}

Result<std::size_t> skip_header(std::ifstream& file, const std::string& path) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr std::size_t kVersionTwo = 2;  // has four bytes of length
  std::array<unsigned char, 12> head{};
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  const std::string_view begin(reinterpret_cast<const char*>(head.data()), kMagic.size());
  if (static_cast<std::size_t>(file.gcount()) < head.size() || begin != kMagic) {
    return Error{fmt::format("{}: is no .npy file; write it with numpy.save, or name it .bin if it is raw", path)};
  }
  std::size_t length = head[8] + (std::size_t{head[9]} << 8U);
  std::size_t fixed = 10;
  if (head[6] >= kVersionTwo) {
    length += (std::size_t{head[10]} << 16U) + (std::size_t{head[11]} << 24U);
    fixed = 12;
  }
  file.seekg(static_cast<std::streamoff>(fixed + length));
  return fixed + length;
}

}  // namespace

Result<std::size_t> choose_neff(const std::vector<kinds::program::FolderWatch::File>& files, const std::string& which) {
  const auto newest = [](const kinds::program::FolderWatch::File& a, const kinds::program::FolderWatch::File& b) {
    return a.written < b.written;
  };
  const auto largest = [&](const kinds::program::FolderWatch::File& a, const kinds::program::FolderWatch::File& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : newest(a, b);
  };
  const auto index_of = [&](auto found) { return static_cast<std::size_t>(found - files.begin()); };
  if (which == "largest" || which.empty()) return index_of(std::max_element(files.begin(), files.end(), largest));
  if (which == "newest") return index_of(std::max_element(files.begin(), files.end(), newest));
  if (const auto number = whole_number(which); number && *number >= 1 && *number <= files.size()) return *number - 1;
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].path.find(which) != std::string::npos) fitting.push_back(i);
  }
  if (fitting.size() == 1) return fitting.front();
  return Error{
      fmt::format("--compiled-neff: '{}' fits {} of the NEFFs that were compiled; name more of the path, a number, "
                  "largest or newest:{}",
                  which, fitting.empty() ? "none" : "several", listed(files))};
}

ChosenTraces choose_traces(const std::vector<std::string>& paths, std::optional<std::uint64_t> nth, std::size_t most) {
  std::map<std::string, std::vector<NeuronTrace>> ranks;
  for (const std::string& path : paths) {
    NeuronTrace trace{path, rank_of(fs::path(path)), execution_of(path)};
    ranks[trace.label].push_back(std::move(trace));
  }
  ChosenTraces traces;
  for (auto& [label, of_rank] : ranks) {
    const auto better = [&](const NeuronTrace& a, const NeuronTrace& b) {
      const bool a_wanted = nth && a.execution == nth;
      const bool b_wanted = nth && b.execution == nth;
      return a_wanted != b_wanted ? b_wanted : a.execution.value_or(0) < b.execution.value_or(0);
    };
    const auto best = std::max_element(of_rank.begin(), of_rank.end(), better);
    for (auto trace = of_rank.begin(); trace != of_rank.end(); ++trace) {
      if (trace == best) {
        traces.chosen.push_back(*trace);
      } else {
        traces.left.push_back(trace->path);
      }
    }
  }
  std::sort(traces.chosen.begin(), traces.chosen.end(),
            [](const NeuronTrace& a, const NeuronTrace& b) { return natural_less(a.label, b.label); });
  while (traces.chosen.size() > most) {
    traces.beyond.insert(traces.beyond.begin(), traces.chosen.back().path);
    traces.chosen.pop_back();
  }
  return traces;
}

Result<bool> is_all_zero(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: the input cannot be read; check the path and its permissions", path)};
  if (fs::path(path).extension() == ".npy") {
    TRY(skip_header(file, path));
  }
  std::vector<char> block(kBlockBytes);
  std::uint64_t bytes = 0;
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto end = block.begin() + file.gcount();
    if (std::any_of(block.begin(), end, [](char byte) { return byte != 0; })) return false;
    bytes += static_cast<std::uint64_t>(file.gcount());
  } while (file);
  if (bytes == 0) return Error{fmt::format("{}: the input holds no values; was its writer stopped early?", path)};
  return true;
}

namespace {

// Where the profiles of one capture are read into: each into a scope of its own. Those that say when they began are
// laid on the capture's time, beside what the program printed; the others begin with the capture.
//
//   ProfileSinks sinks(run.open_scope, false);
//   import_input(paths, options, [&] { return sinks.next(); });
//   sinks.place(run.origin);
class ProfileSinks {
 public:
  // after_stop: profiles are read although the capture was stopped.
  ProfileSinks(const request::OpenScope& open_scope, bool after_stop)
      : open_scope_(open_scope), after_stop_(after_stop) {}

  [[nodiscard]] std::unique_ptr<EventSink> next();  // must not outlive this object
  Result<void> place(std::chrono::steady_clock::time_point origin);

 private:
  const request::OpenScope& open_scope_;
  bool after_stop_;
  sources::SharedFacts facts_;
  std::vector<std::unique_ptr<EventSink>> scopes_;
  std::deque<sources::LabelledSink> sinks_;
};

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

std::unique_ptr<EventSink> ProfileSinks::next() {
  scopes_.push_back(open_scope_());
  sinks_.emplace_back(*scopes_.back(), "", facts_);
  EventSink& scope = sinks_.back();
  return std::make_unique<sources::SupervisedSink>(scope, [this, &scope] { return !after_stop_ && scope.cancelled(); });
}

Result<void> ProfileSinks::place(std::chrono::steady_clock::time_point origin) {
  const auto passed = duration_cast<nanoseconds>(std::chrono::steady_clock::now() - origin);
  const auto now = duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  std::optional<std::int64_t> first;
  for (const sources::LabelledSink& sink : sinks_) {
    if (const auto begin = sink.begin_unix_ns()) first = std::min(first.value_or(*begin), *begin);
  }
  const std::int64_t delay = first.value_or(0) - (now - passed).count();
  if (!first || delay < 0 || delay > passed.count()) return {};  // of another time, or by another clock
  for (sources::LabelledSink& sink : sinks_) {
    if (!sink.begin_unix_ns()) continue;
    if (Result<void> done = sink.delay(delay); !done) return done;
  }
  return {};
}

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kTraceDepth = 2;    // of folders in which the tool may put traces
constexpr int kCompileDepth = 6;  // of those in which compilers put NEFFs
constexpr auto kPausedTurn = 50ms;
constexpr auto kInspectGrace = 60s;  // for what a program that is stopped has recorded to be written
constexpr const char* kUsualCache = "/var/tmp/neuron-compile-cache";

std::string inherited_variable(const std::string& name) { return system::environment_value(name.c_str()); }

std::string seconds_text(std::chrono::nanoseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

std::vector<std::string> paths_of(const std::vector<kinds::program::FolderWatch::File>& files) {
  std::vector<std::string> paths;
  for (const kinds::program::FolderWatch::File& file : files) paths.push_back(file.path);
  return paths;
}

std::string compile_cache(const std::vector<std::string>& environment) {
  const std::string cache = system::environment_value(kCacheVariable, environment);
  return cache.empty() ? kUsualCache : cache;
}

}  // namespace

std::string host_path(const std::string& file, const request::CaptureRequest& request, const std::string& work_folder) {
  const fs::path path(file);
  if (path.is_absolute()) return file;
  std::error_code failure;
  const fs::path sent = fs::path(work_folder) / path;
  if (!work_folder.empty() && fs::exists(sent, failure)) return fs::absolute(sent, failure).string();
  return fs::absolute(fs::path(kinds::program::program_folder(request, work_folder)) / path, failure).string();
}

NeuronRun::NeuronRun(const request::KindRun& run, EventSink& sink, NeuronSettings settings, std::string tool)
    : run_(run),
      sink_(sink),
      settings_(std::move(settings)),
      tool_(std::move(tool)),
      tool_name_(fs::path(tool_).filename().string()),
      base_(fs::absolute(kinds::program::program_folder(run.request, run.work_folder)).string()),
      steps_(run, sink, tool_name_) {}

Result<void> NeuronRun::run() {
  while (sink_.paused() && !sink_.cancelled()) std::this_thread::sleep_for(kPausedTurn);
  steps_.writer().set_meta("neuron.tool", tool_);
  Result<void> done;
  if (settings_.start == NeuronStart::neff) {
    done = capture_neff(host_path(settings_.neff, run_.request, run_.work_folder));
  } else if (settings_.recorder != NeuronRecorder::inspect) {
    done = record_program();
  } else if (settings_.profile == NeuronProfile::device) {
    done = capture_compiled();
  } else {
    done = inspect_program();
  }
  if (stopped_) {
    warn("capture_stopped",
         fmt::format("the capture was stopped before the profile was read; what {} has written until then is in {}",
                     tool_name_, base_));
  }
  const Result<void> retained = steps_.writer().finish();
  return done.ok() ? retained : done;
}

void NeuronRun::warn(QualityKind kind, std::string detail, std::uint64_t count) {
  steps_.note("accelscope: " + detail);
  steps_.writer().add_quality({kind, count, std::move(detail)});
}

Error NeuronRun::failure(const std::vector<std::string>& arguments, const StepEnd& ended) const {
  std::vector<std::string> command = {tool_name_};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::string what = fmt::format("{} {}", tool_name_, arguments.front());
  if (ended.timed_out) {
    return Error{
        fmt::format("{}: was still running after {} and was ended; give it longer with --time-limit, or see "
                    "whether the device hangs (neuron-top); {}",
                    what, seconds_text(settings_.time_limit), sources::neuron::shown_output(ended.output))};
  }
  const std::string advice = sources::neuron::advice_on_failure(ended.output);
  const std::string how = ended.signal != 0 ? "was ended by " + system::signal_name(ended.signal)
                                            : fmt::format("failed with exit code {}", ended.exit_code);
  return Error{fmt::format("{}: {}; {}{}to try by hand: {}; {}", what, how, advice, advice.empty() ? "" : "; ",
                           system::shell_command(command), sources::neuron::shown_output(ended.output))};
}

Result<StepEnd> NeuronRun::run_tool(const std::vector<std::string>& arguments, const std::string& folder,
                                    std::chrono::nanoseconds limit, std::function<bool()> written) {
  ToolStep step{
      .start = {tool_, arguments, folder, run_.request.environment}, .limit = limit, .after_stop = after_stop_};
  if (written) step.done = [&](bool stopping) { return stopping || written(); };
  Result<StepEnd> ended = steps_.run(step);
  if (ended) stopped_ = stopped_ || ended->stopped;
  return ended;
}

Result<std::string> NeuronRun::new_folder(const std::string& base, const std::string& name) {
  std::error_code failure;
  fs::path path = fs::path(base) / name;
  for (int i = 2; fs::exists(path, failure); ++i) path = fs::path(base) / fmt::format("{}-{}", name, i);
  if (fs::create_directories(path, failure); failure) {
    return Error{fmt::format("{}: the folder cannot be made: {}", path.string(), failure.message())};
  }
  return fs::absolute(path).string();
}

// What the session says of its outputs: numbers that were computed from zeros are none to compare.
Result<void> NeuronRun::check_inputs() {
  std::string zero;
  std::uint64_t count = 0;
  for (NeuronInput& input : settings_.inputs) {
    input.file = host_path(input.file, run_.request, run_.work_folder);
    const Result<bool> all_zero = is_all_zero(input.file);
    if (!all_zero) return Error{fmt::format("--input: {}", all_zero.message())};
    if (!*all_zero) continue;
    zero += (zero.empty() ? "" : ", ") + input.name;
    ++count;
  }
  if (settings_.inputs.empty()) {
    warn("inputs_all_zero",
         "no inputs were given, so the tool fed zeros: times can be used, outputs mean nothing; give --input NAME=FILE "
         "for each input");
  } else if (count > 0) {
    warn("inputs_all_zero",
         fmt::format("inputs hold nothing but zeros: {}; outputs that depend on them mean nothing; was the file saved "
                     "before it was filled?",
                     zero),
         count);
  }
  if (settings_.single_io) {
    warn("single_io_outputs_wrong",
         "captured with --single-io: all inputs and outputs share one buffer, so outputs are wrong; times are not");
  }
  return {};
}

Result<void> NeuronRun::capture_neff(const std::string& neff) {
  if (Result<void> checked = check_inputs(); !checked) return checked;
  std::error_code ignored;  // the tool says it if its trace cannot be written
  fs::create_directories((fs::path(base_) / settings_.session_file).parent_path(), ignored);
  const std::vector<std::string> arguments = capture_arguments(settings_, neff, settings_.inputs);
  steps_.writer().set_meta("neuron.neff", neff);
  steps_.writer().set_meta("neuron.command", tool_name_ + " " + system::shown_command(arguments));
  const kinds::program::FolderWatch traces({base_}, ".ntff", kTraceDepth);
  const StepEnd ended = TRY(run_tool(arguments, base_, settings_.time_limit));
  if (stopped_) return {};
  if (ended.timed_out || ended.exit_code != 0) return failure(arguments, ended);
  const ChosenTraces found = choose_traces(paths_of(traces.changed()), settings_.nth_exec);
  if (found.chosen.empty()) {
    return Error{fmt::format(
        "{} capture: ended without an error but wrote no trace (.ntff) in {}; to try by hand: {} "
        "{}; {}",
        tool_name_, base_, tool_name_, system::shell_command(arguments), sources::neuron::shown_output(ended.output))};
  }
  if (!found.left.empty()) {
    warn("traces_not_read",
         fmt::format("traces of other executions were written too and are not in the session, such as {}",
                     found.left.front()),
         found.left.size());
  }
  if (!found.beyond.empty()) {
    warn("ranks_not_read",
         fmt::format(
             "ranks after the first {} are not in the session; their traces, such as {}, lie on the host: capture "
             "fewer with --collectives-profile-id, or import them",
             found.chosen.size(), found.beyond.front()),
         found.beyond.size());
  }
  return process(neff, found.chosen);
}

Result<void> NeuronRun::convert(const sources::neuron::ViewRequest& request, const std::string& of) {
  StepEnd last;
  const auto run_once = [&](const std::vector<std::string>& arguments,
                            const std::function<bool()>& written) -> Result<sources::neuron::ToolEnd> {
    last = TRY(run_tool(arguments, request.output, settings_.time_limit, written));
    return sources::neuron::ToolEnd{last.signal != 0 ? 128 + last.signal : last.exit_code,
                                    last.stopped || last.timed_out, last.output};
  };
  const sources::neuron::Conversion done = TRY(sources::neuron::convert_traces(tool_, request, run_once));
  if (stopped_) return {};
  report_dropped(done.end.output);
  if (done.whole) return {};
  if (last.timed_out || done.end.exit_code != 0) return failure(done.arguments, last);
  return Error{fmt::format("{} view: ended without an error but wrote no profile of {}; to try by hand: {} {}; {}",
                           tool_name_, of, tool_name_, system::shell_command(done.arguments),
                           sources::neuron::shown_output(done.end.output))};
}

void NeuronRun::report_dropped(const std::string& output) {
  if (const std::string dropped = sources::neuron::dropped_system_events(output); !dropped.empty())
    warn("buffer_overflow", dropped);
}

Result<void> NeuronRun::process(const std::string& neff, const std::vector<NeuronTrace>& traces) {
  const std::string folder = TRY(new_folder(run_.work_folder + "/processed", fs::path(neff).stem().string()));
  std::vector<std::string> unread;
  for (const NeuronTrace& trace : traces) {
    std::string name = fs::path(trace.path).stem().string();
    if (!trace.label.empty()) name = "profile_" + trace.label;
    for (char& c : name) c = c == ' ' ? '_' : c;
    const std::string output = TRY(new_folder(folder, name));
    const Result<void> done = convert({.neff = neff, .ntff = trace.path, .output = output}, trace.path);
    if (stopped_) return {};
    if (done) continue;
    unread.push_back(done.message());
    std::error_code ignored;  // what is left of a profile that is not whole
    fs::remove_all(output, ignored);
  }
  if (unread.size() == traces.size()) return Error{unread.front()};
  for (const std::string& why : unread) {
    warn("unreadable_input", why + "; the other ranks were read");
  }
  return import_folder(folder);
}

Result<void> NeuronRun::import_folder(const std::string& folder) {
  steps_.note("accelscope: reads what was processed");
  ProfileSinks sinks(run_.open_scope, after_stop_);
  Result<void> done =
      sources::import_input({sources::recognise(folder)}, {.one_run = true}, [&] { return sinks.next(); });
  if (!done && sink_.cancelled() && !after_stop_) {
    stopped_ = true;
    return {};
  }
  return done ? sinks.place(run_.origin) : done;
}

Result<StepEnd> NeuronRun::run_program(const ToolStep& step) {
  TRY(kinds::program::prepare_program(run_));
  Result<StepEnd> ended = steps_.run(step);
  if (!ended) return ended;
  stopped_ = ended->stopped;
  steps_.writer().set_meta(std::string(kinds::program::kExitStatusFact), fmt::format("{}", ended->exit_code));
  if (run_.watch.ended) run_.watch.ended(ended->exit_code);
  if (!stopped_ && !ended->done && ended->exit_code != 0) {
    warn("program_failed",
         fmt::format("the program ended with status {}; what it printed last is on the tracks stdout and stderr",
                     ended->exit_code));
  }
  return ended;
}

Result<void> NeuronRun::capture_compiled() {
  ToolStep step{.start = kinds::program::program_start(run_.request, run_.work_folder)};
  const std::string fresh = (fs::absolute(run_.work_folder) / "neuron-cache").string();
  step.start.environment = compile_environment(settings_, step.start.environment, fresh, inherited_variable);
  report_debug_facts(step.start.environment);
  const kinds::program::FolderWatch compiled({base_, compile_cache(step.start.environment)}, ".neff", kCompileDepth);
  const StepEnd ended = TRY(run_program(step));
  if (stopped_) return {};
  std::string neff = TRY(choose_compiled(compiled, ended));
  return capture_neff(neff);
}

Result<std::string> NeuronRun::choose_compiled(const kinds::program::FolderWatch& watch, const StepEnd& ended) {
  const std::vector<kinds::program::FolderWatch::File> files = watch.changed();
  if (files.empty()) {
    return Error{fmt::format(
        "the program {} and wrote no NEFF below {} or its compile cache; {}; {}",
        ended.exit_code == 0 ? std::string("ended") : fmt::format("ended with status {}", ended.exit_code), base_,
        settings_.fresh_cache ? "does it run on the device at all?"
                              : "if it took what was compiled before from a cache, add --fresh-cache",
        sources::neuron::shown_output(ended.output))};
  }
  const std::size_t chosen = TRY(choose_neff(files, settings_.compiled_neff));
  std::string list;
  for (std::size_t i = 0; i < files.size(); ++i) {
    list += fmt::format("{}{}. {} ({}){}", i == 0 ? "" : "\n", i + 1, files[i].path, format_bytes(files[i].bytes),
                        i == chosen ? "  <- is profiled" : "");
  }
  steps_.note(fmt::format("accelscope: NEFFs that the program compiled; --compiled-neff {} takes number {}:\n{}",
                          settings_.compiled_neff, chosen + 1, list));
  steps_.writer().set_meta("neuron.neffs", list);
  // Beside the trace, so that both can be brought back by one pattern.
  const fs::path neff = files[chosen].path;
  const fs::path beside = (fs::path(base_) / settings_.session_file).replace_extension(".neff");
  std::error_code failure;
  if (neff.parent_path() == beside.parent_path() || fs::exists(beside, failure)) return neff.string();
  fs::create_directories(beside.parent_path(), failure);
  return fs::copy_file(neff, beside, failure) ? beside.string() : neff.string();
}

Result<void> NeuronRun::inspect_program() {
  const system::ChildStart program = kinds::program::program_start(run_.request, run_.work_folder);
  std::vector<std::string> words = {program.program};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  const std::string name = fs::path(settings_.session_file).stem().string();
  const std::string written = TRY(new_folder(base_, name + "-inspect"));
  const std::vector<std::string> arguments = inspect_arguments(settings_, written, words);
  steps_.writer().set_meta("neuron.command", tool_name_ + " " + system::shown_command(arguments));
  const ToolStep step{
      .start = {tool_, arguments, base_, compile_environment(settings_, program.environment, "", inherited_variable)},
      .grace = kInspectGrace};
  report_debug_facts(step.start.environment);
  const StepEnd ended = TRY(run_program(step));
  std::error_code failed;
  if (fs::is_empty(written, failed)) {
    if (stopped_) return {};
    return ended.exit_code != 0 ? failure(arguments, ended)
                                : Error{fmt::format("{} inspect: wrote nothing into {}; does the program run on a "
                                                    "device at all? {}",
                                                    tool_name_, written, sources::neuron::shown_output(ended.output))};
  }
  go_on_after_stop();
  report_dropped(ended.output);
  return import_captured(written, name);
}

void NeuronRun::go_on_after_stop() {
  if (!stopped_) return;
  warn(QualityKind("program_stopped").as(Severity::note),
       "the program was stopped; what had been recorded until then is in the session");
  after_stop_ = true;
  stopped_ = false;
}

void NeuronRun::report_debug_facts(const std::vector<std::string>& environment) {
  if (const std::string missing = missing_debug_facts(environment, inherited_variable); !missing.empty()) {
    warn(QualityKind("missing_source_locations").as(Severity::note), missing);
    return;
  }
  const std::string cache = compile_cache(environment);
  std::error_code failure;
  if (fs::is_directory(cache, failure) && !fs::is_empty(cache, failure)) {
    steps_.note(
        fmt::format("accelscope: programs that come from the compile cache {} have the lines of source that they were "
                    "compiled with",
                    cache));
  }
}

namespace {

// What a program that profiles itself has written: the folder that it was to use, else the one below which its files
// lie. "": none.
std::string written_folder(const std::string& meant, const std::vector<std::string>& files) {
  std::error_code failure;
  if (fs::exists(meant, failure) && !fs::is_empty(meant, failure)) return meant;
  fs::path common = files.empty() ? fs::path() : fs::path(files.front()).parent_path();
  for (const std::string& file : files) {
    while (!common.empty() && !(file + "/").starts_with((common / "").string())) {
      if (common == common.parent_path()) return common.string();
      common = common.parent_path();
    }
  }
  return common.string();
}

constexpr const char* kHowToProfile[] = {
    "", "", "call torch.profiler.profile(experimental_config=NeuronConfig(profile_output_dir=...)) in it",
    "call jax.profiler.trace(...) in it", "does it serve on the port of --vllm-port, and with --profiler-config?"};

}  // namespace

Result<void> NeuronRun::record_program() {
  const std::string name = fs::path(settings_.session_file).stem().string();
  const std::string meant = TRY(new_folder(base_, name + "-recorded"));
  ToolStep step{.start = kinds::program::program_start(run_.request, run_.work_folder), .grace = kInspectGrace};
  step.start.environment = compile_environment(settings_, step.start.environment, "", inherited_variable);
  step.start.environment = TRY(recording_environment(settings_, step.start.environment, meant, inherited_variable));
  report_debug_facts(step.start.environment);
  std::optional<ServerProfile> server;
  if (settings_.recorder == NeuronRecorder::vllm) {
    const std::vector<std::string> more = vllm_arguments(settings_, meant);
    step.start.arguments.insert(step.start.arguments.end(), more.begin(), more.end());
    server.emplace(settings_.server_port, settings_.server_time,
                   [this](std::string_view text) { steps_.note("accelscope: " + std::string(text)); });
    step.done = [&](bool stopping) { return server->done(stopping); };
  }
  steps_.writer().set_meta("neuron.command", command_of(step.start));
  const kinds::program::FolderWatch traces({base_}, ".ntff", kCompileDepth);
  const kinds::program::FolderWatch system_traces({base_}, ".pb", kCompileDepth);
  const StepEnd ended = TRY(run_program(step));
  std::vector<std::string> files = paths_of(traces.changed());
  const std::vector<std::string> more = paths_of(system_traces.changed());
  files.insert(files.end(), more.begin(), more.end());
  for (const kinds::program::FolderWatch::File& trace : traces.changed()) {
    const std::vector<std::string> programs = sources::neuron::find_neffs(trace.path);
    files.insert(files.end(), programs.begin(), programs.end());
  }
  const std::string written = files.empty() ? std::string() : written_folder(meant, files);
  if (written.empty()) {
    if (stopped_) return {};
    return Error{fmt::format("the program {} and wrote no profile below {}; {}{}{}; {}",
                             ended.exit_code == 0 ? "ended" : fmt::format("ended with status {}", ended.exit_code),
                             base_, kHowToProfile[static_cast<std::size_t>(settings_.recorder)],
                             settings_.recorder == NeuronRecorder::environment ? "does it run on a device at all?" : "",
                             server && !server->problem().empty() ? "; " + server->problem() : "",
                             sources::neuron::shown_output(ended.output))};
  }
  go_on_after_stop();
  report_dropped(ended.output);
  return import_captured(written, name);
}

Result<void> NeuronRun::import_captured(const std::string& written, const std::string& name) {
  const std::string folder = TRY(new_folder(run_.work_folder + "/processed", name));
  TRY(convert({.folder = written, .output = folder, .without_devices = settings_.profile == NeuronProfile::system},
              written));
  return stopped_ ? Result<void>() : import_folder(folder);
}

}  // namespace accelscope::capture::kinds::neuron
