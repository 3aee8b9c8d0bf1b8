// A what-if as it is shown: the totals, both critical paths row by row, and both timelines in a few rows; and which
// changes are worth asking for.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/replay/what_if.h"

namespace accelscope::app::content {

// A row of both paths: what of it each has.
struct SharePair {
  std::string label;
  bool is_gap = false;
  std::int64_t before_ns = 0, after_ns = 0;
  // "waiting: dma"; "-" where it has no name.
  [[nodiscard]] std::string text() const;
};

struct WhatIfAnswer {
  analysis::WhatIfResult result;
  std::vector<SharePair> shares;  // of resources
  std::string bound_before, bound_after;
};

[[nodiscard]] Result<WhatIfAnswer> answer_what_if(const QueryContext& query, const analysis::WorkGraph& graph,
                                                  std::span<const analysis::WhatIfChange> changes,
                                                  const TimeRange& range,
                                                  analysis::RetainedDetails* retained = nullptr);

// What a change saves, by every reading of what the session does not tell.
struct ChangeSaving {
  std::int64_t least_ns = 0, most_ns = 0;
  bool operator==(const ChangeSaving&) const = default;
};
// What becomes of the total by it: "≈ −1.2 µs", "−1.2 µs to −3 µs".
[[nodiscard]] std::string total_change_text(const ChangeSaving& saving);

// How long it takes then: "≈ 27 µs", "18.8 µs to 27 µs"; how many times as fast that is: "1.51×", "1.51 to 2.17×".
[[nodiscard]] std::string then_text(const analysis::WhatIfResult& result);
[[nodiscard]] std::string ratio_text(const analysis::WhatIfResult& result);

// How busy a resource is in each of kGhostCells equal stretches of [0, length) of the range, now and in the replay.
inline constexpr std::size_t kGhostCells = 400;
struct GhostRow {
  std::string label;
  WorkKind kind = WorkKind::none;
  std::vector<float> now, then;
};
// Of the resources with the largest shares of either path, at most `most`.
[[nodiscard]] std::vector<GhostRow> ghost_rows(const analysis::WorkGraph& graph, const WhatIfAnswer& answer,
                                               std::size_t most);
// The longer of both totals: what the cells of a row divide.
[[nodiscard]] std::int64_t ghost_length_ns(const WhatIfAnswer& answer) noexcept;

// Changes of what the path spends its time on, in the words of parse_change(), the largest shares first.
[[nodiscard]] std::vector<std::string> suggested_changes(const analysis::WorkGraph& graph,
                                                         const analysis::CriticalPath& path);

}  // namespace accelscope::app::content
