// The tables of a selection: its names, source lines, layers and lanes with what each costs. What a cell says, how rows
// are sorted and what a click on one selects; the panel places them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "core/analysis/figures/range_activity.h"
#include "core/analysis/time/track_devices.h"

namespace accelscope::app::panels {

enum class SummaryPart : std::uint8_t { names, lines, layers, lanes };
inline constexpr std::size_t kSummaryParts = 4;

class SummaryPartTable {
 public:
  explicit SummaryPartTable(SummaryPart part) : part_(part) {}

  // With every new answer. Of a host's calls, zones and tracks of several lanes the
  // time is known with the activity of the same filter, which may be null.
  void take(const std::shared_ptr<const session::SessionSummary>& answer, const analysis::RangeActivity* activity,
            const Snapshot& snapshot, const analysis::TrackDevices& devices);
  [[nodiscard]] bool empty() const noexcept { return !rows_ || rows_->empty(); }
  [[nodiscard]] const char* title() const noexcept;  // "Names"
  // What a click on a row selects.
  [[nodiscard]] std::optional<EventFilter> draw(const PanelContext& context, const render::Rect& area,
                                                const EventFilter& selected);

 private:
  enum class Figure : std::uint8_t { text, kind, events, busy, wait, average, bytes, achieved, share };
  struct Rows {  // what a cell needs, also on a worker that exports them
    SummaryPart part;
    std::shared_ptr<const analysis::SelectionSummary> summary;
    std::shared_ptr<const std::vector<analysis::SummaryRow>> rows;
    std::vector<std::uint32_t> order;
    std::vector<Figure> figures;
    std::int64_t whole_ns = 0;  // of which `share` is
    [[nodiscard]] render::TableCell cell(std::size_t row, std::size_t column) const;
  };
  [[nodiscard]] std::vector<render::TableColumn> choose_columns(float width_units);
  [[nodiscard]] render::TableColumn column_of(Figure figure) const;
  void sort();
  [[nodiscard]] std::vector<analysis::SummaryRow> lane_rows(const analysis::RangeActivity* activity,
                                                            const Snapshot& snapshot,
                                                            const analysis::TrackDevices& devices) const;
  [[nodiscard]] std::optional<EventFilter> narrowed(const PanelContext& context, const EventFilter& selected,
                                                    std::size_t row) const;
  [[nodiscard]] std::string code_of(const PanelContext& context, const std::string& line);

  SummaryPart part_;
  std::shared_ptr<const analysis::SelectionSummary> summary_;
  std::shared_ptr<const std::vector<analysis::SummaryRow>> rows_;
  std::uint64_t distinct_ = 0;
  bool has_bytes_ = false;
  std::int64_t whole_ns_ = 1;
  std::vector<std::uint32_t> order_;  // of the rows
  std::vector<Figure> figures_;       // of the columns
  render::TableState state_;
  std::optional<Figure> sorted_by_;
  bool descending_ = true;
  std::string code_path_;  // of the file that code_ is the lines of
  std::vector<std::string> code_;
};

}  // namespace accelscope::app::panels
