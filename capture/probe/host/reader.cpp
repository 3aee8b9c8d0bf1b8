#include "capture/probe/host/reader.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "capture/probe/host/listener.h"
#include "capture/probe/tick_source.h"
#include "capture/system/shown_command.h"

namespace accelscope::capture::probes {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kBusyTurn = 10ms;           // between two looks at rings that are not half full
constexpr auto kIdleTurn = 100ms;          // before the first program is attached
constexpr auto kProbeFlushPeriod = 100ms;  // how long what happened may stay unseen
constexpr auto kFlushPatience = 2s;        // at the end, for probes that hold events back
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
class Intents {
 public:
  Intents(const request::AskCapture& ask, std::atomic<std::uint32_t>& state) : ask_(ask), state_(state) {}

  void pass_on(request::CaptureIntent intent, const std::string& reason) {
    if (!ask_) return;
    ++asked_;
    ask_(intent, reason, [followed = followed_] { followed->fetch_add(1, std::memory_order_release); });
  }
  // A program that has ended may have counted a wish that it could not send any more.
  void forget_unsent() {
    if (followed_->load() == asked_) followed_->store(asked_ = state_.load() / probe::kOneIntent);
  }
  void follow(const EventSink& sink) {
    const std::uint32_t followed =
        followed_->load(std::memory_order_acquire) * probe::kOneIntent;  // cut as in the page
    const bool paused = sink.paused();
    std::uint32_t before = state_.load();
    while ((before & ~(probe::kOneIntent - 1)) == followed) {
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
  Attached(ProbeConnection connection, const request::KindRun& run, SessionWriter& writer, Intents& intents)
      : socket_(std::move(connection.socket)),
        clock_(connection.hello.clock, run.origin),
        writer_(writer),
        intents_(intents) {
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
  void end_of_patience() {
    if (!holds_events_) return;
    writer_.add_quality({"probe_late", 1,
                         fmt::format("{}: held its last events back for more than {} s after the capture had ended; "
                                     "they are missing",
                                     process_.title(), kFlushPatience.count())});
  }
  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  [[nodiscard]] bool holds_events() const noexcept { return holds_events_; }
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
      case probe::FrameType::intent:
        return pass_on(number);
      case probe::FrameType::flushes:
      case probe::FrameType::flushed:
        holds_events_ = frame.type == probe::FrameType::flushes;
        return true;
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
  bool pass_on(std::uint32_t intent) {
    if (intent < 1 || intent > 3) return broken("a wish that is not known");
    intents_.pass_on(static_cast<request::CaptureIntent>(intent), fmt::format("asked by {}", process_.title()));
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
  Intents& intents_;
  ProbeProcess process_;
  pid_t session_ = -1;
  std::unique_ptr<ProcessReader> reader_;
  ProbeFrames frames_;
  std::vector<Thread> threads_;
  std::uint64_t dropped_ = 0;
  bool holds_events_ = false;  // that it flushes at the end of the capture
};

class ProbeReading {
 public:
  ProbeReading(const request::KindRun& run, SessionWriter& writer, EventSink& sink, const ProbeHandler& handler)
      : run_(run),
        listener_(*run.probes),
        writer_(writer),
        sink_(sink),
        handler_(handler),
        intents_(run.ask, listener_.control().state) {}

  Result<void> read() {
    std::string settings;
    for (const std::string& setting : handler_.settings) settings += (settings.empty() ? "" : "\n") + setting;
    listener_.control().drop_when_full = handler_.drop_when_full ? 1 : 0;
    intents_.follow(sink_);
    listener_.serve(handler_.ring_bytes, settings);
    while (!over()) {
      wait();
      intents_.follow(sink_);
      turn();
    }
    listener_.stop_serving();
    take_last_flush();
    listener_.control().state.fetch_or(probe::kClosed);
    is_closed_ = true;
    turn();  // sees new threads
    turn();  // reads what they have written
    for (const std::unique_ptr<Attached>& program : attached_) program->end(true);
    if (came_ == 0) {
      writer_.add_quality(
          {"nothing_attached", 1,
           fmt::format("no program told anything of the kind '{}': {}{}", run_.choice.name,
                       run_.request.program.empty() && run_.request.script.empty()
                           ? "none was started with the environment that it needs"
                           : "the program does not use what this kind looks at, or was told to ignore it",
                       handler_.hint.empty() ? "" : "; " + handler_.hint)});
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
      attached_.push_back(std::make_unique<Attached>(std::move(connection), run_, writer_, intents_));
      attached_.back()->begin(handler_);
    }
    for (const std::string& refusal : listener_.take_refusals()) {
      writer_.add_quality({"probe_refused", 1, refusal});
    }
    std::erase_if(attached_, [this](const std::unique_ptr<Attached>& program) {
      if (program->turn()) return false;
      program->end(is_closed_);
      intents_.forget_unsent();
      return true;
    });
    const SteadyClock::time_point now = SteadyClock::now();
    if (now - flushed_at_ < kProbeFlushPeriod || writer_.event_count() == flushed_events_) return;
    writer_.flush();
    flushed_at_ = SteadyClock::now();
    flushed_events_ = writer_.event_count();
  }
  void take_last_flush() {
    const auto awaited = [this] {
      return std::any_of(attached_.begin(), attached_.end(),
                         [](const std::unique_ptr<Attached>& program) { return program->holds_events(); });
    };
    listener_.control().state.fetch_or(probe::kEnding);
    turn();  // who has come, and asks for it
    for (const auto until = SteadyClock::now() + kFlushPatience; awaited() && SteadyClock::now() < until; turn())
      wait();
    for (const std::unique_ptr<Attached>& program : attached_) program->end_of_patience();
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
  Intents intents_;
  std::uint64_t came_ = 0;
  bool is_closed_ = false;  // programs that see it may leave before the last turn
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

namespace {

constexpr std::size_t kHead = probe::kRingHeadBytes;

Error no_ring() { return Error{"a thread's memory is no ring of events"}; }

}  // namespace

Result<std::unique_ptr<ProbeRing>> ProbeRing::map(const system::Descriptor& memory) {
  struct stat facts {};
  // Memory that could get smaller would end the agent where it reads what is gone.
  const int seals = memory ? ::fcntl(memory.get(), F_GET_SEALS) : -1;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(memory.get(), &facts) != 0) return no_ring();
  const std::uint64_t bytes = static_cast<std::uint64_t>(facts.st_size) - kHead;
  if (static_cast<std::uint64_t>(facts.st_size) < kHead + probe::kMinRingBytes || bytes > probe::kMaxRingBytes ||
      !std::has_single_bit(bytes)) {
    return no_ring();
  }
  void* base = ::mmap(nullptr, kHead + 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return Error{"there is no memory left to read a thread's events"};
  std::unique_ptr<ProbeRing> ring(new ProbeRing);
  char* at = static_cast<char*>(base);
  ring->head_ = static_cast<probe::RingHead*>(base);
  ring->bytes_ = bytes;
  ring->words_ = reinterpret_cast<const std::uint64_t*>(at + kHead);
  const auto map_at = [&](char* to, std::size_t from, std::size_t size, int access) {
    return ::mmap(to, size, access, MAP_SHARED | MAP_FIXED, memory.get(), static_cast<off_t>(from)) != MAP_FAILED;
  };
  if (!map_at(at, 0, kHead, PROT_READ | PROT_WRITE) || !map_at(at + kHead, kHead, bytes, PROT_READ) ||
      !map_at(at + kHead + bytes, kHead, bytes, PROT_READ)) {
    return Error{"there is no memory left to read a thread's events"};
  }
  if (ring->head_->magic != probe::kRingMagic || ring->head_->bytes != bytes) return no_ring();
  return ring;
}

ProbeRing::~ProbeRing() { ::munmap(head_, kHead + 2 * bytes_); }

namespace {

constexpr std::size_t kSocketReadBytes = 64U << 10;
constexpr std::size_t kMaxDescriptors = 16;  // that one read may bring

}  // namespace

bool ProbeFrames::receive(int socket) {
  if (used_ > 0) {
    buffer_.erase(0, used_);
    used_ = 0;
  }
  for (;;) {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kSocketReadBytes);
    iovec part{buffer_.data() + before, kSocketReadBytes};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> room{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const int failure = errno;
    buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    for (cmsghdr* extra = CMSG_FIRSTHDR(&message); got > 0 && extra != nullptr; extra = CMSG_NXTHDR(&message, extra)) {
      if (extra->cmsg_level != SOL_SOCKET || extra->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (extra->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(extra) + i * sizeof number, sizeof number);
        descriptors_.emplace_back(number);
      }
    }
    descriptors_lost_ = descriptors_lost_ || (got > 0 && (message.msg_flags & MSG_CTRUNC) != 0);
    if (got == 0) return false;
    if (got < 0 && failure == EINTR) continue;
    if (got < 0) return failure == EAGAIN || failure == EWOULDBLOCK;
    if (buffer_.size() > 2 * std::size_t{probe::kMaxFrameBytes}) return true;  // the rest at the next turn
  }
}

Result<std::optional<ProbeFrame>> ProbeFrames::next() {
  probe::FrameHead head{};
  if (buffer_.size() - used_ < sizeof head) return std::optional<ProbeFrame>();
  std::memcpy(&head, buffer_.data() + used_, sizeof head);
  if (head.bytes > probe::kMaxFrameBytes) return Error{"a frame is longer than any may be"};
  if (buffer_.size() - used_ < sizeof head + head.bytes) return std::optional<ProbeFrame>();
  ProbeFrame frame{static_cast<probe::FrameType>(head.type), buffer_.substr(used_ + sizeof head, head.bytes), {}};
  if (frame.type == probe::FrameType::ring) {
    if (descriptors_.empty() || descriptors_lost_) {
      return Error{"the memory of a thread could not be taken over; raise the agent's limit on open files (ulimit -n)"};
    }
    frame.descriptor = std::move(descriptors_.front());
    descriptors_.pop_front();
  }
  used_ += sizeof head + head.bytes;
  return std::optional<ProbeFrame>(std::move(frame));
}

namespace {

constexpr std::size_t kMaxAnchors = 8192;
constexpr int kTries = 5;  // the shortest of them was not interrupted

}  // namespace

TickClock::TickClock(probe::ClockKind kind, std::chrono::steady_clock::time_point origin)
    : kind_(kind), origin_(origin) {
  anchors_.push_back(read());
}

TickClock::Anchor TickClock::read() const noexcept {
  Anchor best;
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const auto before = std::chrono::steady_clock::now() - origin_;
    const std::uint64_t ticks = probe::read_ticks(kind_);
    const auto after = std::chrono::steady_clock::now() - origin_;
    const std::int64_t took = std::chrono::nanoseconds(after - before).count();
    if (took >= shortest) continue;
    shortest = took;
    best = {ticks, std::chrono::nanoseconds(before).count() + took / 2};
  }
  return best;
}

void TickClock::anchor() {
  const Anchor now = read();
  if (now.ticks <= anchors_.back().ticks || now.ns <= anchors_.back().ns) return;
  if (anchors_.size() >= kMaxAnchors) {
    anchors_.erase(anchors_.begin(), anchors_.begin() + static_cast<std::ptrdiff_t>(kMaxAnchors / 2));
  }
  anchors_.push_back(now);
}

std::int64_t TickClock::to_ns(std::uint64_t ticks) const noexcept {
  if (anchors_.size() < 2) return anchors_.front().ns;
  if (ticks > anchors_.back().ticks) {
    return anchors_.back().ns + along(anchors_.front(), anchors_.back(), ticks - anchors_.back().ticks);
  }
  // What was just written lies behind the last anchor but one.
  std::size_t upper = anchors_.size() - 1;
  if (ticks < anchors_[upper - 1].ticks) {
    const auto found =
        std::upper_bound(anchors_.begin(), anchors_.end(), ticks,
                         [](std::uint64_t wanted, const Anchor& anchor) { return wanted < anchor.ticks; });
    upper = std::max<std::size_t>(1, static_cast<std::size_t>(found - anchors_.begin()));
  }
  const Anchor& from = anchors_[upper - 1];
  return from.ns + along(from, anchors_[upper], ticks - from.ticks);
}

std::int64_t TickClock::along(const Anchor& from, const Anchor& to, std::uint64_t ticks) noexcept {
  const double rate = static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
  const auto since = static_cast<std::int64_t>(ticks);  // below 0 before the first anchor
  return static_cast<std::int64_t>(std::floor(static_cast<double>(since) * rate));
}

}  // namespace accelscope::capture::probes
