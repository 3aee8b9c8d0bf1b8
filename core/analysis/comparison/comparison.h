// Two configurations or more beside each other, each told by one capture or several: their figures, and their costs by
// name, line or whatever was asked for. The first configuration is the base of all ratios.
//
//   const auto groups = group_captures(labels, "");
//   auto comparison = compare_captures(captures, *groups, *pair_captures(labels, *groups, "", ""));
//   for (const ComparedFigure& row : comparison.metrics) ... row.changes[0].ratio, row.changes[0].told
//
// Which differences are told is said at Change, below. Only capture_figures() reads sessions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/comparison/compared_metrics.h"
#include "core/analysis/comparison/cost_kinds.h"
#include "core/analysis/comparison/name_matching.h"
#include "core/base/result.h"

namespace accelscope::analysis {

// What became of a figure from one configuration to another, each told by its captures: the ratio, how far it may lie
// from the truth, and whether noise explains it.
//
//   const Change change = change_of(base, other);    // a value per capture
//   if (change.told == Reported::more) ... *change.ratio, change.interval->low
//
// The interval is of 95 %: a bootstrap of the captures, which are drawn again kResamples times from a fixed seed, its
// quantiles moved outward for small samples (the expanded percentiles of Hesterberg, What Teachers Should Know About
// the Bootstrap, 2015); of fewer than kLeastResampled captures a side, where drawing again tells too little, that of
// Student's t.
//
// A difference is told only where Welch's t test gives equal configurations a chance of 0.1 % for it, so that of a
// hundred comparisons of equals all are quiet in 95 of 100 cases (a change for the worse is half of that chance), and
// where it is at least kLeastReported. With one capture on one side its noise is taken to be that of the other; with
// one on each nothing is known of noise, and nothing is told unless the caller states it.

enum class Reported : std::uint8_t {
  no_sample,  // one capture a side: what is noise is not known
  same,       // nothing that noise does not explain
  less,
  more,
};

struct RatioInterval {
  double low = 0, high = 0;
};

struct Change {
  std::size_t base_count = 0, other_count = 0;     // captures
  std::size_t pair_count = 1;                      // problems of which both have captures
  bool is_geometric = false;                       // base and other are geometric means over the problems
  double base = 0, other = 0;                      // their means
  double base_deviation = 0, other_deviation = 0;  // of the captures (n - 1)
  std::optional<double> ratio;                     // other / base; none of a base of 0
  std::optional<RatioInterval> interval;           // of the ratio; none without a sample
  double chance = 1;                               // that equal configurations differ this much
  // The smallest share of the base that would have been told with this noise; none without a sample.
  std::optional<double> least_visible;
  Reported reported = Reported::no_sample;

  [[nodiscard]] double difference() const noexcept { return other - base; }
  [[nodiscard]] bool is_reported() const noexcept { return reported == Reported::less || reported == Reported::more; }
};

struct ChangeOptions {
  static constexpr double kConfidence = 0.999;     // of what is told
  static constexpr double kShown = 0.95;           // of the interval
  static constexpr double kLeastReported = 0.005;  // share of the base
  static constexpr std::size_t kResamples = 2000, kLeastResampled = 4;
  static constexpr std::uint64_t kSeed = 0x5ca1ab1e;

  bool resamples = true;        // else the interval is that of Student's t
  std::optional<double> noise;  // deviation between captures as a share of the mean, known from elsewhere
};

// One value or more on each side.
[[nodiscard]] Change change_of(std::span<const double> base, std::span<const double> other,
                               const ChangeOptions& options = {});

// Captures of one problem, such as a batch size, on each side.
struct SamplePair {
  std::vector<double> base, other;
};
enum class Pooling : std::uint8_t { geometric, arithmetic };
// Several problems, each side's captures of a problem set against the other's of the same first, so that how problems
// differ is no noise. Geometric: the mean of the logarithms of the ratios, where all values are above 0; arithmetic,
// for what adds up: the difference of the means of the problems. The noise is that within the problems alone, Welch's
// degrees of freedom over all of them; where one has a single capture on a side, the deviation as a share of the mean
// that the others have in common. Without any repeated capture nothing is told. Of one problem it is change_of.
[[nodiscard]] Change pooled_change(std::span<const SamplePair> pairs, Pooling pooling,
                                   const ChangeOptions& options = {});

// Which captures are set against which, by their tags: "kernel=mlp", "config=b=1, s=128", "nightly".
//
//   const auto groups = group_captures(captures, "");          // kernel against kernel, else all tags alike
//   const auto groups = group_captures(captures, "config");    // by the value of a tag
//   const auto pairs = pair_captures(captures, *groups, "", "");  // each kernel within its config
//
// A tag is taken as it is: its value may hold commas, blanks and equals signs.

struct CaptureLabel {
  std::string path;               // as it was given
  std::vector<std::string> tags;  // "kernel=mlp"; "" value where there is no =
};

struct CaptureGroup {
  std::string name;                   // "config=resident"; of a capture by itself its file
  std::vector<std::size_t> captures;  // in the order in which they were given
};

// The value of a tag "key=value"; of a tag without a value the tag; "" where it has none.
[[nodiscard]] std::string_view tag_value(const CaptureLabel& capture, std::string_view key) noexcept;

// `by`: names of tags as names_of_list() reads them; "folder" and "file" stand for where the capture lies; "" for the
// tag "kernel" where all captures have it and it tells them apart, else for all tags, and then captures without any are
// each a configuration of their own, as all are where there would be only one. An error: a capture does not have the
// tag. The group of the first capture comes first.
[[nodiscard]] Result<std::vector<CaptureGroup>> group_captures(std::span<const CaptureLabel> captures,
                                                               const std::string& by);

// What a capture is set against is of the same problem: the same value of these tags.
struct CapturePairs {
  std::string by;                                            // "config"; "": everything is one problem
  std::vector<std::string> names;                            // "b=1, s=128", in the order in which they first come
  std::vector<std::vector<std::vector<std::size_t>>> cells;  // captures by name, then group; none: it has none of it

  [[nodiscard]] bool is_shared(std::size_t name) const noexcept;  // every group has captures of it
  [[nodiscard]] std::vector<std::size_t> shared() const;
};
// `by`: names of tags as names_of_list() reads them; "" for those of "kernel" and "config" that do not make the groups
// and that all captures have, "none" for no pairs. An error: a capture does not have the tag, or nothing is shared by
// all groups.
[[nodiscard]] Result<CapturePairs> pair_captures(std::span<const CaptureLabel> captures,
                                                 const std::vector<CaptureGroup>& groups, const std::string& by,
                                                 const std::string& group_by);

// What a comparison needs of one capture. Small, so that captures are opened one after another and let go.
//
//   const auto figures = capture_figures(query, {"line", "opcode"});

struct CapturedCosts {
  std::string kind;      // as it was asked for: CostKind::name, or a column
  std::string title;     // "Source line"
  std::string measured;  // what its time is
  std::string missing;   // why there are no rows; "" where there are
  std::string unit = "ns";
  bool is_line = false;  // or a place of another kind: see CostKind::is_place
  std::vector<CostRow> rows;
};

// "profiler_version": "2.28.23.0"; what a report says of where a capture comes from.
struct CaptureFact {
  std::string name, text;
  bool operator==(const CaptureFact&) const = default;
};
using CaptureFacts = std::vector<CaptureFact>;

struct CaptureFigures {
  CaptureLabel label;
  CaptureFacts facts;          // device, format, versions of what made and ran it
  bool has_checksums = false;  // a table has crc columns: divergence.h
  std::uint64_t event_count = 0;
  std::vector<ComparedMetric> metrics;
  std::vector<CapturedCosts> costs;  // as they were asked for
};

// `by`: CostKind::name or any column that events can be grouped by; "metric" adds nothing. The label is left to the
// caller. Fails where a chunk cannot be read, or when cancelled; a column that no session has gives no rows.
[[nodiscard]] Result<CaptureFigures> capture_figures(const QueryContext& query, const std::vector<std::string>& by);

struct ComparedFigure {
  ComparedMetric metric;         // its value is the base's
  std::vector<Change> changes;   // by configuration after the base; captures that do not have it take no part
  std::vector<char> is_missing;  // likewise: the base or all captures of the configuration have none
};

struct ComparedCost {
  std::string name, text;
  std::string moved_to;  // of a line that stands elsewhere in the last configuration that has it; "" else
  MatchKind match = MatchKind::exact;
  std::vector<Change> amounts;                 // by configuration after the base; of a capture that has none of it 0
  std::vector<double> counts;                  // by configuration, of a capture on average
  std::vector<char> is_there;                  // by configuration: any capture has it
  std::vector<std::vector<std::string>> keys;  // by configuration: what it is called there; several that differ in
                                               // numbers alone
};

struct ComparedCosts {
  std::string kind, title, measured;
  std::string unit = "ns";               // of the amounts: "B" of memory
  std::string missing;                   // why there are no rows
  std::vector<ComparedCost> rows;        // the largest difference first
  std::size_t exact = 0, by_form = 0;    // rows that more than one configuration has
  std::vector<std::size_t> unmatched;    // by configuration: rows that it alone has
  std::vector<double> unmatched_amount;  // and what they take
};

// What is set against what for each problem: rows of a kernel within a config, columns of figures.
struct PairedFigures {
  struct Cell {
    std::size_t captures = 0;         // 0: it has no such figure
    double value = 0;                 // their mean
    std::optional<double> deviation;  // as a share of the mean; of one capture nothing
    std::optional<Change> change;     // nothing in the row that the others are set against
  };
  struct Row {
    std::size_t pair = 0;           // of CapturePairs::names; their number: all of those that every configuration has
    std::size_t configuration = 0;  // of Comparison::configurations
    std::vector<Cell> cells;        // by column
  };
  std::vector<ComparedMetric> columns;  // their values say nothing; the headline comes first
  std::vector<Row> rows;                // by pair, then configuration

  [[nodiscard]] const Cell* find(std::size_t pair, std::size_t configuration, std::size_t column) const noexcept;
};

struct Comparison {
  std::vector<CaptureGroup> configurations;
  CapturePairs pairs;
  std::vector<std::string> paths;   // of the captures
  std::vector<CaptureFacts> facts;  // likewise
  std::vector<ComparedFigure> metrics;
  std::string_view headline;  // the figure of the verdict: kStatedTime where every capture has it, else kWorkTime
  std::vector<ComparedCosts> costs;
  PairedFigures paired;

  // By its name, of several devices the first where none is named. Null: no capture has it.
  [[nodiscard]] const ComparedFigure* find_metric(std::string_view name) const noexcept;
  // The noise of any figure is known; else every difference stands as measured.
  [[nodiscard]] bool has_sample() const noexcept;
};

struct ComparisonOptions {
  ChangeOptions change;
  std::vector<std::string> columns;  // of PairedFigures after the headline, names of figures
};

// The groups name each capture once at most; at least two. The pairs are of these groups; without names everything is
// one problem. Figures are pooled over the problems that all groups have, geometrically; costs, which add up,
// arithmetically.
[[nodiscard]] Comparison compare_captures(std::span<const CaptureFigures> captures,
                                          const std::vector<CaptureGroup>& groups, CapturePairs pairs = {},
                                          const ComparisonOptions& options = {});

// "mfu" of "mfu (nc1)".
[[nodiscard]] std::string_view name_without_device(std::string_view name) noexcept;

// The worse by this figure: beyond noise in the direction that is not better; a figure that knows none is worse when it
// rises.
[[nodiscard]] bool is_worse(Better better, const Change& change) noexcept;
[[nodiscard]] bool is_better(Better better, const Change& change) noexcept;
// By how much, as a share of the base, the figure has become worse; below 0 where it is better.
[[nodiscard]] double worsening(Better better, const Change& change) noexcept;

}  // namespace accelscope::analysis
