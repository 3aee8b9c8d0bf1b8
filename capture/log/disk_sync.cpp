#include "capture/log/disk_sync.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace accelscope::capture::log {
namespace {

namespace fs = std::filesystem;

constexpr int kFoldersAbove = 2;  // that may have been made for the log

system::Descriptor open_folder(const fs::path& folder) {
  return system::Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// One that cannot be opened or synced at all, as on some network file systems, is as safe as it can be.
bool sync_folder(const system::Descriptor& folder) { return !folder || ::fsync(folder.get()) == 0 || errno == EINVAL; }

}  // namespace

DiskSync::DiskSync(const fs::path& folder) : folder_(open_folder(folder)) {
  fs::path above = fs::absolute(folder).lexically_normal();
  for (int i = 0; i < kFoldersAbove && above.has_relative_path(); ++i) {
    above = above.parent_path();
    above_.push_back(open_folder(above));
  }
  thread_ = std::thread([this] { run(); });
}

DiskSync::~DiskSync() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DiskSync::request(int descriptor, std::uint32_t segment, std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty() && waiting_.back().segment == segment) {
      waiting_.back().sequence = std::max(waiting_.back().sequence, sequence);
      return;
    }
    system::Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy) return fail();
    waiting_.push_back({std::move(copy), segment, sequence});
  }
  changed_.notify_all();
}

void DiskSync::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return (waiting_.empty() && !busy_) || !failure_.empty(); });
}

std::uint64_t DiskSync::synced() const {
  const std::lock_guard lock(mutex_);
  return synced_;
}

std::string DiskSync::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void DiskSync::fail() { failure_ = fmt::format("what is written cannot be put on the disk: {}", std::strerror(errno)); }

void DiskSync::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    bool done = ::fdatasync(request.file.get()) == 0 && sync_folder(folder_);
    for (const system::Descriptor& each : std::exchange(above_, {})) done = done && sync_folder(each);
    lock.lock();
    busy_ = false;
    if (!done) fail();  // and nothing after it counts either
    if (failure_.empty()) synced_ = std::max(synced_, request.sequence);
    changed_.notify_all();
  }
}

}  // namespace accelscope::capture::log
