#include "capture/probe/host/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "capture/probe/channel_socket.h"
#include "core/base/own_files.h"

namespace accelscope::capture::probes {
namespace {

constexpr timeval kHelloPatience{2, 0};  // a program says hello as soon as it has connected
constexpr std::size_t kMaxHelloBytes = 1U << 20;

Error listener_error(const std::string& what) { return Error{fmt::format("{}: {}", what, std::strerror(errno))}; }

void notify(const system::Descriptor& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t done = ::write(event.get(), &one, sizeof one);  // full: it is readable already
}

}  // namespace

Result<std::string> ProbeListener::user_folder() {
  const std::string folder = probe::user_socket_folder();
  if (Result<void> own = make_own_folder(folder, Sharing::reading); !own) {
    return Error{own.message() + "; or set XDG_RUNTIME_DIR to a folder of yours"};
  }
  return folder;
}

Result<std::unique_ptr<ProbeListener>> ProbeListener::open(const std::string& kind, const std::string& folder) {
  std::unique_ptr<ProbeListener> listener(new ProbeListener);
  listener->kind_ = kind;
  const std::string path = folder + "/" + kind + ".sock";
  if (system::connect_to_local(path)) {
    return Error{
        fmt::format("{}: another agent of this user waits there for programs that are started by hand; stop its "
                    "capture first, or let this one start the program",
                    path)};
  }
  (void)::unlink(path.c_str());  // left by one that was killed
  Result<system::LocalListener> listening = system::LocalListener::open(path);
  if (!listening) return listening.error();
  listener->listening_ = std::move(*listening);
  listener->path_ = path;
  listener->wake_event_ = system::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  listener->stop_event_ = system::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  listener->control_memory_ = system::Descriptor(::memfd_create("accelscope-control", MFD_CLOEXEC));
  if (!listener->wake_event_ || !listener->stop_event_ || !listener->control_memory_ ||
      ::ftruncate(listener->control_memory_.get(), sizeof(probe::ControlPage)) != 0) {
    return listener_error(path);
  }
  void* page = ::mmap(nullptr, sizeof(probe::ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED,
                      listener->control_memory_.get(), 0);
  if (page == MAP_FAILED) return listener_error(path);
  listener->control_ = new (page) probe::ControlPage{};
  return listener;
}

ProbeListener::~ProbeListener() {
  stop_serving();
  if (control_ != nullptr) {
    control_->state.fetch_or(probe::kClosed);
    ::munmap(control_, sizeof(probe::ControlPage));
  }
  if (!path_.empty()) (void)::unlink(path_.c_str());
}

void ProbeListener::serve(std::uint64_t ring_bytes, const std::string& settings) {
  const probe::Welcome welcome{ring_bytes};
  welcome_ = std::string(reinterpret_cast<const char*>(&welcome), sizeof welcome) + settings;
  thread_ = std::thread([this] { serve_until_stopped(); });
}

void ProbeListener::stop_serving() {
  if (!thread_.joinable()) return;
  notify(stop_event_);
  thread_.join();
  listening_.reset();
  (void)::unlink(std::exchange(path_, {}).c_str());
}

void ProbeListener::serve_until_stopped() {
  for (;;) {
    std::array<pollfd, 2> events{{{listening_->descriptor().get(), POLLIN, 0}, {stop_event_.get(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) return;
    const bool stop = events[1].revents != 0;
    accept_pending();
    if (stop) return;
  }
}

void ProbeListener::accept_pending() {
  while (std::optional<system::Descriptor> socket = listening_->take()) welcome(std::move(*socket));
}

void ProbeListener::welcome(system::Descriptor socket) {
  Result<ProbeConnection> connection = read_hello(std::move(socket));
  const std::lock_guard lock(mutex_);
  if (!connection) {
    if (!connection.message().empty()) refusals_.push_back(connection.message());
    return;
  }
  // One that ends before it is welcomed has told nothing yet, but is there to be seen.
  (void)probe::send_frame(connection->socket.get(), probe::FrameType::welcome, welcome_, "",
                          {control_memory_.get(), wake_event_.get()});
  waiting_.push_back(std::move(connection).value());
  notify(wake_event_);
}

Result<ProbeConnection> ProbeListener::read_hello(system::Descriptor socket) const {
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kHelloPatience, sizeof kHelloPatience);
  ProbeConnection connection;
  probe::FrameHead head{};
  if (!probe::receive_all(socket.get(), &head, sizeof head))
    return Error{""};  // it only looked whether somebody listens
  std::string body;
  if (head.type != static_cast<std::uint32_t>(probe::FrameType::hello) || head.bytes < sizeof(probe::Hello) ||
      head.bytes > kMaxHelloBytes) {
    return Error{"a program attached with something that is no hello; it was left alone"};
  }
  body.resize(head.bytes);
  if (!probe::receive_all(socket.get(), body.data(), body.size())) return Error{"a program ended while it attached"};
  std::memcpy(&connection.hello, body.data(), sizeof connection.hello);
  const probe::Hello& hello = connection.hello;
  const std::size_t texts = std::size_t{hello.kind_bytes} + hello.program_bytes + hello.command_bytes;
  if (hello.version != probe::kChannelVersion || sizeof hello + texts != body.size()) {
    return Error{
        fmt::format("process {}: its probe is of another version than this agent; start it anew with the files "
                    "of this one",
                    hello.process_id)};
  }
  if (hello.clock != probe::ClockKind::monotonic && hello.clock != probe::ClockKind::tsc) {
    return Error{fmt::format("process {}: counts time by a clock that is not known here", hello.process_id)};
  }
  std::size_t at = sizeof hello;
  if (body.compare(at, hello.kind_bytes, kind_) != 0) {
    return Error{fmt::format("process {}: is of another kind than {}", hello.process_id, kind_)};
  }
  at += hello.kind_bytes;
  connection.program = body.substr(at, hello.program_bytes);
  connection.command = body.substr(at + hello.program_bytes, hello.command_bytes);
  connection.socket = std::move(socket);
  return connection;
}

std::vector<ProbeConnection> ProbeListener::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

std::vector<std::string> ProbeListener::take_refusals() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refusals_, {});
}

}  // namespace accelscope::capture::probes
