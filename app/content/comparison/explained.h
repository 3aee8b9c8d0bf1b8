// A regression explained: the difference of the totals of two sides along their critical paths, as text, Markdown and
// JSON. The totals are those that a comparison is headed by: what the maker publishes where both sides state it, else
// from the first work to the last; of several captures a side their mean, as in the comparison. What of it lies before
// or after the path is a term of its own. All is written to the ns: what is printed adds up.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/comparison/name_matching.h"
#include "core/base/json.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::app::content {

struct ExplainedBy {
  std::string_view name;   // "line"
  std::string_view title;  // "Line"
  analysis::PathBy by;
};
// The order in which they are told.
inline constexpr ExplainedBy kExplainedBy[] = {{"line", "Line", analysis::PathBy::line},
                                               {"wait", "Wait", analysis::PathBy::wait},
                                               {"resource", "Resource", analysis::PathBy::resource},
                                               {"name", "Name", analysis::PathBy::name}};

struct ExplainedPart {
  ExplainedBy by;
  analysis::PathDifference difference;
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

// What the path of one capture is made of; of several of a side their mean.
struct ExplainedSide {
  struct Part {
    std::vector<analysis::PathShare> shares;  // `first` is a place in events
    std::vector<EventId> events;
  };
  std::int64_t total_ns = 0;
  std::string bound;
  std::vector<Part> parts;  // by what was asked for
};
// `total`: kStatedTime, which the session states then, or kWorkTime.
[[nodiscard]] Result<ExplainedSide> explained_side(const QueryContext& query, std::string_view total,
                                                   const std::vector<ExplainedBy>& by);
// At least one. Events and bound are those of the first.
[[nodiscard]] ExplainedSide mean_side(const std::vector<ExplainedSide>& captures);
[[nodiscard]] Explained explain_sides(const ExplainedSide& base, const ExplainedSide& other, std::string_view total,
                                      const std::vector<ExplainedBy>& by);

// A time of it with every ns: "17.932 µs", with a sign "-2.567143 ms"; one unit for all of it.
[[nodiscard]] std::string exact_time(const Explained& explained, std::int64_t ns, bool is_signed = false);

// "slower by 23.312 µs: 295.100 µs to 318.412 µs"
[[nodiscard]] std::string explained_headline(const Explained& explained);
// "Longer +34.312 µs, shorter -11.000 µs, together +23.312 µs. Nothing left over."
[[nodiscard]] std::string explained_sum(const Explained& explained, const analysis::PathDifference& difference);
// "mlp.py:33", "waiting: dma", "(no line)"
[[nodiscard]] std::string explained_label(const analysis::PathTerm& term, const ExplainedBy& by);
// "64 to 16 on the path"; "new on the path"
[[nodiscard]] std::string explained_why(const analysis::PathTerm& term);

void write_explained_text(std::ostream& out, const Explained& explained, std::size_t most_rows);  // 0: all
void write_explained_markdown(std::ostream& out, const Explained& explained, std::size_t most_rows);
void add_explained(JsonWriter& json, const Explained& explained, std::size_t most_rows);

}  // namespace accelscope::app::content
