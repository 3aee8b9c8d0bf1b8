// Events of one table, one after another, and their values by the names of columns: for formats that need a few columns
// of a known table.
//
//   for_each_event(request, "zone", [&](EventCells& cells) { cells.begin_ns(); cells.integer("core_x"); ... });
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/export/base/event_pieces.h"
#include "core/listing/base/write.h"
#include "core/model/schema.h"
#include "core/store/string_pool.h"

namespace accelscope::exporting {

class EventCells {
 public:
  [[nodiscard]] const Schema& schema() const noexcept { return reader_->schema(); }
  [[nodiscard]] const Track& track() const noexcept { return *track_; }
  [[nodiscard]] std::int64_t begin_ns() const noexcept { return reader_->ns(event_->begin); }
  [[nodiscard]] std::int64_t end_ns() const noexcept { return reader_->ns(event_->end); }
  [[nodiscard]] std::int64_t begin_ticks() const noexcept { return event_->begin; }
  [[nodiscard]] std::int64_t end_ticks() const noexcept { return event_->end; }
  [[nodiscard]] double ns_per_tick() const noexcept { return reader_->lane().clock->ns_per_tick(); }
  [[nodiscard]] std::string_view name() const;
  // Nothing where the table has no such column, the event no value or the value is no whole number.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view column) const;
  [[nodiscard]] std::optional<double> real(std::string_view column) const;
  // "" where it has none. Numbers are written with all their digits.
  [[nodiscard]] std::string text(std::string_view column) const;
  [[nodiscard]] std::string text(std::size_t column) const;

 private:
  friend Result<void> for_each_event(const ExportRequest& request, std::string_view table,
                                     const std::function<void(const EventCells&)>& visit);
  [[nodiscard]] std::optional<std::uint64_t> stored(std::size_t column) const;

  const Snapshot* snapshot_ = nullptr;
  PieceReader* reader_ = nullptr;
  const PieceEvent* event_ = nullptr;
  const Track* track_ = nullptr;
};

// Track by track, in the order of the session, by time within a lane.
Result<void> for_each_event(const ExportRequest& request, std::string_view table,
                            const std::function<void(const EventCells&)>& visit);
[[nodiscard]] bool has_table(const Snapshot& snapshot, std::string_view table);

// Values of events as JSON (core/base/json.h), appended to a text; strings are quoted once and kept. One per thread.

// ns as decimal microseconds, exact: 12.5 for 12,500 ns.
void append_microseconds(std::string& out, std::int64_t ns);

class JsonStrings {
 public:
  explicit JsonStrings(const StringPool& strings) : strings_(strings) {}
  // With its quotes; valid until the next call.
  [[nodiscard]] const std::string& quoted(StringId id);

 private:
  const StringPool& strings_;
  std::unordered_map<StringId, std::string> quoted_;
};

// A value as BlockReader gives it, of any type but text.
void append_json_value(std::string& out, ColumnType type, std::uint64_t value, JsonStrings& strings);

}  // namespace accelscope::exporting
