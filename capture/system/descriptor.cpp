#include "capture/system/descriptor.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "core/base/own_files.h"

namespace accelscope::capture::system {
namespace {

namespace fs = std::filesystem;

constexpr int kSystemPollMs = 100;
// A socket's path has 108 bytes. ssh adds a dot and 16 letters to the one it makes before it has its name.
constexpr std::size_t kLongestFolder = 64;
constexpr auto kNewFolder = std::chrono::minutes(1);

[[nodiscard]] bool readable(int number, int timeout_ms) {
  pollfd waiting{number, POLLIN, 0};
  return ::poll(&waiting, 1, timeout_ms) > 0;
}

constexpr int kBacklog = 128;

[[nodiscard]] Result<sockaddr_un> local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{path + ": this path is too long for a socket; set XDG_RUNTIME_DIR or TMPDIR to a shorter folder"};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

[[nodiscard]] const sockaddr* plain(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

[[nodiscard]] fs::path temporary_folder() {
  std::error_code failure;
  fs::path folder = fs::temp_directory_path(failure);
  return failure ? fs::path("/tmp") : folder;
}

// Nothing for a link, another user's folder, or none.
[[nodiscard]] Descriptor open_own_folder(const fs::path& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder || !check_own(folder.get(), path.string(), Sharing::reading)) return {};
  return folder;
}

[[nodiscard]] std::string folder_prefix(std::string_view purpose) { return fmt::format("accelscope-{}-", purpose); }

}  // namespace

Error system_error(std::string_view what) { return Error{fmt::format("{}: {}", what, std::strerror(errno))}; }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(release());
}

Result<Descriptor> Descriptor::duplicate() const {
  Descriptor copy(::fcntl(number_, F_DUPFD_CLOEXEC, 0));
  if (!copy) return system_error("a descriptor cannot be doubled");
  return copy;
}

Result<std::pair<Descriptor, Descriptor>> make_stream_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_error("a stream");
  return std::pair{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<std::pair<Descriptor, Descriptor>> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("a pipe");
  return std::pair{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<Descriptor> connect_to_loopback(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return system_error(fmt::format("127.0.0.1:{}", port));
  }
  return socket;
}

Result<Descriptor> open_for_reading(const std::string& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return system_error(file);
  return opened;
}

Result<std::optional<Descriptor>> try_lock(const std::string& file) {
  Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return system_error(file + ": cannot be opened");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(lock));
  if (errno != EWOULDBLOCK) return system_error(file + ": cannot be locked");
  return std::optional<Descriptor>();
}

bool is_locked(const std::string& file) {
  const Descriptor lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<std::string> read_to_end(const Descriptor& stream, std::size_t limit, const std::function<bool()>& stop) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (!stop()) {
    if (!readable(stream.get(), kSystemPollMs)) continue;
    const ssize_t count = ::read(stream.get(), buffer.data(), buffer.size());
    if (count < 0) return system_error("reading");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    std::memset(buffer.data(), 0, static_cast<std::size_t>(count));  // it may have been a secret
    if (text.size() > limit) return Error{"more was sent than is expected"};
  }
  wipe(text);
  return Error{"cancelled"};
}

Result<void> write_all(const Descriptor& stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(stream.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("writing");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

bool peer_has_ended(const Descriptor& stream) {
  pollfd state{stream.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0;
}

void write_line(std::string_view text) {
  const iovec parts[] = {{const_cast<char*>(text.data()), text.size()}, {const_cast<char*>("\n"), 1}};
  // A reader that is gone ends this program by a signal; there is nobody else to tell.
  (void)!::writev(STDOUT_FILENO, parts, 2);
}

void end_writing(const Descriptor& stream) { ::shutdown(stream.get(), SHUT_WR); }

Result<PrivateFolder> PrivateFolder::make(std::string_view purpose) {
  const std::string name = folder_prefix(purpose) + "XXXXXX";
  std::string path = (temporary_folder() / name).string();
  if (path.size() > kLongestFolder) path = "/tmp/" + name;
  if (::mkdtemp(path.data()) == nullptr) return system_error(path + ": no folder can be made there");
  PrivateFolder folder(path);
  folder.lock_ = Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.lock_ || ::flock(folder.lock_.get(), LOCK_EX | LOCK_NB) != 0) return system_error(path);
  return folder;
}

Result<PrivateFolder> PrivateFolder::take_over(const std::string& path, std::string_view purpose) {
  Descriptor opened = open_own_folder(path);
  const bool named = fs::path(path).filename().string().starts_with(folder_prefix(purpose));
  if (!opened || !named) return Error{path + ": there is no folder of this user with such a name any more"};
  PrivateFolder folder(path);
  folder.lock_ = std::move(opened);
  ::flock(folder.lock_.get(), LOCK_EX | LOCK_NB);
  return folder;
}

void PrivateFolder::remove_left_behind(std::string_view purpose, const std::function<bool(const std::string&)>& keep) {
  std::error_code failure;
  const std::string prefix = folder_prefix(purpose);
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary_folder(), failure)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const Descriptor folder = open_own_folder(entry.path());
    struct stat state {};
    if (!folder || ::fstat(folder.get(), &state) != 0) continue;
    // One that is being made now is not locked yet.
    if (std::chrono::system_clock::from_time_t(state.st_mtime) > std::chrono::system_clock::now() - kNewFolder)
      continue;
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 || keep(entry.path())) continue;
    fs::remove_all(entry.path(), failure);
  }
}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    lock_ = std::move(other.lock_);
  }
  return *this;
}

void PrivateFolder::remove() noexcept {
  std::error_code failure;
  if (!path_.empty()) fs::remove_all(std::exchange(path_, {}), failure);
  lock_.close();
}

Result<LocalListener> LocalListener::open(const std::string& path) {
  const sockaddr_un address = TRY(local_address(path));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error("a socket");
  if (::bind(socket.get(), plain(address), sizeof(sockaddr_un)) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return system_error(path);
  }
  return LocalListener(std::move(socket));
}

std::optional<Descriptor> LocalListener::take() const {
  for (;;) {
    Descriptor peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer && errno != EINTR && errno != ECONNABORTED) return std::nullopt;
    ucred user{};
    socklen_t size = sizeof(user);
    const bool known = peer && ::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &user, &size) == 0;
    if (known && (user.uid == ::geteuid() || user.uid == 0)) return peer;
  }
}

std::optional<Descriptor> LocalListener::accept(const std::function<bool()>& stop) const {
  while (!stop()) {
    if (!readable(socket_.get(), kSystemPollMs)) continue;
    if (std::optional<Descriptor> peer = take()) return peer;
  }
  return std::nullopt;
}

Result<Descriptor> connect_to_local(const std::string& path) {
  const sockaddr_un address = TRY(local_address(path));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("a socket");
  if (::connect(socket.get(), plain(address), sizeof(sockaddr_un)) != 0) return system_error(path);
  return socket;
}

SystemNames this_system() {
  utsname names{};
  if (::uname(&names) != 0) return {};
  return {names.sysname, names.machine};
}

std::string own_program() {
  std::error_code failure;
  return fs::read_symlink("/proc/self/exe", failure).string();
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

std::string environment_value(const std::string& name, const std::vector<std::string>& settings) {
  const auto found = std::find_if(settings.rbegin(), settings.rend(),
                                  [&](const std::string& setting) { return setting.starts_with(name + "="); });
  return found == settings.rend() ? environment_value(name.c_str()) : found->substr(name.size() + 1);
}

void wipe(std::string& secret) noexcept {
  ::explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

Result<std::string> random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  if (::getentropy(raw.data(), raw.size()) != 0) return system_error("the system gives no random bytes");
  std::string hex;
  hex.reserve(2 * bytes);
  for (const char byte : raw) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  wipe(raw);
  return hex;
}

void open_closed_streams() {
  // In this order: open() takes the lowest number that is free.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const bool full = stream == STDOUT_FILENO;
    (void)::open(full ? "/dev/full" : "/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

IgnoredBrokenPipe::IgnoredBrokenPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}

IgnoredBrokenPipe::~IgnoredBrokenPipe() { std::signal(SIGPIPE, before_ == SIG_ERR ? SIG_DFL : before_); }

}  // namespace accelscope::capture::system
