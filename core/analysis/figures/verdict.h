// What a first view says of a session in one line: what bounds it, the largest single cause, its worst source line,
// what its data lack. It commits: of several answers that are possible the likeliest is given, with its figures.
//
// A device that a host feeds through streams and that idles for a fifth of the time, and no less than it communicates
// or copies with nothing else under way, is bound by its host, and the longest gap says where to look. Else the largest
// part of its time bounds it, see TimeSplit; one that idles for a tenth or more is only said to be at that mostly. Of a
// device of engines the unit that is under way for most of the active
// time bounds it: DMA, an engine, collectives; where none is for half of it, nor far longer than the others,
// they wait for each other. Shares are means over the devices, of a unit of engines over those that have it, each in
// the time in which its host took part.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/figures/range_activity.h"
#include "core/analysis/source/source_lines.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct SessionLoad {
  enum class Kind : std::uint8_t { nothing, host_only, streams, engines };
  Kind kind = Kind::nothing;
  std::string device;          // "GPU", "2 GPUs", "nc0", see session_devices()
  std::int64_t span_ns = 0;    // see SessionTerms::span
  std::int64_t active_ns = 0;  // of that, in which a device does anything; of a host alone: in which it works
  std::array<double, kWorkUnits> shares{};  // of the active time in which a unit is under way
  TimeSplit split{};                        // of the span, means over the devices
  std::string busiest;                      // engine, "Tensor"; of streams: the name with the longest time
  double busiest_share = 0;                 // of the active time
  double waits_share = 0;    // of the time in which programs of engines ran: they waited for their transfers
  std::string longest_wait;  // the name that most of it goes to
  // Floating point operations, of what the device's active time (session_terms.h) would allow at its peak: as a
  // roofline of the whole session has it.
  std::optional<double> of_peak;
  std::optional<double> ideal_ns;  // what operations and bytes take at the device's peaks, the longer of both
  std::int64_t empty_ns = 0;       // of the span: the longest gaps in which nothing is under way, waits neither
  TimeRange gap{0, 0};             // the longest in which a device does nothing
  std::string before_gap;          // what ended last before it; "" where nothing did
  std::string runtime_in_gap;      // the runtime's call that took most of it; "" where none is known
  std::string host_in_gap;         // what the host did for most of it; "" where that is not known
  bool over_network = false;       // transfers are of a network of cores: communication
  std::uint64_t doubtful = 0;      // events whose times cannot be true, and are left out
  std::uint64_t timed = 0;         // events of devices whose times can

  [[nodiscard]] double idle_share() const noexcept;
  [[nodiscard]] double share(WorkUnit unit) const noexcept { return shares[static_cast<std::size_t>(unit)]; }
};

// Of the range that the session works in, as find_active_stretch() has it. `index` may be null.
[[nodiscard]] Result<SessionLoad> session_load(const QueryContext& query, const TimeRange& active,
                                               const ActivityIndex* index = nullptr);

// The same of what engines did inside executions that the session shows as a whole too: a profile of a device beside
// that of its host. Kind nothing where there are no such.
[[nodiscard]] Result<SessionLoad> executed_load(const QueryContext& query, const TimeRange& active,
                                                const ActivityIndex* index = nullptr);

// "GPU idle 49.0 % of 1.065 s: host-bound", "7.0 % of peak: DMA-bound, ideal 21 µs for 300 µs of work"
[[nodiscard]] std::string bound_text(const SessionLoad& load);
// "Largest gap 95 ms after gemm, host in DataLoader", "DMA 98.0 %, Tensor 43.7 % of the active time"; "" for nothing
[[nodiscard]] std::string cause_text(const SessionLoad& load);

// Why a line is the worst one.
enum class LineReason : std::uint8_t { waits, works, host };
struct WorstLine {
  std::string path;
  std::uint32_t line = 0;
  LineReason reason = LineReason::waits;
  std::int64_t ns = 0;           // all that it costs
  std::int64_t launched_ns = 0;  // of a host's line: device work that it launched
};
// The line that costs the device most: the one that waits longest, else works longest there. Where lines are known of
// the host alone, the one whose own time and launched device work are longest together; `own` and `launched` are by
// lines of the user's own, frames of frameworks are none. Nothing if no line does any.
[[nodiscard]] std::optional<WorstLine> worst_line(const SourceLines& lines, const SourceLines& own = {},
                                                  const SourceLines& launched = {});
// "mlp.py:33 waits 344 µs", "train.py:88 launches 2.1 ms of device work, 300 µs of its own"
[[nodiscard]] std::string line_text(const WorstLine& line);
// The kind and count of the first entry of the highest severity: "rows skipped (12)"; "" if there is none but notes.
[[nodiscard]] std::string missing_text(const Snapshot& snapshot);

struct Verdict {
  std::string bound;                     // never empty
  std::string cause;                     // "" where there is nothing to add
  std::optional<TimeRange> cause_range;  // the stretch that it is about
  std::optional<WorstLine> worst;        // nothing if no line of source is known
  std::string missing;                   // "": nothing

  [[nodiscard]] std::string text() const;  // all of it, in one line
};

// Its bound and cause alone, of a range: of sessions without work those of their memory or of times that are sums.
[[nodiscard]] Result<Verdict> range_verdict(const QueryContext& query, const TimeRange& active,
                                            const ActivityIndex* index = nullptr);
// `active` as find_active_stretch() has it, the lines of the whole session.
[[nodiscard]] Result<Verdict> session_verdict(const QueryContext& query, const std::optional<TimeRange>& active,
                                              const SourceLines& lines, const ActivityIndex* index = nullptr);

}  // namespace accelscope::analysis
