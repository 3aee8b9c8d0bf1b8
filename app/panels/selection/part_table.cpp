#include "app/panels/selection/part_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/content/figure_text.h"
#include "app/content/source/text.h"
#include "core/base/text.h"
#include "core/listing/terms.h"
#include "core/model/palette.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kRoomForMore = 600;  // units from which there is room for averages and bytes

constexpr std::int64_t kNotKnownYet = -1;

TableCell time_cell(std::int64_t ns) {
  if (ns == kNotKnownYet) return {.text = "...", .colour = Colour::text3, .data = ""};
  if (ns == 0) return {.text = "–", .colour = Colour::text3, .data = "0"};
  return {.text = format_duration(ns), .exact = format_time_exact(ns), .data = std::to_string(ns)};
}

// Calls lie within calls: the time of each is its own, not that of what it called.
std::vector<analysis::SummaryRow> with_own_names(std::vector<analysis::SummaryRow> rows,
                                                 const analysis::RangeActivity* activity, const StringPool& strings) {
  for (analysis::SummaryRow& row : rows) {
    if (row.work != WorkKind::host) continue;
    row.busy_ns = kNotKnownYet;
    if (activity == nullptr) continue;
    const auto name = activity->host.names.find(strings.find(row.text));
    row.busy_ns = name == activity->host.names.end() ? 0 : name->second.busy_ns + name->second.wait_ns;
  }
  std::ranges::stable_sort(
      rows, [](const analysis::SummaryRow& a, const analysis::SummaryRow& b) { return a.busy_ns > b.busy_ns; });
  return rows;
}

}  // namespace

// A track's lanes may work side by side: each moment counts once.
std::vector<analysis::SummaryRow> SummaryPartTable::lane_rows(const analysis::RangeActivity* activity,
                                                              const Snapshot& snapshot,
                                                              const analysis::TrackDevices& devices) const {
  std::vector<analysis::SummaryRow> lanes;
  for (const analysis::SummaryTrack& track : summary_->tracks) {
    const TrackSnapshot* known = snapshot.find_track(track.track);
    const bool of_device = known != nullptr && !known->track->device.empty();
    const auto index = of_device ? static_cast<std::size_t>(known - snapshot.tracks.data()) : 0;
    analysis::SummaryRow row{.text = known != nullptr ? known->track->name : "",
                             .kind = of_device ? devices.name(devices.of_track(index)) : "",
                             .count = track.count,
                             .busy_ns = track.busy_ns,
                             .bytes = track.bytes};
    if (known != nullptr && known->lanes.size() > 1 && analysis::work_kind_of(*known) != WorkKind::host) {
      row.busy_ns = kNotKnownYet;
      if (activity != nullptr) {
        const auto covered = activity->unions.tracks.find(track.track);
        row.busy_ns = covered == activity->unions.tracks.end() ? 0 : covered->second;
      }
    }
    lanes.push_back(std::move(row));
  }
  return lanes;
}

void SummaryPartTable::take(const std::shared_ptr<const session::SessionSummary>& answer,
                            const analysis::RangeActivity* activity, const Snapshot& snapshot,
                            const analysis::TrackDevices& devices) {
  summary_ = answer->summary;
  const analysis::SummaryRows* found = part_ == SummaryPart::names   ? &summary_->names
                                       : part_ == SummaryPart::lines ? &summary_->lines
                                                                     : &summary_->layers;
  const auto keep = [this](std::vector<analysis::SummaryRow> rows) {
    rows_ = std::make_shared<const std::vector<analysis::SummaryRow>>(std::move(rows));
  };
  distinct_ = found->distinct;
  if (part_ == SummaryPart::lanes) {
    keep(lane_rows(activity, snapshot, devices));
    distinct_ = rows_->size();
  } else if (part_ == SummaryPart::lines && activity != nullptr) {
    const StringPool& strings = *snapshot.strings;
    keep(analysis::with_self_times(analysis::with_self_times(found->rows, activity->host.lines, strings),
                                   activity->zone_lines, strings));
  } else if (part_ == SummaryPart::names) {
    keep(with_own_names(found->rows, activity, *snapshot.strings));
  } else {
    rows_ = std::shared_ptr<const std::vector<analysis::SummaryRow>>(summary_, &found->rows);
  }
  std::int64_t sum = 0;
  for (const analysis::SummaryRow& row : *rows_) sum += std::max<std::int64_t>(0, row.busy_ns);
  whole_ns_ = std::max({std::int64_t{1}, sum, summary_->busy_ns + summary_->wait_ns});
  has_bytes_ = std::ranges::any_of(*rows_, [](const analysis::SummaryRow& row) { return row.bytes > 0; });
  order_.clear();
}

const char* SummaryPartTable::title() const noexcept {
  switch (part_) {
    case SummaryPart::names:
      return "Names";
    case SummaryPart::lines:
      return "Lines";
    case SummaryPart::layers:
      return "Layers";
    case SummaryPart::lanes:
      return "Lanes";
  }
  return "";
}

TableColumn SummaryPartTable::column_of(Figure figure) const {
  switch (figure) {
    case Figure::text: {
      std::string title(this->title(), std::string(this->title()).size() - 1);  // "Name"
      std::string tooltip = "A click on a row narrows the selection to it, and widens it again";
      if (distinct_ > rows_->size()) {
        title += fmt::format(" ({} of {})", format_count(rows_->size()), format_count(distinct_));
        tooltip = "Those with the longest time. " + tooltip;
      }
      return {.title = title, .tooltip = tooltip};
    }
    case Figure::kind:
      if (part_ == SummaryPart::lanes) return {.title = "Device", .width = 80};
      return {.title = "Kind", .width = 96, .tooltip = "The vendor's field or table that the name comes from"};
    case Figure::events:
      return {.title = "Events", .width = 64, .align = Align::right};
    case Figure::busy:
      return {.title = "Busy",
              .width = 84,
              .align = Align::right,
              .tooltip =
                  "Added up over the lanes, clipped to the range, but of one lane each moment once; of a host's "
                  "calls without those within them. Of names that wait: what they waited",
              .data_title = "busy_ns"};
    case Figure::wait:
      return {.title = "Wait",
              .width = 84,
              .align = Align::right,
              .tooltip = "Of events whose names mean waiting",
              .data_title = "wait_ns"};
    case Figure::average:
      return {.title = "Average",
              .width = 84,
              .align = Align::right,
              .tooltip = "Busy time of one event",
              .data_title = "average_ns"};
    case Figure::bytes:
      return {.title = "Bytes", .width = 84, .align = Align::right, .data_title = "bytes"};
    case Figure::achieved:
      return {.title = "Achieved",
              .width = 112,
              .align = Align::right,
              .tooltip = "FLOPs of its events by their busy time",
              .data_title = "flops"};
    case Figure::share: {
      const bool of_span = part_ == SummaryPart::lanes;
      return {.title = of_span ? "Of span" : "Share",
              .width = 92,
              .align = Align::right,
              .tooltip = of_span ? "Busy time by the length of the range" : "Of all busy and waiting time"};
    }
  }
  return {};
}

// The kind goes where all are of one; averages and bytes where there is little room.
std::vector<TableColumn> SummaryPartTable::choose_columns(float width_units) {
  const bool wide = width_units >= kRoomForMore;
  figures_ = {Figure::text};
  const bool several =
      std::ranges::any_of(*rows_, [&](const analysis::SummaryRow& row) { return row.kind != rows_->front().kind; });
  if (several) figures_.push_back(Figure::kind);
  figures_.push_back(Figure::events);
  figures_.push_back(Figure::busy);
  if (part_ == SummaryPart::lanes) figures_.push_back(Figure::wait);
  if (part_ == SummaryPart::layers) figures_.push_back(Figure::achieved);
  if (wide && part_ != SummaryPart::lanes) figures_.push_back(Figure::average);
  if (wide && has_bytes_) figures_.push_back(Figure::bytes);
  figures_.push_back(Figure::share);
  std::vector<TableColumn> columns;
  for (const Figure figure : figures_) columns.push_back(column_of(figure));
  return columns;
}

TableCell SummaryPartTable::Rows::cell(std::size_t index, std::size_t column) const {
  const analysis::SummaryRow& row = (*rows)[order[index]];
  const auto busy = static_cast<double>(std::max<std::int64_t>(0, row.busy_ns));
  switch (figures[column]) {
    case Figure::text:
      return {.text = part == SummaryPart::lines ? file_name(row.text) : row.text,
              .fit = Fit::middle,
              .exact = row.text,
              .data = row.text};
    case Figure::kind:
      return {.text = with_blanks(row.kind), .colour = Colour::text2, .style = TextStyle::body, .data = row.kind};
    case Figure::events:
      return {.text = format_count(row.count), .data = std::to_string(row.count)};
    case Figure::busy:
      return time_cell(row.busy_ns);
    case Figure::wait:
      return time_cell(summary->tracks[order[index]].wait_ns);
    case Figure::average: {
      const double average = busy / static_cast<double>(std::max<std::uint64_t>(1, row.count));
      return {.text = format_duration(average), .data = fmt::format("{:.3f}", average)};
    }
    case Figure::bytes:
      if (row.bytes == 0) return time_cell(0);
      return {
          .text = format_bytes(row.bytes), .exact = format_count(row.bytes) + " B", .data = std::to_string(row.bytes)};
    case Figure::achieved:
      if (row.flops == 0) return time_cell(0);
      return {.text = content::amount_per_second(static_cast<double>(row.flops), busy, "FLOP/s"),
              .exact = format_count(row.flops) + " FLOP in " + format_time_exact(row.busy_ns),
              .data = std::to_string(row.flops)};
    case Figure::share: {
      const double share = whole_ns > 0 ? busy / static_cast<double>(whole_ns) : 0;
      return {.text = format_share(share), .data = fmt::format("{:.6f}", share), .bar = std::min(1.0, share)};
    }
  }
  return {};
}

void SummaryPartTable::sort() {
  const auto wanted =
      state_.sort_column < 0
          ? std::nullopt
          : std::optional(
                figures_[std::min<std::size_t>(static_cast<std::size_t>(state_.sort_column), figures_.size() - 1)]);
  const bool same = order_.size() == rows_->size() && sorted_by_ == wanted && descending_ == state_.descending;
  if (same) return;
  sorted_by_ = wanted;
  descending_ = state_.descending;
  order_.resize(rows_->size());
  std::iota(order_.begin(), order_.end(), 0U);  // longest first, but lanes as on the timeline
  if (!wanted) return;
  const auto key = [&](std::uint32_t index) -> double {
    const analysis::SummaryRow& row = (*rows_)[index];
    switch (*wanted) {
      case Figure::events:
        return static_cast<double>(row.count);
      case Figure::wait:
        return static_cast<double>(summary_->tracks[index].wait_ns);
      case Figure::average:
        return static_cast<double>(row.busy_ns) / static_cast<double>(std::max<std::uint64_t>(1, row.count));
      case Figure::bytes:
        return static_cast<double>(row.bytes);
      case Figure::achieved:
        return static_cast<double>(row.flops) / static_cast<double>(std::max<std::int64_t>(1, row.busy_ns));
      default:
        return static_cast<double>(row.busy_ns);
    }
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const analysis::SummaryRow& x = (*rows_)[a];
    const analysis::SummaryRow& y = (*rows_)[b];
    if (*wanted == Figure::text) return x.text < y.text;
    if (*wanted == Figure::kind) return x.kind < y.kind;
    return key(a) < key(b);
  };
  std::ranges::stable_sort(order_,
                           [&](std::uint32_t a, std::uint32_t b) { return descending_ ? before(b, a) : before(a, b); });
}

std::optional<EventFilter> SummaryPartTable::narrowed(const PanelContext& context, const EventFilter& selected,
                                                      std::size_t row) const {
  const analysis::SummaryRow& chosen = (*rows_)[order_[row]];
  const Snapshot& snapshot = *context.tab.snapshot;
  switch (part_) {
    case SummaryPart::names:
      return listing::with_term_toggled(selected, listing::search_of_name(snapshot, chosen, *rows_));
    case SummaryPart::lines:
      return listing::with_term_toggled(selected, listing::search_of_line(chosen.text));
    case SummaryPart::layers: {
      const auto search = listing::search_of_layer(snapshot, chosen.text);
      return search ? std::optional(listing::with_term_toggled(selected, *search)) : std::nullopt;
    }
    case SummaryPart::lanes: {
      EventFilter filter = selected;
      const std::vector<TrackNumber> only = {summary_->tracks[order_[row]].track};
      filter.tracks = filter.tracks == only ? std::vector<TrackNumber>() : only;
      return filter;
    }
  }
  return std::nullopt;
}

std::optional<EventFilter> SummaryPartTable::draw(const PanelContext& context, const Rect& area,
                                                  const EventFilter& selected) {
  Ui& ui = context.ui;
  const std::vector<TableColumn> columns = choose_columns(area.width() / ui.scale());
  sort();
  const bool of_span = part_ == SummaryPart::lanes;
  const Rows shown{part_, summary_, rows_, order_, figures_, of_span ? summary_->range.length_ns() : whole_ns_};
  const auto content = [&](std::size_t row, std::size_t column) {
    TableCell cell = shown.cell(row, column);
    if (column > 0) return cell;
    const analysis::SummaryRow& of = (*rows_)[order_[row]];
    if (part_ == SummaryPart::names) cell.swatch = ui.theme().slice(palette_slot(of.text));
    if (part_ == SummaryPart::lines) cell.detail = code_of(context, of.text);
    return cell;
  };
  std::string name = std::string("selection.") + title();
  name[10] = static_cast<char>(name[10] - 'A' + 'a');
  const TableResult result =
      table(ui, name, area, columns, rows_->size(), content, state_, {.detached = [&]() -> TableContent {
              return [shown](std::size_t row, std::size_t column) { return shown.cell(row, column); };
            }});
  if (!result.clicked) return std::nullopt;
  return narrowed(context, selected, *result.clicked);
}

// The text of a source line where the session stores its file.
std::string SummaryPartTable::code_of(const PanelContext& context, const std::string& line) {
  const StackFrame place = parse_stack_frame(line);
  if (place.path.empty()) return {};
  if (place.path != code_path_) {
    code_path_ = place.path;
    code_.clear();
    const auto& sources = context.tab.snapshot->sources;
    if (const auto file = find_source(sources, place.path)) {
      for (const content::CodeLine& each : content::code_lines(*sources[*file])) code_.push_back(each.text);
    }
  }
  if (place.line == 0 || place.line > code_.size()) return {};
  const std::string& text = code_[place.line - 1];
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first);
}

}  // namespace accelscope::app::panels
