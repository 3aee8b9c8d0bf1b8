// The sessions that were opened before, newest first, with the two figures that identify a run (active time,
// events). Kept in one small text file; what cannot be parsed is skipped. Never touches the sessions themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app {

struct RecentSession {
  std::string path;
  std::string title;
  std::string device;
  std::int64_t work_ns = 0;
  std::uint64_t events = 0;
  std::int64_t opened_unix_s = 0;
  std::uint64_t warnings = 0;
  std::string project = {};  // that it was captured with
  std::string configuration = {};
  bool operator==(const RecentSession&) const = default;
};

class RecentSessions {
 public:
  static constexpr std::size_t kMost = 100;

  // file: where the list is kept; "" keeps it for this run only.
  explicit RecentSessions(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  // Adds it in front, or moves it there when the path is known.
  Result<void> remember(RecentSession session);
  Result<void> forget(const std::string& path);

  [[nodiscard]] const std::vector<RecentSession>& list() const noexcept { return list_; }
  // Those whose title, device, path, project or configuration holds every word of the text, whatever the case; of the
  // project, unless that is "".
  [[nodiscard]] std::vector<const RecentSession*> matching(std::string_view text, std::string_view project = "") const;
  [[nodiscard]] std::vector<std::string> projects() const;  // newest first, each once

 private:
  Result<void> write() const;
  std::string file_;
  std::vector<RecentSession> list_;
};

// "today 14:12", "yesterday", "Mon 17 Nov", "17 Nov 2025", in local time.
[[nodiscard]] std::int64_t unix_now();  // seconds
[[nodiscard]] std::string format_when(std::int64_t unix_s, std::int64_t now_unix_s);

}  // namespace accelscope::app
