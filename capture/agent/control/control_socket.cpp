#include "capture/agent/control/control_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "capture/security/secrets.h"
#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::capture::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".sock";
constexpr std::string_view kOk = "ok ";
constexpr std::string_view kError = "error ";
constexpr std::size_t kLongestName = 40;
constexpr std::size_t kLongestLine = 4'096;
constexpr int kMostOfOneName = 1'000;
constexpr int kPatienceMs = 10'000;  // for a command of a capture whose sink is busy
constexpr std::array kCommands = {ControlCommand::pause, ControlCommand::resume, ControlCommand::stop,
                                  ControlCommand::status, ControlCommand::held};

// A file name that is safe in a folder and in a shell.
[[nodiscard]] std::string file_name(const std::string& name) {
  std::string safe = name.substr(0, kLongestName);
  for (char& c : safe) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  if (safe.empty() || safe.front() == '.') safe.insert(safe.begin(), '_');
  return safe;
}

// Up to the end of the line, without it; "" if none comes in time, or if something comes from `end` before it (-1: that
// is not watched).
[[nodiscard]] std::string read_line(int connection, int end = -1) {
  std::string line;
  std::array<char, 512> buffer{};
  while (line.size() < kLongestLine) {
    std::array<pollfd, 2> waiting{{{connection, POLLIN, 0}, {end, POLLIN, 0}}};
    const int ready = ::poll(waiting.data(), waiting.size(), kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || waiting[0].revents == 0) return {};
    const ssize_t count = ::read(connection, buffer.data(), buffer.size());
    if (count <= 0) return {};
    line.append(buffer.data(), static_cast<std::size_t>(count));
    if (const std::size_t stop = line.find('\n'); stop != std::string::npos) return line.substr(0, stop);
  }
  return {};
}

void write_line(int connection, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  (void)!::send(connection, line.data(), line.size(), MSG_NOSIGNAL);  // who asked may be gone
}

[[nodiscard]] Result<std::string> ask(const std::string& path, ControlCommand command) {
  const Result<system::Descriptor> connection = system::connect_to_local(path);
  if (!connection) return Error{"the capture has just ended"};
  write_line(connection->get(), std::string(control_word(command)));
  const std::string answer = read_line(connection->get());
  if (answer.starts_with(kOk)) return answer.substr(kOk.size());
  if (answer.starts_with(kError)) return Error{answer.substr(kError.size())};
  return Error{"the capture does not answer"};
}

struct Found {
  std::string socket_name;
  std::string path;
  std::string capture;  // what the process calls it
  std::string status;
};

// Those that have something to say to the command.
[[nodiscard]] Result<std::vector<Found>> find_captures(const std::string& given_folder,
                                                       ControlCommand command = ControlCommand::status) {
  const std::string folder = TRY(given_folder.empty() ? control_folder() : Result<std::string>(given_folder));
  std::vector<Found> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() != kSuffix) continue;
    const std::string path = entry.path().string();
    if (!system::connect_to_local(path))
      continue;  // left behind by a process that died; the next one of the name removes it
    const Result<std::string> status = ask(path, command);
    if (!status) continue;  // it has nothing
    found.push_back({entry.path().stem().string(), path, status->substr(0, status->find(": ")), *status});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.socket_name < b.socket_name; });
  return found;
}

// What tells it from the others.
[[nodiscard]] std::string name_of(const Found& capture, const std::vector<Found>& all) {
  const auto same =
      std::count_if(all.begin(), all.end(), [&](const Found& other) { return other.capture == capture.capture; });
  return same > 1 ? capture.socket_name : capture.capture;
}

}  // namespace

std::string_view control_word(ControlCommand command) noexcept {
  switch (command) {
    case ControlCommand::pause:
      return "pause";
    case ControlCommand::resume:
      return "resume";
    case ControlCommand::stop:
      return "stop";
    case ControlCommand::held:
      return "held";
    case ControlCommand::status:
      break;
  }
  return "status";
}

Result<std::string> control_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = runtime != nullptr && runtime[0] == '/' ? std::string(runtime) + "/accelscope"
                                                                     : fmt::format("/tmp/accelscope-{}", ::geteuid());
  if (Result<void> own = make_own_folder(folder, Sharing::none); !own) {
    return Error{own.message() + "; or set XDG_RUNTIME_DIR to a folder of yours"};
  }
  return folder;
}

Result<ControlSocket::Place> ControlSocket::take_place(const std::string& folder, const std::string& name) {
  for (int number = 1; number <= kMostOfOneName; ++number) {
    const std::string own = number == 1 ? file_name(name) : fmt::format("{}-{}", file_name(name), number);
    const std::string path = fmt::format("{}/{}{}", folder, own, kSuffix);
    if (system::connect_to_local(path)) continue;
    ::unlink(path.c_str());
    Result<system::LocalListener> listener = system::LocalListener::open(path);
    if (!listener) return Error{listener.message() + "; set XDG_RUNTIME_DIR to another folder"};
    return Place{own, path, std::move(listener).value()};
  }
  return Error{fmt::format("{}: too many captures have this name; choose another with --name", name)};
}

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const std::string& name, Handler handler,
                                                           const std::string& given_folder) {
  const std::string folder = TRY(given_folder.empty() ? control_folder() : Result<std::string>(given_folder));
  std::pair<system::Descriptor, system::Descriptor> wake = TRY(system::make_stream_pair());
  std::optional<Place> place;
  // Two that start at once must not take each other's fresh socket for one that was left behind.
  const Result<void> taken = security::with_folder_locked(folder, [&]() -> Result<void> {
    Place found = TRY(take_place(folder, name));
    place = std::move(found);
    return {};
  });
  if (!taken) return taken.error();
  return std::unique_ptr<ControlSocket>(
      new ControlSocket(std::move(*place), std::move(wake.first), std::move(wake.second), std::move(handler)));
}

ControlSocket::ControlSocket(Place place, system::Descriptor wake, system::Descriptor woken, Handler handler)
    : name_(std::move(place.name)),
      path_(std::move(place.path)),
      listener_(std::move(place.listener)),
      wake_(std::move(wake)),
      woken_(std::move(woken)),
      handler_(std::move(handler)),
      thread_([this] { serve(); }) {}

ControlSocket::~ControlSocket() {
  ::unlink(path_.c_str());
  wake_.close();
  thread_.join();
}

void ControlSocket::serve() {
  for (;;) {
    std::array<pollfd, 2> waiting{{{listener_.descriptor().get(), POLLIN, 0}, {woken_.get(), POLLIN, 0}}};
    // A signal may end the wait with nothing to accept; who asked may be gone again.
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    if (waiting[1].revents != 0) return;
    if (waiting[0].revents == 0) continue;
    if (const std::optional<system::Descriptor> connection = listener_.take()) answer(connection->get());
  }
}

void ControlSocket::answer(int connection) const {
  const std::string asked = read_line(connection, woken_.get());
  for (const ControlCommand command : kCommands) {
    if (asked != control_word(command)) continue;
    const Result<std::string> done = handler_(command);
    return write_line(connection, done ? fmt::format("{}{}", kOk, *done) : fmt::format("{}{}", kError, done.message()));
  }
  if (!asked.empty())
    write_line(connection, fmt::format("{}'{}' is no command", kError, asked.substr(0, kLongestName)));
}

Result<std::vector<ControlledCapture>> list_captures(const std::string& folder) {
  const std::vector<Found> found = TRY(find_captures(folder));
  std::vector<ControlledCapture> captures;
  for (const Found& capture : found) captures.push_back({name_of(capture, found), capture.status});
  return captures;
}

Result<std::vector<std::string>> list_held(const std::string& folder) {
  const std::vector<Found> found = TRY(find_captures(folder, ControlCommand::held));
  std::vector<std::string> held;
  for (const Found& agent : found) held.push_back(agent.status);
  return held;
}

Result<std::string> send_command(const std::string& name, ControlCommand command, const std::string& folder) {
  const std::vector<Found> found = TRY(find_captures(folder));
  if (found.empty()) return Error{"no capture of yours is running on this machine"};
  std::vector<std::string> names;
  const Found* wanted = nullptr;
  for (const Found& capture : found) {
    names.push_back(name_of(capture, found));
    if (name == names.back() || name == capture.socket_name) wanted = &capture;
  }
  if (name.empty() && found.size() == 1) wanted = &found.front();
  if (wanted != nullptr) return ask(wanted->path, command);
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (name.empty()) {
    return Error{fmt::format("several captures are running: {}; name one, as in accelscope-agent {} {}", all,
                             control_word(command), names.front())};
  }
  const std::string nearest = nearest_name(name, names);
  return Error{fmt::format("{}: no capture of this name is running; {}there are {}", name,
                           nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest), all)};
}

}  // namespace accelscope::capture::agent
