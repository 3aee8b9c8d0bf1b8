// A Debian 11 without anything but Python, in which the programs of this build are run. Made at the first use, kept
// outside of the tree for the runs after it. Where it cannot be made, tests say so and are skipped.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/system/child_process.h"
#include "tests/capture/reach/reach_support.h"

namespace accelscope::test {

// "" if there is none.
[[nodiscard]] std::string first_cell(const std::string& session_file, const std::string& sql);

class BareDebian {
 public:
  [[nodiscard]] static std::unique_ptr<BareDebian> open();

  // The programs of this build lie in /opt there, and the folder of this object is /mnt, and home.
  [[nodiscard]] capture::system::ChildOutcome run(const std::vector<std::string>& words) const;
  // The words that do so on this machine.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words) const;
  [[nodiscard]] const capture::reach_test::ReachFolder& folder() const noexcept { return folder_; }
  // The first cell that SQL gives of a session file in the folder.
  [[nodiscard]] std::string cell(const std::string& session, const std::string& sql) const;

 private:
  explicit BareDebian(std::string root) : root_(std::move(root)) {}

  std::string root_;
  capture::reach_test::ReachFolder folder_;
};

}  // namespace accelscope::test
