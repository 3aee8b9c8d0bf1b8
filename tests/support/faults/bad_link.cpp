#include "tests/support/faults/bad_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace accelscope::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Packet = std::vector<unsigned char>;

// One end: a namespace and its end of the line.
struct End {
  int network = -1;  // the namespace, which lives as long as this is open
  int device = -1;
};

sockaddr socket_address(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text, &address.sin_addr);
  sockaddr generic{};
  std::memcpy(&generic, &address, sizeof generic);
  return generic;
}

bool bring_up(int socket, const char* name) {
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
  if (::ioctl(socket, SIOCGIFFLAGS, &request) != 0) return false;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  return ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

bool configure(const char* device, const char* own, const char* other) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
  request.ifr_addr = socket_address(own);
  bool done = socket >= 0 && ::ioctl(socket, SIOCSIFADDR, &request) == 0;
  request.ifr_dstaddr = socket_address(other);
  done = done && ::ioctl(socket, SIOCSIFDSTADDR, &request) == 0;
  request.ifr_mtu = 1500;
  done = done && ::ioctl(socket, SIOCSIFMTU, &request) == 0;
  done = done && bring_up(socket, device) && bring_up(socket, "lo");
  if (socket >= 0) ::close(socket);
  return done;
}

// On a thread of its own, which alone moves into the new namespace. "" or what went wrong.
std::string make_end(const char* own, const char* other, End& end) {
  std::string problem;
  std::thread([&] {
    const auto fail = [&problem](const char* what) { problem = fmt::format("{}: {}", what, std::strerror(errno)); };
    if (::unshare(CLONE_NEWNET) != 0) return fail("no network namespace");
    end.network = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (end.network < 0) return fail("/proc/thread-self/ns/net");
    end.device = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (end.device < 0) return fail("/dev/net/tun");
    ifreq request{};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (::ioctl(end.device, TUNSETIFF, &request) != 0) return fail("no TUN device");
    if (!configure(request.ifr_name, own, other)) return fail("the TUN device cannot be set up");
  }).join();
  return problem;
}

// Where TCP's payload begins; the packet's size if it carries none.
std::size_t payload_of(const Packet& packet) {
  if (packet.size() < 40 || packet[0] >> 4 != 4 || packet[9] != IPPROTO_TCP) return packet.size();
  const std::size_t tcp = static_cast<std::size_t>(packet[0] & 15U) * 4;
  if (tcp + 20 > packet.size()) return packet.size();
  return std::min(packet.size(), tcp + static_cast<std::size_t>(packet[tcp + 12] >> 4) * 4);
}

}  // namespace

struct BadLink::Implementation {
  explicit Implementation(const LinkFaults& asked) : faults(asked), random(asked.seed) {}

  void embed() {
    while (!stopping) {
      const auto now = Clock::now();
      deliver_waiting(now);
      milliseconds pause(20);
      if (!waiting.empty()) {
        pause = std::min(pause, std::chrono::ceil<milliseconds>(waiting.begin()->first - now));
      }
      std::array<pollfd, 2> ready = {pollfd{ends[0].device, POLLIN, 0}, pollfd{ends[1].device, POLLIN, 0}};
      if (::poll(ready.data(), ready.size(), static_cast<int>(pause.count())) <= 0) continue;
      for (std::size_t from = 0; from < 2; ++from) {
        if ((ready[from].revents & POLLIN) != 0) take(from);
      }
    }
  }

  void deliver_waiting(Clock::time_point now) {
    const std::lock_guard lock(mutex);
    while (!waiting.empty() && waiting.begin()->first <= now) {
      const auto& [to, packet] = waiting.begin()->second;
      deliver(to, packet);
      waiting.erase(waiting.begin());
    }
  }

  void take(std::size_t from) {
    Packet packet(2048);
    for (;;) {
      packet.resize(2048);
      const ssize_t size = ::read(ends[from].device, packet.data(), packet.size());
      if (size <= 0) return;
      packet.resize(static_cast<std::size_t>(size));
      pass(1 - from, packet);
    }
  }

  void pass(std::size_t to, Packet& packet) {
    const std::lock_guard lock(mutex);
    ++counts.embedded;
    if (chance(faults.lost)) {
      ++counts.lost;
      return;
    }
    const std::size_t payload = payload_of(packet);
    if (chance(faults.damaged) && payload < packet.size()) {
      ++counts.damaged;
      packet[payload + random() % (packet.size() - payload)] ^= static_cast<unsigned char>(1U << (random() % 8));
    }
    if (chance(faults.forged)) forge(packet, payload);
    if (chance(faults.doubled)) {
      ++counts.doubled;
      deliver(to, packet);
    }
    if (chance(faults.late)) {
      ++counts.late;
      waiting.emplace(Clock::now() + milliseconds(1 + random() % 20), std::pair(to, packet));
      return;
    }
    deliver(to, packet);
  }

  void forge(Packet& packet, std::size_t payload) {
    const std::size_t words = (packet.size() - payload) / 2;
    if (counts.embedded < faults.forged_after || counts.forged >= faults.most_forged || words < 2) return;
    unsigned char* const first = packet.data() + payload + random() % words * 2;
    unsigned char* const second = packet.data() + payload + random() % words * 2;
    if (std::memcmp(first, second, 2) == 0) return;
    std::swap_ranges(first, first + 2, second);
    ++counts.forged;
  }

  // What the other end has no room for is lost, as on any line.
  void deliver(std::size_t to, const Packet& packet) {
    if (::write(ends[to].device, packet.data(), packet.size()) < 0) ++counts.lost;
  }

  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random) < share; }

  [[nodiscard]] std::vector<std::string> at(std::size_t end, const std::vector<std::string>& command) const {
    std::vector<std::string> argv = {"/usr/bin/env", "nsenter",
                                     fmt::format("--net=/proc/{}/fd/{}", ::getpid(), ends[end].network)};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  }

  const LinkFaults faults;
  std::array<End, 2> ends;  // the agent's, the viewer's
  std::string problem;
  mutable std::mutex mutex;
  LinkCounts counts;
  std::mt19937_64 random;
  std::multimap<Clock::time_point, std::pair<std::size_t, Packet>> waiting;
  std::atomic<bool> stopping{false};
  std::thread carrier;
};

BadLink::BadLink(const LinkFaults& faults) : impl_(std::make_unique<Implementation>(faults)) {
  impl_->problem = make_end(kAgentHost, kViewerHost, impl_->ends[0]);
  if (impl_->problem.empty()) impl_->problem = make_end(kViewerHost, kAgentHost, impl_->ends[1]);
  if (impl_->problem.empty()) impl_->carrier = std::thread([this] { impl_->embed(); });
}

BadLink::~BadLink() {
  impl_->stopping = true;
  if (impl_->carrier.joinable()) impl_->carrier.join();
  for (const End& end : impl_->ends) {
    if (end.device >= 0) ::close(end.device);
    if (end.network >= 0) ::close(end.network);
  }
}

bool BadLink::there() const { return impl_->problem.empty(); }
const std::string& BadLink::problem() const { return impl_->problem; }

std::vector<std::string> BadLink::at_agent(const std::vector<std::string>& command) const {
  return impl_->at(0, command);
}

std::vector<std::string> BadLink::at_viewer(const std::vector<std::string>& command) const {
  return impl_->at(1, command);
}

LinkCounts BadLink::counts() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

}  // namespace accelscope::test
