#include <algorithm>
#include <unordered_map>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/memory/usage.h"
#include "core/analysis/source/source_lines.h"
#include "core/base/checksum.h"
#include "core/sql/tables/tables.h"

namespace accelscope::sql {
namespace {

using MadeRows = Result<std::shared_ptr<const Rows>>;

listing::SqlValue number(std::uint64_t value) { return static_cast<std::int64_t>(value); }
listing::SqlValue optional_number(std::uint32_t value) { return value == kNone ? listing::SqlValue() : number(value); }

MadeRows make_tracks(Context& context) {
  auto rows = std::make_shared<ValueRows>(9);
  for (const TrackSnapshot& track : context.snapshot->tracks) {
    const Track& t = *track.track;
    rows->add({number(t.number), optional_number(t.parent), t.name, t.kind, t.device, t.host, t.unit,
               number(track.lanes.size()), track.schema ? listing::SqlValue(track.schema->name) : listing::SqlValue()});
  }
  return std::shared_ptr<const Rows>(rows);
}

MadeRows make_markers(Context& context) {
  auto rows = std::make_shared<ValueRows>(6);
  for (const Marker& marker : context.store.markers()) {
    rows->add({marker.id, marker.set_name, marker.ts_ns,
               marker.end_ns ? listing::SqlValue(*marker.end_ns) : listing::SqlValue(), marker.name, marker.note});
  }
  return std::shared_ptr<const Rows>(rows);
}

MadeRows make_meta(Context& context) {
  auto rows = std::make_shared<ValueRows>(2);
  for (const MetaEntry& entry : context.snapshot->meta) rows->add({entry.key, entry.value});
  return std::shared_ptr<const Rows>(rows);
}

MadeRows make_quality(Context& context) {
  auto rows = std::make_shared<ValueRows>(4);
  for (const QualityEntry& entry : context.snapshot->quality) {
    rows->add({entry.kind, number(entry.count), entry.detail, std::string(severity_name(entry.severity))});
  }
  return std::shared_ptr<const Rows>(rows);
}

// What passes the mask, and the range of its filter.
QueryContext filtered_query(Context& context) {
  QueryContext query = context.query();
  query.mask = context.mask;
  return query;
}
TimeRange filtered_range(const Context& context) {
  return context.mask ? context.mask->filter().range.value_or(TimeRange{}) : TimeRange{};
}

// Whether events pass, in any order.
class PassTest {
 public:
  explicit PassTest(const Context& context) : mask_(context.mask), snapshot_(context.snapshot) {
    for (std::uint32_t i = 0; i < snapshot_->lanes.size(); ++i) lanes_.emplace(snapshot_->lanes[i].number(), i);
  }
  [[nodiscard]] bool passes(EventId event) const {
    if (!mask_) return true;
    const auto lane = lanes_.find(lane_of(event));
    return lane != lanes_.end() && mask_->passes(snapshot_->lanes[lane->second], lane->second, ordinal_of(event));
  }

 private:
  std::shared_ptr<const EventMask> mask_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::unordered_map<LaneNumber, std::uint32_t> lanes_;
};

MadeRows make_metrics(Context& context) {
  const auto metrics = TRY(analysis::session_metrics(filtered_query(context), filtered_range(context)));
  auto rows = std::make_shared<ValueRows>(10);
  for (const analysis::SessionMetric& metric : metrics) {
    listing::SqlValue vendor;
    if (!metric.vendor_text.empty()) vendor = metric.vendor_text;
    if (metric.vendor) vendor = *metric.vendor;
    const auto difference = analysis::relative_difference(metric);
    rows->add({metric.name, metric.group, metric.value ? listing::SqlValue(*metric.value) : listing::SqlValue(),
               metric.unit, vendor, metric.device, difference ? listing::SqlValue(*difference) : listing::SqlValue(),
               std::string(analysis::name_of(analysis::check(metric))),
               metric.value ? listing::SqlValue(metric.margin) : listing::SqlValue(), metric.how});
  }
  return std::shared_ptr<const Rows>(rows);
}

MadeRows make_source_lines(Context& context) {
  const auto lines = TRY(analysis::source_lines(filtered_query(context), filtered_range(context)));
  auto rows = std::make_shared<ValueRows>(6);
  for (const analysis::SourceLine& line : lines->lines) {
    rows->add({line.path, number(line.line), number(line.event_count), line.busy_ns, line.wait_ns, number(line.bytes)});
  }
  return std::shared_ptr<const Rows>(rows);
}

// Contents and hashes are made for the rows that are asked for.
class SourceFileRows final : public Rows {
 public:
  explicit SourceFileRows(std::shared_ptr<const Snapshot> snapshot) : snapshot_(std::move(snapshot)) {}
  [[nodiscard]] std::size_t size() const override { return snapshot_->sources.size(); }
  void result(sqlite3_context* context, std::size_t row, std::size_t column) const override {
    const SourceFile& file = *snapshot_->sources[row];
    if (column == 0) return result_pooled_text(context, file.path);
    if (column == 1) return result_pooled_text(context, file.content);
    result_text(context, sha256_hex(file.content));
  }
  [[nodiscard]] std::int64_t key(std::size_t, std::size_t) const override { return 0; }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
};

// Rows of an analysis that pass, by their places in it.
using PassingRows = std::vector<std::uint32_t>;
template <typename Accept>
PassingRows passing_rows(std::size_t count, Accept accept) {
  PassingRows rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (accept(i)) rows.push_back(i);
  }
  return rows;
}

class FlowRows final : public Rows {
 public:
  FlowRows(const Context& context, std::shared_ptr<const analysis::Dependencies> dependencies)
      : snapshot_(context.snapshot), dependencies_(std::move(dependencies)) {
    const PassTest test(context);
    rows_ = passing_rows(dependencies_->all().size(), [&](std::uint32_t i) {
      const analysis::Dependency& each = dependencies_->all()[i];
      return test.passes(each.source) && test.passes(each.target);
    });
  }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  void result(sqlite3_context* context, std::size_t row, std::size_t column) const override {
    if (column < 2) return sqlite3_result_int64(context, key(row, column));
    result_pooled_text(context, snapshot_->strings->text(dependencies_->all()[rows_[row]].kind));
  }
  [[nodiscard]] std::int64_t key(std::size_t row, std::size_t column) const override {
    const analysis::Dependency& dependency = dependencies_->all()[rows_[row]];
    return static_cast<std::int64_t>(column == 0 ? dependency.source : dependency.target);
  }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const analysis::Dependencies> dependencies_;
  PassingRows rows_;
};

MadeRows make_flows(Context& context) {
  auto dependencies = TRY(analysis::Dependencies::build(context.query()));
  return std::shared_ptr<const Rows>(std::make_shared<FlowRows>(context, std::move(dependencies)));
}

class MemoryRows final : public Rows {
 public:
  MemoryRows(const Context& context, std::shared_ptr<const analysis::MemoryUsage> usage) : usage_(std::move(usage)) {
    const PassTest test(context);
    rows_ = passing_rows(usage_->allocations.size(),
                         [&](std::uint32_t i) { return test.passes(usage_->allocations[i].event); });
  }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  void result(sqlite3_context* context, std::size_t row, std::size_t column) const override {
    const analysis::Allocation& allocation = usage_->allocations[rows_[row]];
    switch (column) {
      case 0:
        return sqlite3_result_int64(context, static_cast<std::int64_t>(allocation.event));
      case 1:
        return result_text(context, usage_->pools[allocation.pool].name);
      case 2:
        return sqlite3_result_int64(context, allocation.begin_ns);
      case 3:
        return allocation.end_ns ? sqlite3_result_int64(context, *allocation.end_ns) : sqlite3_result_null(context);
      case 4:
        return allocation.address ? result_uint64(context, *allocation.address) : sqlite3_result_null(context);
      case 5:
        return result_uint64(context, allocation.bytes);
      default:
        return result_text(context, usage_->tensors[allocation.tensor]);
    }
  }
  [[nodiscard]] std::int64_t key(std::size_t row, std::size_t) const override {
    return static_cast<std::int64_t>(usage_->allocations[rows_[row]].event);
  }

 private:
  std::shared_ptr<const analysis::MemoryUsage> usage_;
  PassingRows rows_;
};

MadeRows make_memory(Context& context) {
  auto usage = TRY(analysis::memory_usage(context.query()));
  return std::shared_ptr<const Rows>(std::make_shared<MemoryRows>(context, std::move(usage)));
}

MadeRows make_source_files(Context& context) {
  return std::shared_ptr<const Rows>(std::make_shared<SourceFileRows>(context.snapshot));
}

std::uint64_t events_of_kind(const Snapshot& snapshot, EventKind kind) {
  std::uint64_t count = 0;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.schema->kind == kind) count += lane.event_count;
  }
  return count;
}

}  // namespace

std::vector<RowTableSpec> row_tables(const Snapshot& snapshot) {
  std::vector<RowTableSpec> tables = {
      {"track",
       {{"id", "INTEGER", true},
        {"parent_id", "INTEGER"},
        {"name", "TEXT"},
        {"kind", "TEXT"},
        {"device", "TEXT"},
        {"host", "TEXT"},
        {"unit", "TEXT"},
        {"lane_count", "INTEGER"},
        {"schema", "TEXT"}},
       snapshot.tracks.size(),
       make_tracks},
      {"flow",
       {{"src_id", "INTEGER", true}, {"dst_id", "INTEGER", true}, {"kind", "TEXT"}},
       events_of_kind(snapshot, EventKind::flow),
       make_flows},
      {"memory",
       {{"id", "INTEGER", true},
        {"pool", "TEXT"},
        {"ts_ns", "INTEGER"},
        {"end_ns", "INTEGER"},
        {"address", ""},
        {"size_bytes", ""},
        {"tensor", "TEXT"}},
       events_of_kind(snapshot, EventKind::memory),
       make_memory},
      {"marker",
       {{"id", "INTEGER"},
        {"set_name", "TEXT"},
        {"ts_ns", "INTEGER"},
        {"end_ns", "INTEGER"},
        {"name", "TEXT"},
        {"note", "TEXT"}},
       16,
       make_markers,
       true},
      {"source_file",
       {{"path", "TEXT"}, {"content", "TEXT"}, {"sha256", "TEXT"}},
       snapshot.sources.size(),
       make_source_files},
      {"source_line",
       {{"path", "TEXT"},
        {"line", "INTEGER"},
        {"event_count", "INTEGER"},
        {"busy_ns", "INTEGER"},
        {"wait_ns", "INTEGER"},
        {"bytes", "INTEGER"}},
       1000,
       make_source_lines},
      {"metric",
       {{"name", "TEXT"},
        {"group_name", "TEXT"},
        {"value", "REAL"},
        {"unit", "TEXT"},
        {"vendor_value", ""},
        {"device", "TEXT"},
        {"difference", "REAL"},
        {"verdict", "TEXT"},
        {"margin", "REAL"},
        {"how", "TEXT"}},
       snapshot.metrics.size(),
       make_metrics},
      {"meta", {{"key", "TEXT"}, {"value", "TEXT"}}, snapshot.meta.size(), make_meta},
      {"quality",
       {{"kind", "TEXT"}, {"count", "INTEGER"}, {"detail", "TEXT"}, {"severity", "TEXT"}},
       snapshot.quality.size(),
       make_quality},
  };
  for (RowTableSpec listing : listing_tables()) tables.push_back(std::move(listing));
  return tables;
}

}  // namespace accelscope::sql
