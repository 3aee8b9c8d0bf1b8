// A disk of a few bytes, mounted over a folder for those programs that are started with it; nobody else sees it there.
//
//   SmallDisk disk(folder, 1U << 20);
//   if (!disk.there()) return;                                  // takes root; says so
//   Process::start(disk.seen_by({program, "record", ...}));     // to whom `folder` is the small disk
//   disk.fill(); disk.make_room();                              // while they run
//   disk.here() / "file"                                        // the same files for this process
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace accelscope::test {

class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, std::uint64_t bytes) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    // Lives in a mount namespace of its own, which goes with it.
    Result<Process> holder =
        Process::start({"/usr/bin/env", "unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
                        "mount -t tmpfs -o mode=0700,size=" + std::to_string(bytes) + " none '" + folder_.string() +
                            "' && echo mounted && exec sleep infinity"});
    if (!holder.ok()) return;
    holder_.emplace(std::move(holder).value());
    there_ = holder_->wait_for("mounted", kLimit).has_value();
  }

  [[nodiscard]] bool there() const {
    if (!there_) MESSAGE("skipped: no small disk can be mounted here (root, unshare and nsenter are needed)");
    return there_;
  }
  [[nodiscard]] std::vector<std::string> seen_by(const std::vector<std::string>& command) const {
    std::vector<std::string> argv = {"/usr/bin/env", "nsenter", "--mount=" + of_holder("ns/mnt")};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::filesystem::path here() const { return of_holder("root") + folder_.string(); }

  // Of "size=BYTES", "ro", "rw".
  [[nodiscard]] bool remount(const std::string& options) const {
    Result<Process> mount = Process::start(seen_by({"mount", "-o", "remount," + options, folder_.string()}));
    return mount.ok() && mount->finish(kLimit) == 0;
  }
  // To the last page, with a file that make_room() removes.
  void fill() const {
    const int file = ::open(ballast().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string page(4096, 'x');
    while (file >= 0 && ::write(file, page.data(), page.size()) > 0) continue;
    if (file >= 0) ::close(file);
  }
  void make_room() const { std::filesystem::remove(ballast()); }

 private:
  static constexpr std::chrono::seconds kLimit{600};
  [[nodiscard]] std::string of_holder(const std::string& what) const {
    return "/proc/" + std::to_string(holder_ ? holder_->id() : 0) + "/" + what;
  }
  [[nodiscard]] std::filesystem::path ballast() const { return here() / "ballast"; }

  std::filesystem::path folder_;
  std::optional<Process> holder_;
  bool there_ = false;
};

}  // namespace accelscope::test
