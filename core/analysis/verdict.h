// What a first view says of a session in one line: what bounds it, its worst source line, what its data lack.
//
// What bounds it is told from shares of the active stretch, the mean over the devices that have such tracks:
//   compute      the busiest engine track works                  (a lane's events that do not wait)
//   engine_wait  an engine track that did anything waits         (the schema's waiting names; mean over those tracks)
//   dma, collectives, streams   at least one of them is under way
// A rule holds where all its shares are known and lie between its thresholds; the first that holds speaks. Something
// busy for four fifths of the time leaves too little idle time for anything else to be the limit; engines that wait for
// at least three tenths, or work for at most a half, show that it is not they. Below that nothing is claimed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/analysis/source_lines.h"
#include "core/query/chunk_scan.h"

namespace accelscope {

enum class Load : std::uint8_t { compute, engine_wait, dma, collectives, streams };
inline constexpr std::size_t kLoads = 5;

struct SessionLoad {
  std::int64_t active_ns = 0;
  std::array<std::optional<double>, kLoads> shares;  // 0 to 1 of the active stretch; empty: there are no such tracks
  std::string busiest_engine;                        // "Tensor"

  [[nodiscard]] std::optional<double> share(Load load) const noexcept { return shares[static_cast<std::size_t>(load)]; }
};

struct LoadCondition {
  Load load = Load::compute;
  double least = 0;
  double most = 1;
};
struct VerdictRule {
  std::string_view conclusion;  // "bound by memory"
  std::array<LoadCondition, 2> conditions;
  std::size_t condition_count = 1;
};
[[nodiscard]] std::span<const VerdictRule> verdict_rules() noexcept;

// Reads the events of engines, queues, collectives and streams in the range once.
[[nodiscard]] Result<SessionLoad> session_load(const QueryContext& query, const TimeRange& active);

// "DMA is busy 98.0 % of the active 393 µs, engines wait 61.0 %: bound by memory". Says so where no rule holds, or
// where there are no tracks to tell it from.
[[nodiscard]] std::string bound_text(const SessionLoad& load);

// Why a line is the worst one.
enum class LineCost : std::uint8_t { waits, works, launches, works_on_host };
struct WorstLine {
  std::string path;
  std::uint32_t line = 0;
  LineCost cost = LineCost::waits;
  std::int64_t ns = 0;
};
// The line that costs the device most: the one that waits longest, else works longest there; where lines are known of
// the host alone, the one that launches most work on the device (`launched`, from launched_time()), and without any
// the one that works longest on the host. Nothing if no line does any.
[[nodiscard]] std::optional<WorstLine> worst_line(const SourceLines& lines, const SourceLines& launched = {});
// "mlp.py:33 waits 344 µs", "mlp.py:33 launches 2.1 ms of device work", "mlp.py:33 works 3 ms on the host"
[[nodiscard]] std::string line_text(const WorstLine& line);
// The kind and count of the first entry of the highest severity: "rows skipped (12)"; "" if there is none.
[[nodiscard]] std::string missing_text(const Snapshot& snapshot);

struct Verdict {
  std::string bound;               // never empty
  std::optional<WorstLine> worst;  // nothing if no line of source is known
  std::string missing;             // "": nothing

  [[nodiscard]] std::string text() const;  // all of it, in one line
};

// `active` as find_active_stretch() has it, the lines of the whole session.
[[nodiscard]] Result<Verdict> session_verdict(const QueryContext& query, const std::optional<TimeRange>& active,
                                              const SourceLines& lines);

}  // namespace accelscope
