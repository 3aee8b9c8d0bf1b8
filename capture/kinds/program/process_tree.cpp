#include "capture/kinds/program/process_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

namespace accelscope::capture::kinds::program {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Looking through all processes of the machine may take this part of one CPU's time.
constexpr int kSearchShare = 20;

[[nodiscard]] std::string read_small(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 1024> buffer{};
  const ssize_t got = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string{};
}

struct Stat {
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t session = 0;
  std::uint64_t threads = 0;
  std::uint64_t resident_pages = 0;
};

// proc(5): the name in parentheses may hold anything, so the fields are counted from its end.
[[nodiscard]] std::optional<Stat> read_stat(int id) {
  const std::string text = read_small(fmt::format("/proc/{}/stat", id));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  Stat stat;
  constexpr int kParent = 4;
  constexpr int kSession = 6;
  constexpr int kThreads = 20;
  constexpr int kResident = 24;
  stat.state = rest.front();
  for (int field = 3; field <= kResident && !rest.empty(); ++field) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const char* const end = word.data() + word.size();
    if (field == kParent) std::from_chars(word.data(), end, stat.parent);
    if (field == kSession) std::from_chars(word.data(), end, stat.session);
    if (field == kThreads) std::from_chars(word.data(), end, stat.threads);
    if (field == kResident) std::from_chars(word.data(), end, stat.resident_pages);
  }
  return stat;
}

// All threads of the process, to the ns; /proc counts in steps of 10 ms.
[[nodiscard]] std::int64_t cpu_time_ns(int id) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(id, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ProcessTree::ProcessTree(int root) : root_(root), sampled_at_(SteadyClock::now()) {}

bool ProcessTree::available() { return !read_small("/proc/self/stat").empty(); }

// Those of the root's session, and children of known ones that have left it.
void ProcessTree::find_processes() {
  const SteadyClock::time_point begin = SteadyClock::now();
  if (begin < find_again_at_) return;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry("/proc", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    int id = 0;
    const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || at != name.data() + name.size() || cpu_ns_.contains(id)) continue;
    const std::optional<Stat> stat = read_stat(id);
    if (!stat) continue;
    const bool ours = id == root_ || stat->session == root_ || cpu_ns_.contains(static_cast<int>(stat->parent));
    if (ours) cpu_ns_.emplace(id, 0);
  }
  const SteadyClock::time_point now = SteadyClock::now();
  find_again_at_ = now + kSearchShare * (now - begin);
}

std::optional<TreeUsage> ProcessTree::sample() {
  find_processes();
  static const auto kPageBytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const SteadyClock::time_point now = SteadyClock::now();
  const auto wall_ns = static_cast<double>(std::chrono::nanoseconds(now - sampled_at_).count());
  sampled_at_ = now;
  TreeUsage usage;
  std::int64_t cpu_ns = 0;
  for (auto known = cpu_ns_.begin(); known != cpu_ns_.end();) {
    const std::optional<Stat> stat = read_stat(known->first);
    const bool gone = !stat || stat->state == 'Z' || stat->state == 'X';
    const std::int64_t used_ns = gone ? 0 : cpu_time_ns(known->first);
    if (gone) {
      known = cpu_ns_.erase(known);
      continue;
    }
    cpu_ns += std::max<std::int64_t>(0, used_ns - known->second);
    known->second = used_ns;
    usage.resident_bytes += stat->resident_pages * kPageBytes;
    usage.threads += stat->threads;
    ++usage.processes;
    ++known;
  }
  if (usage.processes == 0) return std::nullopt;
  if (wall_ns > 0) usage.cpu_share = static_cast<double>(cpu_ns) / wall_ns;
  return usage;
}

}  // namespace accelscope::capture::kinds::program
