// A regression explained: the difference of the totals of two sessions along both critical paths, as text, Markdown and
// JSON. The totals are those that a comparison is headed by: what the maker publishes where both sessions state it,
// else from the first work to the last. What of it lies before or after the path is a term of its own.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/comparison/path_difference.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app {

struct ExplainedBy {
  std::string_view name;   // "line"
  std::string_view title;  // "Line"
  PathBy by;
};
// The order in which they are told.
inline constexpr ExplainedBy kExplainedBy[] = {{"line", "Line", PathBy::line},
                                               {"wait", "Wait", PathBy::wait},
                                               {"resource", "Resource", PathBy::resource},
                                               {"name", "Name", PathBy::name}};

struct ExplainedPart {
  ExplainedBy by;
  PathDifference difference;
  std::vector<EventId> base_events, other_events;  // of each term the first on that path; kNoEvent: it has none
};
struct Explained {
  std::string base_title, other_title;
  std::string_view total;  // the term that the totals are: kStatedTime or kWorkTime
  std::int64_t base_ns = 0, other_ns = 0;
  std::string base_bound, other_bound;  // "Most of the critical path: memory, 66.8 %"
  std::vector<ExplainedPart> parts;
};
[[nodiscard]] Result<Explained> explain_difference(const QueryContext& base, const QueryContext& other,
                                                   const std::vector<ExplainedBy>& by);

// "slower by 23.3 µs: 295.1 µs to 318.4 µs"
[[nodiscard]] std::string explained_headline(const Explained& explained);
// "Longer +34.3 µs, shorter -11 µs, together +23.3 µs. Nothing left over."
[[nodiscard]] std::string explained_sum(const PathDifference& difference);
// "mlp.py:33", "waiting: dma", "(no line)"
[[nodiscard]] std::string explained_label(const PathTerm& term, const ExplainedBy& by);
// "64 to 16 on the path"; "new on the path"
[[nodiscard]] std::string explained_why(const PathTerm& term);

void write_explained_text(std::ostream& out, const Explained& explained, std::size_t most_rows);  // 0: all
void write_explained_markdown(std::ostream& out, const Explained& explained, std::size_t most_rows);
void write_explained_json(std::ostream& out, const Explained& explained, std::size_t most_rows);

}  // namespace accelscope::app
