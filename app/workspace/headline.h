// What identifies a session in a list of many: kept beside its events in its file, so that a list opens none. Written
// whenever a session is saved by the viewer or a command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app::workspace {

inline constexpr const char* kHeadlineKey = "headline";
inline constexpr const char* kTagsKey = "tags";          // as join_tags() writes them
inline constexpr const char* kDisplayNameKey = "title";  // that a user gave it in a list

struct Headline {
  static constexpr std::size_t kCells = 64;
  std::string name;    // that the session was given; "": it is called as its file
  std::string device;  // "trn1-07 nc0", "4 devices"
  // As core/analysis/figures/session_terms.h has them: events, the total, the work (0: nothing works).
  std::uint64_t events = 0;
  std::int64_t duration_ns = 0;
  std::int64_t work_ns = 0;
  std::uint64_t warnings = 0;             // of the data-quality report
  std::optional<std::uint64_t> findings;  // of advice; nothing where there are too many events for a list
  std::string error;                      // the first that its hardware reported; "": none
  std::int64_t saved_unix_s = 0;
  // How busy the devices (hosts where there is none) were over the work: kCells digits '0' to '9' of the
  // busiest cell; "" where nothing worked.
  std::string activity;
  std::vector<std::string> processes;  // that its sources told of: "python3 (4711)"; at most kMostProcesses
  static constexpr std::size_t kMostProcesses = 32;
  static constexpr std::uint64_t kMostForFindings = 300'000;  // a save must not wait for seconds
  bool operator==(const Headline&) const = default;
};

// Reads trees, of chunks only long leaves, and all of a session of up to kMostForFindings events. `last` is taken at
// its word where the session has as many events still.
[[nodiscard]] Result<Headline> find_headline(const QueryContext& query, std::int64_t saved_unix_s,
                                             const Headline* last = nullptr);
[[nodiscard]] std::string to_text(const Headline& headline);
[[nodiscard]] std::optional<Headline> headline_of(std::string_view text);  // nothing: it is none

// Before a save; the time of the first one stays. A session without one can be read all the same, so that a failure is
// no reason not to save.
void keep_headline(Store& store, WorkerPool& pool);

[[nodiscard]] std::uint64_t count_warnings(const Snapshot& snapshot);

}  // namespace accelscope::app::workspace
