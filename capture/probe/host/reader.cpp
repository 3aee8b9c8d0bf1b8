#include "capture/probe/host/reader.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "capture/probe/host/listener.h"
#include "capture/probe/host/ring.h"
#include "capture/probe/host/socket.h"
#include "capture/system/shown_command.h"

namespace accelscope::capture::probes {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kBusyTurn = 10ms;           // between two looks at rings that are not half full
constexpr auto kIdleTurn = 100ms;          // before the first program is attached
constexpr auto kProbeFlushPeriod = 100ms;  // how long what happened may stay unseen
constexpr auto kEndPatience = 7s;  // for programs that were asked to end; longer than they are given before SIGKILL

// A zombie still has a process number, but says nothing any more; its socket has ended long before.
bool process_lives(int id) { return id > 0 && (::kill(id, 0) == 0 || errno == EPERM); }

struct Thread {
  ProbeThread facts;
  std::unique_ptr<ProbeRing> ring;
  std::uint64_t until = 0;  // how far it is read in this turn
  bool closed = false;      // by its thread, when that was noted
};

std::string typed_command(std::string_view words) {
  std::vector<std::string> argv;
  while (!words.empty()) {
    const std::size_t end = words.find('\0');
    argv.emplace_back(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return system::shown_command(argv);
}

// What programs wish of the capture. They act upon it at once, the capture later: until it has followed the last wish,
// what it does is not passed on to them, else it would pause a program that has already resumed.
class Wishes {
 public:
  Wishes(const request::AskCapture& ask, std::atomic<std::uint32_t>& state) : ask_(ask), state_(state) {}

  void pass_on(request::CaptureWish wish, const std::string& reason) {
    if (!ask_) return;
    ++asked_;
    ask_(wish, reason, [followed = followed_] { followed->fetch_add(1, std::memory_order_release); });
  }
  // A program that has ended may have counted a wish that it could not send any more.
  void forget_unsent() {
    if (followed_->load() == asked_) followed_->store(asked_ = state_.load() / probe::kOneWish);
  }
  void follow(const EventSink& sink) {
    const std::uint32_t followed = followed_->load(std::memory_order_acquire) * probe::kOneWish;  // cut as in the page
    const bool paused = sink.paused();
    std::uint32_t before = state_.load();
    while ((before & ~(probe::kOneWish - 1)) == followed) {
      const std::uint32_t after =
          paused ? before | probe::kPaused : before & ~static_cast<std::uint32_t>(probe::kPaused);
      if (state_.compare_exchange_weak(before, after)) return;
    }
  }

 private:
  const request::AskCapture& ask_;
  std::atomic<std::uint32_t>& state_;  // of the page that programs see
  std::uint32_t asked_ = 0;
  std::shared_ptr<std::atomic<std::uint32_t>> followed_ = std::make_shared<std::atomic<std::uint32_t>>(0);
};

// One attached program.
class Attached {
 public:
  Attached(ProbeConnection connection, const request::KindRun& run, SessionWriter& writer, Wishes& wishes)
      : socket_(std::move(connection.socket)),
        clock_(connection.hello.clock, run.origin),
        writer_(writer),
        wishes_(wishes) {
    process_.id = connection.hello.process_id;
    process_.parent_id = connection.hello.parent_id;
    process_.program = connection.program;
    process_.command = typed_command(connection.command);
    const std::string called = connection.command.substr(0, connection.command.find('\0'));
    process_.name = std::filesystem::path(called.empty() ? connection.program : called).filename().string();
    process_.clock = &clock_;
    process_.attached_ns = clock_.last_ns();
    session_ = ::getsid(static_cast<pid_t>(process_.id));
  }
  void begin(const ProbeHandler& handler) { reader_ = handler.attach(process_); }

  // False once it has left and all that it told has been read.
  [[nodiscard]] bool turn() {
    const std::int64_t all_until = clock_.last_ns();  // what is written from now on happens later
    note_rings();
    const bool here = frames_.receive(socket_.get());
    if (!take_frames()) return false;
    if (!here) note_rings();  // nothing is written any more, except by threads that were about to when it detached
    for (Thread& thread : threads_) {
      if (!read(thread)) return false;
    }
    for (Thread& thread : threads_) end_if_closed(thread);
    reader_->read_until(all_until);
    return here;
  }
  void end(bool by_capture) {
    for (const Thread& thread : threads_) dropped_ += thread.ring ? thread.ring->dropped() : 0;
    if (frames_.cut()) {
      writer_.add_quality(
          {"definition_cut", 1,
           fmt::format("{}: ended in the middle of telling a definition; it is missing", process_.title())});
    }
    if (dropped_ > 0) {
      writer_.add_quality({"dropped_events", dropped_,
                           fmt::format("{}: events that found no room were dropped; give it a larger --buffer, or "
                                       "--when-full wait",
                                       process_.title())});
    }
    reader_->ended({clock_.last_ns(), dropped_, by_capture});
  }
  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  [[nodiscard]] bool program_lives() const { return process_lives(session_); }

 private:
  // How far to read. What others wrote before a thread ended is read before its end is told. All of it happened before
  // the anchor that follows: on the line beyond an anchor time could go back where the next one is taken.
  void note_rings() {
    for (Thread& thread : threads_) thread.closed = thread.ring && thread.ring->closed();
    for (Thread& thread : threads_) thread.until = thread.ring ? thread.ring->written() : 0;
    clock_.anchor();
  }
  // False if it broke the rules.
  bool take_frames() {
    for (;;) {
      Result<std::optional<ProbeFrame>> frame = frames_.next();
      if (!frame) return broken(frame.message());
      if (!*frame) return true;
      if (!take(**frame)) return false;
    }
  }
  bool take(ProbeFrame& frame) {
    std::uint32_t number = 0;
    const bool numbered = frame.body.size() >= sizeof number;
    if (numbered) std::memcpy(&number, frame.body.data(), sizeof number);
    const std::string_view rest = std::string_view(frame.body).substr(numbered ? sizeof number : 0);
    switch (frame.type) {
      case probe::FrameType::ring:
        return numbered ? add_thread(number, rest, frame.descriptor) : broken("a thread without a number");
      case probe::FrameType::thread_name:
        rename_thread(number, rest);
        return true;
      case probe::FrameType::definition:
        if (!numbered) return broken("a definition without a type");
        reader_->define(number, rest);
        return true;
      case probe::FrameType::wish:
        return pass_on(number);
      case probe::FrameType::trouble:
        writer_.add_quality({"probe_trouble", 1, fmt::format("{}: {}", process_.title(), frame.body)});
        return true;
      default:
        return broken("a message of a type that is not known");
    }
  }
  bool add_thread(std::uint32_t id, std::string_view name, const system::Descriptor& memory) {
    Result<std::unique_ptr<ProbeRing>> ring = ProbeRing::map(memory);
    if (!ring) return broken(ring.message());
    const auto index = static_cast<std::uint32_t>(threads_.size());
    threads_.push_back({{index, id, std::string(name)}, std::move(ring).value(), 0});
    reader_->thread(threads_.back().facts);
    return true;
  }
  void rename_thread(std::uint32_t id, std::string_view name) {
    // The newest of that number: numbers are used again.
    const auto found = std::find_if(threads_.rbegin(), threads_.rend(),
                                    [&](const Thread& thread) { return thread.facts.id == id && thread.ring; });
    if (found == threads_.rend()) return;
    found->facts.name = name;
    reader_->thread(found->facts);
  }
  bool pass_on(std::uint32_t wish) {
    if (wish < 1 || wish > 3) return broken("a wish that is not known");
    wishes_.pass_on(static_cast<request::CaptureWish>(wish), fmt::format("asked by {}", process_.title()));
    return true;
  }
  bool read(Thread& thread) {
    if (!thread.ring) return true;
    const Result<void> done =
        thread.ring->read_until(thread.until, [&](probe::RecordHead head, std::span<const std::uint64_t> words) {
          reader_->record(thread.facts, head, words);
        });
    return done || broken(done.message());
  }
  void end_if_closed(Thread& thread) {
    if (!thread.ring || !thread.closed || thread.until != thread.ring->written()) return;
    dropped_ += thread.ring->dropped();
    thread.ring.reset();
    reader_->thread_ended(thread.facts, clock_.last_ns());
  }
  bool broken(const std::string& what) {
    writer_.add_quality({"probe_broken", 1,
                         fmt::format("{}: {}; what it told after that is not in the session", process_.title(), what)});
    return false;
  }

  system::Descriptor socket_;
  TickClock clock_;
  SessionWriter& writer_;
  Wishes& wishes_;
  ProbeProcess process_;
  pid_t session_ = -1;
  std::unique_ptr<ProcessReader> reader_;
  ProbeFrames frames_;
  std::vector<Thread> threads_;
  std::uint64_t dropped_ = 0;
};

class ProbeReading {
 public:
  ProbeReading(const request::KindRun& run, SessionWriter& writer, EventSink& sink, const ProbeHandler& handler)
      : run_(run),
        listener_(*run.probes),
        writer_(writer),
        sink_(sink),
        handler_(handler),
        wishes_(run.ask, listener_.control().state) {}

  Result<void> read() {
    std::string settings;
    for (const std::string& setting : handler_.settings) settings += (settings.empty() ? "" : "\n") + setting;
    listener_.control().drop_when_full = handler_.drop_when_full ? 1 : 0;
    wishes_.follow(sink_);
    listener_.serve(handler_.ring_bytes, settings);
    while (!over()) {
      wait();
      wishes_.follow(sink_);
      turn();
    }
    listener_.stop_serving();
    listener_.control().state.fetch_or(probe::kClosed);
    turn();  // sees new threads
    turn();  // reads what they have written
    for (const std::unique_ptr<Attached>& program : attached_) program->end(true);
    if (came_ == 0) {
      writer_.add_quality(
          {"nothing_attached", 1,
           fmt::format("no program told anything of the kind '{}': {}", run_.choice.name,
                       run_.request.program.empty() && run_.request.script.empty()
                           ? "none was started with the environment that it needs"
                           : "the program does not use what this kind looks at, or was told to ignore it")});
    }
    return writer_.finish();
  }

 private:
  void wait() const {
    std::vector<pollfd> events = {{listener_.wake_event(), POLLIN, 0}};
    for (const std::unique_ptr<Attached>& program : attached_) events.push_back({program->socket(), POLLIN, 0});
    // Once the last program has gone, the capture's end is near.
    const auto patience = came_ == 0 ? kIdleTurn : kBusyTurn;
    (void)::poll(events.data(), events.size(), static_cast<int>(std::chrono::milliseconds(patience).count()));
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t done = ::read(listener_.wake_event(), &count, sizeof count);  // nothing: not woken
  }
  void turn() {
    for (ProbeConnection& connection : listener_.take()) {
      ++came_;
      attached_.push_back(std::make_unique<Attached>(std::move(connection), run_, writer_, wishes_));
      attached_.back()->begin(handler_);
    }
    for (const std::string& refusal : listener_.take_refusals()) {
      writer_.add_quality({"probe_refused", 1, refusal});
    }
    std::erase_if(attached_, [this](const std::unique_ptr<Attached>& program) {
      if (program->turn()) return false;
      program->end(false);
      wishes_.forget_unsent();
      return true;
    });
    const SteadyClock::time_point now = SteadyClock::now();
    if (now - flushed_at_ < kProbeFlushPeriod || writer_.event_count() == flushed_events_) return;
    writer_.flush();
    flushed_at_ = SteadyClock::now();
    flushed_events_ = writer_.event_count();
  }
  // Programs that the capture has started are heard until they end; others are let go.
  bool over() {
    if (!sink_.cancelled()) return false;
    if (run_.request.program.empty() && run_.request.script.empty()) return true;
    if (!ends_at_) ends_at_ = SteadyClock::now() + kEndPatience;
    const bool any_lives =
        std::any_of(attached_.begin(), attached_.end(),
                    [](const std::unique_ptr<Attached>& program) { return program->program_lives(); });
    return !any_lives || SteadyClock::now() >= *ends_at_;
  }

  const request::KindRun& run_;
  ProbeListener& listener_;
  SessionWriter& writer_;
  EventSink& sink_;
  const ProbeHandler& handler_;
  std::vector<std::unique_ptr<Attached>> attached_;
  Wishes wishes_;
  std::uint64_t came_ = 0;
  std::optional<SteadyClock::time_point> ends_at_;
  SteadyClock::time_point flushed_at_ = SteadyClock::now();
  std::uint64_t flushed_events_ = 0;
};

}  // namespace

std::string ProbeProcess::title() const { return fmt::format("{} ({})", name, id); }

Result<void> read_probes(const request::KindRun& run, SessionWriter& writer, EventSink& sink,
                         const ProbeHandler& handler) {
  return ProbeReading(run, writer, sink, handler).read();
}

}  // namespace accelscope::capture::probes
