#include "capture/probe/client/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "capture/probe/channel_socket.h"

namespace accelscope::probe {

constinit thread_local ThreadRing* t_ring __attribute__((tls_model("initial-exec"))) = nullptr;
constinit ClockKind g_clock_kind = ClockKind::monotonic;

namespace {

constexpr timeval kPatience{10, 0};        // for an agent's welcome
constexpr timespec kFullWait{0, 100'000};  // between two looks at a full ring
constexpr int kLooksBetweenChecks = 200;   // of whether the agent lives
constexpr std::size_t kNameBytes = 64;
constexpr int kTlsRounds = 3;  // a ring is closed after other destructors of the thread had their turn

// Where control_ points while there is no agent, and in a forked child that has not attached yet.
constinit ControlPage g_off{kClosed, 0};
constinit ControlPage g_forked{0, 0};

constinit thread_local bool t_over __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local bool t_inside __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local int t_rounds __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local char t_name[kNameBytes] __attribute__((tls_model("initial-exec"))) = {};

// What a probe does must not show in the program's errno, and must not meet itself in a signal handler.
class Guest {
 public:
  Guest() noexcept : errno_(errno), entered_(!t_inside) { t_inside = true; }
  ~Guest() {
    if (entered_) t_inside = false;
    errno = errno_;
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  [[nodiscard]] bool entered() const noexcept { return entered_; }

 private:
  int errno_;
  bool entered_;
};

class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

std::uint32_t thread_id() noexcept { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

void close_descriptor(int& descriptor) noexcept {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// Programs close descriptors that they have not opened, and get their numbers again for files of their own.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(int descriptor) noexcept {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino, facts.st_mode & S_IFMT};
}

// Out of the way of programs that count on the lowest numbers; where the limit is lower, it stays.
void move_up(int& descriptor) noexcept {
  constexpr int kFirst = 512;
  const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
  if (higher < 0) return;
  ::close(descriptor);
  descriptor = higher;
}

// The head of a frame, with what descriptors come along; -1 for those that do not.
bool receive_head(int socket, FrameHead& head, std::array<int, 2>& descriptors) noexcept {
  descriptors = {-1, -1};
  iovec part{&head, sizeof head};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  const cmsghdr* extra = CMSG_FIRSTHDR(&message);
  if (extra != nullptr && extra->cmsg_type == SCM_RIGHTS && extra->cmsg_len == CMSG_LEN(sizeof descriptors)) {
    std::memcpy(descriptors.data(), CMSG_DATA(extra), sizeof descriptors);
  }
  const auto done = static_cast<std::size_t>(got);
  return receive_all(socket, reinterpret_cast<char*>(&head) + done, sizeof head - done);
}

std::string read_small_file(const char* path) {
  std::string text;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = ::read(file, buffer.data(), buffer.size()); got > 0 && text.size() < (64U << 10);
       got = ::read(file, buffer.data(), buffer.size())) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  return text;
}

std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string socket_folder() {
  if (const char* given = std::getenv(kFolderVariable); given != nullptr && *given != '\0') return given;
  return user_socket_folder();
}

void discard_ring(RingHead* head, std::uint64_t bytes) noexcept { ::munmap(head, kRingHeadBytes + 2 * bytes); }

}  // namespace

struct Channel::State {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::string kind;
  std::string settings;
  int socket = -1;
  int wake_event = -1;
  Identity socket_identity;  // what the numbers stood for
  Identity wake_identity;
  pid_t owner = 0;  // the process whose socket this is
  std::uint64_t ring_bytes = kMinRingBytes;
  ClockKind clock = ClockKind::monotonic;
  pthread_key_t thread_end{};
  bool reported_trouble = false;

  [[nodiscard]] bool has_socket() const noexcept { return socket >= 0 && identity_of(socket) == socket_identity; }
  [[nodiscard]] bool has_wake_event() const noexcept {
    return wake_event >= 0 && identity_of(wake_event) == wake_identity;
  }
};

// What the system calls, with a channel that is the library's only one.
struct ChannelHooks {
  static inline Channel* channel = nullptr;

  static void forked() noexcept {
    const Guest guest;
    Channel::State& state = *channel->state_;
    pthread_mutex_init(&state.lock, nullptr);
    if (state.has_socket()) ::close(state.socket);
    if (state.has_wake_event()) ::close(state.wake_event);
    state.socket = state.wake_event = -1;
    if (t_ring != nullptr) {
      discard_ring(t_ring->head_, t_ring->bytes_);
      delete t_ring;
      t_ring = nullptr;
    }
    t_inside = false;
    // A parent whose agent is gone, or that has detached, has children without one.
    if (channel->attached()) channel->control_.store(&g_forked, std::memory_order_release);
  }

  static void thread_ended(void* value) noexcept {
    const Guest guest;
    if (++t_rounds < kTlsRounds && pthread_setspecific(channel->state_->thread_end, value) == 0) return;
    t_over = true;
    if (t_ring == nullptr) return;
    ThreadRing* ring = t_ring;
    t_ring = nullptr;
    ring->head_->closed.store(1, std::memory_order_release);
    discard_ring(ring->head_, ring->bytes_);
    delete ring;
  }
};

Channel::Channel(const char* kind) noexcept : control_(&g_off), state_(new(std::nothrow) State) {
  const Guest guest;
  if (state_ == nullptr) return;
  state_->kind = kind;
  state_->clock = find_clock_kind();
  g_clock_kind = state_->clock;
  if (pthread_key_create(&state_->thread_end, &ChannelHooks::thread_ended) != 0) return;
  ChannelHooks::channel = this;
  if (pthread_atfork(nullptr, nullptr, &ChannelHooks::forked) != 0) return;
  const Locked locked(state_->lock);
  connect();
}

void Channel::connect() noexcept {
  State& state = *state_;
  state.owner = ::getpid();
  control_.store(&g_off, std::memory_order_release);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket_folder() + "/" + state.kind + ".sock";
  if (path.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  state.socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (state.socket < 0) return;
  move_up(state.socket);
  state.socket_identity = identity_of(state.socket);
  (void)::setsockopt(state.socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  if (::connect(state.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return close_descriptor(state.socket);
  }
  // Only to an agent of the same user: another one could have made the folder.
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(state.socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
      (peer.uid != ::getuid() && peer.uid != 0)) {
    return close_descriptor(state.socket);
  }
  const std::string program = own_program();
  const std::string command = read_small_file("/proc/self/cmdline");
  Hello hello{};
  hello.version = kChannelVersion;
  hello.clock = state.clock;
  hello.process_id = static_cast<std::uint32_t>(state.owner);
  hello.parent_id = static_cast<std::uint32_t>(::getppid());
  hello.attach_ticks = read_ticks(state.clock);
  hello.kind_bytes = static_cast<std::uint32_t>(state.kind.size());
  hello.program_bytes = static_cast<std::uint32_t>(program.size());
  hello.command_bytes = static_cast<std::uint32_t>(command.size());
  if (!send_frame(state.socket, FrameType::hello, bytes_of(hello), state.kind + program + command) || !take_welcome()) {
    close_descriptor(state.socket);
  }
}

bool Channel::take_welcome() noexcept {
  State& state = *state_;
  FrameHead head{};
  std::array<int, 2> descriptors{};
  if (!receive_head(state.socket, head, descriptors)) return false;
  Welcome welcome{};
  std::string body;
  void* page = MAP_FAILED;
  if (head.type == static_cast<std::uint32_t>(FrameType::welcome) && head.bytes >= sizeof welcome &&
      head.bytes < kMaxFrameBytes && descriptors[1] >= 0) {
    body.resize(head.bytes);
    if (receive_all(state.socket, body.data(), body.size())) {
      page = ::mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
    }
  }
  close_descriptor(descriptors[0]);
  if (page == MAP_FAILED) {
    close_descriptor(descriptors[1]);
    return false;
  }
  std::memcpy(&welcome, body.data(), sizeof welcome);
  state.wake_event = descriptors[1];
  move_up(state.wake_event);
  state.wake_identity = identity_of(state.wake_event);
  state.ring_bytes = welcome.ring_bytes;
  state.settings = "\n" + body.substr(sizeof welcome) + "\n";
  generation_.fetch_add(1, std::memory_order_release);
  control_.store(static_cast<ControlPage*>(page), std::memory_order_release);
  return true;
}

bool Channel::connected_here() noexcept {
  if (state_->owner != ::getpid()) connect();
  if (state_->has_socket()) return true;
  go_off();
  return false;
}

void Channel::go_off() noexcept { control_.store(&g_off, std::memory_order_release); }

bool Channel::agent_lives() noexcept {
  if (!state_->has_socket()) return false;
  pollfd look{state_->socket, POLLRDHUP, 0};
  return ::poll(&look, 1, 0) == 0;
}

ThreadRing* Channel::open_ring() noexcept {
  const Guest guest;
  if (t_over || !guest.entered()) return nullptr;
  const Locked locked(state_->lock);
  if (!connected_here() || !attached()) return nullptr;
  const std::uint64_t bytes = state_->ring_bytes;
  const int memory =
      static_cast<int>(::syscall(SYS_memfd_create, "accelscope-ring", 3U /* MFD_CLOEXEC, MFD_ALLOW_SEALING */));
  char* base = static_cast<char*>(
      ::mmap(nullptr, kRingHeadBytes + 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  const auto map_at = [&](std::size_t at, std::size_t from, std::size_t size) {
    return ::mmap(base + at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, static_cast<off_t>(from)) !=
           MAP_FAILED;
  };
  auto* ring = new (std::nothrow) ThreadRing;
  bool ready = ring != nullptr && memory >= 0 && base != MAP_FAILED &&
               ::ftruncate(memory, static_cast<off_t>(kRingHeadBytes + bytes)) == 0 &&
               ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) == 0 && map_at(0, 0, kRingHeadBytes) &&
               map_at(kRingHeadBytes, kRingHeadBytes, bytes) && map_at(kRingHeadBytes + bytes, kRingHeadBytes, bytes) &&
               pthread_setspecific(state_->thread_end, this) == 0;
  if (ready) {
    auto* head = new (base) RingHead{};
    head->magic = kRingMagic;
    head->thread_id = thread_id();
    head->bytes = bytes;
    if (t_name[0] == '\0') (void)::prctl(PR_GET_NAME, t_name);
    ready = send_frame(state_->socket, FrameType::ring, bytes_of(head->thread_id), t_name, {memory});
    ring->channel_ = this;
    ring->head_ = head;
    ring->records_ = base + kRingHeadBytes;
    ring->bytes_ = bytes;
    ring->wake_mask_ = bytes / 2;
  }
  if (memory >= 0) ::close(memory);
  if (ready) return t_ring = ring;
  delete ring;
  if (base != MAP_FAILED) ::munmap(base, kRingHeadBytes + 2 * bytes);
  t_over = true;  // not tried again with every event
  if (!state_->reported_trouble) {
    state_->reported_trouble = true;
    (void)send_frame(state_->socket, FrameType::trouble,
                     "a thread got no shared memory for its events; raise the limits on memory and on open files", "");
  }
  return nullptr;
}

bool ThreadRing::make_room(std::size_t bytes) noexcept {
  const Guest guest;
  for (int looks = 1;; ++looks) {
    read_seen_ = head_->read.load(std::memory_order_acquire);
    if (written_ + bytes - read_seen_ <= bytes_) return true;
    const ControlPage& control = *channel_->control_.load(std::memory_order_acquire);
    if ((control.state.load(std::memory_order_relaxed) & kClosed) != 0) return false;
    if (control.drop_when_full.load(std::memory_order_relaxed) != 0) {
      head_->dropped.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    wake();
    (void)::nanosleep(&kFullWait, nullptr);
    if (looks % kLooksBetweenChecks == 0 && !channel_->agent_lives()) {
      channel_->go_off();
      return false;
    }
  }
}

void ThreadRing::wake() noexcept {
  const Guest guest;
  if (!channel_->state_->has_wake_event()) return channel_->go_off();
  const std::uint64_t one = 1;
  // It may only fail because the agent is awake already, or gone.
  [[maybe_unused]] const ssize_t done = ::write(channel_->state_->wake_event, &one, sizeof one);
}

template <typename Send>
void Channel::tell(Send send) noexcept {
  const Guest guest;
  if (!attached() || !guest.entered()) return;
  const Locked locked(state_->lock);
  if (connected_here() && !send(state_->socket)) go_off();
}

void Channel::define(std::uint32_t type, std::string_view body) noexcept {
  tell([=](int socket) {
    return send_frame(socket, FrameType::definition, bytes_of(type), body.substr(0, kMaxFrameBytes - sizeof type));
  });
}

void Channel::name_thread(std::string_view name) noexcept {
  const std::size_t length = name.size() < kNameBytes - 1 ? name.size() : kNameBytes - 1;
  std::memcpy(t_name, name.data(), length);
  t_name[length] = '\0';
  if (t_ring == nullptr) return;
  tell([](int socket) {
    return send_frame(socket, FrameType::thread_name, bytes_of(t_ring->head_->thread_id), t_name);
  });
}

void Channel::flushes_at_end() noexcept {
  tell([](int socket) { return send_frame(socket, FrameType::flushes, "", ""); });
}

void Channel::flushed() noexcept {
  tell([](int socket) { return send_frame(socket, FrameType::flushed, "", ""); });
}

void Channel::intent(Intent intent) noexcept {
  tell([this, intent](int socket) {
    std::atomic<std::uint32_t>& state = control_.load(std::memory_order_acquire)->state;
    std::uint32_t before = state.load(std::memory_order_relaxed);
    std::uint32_t after = 0;
    do {
      after = before + kOneIntent;
      if (intent == Intent::pause) after |= kPaused;
      if (intent == Intent::resume) after &= ~static_cast<std::uint32_t>(kPaused);
    } while (!state.compare_exchange_weak(before, after, std::memory_order_relaxed));
    return send_frame(socket, FrameType::intent, bytes_of(intent), "");
  });
}

void Channel::detach() noexcept {
  const Guest guest;
  if (!attached() || !guest.entered()) return;
  const Locked locked(state_->lock);
  go_off();
  if (state_->owner == ::getpid() && state_->has_socket()) (void)::shutdown(state_->socket, SHUT_RDWR);
}

std::string Channel::setting(std::string_view name) const noexcept {
  const Locked locked(state_->lock);
  const std::string key = "\n" + std::string(name) + "=";
  const std::size_t at = state_->settings.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return state_->settings.substr(begin, state_->settings.find('\n', begin) - begin);
}

}  // namespace accelscope::probe
