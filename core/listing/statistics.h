// Statistics of events as tables: by any columns, and the presets that a menu offers. A row selects the events that it
// adds up.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/analysis/statistics/value_details.h"
#include "core/listing/base/listing.h"

namespace accelscope::listing {

// What is grouped by what, and measured, under a name.
struct StatisticsPreset {
  std::string_view name;                // of the table: "device-stats"
  std::string_view title, explanation;  // for people
  std::vector<std::string> by;
  std::string value = "duration";
  bool also_ns = false;  // durations stand beside what is measured, in ns
};
// Those whose columns the session has; the first is what is shown at first.
[[nodiscard]] std::vector<StatisticsPreset> statistics_presets(const Snapshot& snapshot);

struct StatisticsTable {
  Listing listing;                                         // a row for each of the statistics, in their order
  std::shared_ptr<const analysis::Statistics> statistics;  // that it is made of
};

// also_ns: the figures of the durations of the same events stand beside those of what is measured. within: what the
// rows' targets narrow; the filter of the question if nothing.
[[nodiscard]] Result<StatisticsTable> statistics_table(const QueryContext& query,
                                                       const analysis::StatisticsQuestion& question,
                                                       bool also_ns = false,
                                                       const std::optional<EventFilter>& within = {});

// The events that a row adds up, as a filter within another one. The snapshot must outlive it.
class RowFilters {
 public:
  RowFilters(const Snapshot& snapshot, const analysis::StatisticsQuestion& question, EventFilter within);
  // Nothing where the keys cannot be written as a filter.
  [[nodiscard]] std::optional<EventFilter> of(const std::vector<FieldValue>& keys) const;

 private:
  struct Key {
    std::string column;     // as searches know it
    bool texts = false;     // its values are texts
    bool of_lanes = false;  // lanes tell it, not their events
    bool lines = false;     // it holds source lines under some name
  };
  const Snapshot& snapshot_;
  EventFilter within_;
  std::shared_ptr<const analysis::GroupKeys> keys_;
  std::vector<Key> parts_;
  bool narrows_ = false;  // to the tracks whose events have the columns
};

// One key of a row for people; "–" for none.
[[nodiscard]] std::string key_text(const FieldValue& key);
// "Name", "Size" for what question.by and question.value name.
[[nodiscard]] std::string column_title(const Snapshot& snapshot, std::string_view column);

// Those of the details, the farthest first; a row selects its event.
[[nodiscard]] Listing outlier_listing(const analysis::ValueDetails& details);

// For the command line: by request.by, name if it is empty; of request.value, duration if it is empty.
[[nodiscard]] Result<Listing> list_statistics(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_device_stats(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::listing
