#include <map>
#include <numeric>

#include "app/content/figure_text.h"
#include "app/content/source/text.h"
#include "app/content/visible_summary.h"
#include "app/panels/panel.h"
#include "core/analysis/figures/range_activity.h"
#include "core/analysis/time/track_devices.h"
#include "core/listing/terms.h"
#include "core/model/palette.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

// What is selected holds and costs together: a box, the events of a name, a line, a layer or a bin. Where nothing is
// selected, the visible range in five columns (app/content/visible_summary.h), as the session's filter lets it through.
// A click on a row or a bar narrows the selection to it; a second click widens it again.

// The tables of a selection: its names, source lines, layers and lanes with what each costs. What a cell says, how rows
// are sorted and what a click on one selects; the panel places them.

enum class SummaryPart : std::uint8_t { names, lines, layers, lanes };
inline constexpr std::size_t kSummaryParts = 4;

class SummaryPartTable {
 public:
  explicit SummaryPartTable(SummaryPart part) : part_(part) {}

  // With every new answer. Of a host's calls, zones and tracks of several lanes the
  // time is known with the activity of the same filter, which may be null.
  void take(const std::shared_ptr<const SessionSummary>& answer, const std::shared_ptr<const RangeActivity>& activity,
            const Snapshot& snapshot);
  [[nodiscard]] bool empty() const noexcept { return !rows_ || rows_->empty(); }
  [[nodiscard]] const char* title() const noexcept;  // "Names"
  // What a click on a row selects.
  [[nodiscard]] std::optional<EventFilter> draw(const PanelContext& context, const Rect& area,
                                                const EventFilter& selected);

 private:
  enum class Figure : std::uint8_t { text, kind, events, busy, wait, average, bytes, achieved, share };
  struct Rows {  // what a cell needs, also on a worker that exports them
    SummaryPart part;
    std::shared_ptr<const SelectionSummary> summary;
    std::shared_ptr<const std::vector<SummaryRow>> rows;
    std::vector<std::uint32_t> order;
    std::vector<Figure> figures;
    std::int64_t whole_ns = 0;  // of which `share` is
    [[nodiscard]] TableCell cell(std::size_t row, std::size_t column) const;
  };
  [[nodiscard]] std::vector<TableColumn> choose_columns(float width_units);
  [[nodiscard]] TableColumn column_of(Figure figure) const;
  void sort();
  [[nodiscard]] std::vector<SummaryRow> lane_rows(const RangeActivity* activity, const Snapshot& snapshot) const;
  [[nodiscard]] std::optional<EventFilter> narrowed(const PanelContext& context, const EventFilter& selected,
                                                    std::size_t row) const;
  [[nodiscard]] std::string code_of(const PanelContext& context, const std::string& line);

  SummaryPart part_;
  std::shared_ptr<const SelectionSummary> summary_;
  std::shared_ptr<const std::vector<SummaryRow>> rows_;
  std::uint64_t distinct_ = 0;
  bool has_bytes_ = false;
  std::int64_t whole_ns_ = 1;
  std::vector<std::uint32_t> order_;  // of the rows
  std::vector<Figure> figures_;       // of the columns
  TableState state_;
  std::optional<Figure> sorted_by_;
  bool descending_ = true;
  std::string code_path_;  // of the file that code_ is the lines of
  std::vector<std::string> code_;
};

class SelectionPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;

 private:
  struct Fact {
    const char* name;
    std::string value, exact;
    const char* explanation;
  };
  void take_answers(const PanelContext& context, const EventFilter& wanted);
  void draw_head(const PanelContext& context, Rect head, bool stale);
  void draw_heading(const PanelContext& context, const Rect& head, bool stale) const;
  void draw_visible(const PanelContext& context, const Rect& area, bool stale);
  void draw_facts(const PanelContext& context, Rect area) const;
  [[nodiscard]] std::vector<Fact> facts_of() const;
  [[nodiscard]] std::optional<double> copy_rate() const;  // bytes per second
  void add_times(std::vector<Fact>& facts) const;
  [[nodiscard]] std::vector<SummaryPartTable*> wanted_parts();
  void draw_parts(const PanelContext& context, Rect area, const std::vector<SummaryPartTable*>& parts);
  void draw_bins(const PanelContext& context, Rect area);
  void select(const PanelContext& context, const std::string& search) const;
  void pin(const PanelContext& context) const;

  std::shared_ptr<const SessionSummary> answer_;  // that is shown
  std::shared_ptr<const RangeReport> report_;     // of the same filter once it is there
  std::uint64_t copied_ = 0;                      // bytes, of the answer
  VisibleColumns columns_;                        // made of both
  std::array<SummaryPartTable, kSummaryParts> parts_ = {
      SummaryPartTable(SummaryPart::names), SummaryPartTable(SummaryPart::lines), SummaryPartTable(SummaryPart::layers),
      SummaryPartTable(SummaryPart::lanes)};
  int first_part_ = 0;  // of those that have rows, where not all fit
};

namespace {

constexpr float kRoomForMore = 600;  // units from which there is room for averages and bytes

constexpr std::int64_t kNotKnownYet = -1;

TableCell time_cell(std::int64_t ns) {
  if (ns == kNotKnownYet) return {.text = "...", .colour = Colour::text3, .data = ""};
  if (ns == 0) return {.text = "–", .colour = Colour::text3, .data = "0"};
  return {.text = format_duration(ns), .exact = format_time_exact(ns), .data = std::to_string(ns)};
}

std::string exact_bytes(std::uint64_t bytes) { return format_count(bytes) + " B"; }

// Calls lie within calls: the time of each is its own, not that of what it called.
std::vector<SummaryRow> with_own_names(std::vector<SummaryRow> rows, const RangeActivity* activity,
                                       const StringPool& strings) {
  for (SummaryRow& row : rows) {
    if (row.work != WorkKind::host) continue;
    row.busy_ns = kNotKnownYet;
    if (activity == nullptr) continue;
    const auto name = activity->host.names.find(strings.find(row.text));
    row.busy_ns = name == activity->host.names.end() ? 0 : name->second.busy_ns + name->second.wait_ns;
  }
  std::ranges::stable_sort(rows, [](const SummaryRow& a, const SummaryRow& b) { return a.busy_ns > b.busy_ns; });
  return rows;
}

// The five columns of app/content/visible_summary.h, side by side, or below each other where the panel is narrow.
// Numbers are never cut: bars and then names give way to them. A click on a row selects its events.

// The search of the row that was clicked; rows without one copy their figure, through `copy`.
struct VisibleColumnsResult {
  std::optional<std::string> search;
  std::optional<std::string> copy;
};
VisibleColumnsResult draw_visible_columns(Ui& ui, const Rect& area, const VisibleColumns& columns, bool stale);

constexpr float kLeastColumn = 208, kColumnHead = 26, kRow = 20, kBar = 40, kSwatch = 18, kLeastLabel = 56,
                kBetween = 10;
constexpr std::size_t kStackedRows = 6;  // of a column, where columns lie below each other

class ColumnDrawing {
 public:
  ColumnDrawing(Ui& ui, const VisibleColumn& column, std::size_t index, bool stale, VisibleColumnsResult& result)
      : ui_(ui), column_(column), name_("visible." + std::to_string(index)), stale_(stale), result_(result) {}

  void draw(Rect area) {
    draw_head(area.cut_top(ui_.px(kColumnHead)));
    area.cut_top(ui_.px(2));
    if (column_.rows.empty()) {
      draw_paragraph(ui_, area.inset(0, ui_.px(4)), column_.empty, kHintText);
      return;
    }
    for (const VisibleRow& row : column_.rows) texts_.push_back(row.text);
    for (const VisibleRow& row : column_.rows) {
      values_ = std::max(values_, text_width(ui_, TextStyle::mono, row.value));
      bars_ = bars_ || row.bar >= 0;
    }
    bars_ = bars_ && bars_leave_room(area.width());
    const float row_height = ui_.px(kRow);
    const ScrollArea scroll(ui_, name_ + ".rows", area, static_cast<float>(column_.rows.size()) * row_height);
    Rect rest = scroll.content();
    for (std::size_t i = 0; i < column_.rows.size(); ++i) {
      const Rect row = rest.cut_top(row_height);
      if (row.y1 >= scroll.visible().y0 && row.y0 <= scroll.visible().y1) draw_row(row, i);
    }
  }

 private:
  void draw_head(Rect head) {
    const Interaction response = interact(ui_, name_, head);
    const float value = text_width(ui_, TextStyle::mono_strong, column_.value);
    const Rect right = head.cut_right(std::min(value + 1, head.width()));
    head.cut_right(ui_.px(8));
    draw_text(ui_, head, column_.title, kGroupText);
    draw_text(
        ui_, right, column_.value,
        {.style = TextStyle::mono_strong, .colour = stale_ ? Colour::text3 : Colour::text1, .align = Align::right});
    if (!column_.exact.empty()) tooltip(ui_, response, head, column_.title + "\n" + column_.exact);
    if (response.clicked && !column_.exact.empty()) result_.copy = column_.exact;
  }

  [[nodiscard]] float room_of(const VisibleRow& row, float width, bool with_bar) const {
    return width - (row.slot >= 0 ? ui_.px(kSwatch) : 0) - values_ - ui_.px(kBetween) -
           (with_bar ? ui_.px(kBar + kBetween) : 0);
  }
  // The longest form that fits, else the shortest.
  [[nodiscard]] const std::string& text_for(const VisibleRow& row, float room) const {
    if (row.shorter.empty() || text_width(ui_, TextStyle::body, row.text) <= room) return row.text;
    for (const std::string& form : row.shorter) {
      if (text_width(ui_, TextStyle::body, form) <= room) return form;
    }
    return row.shorter.back();
  }
  // False where names that are cut beside bars are whole without them.
  [[nodiscard]] bool bars_leave_room(float width) const {
    for (std::size_t i = 0; i < std::min(column_.rows.size(), kStackedRows); ++i) {
      const VisibleRow& row = column_.rows[i];
      const float with = room_of(row, width, true), without = room_of(row, width, false);
      const float words = text_width(ui_, TextStyle::body, text_for(row, with));
      if (words > with && text_width(ui_, TextStyle::body, text_for(row, without)) <= without) return false;
    }
    return true;
  }

  void draw_row(Rect row, std::size_t index) {
    const VisibleRow& content = column_.rows[index];
    const Interaction response = interact(ui_, name_ + ".row." + std::to_string(index), row);
    if (response.hovered) fill(ui_, row.inset(-ui_.px(4), 0), ui_.colour(Colour::bg3), size::kChipRadius);
    const Rect whole = row;
    const Rect value = row.cut_right(std::min(values_ + 1, row.width()));
    row.cut_right(ui_.px(kBetween));
    // The bar gives way to the number and to a readable name.
    if (bars_ && room_of(content, whole.width(), true) >= ui_.px(kLeastLabel)) {
      const Rect bar = row.cut_right(ui_.px(kBar)).middle(ui_.px(8));
      row.cut_right(ui_.px(kBetween));
      if (content.bar >= 0) draw_bar(bar, content);
    }
    if (content.slot >= 0) {
      row.cut_left(draw_swatch(ui_, row, ui_.theme().slice(static_cast<unsigned>(content.slot))) + ui_.px(8));
    }
    const float used =
        draw_text(ui_, row, text_for(content, row.width()),
                  {.colour = response.hovered ? Colour::text1 : Colour::text2, .fit = Fit::middle, .beside = texts_});
    if (!content.detail.empty()) {
      Rect behind = row;
      behind.cut_left(used + ui_.px(8));
      draw_text(ui_, behind, content.detail, {.style = TextStyle::mono, .colour = Colour::text3});
    }
    draw_text(ui_, value, content.value,
              {.style = TextStyle::mono, .colour = stale_ ? Colour::text3 : Colour::text1, .align = Align::right});
    tooltip(ui_, response, whole, content.exact + (content.search.empty() ? "\nClick: copy" : "\nClick: select"));
    if (!response.clicked) return;
    (content.search.empty() ? result_.copy : result_.search) = content.search.empty() ? content.exact : content.search;
  }

  void draw_bar(Rect bar, const VisibleRow& content) {
    fill(ui_, bar, ui_.colour(Colour::bg4));
    const auto share = static_cast<float>(std::clamp(content.bar, 0.0, 1.0));
    bar.x1 = bar.x0 + std::max(share > 0 ? ui_.px(1) : 0.0F, std::round(bar.width() * share));
    fill(ui_, bar,
         content.slot >= 0 ? ui_.theme().slice(static_cast<unsigned>(content.slot)) : ui_.colour(Colour::text3));
  }

  Ui& ui_;
  const VisibleColumn& column_;
  const std::string name_;
  const bool stale_;
  VisibleColumnsResult& result_;
  std::vector<std::string> texts_;  // of all rows
  float values_ = 0;                // width of the widest number
  bool bars_ = false;
};

VisibleColumnsResult draw_visible_columns(Ui& ui, const Rect& area, const VisibleColumns& columns, bool stale) {
  VisibleColumnsResult result;
  const float padding = ui.px(size::kPanelPadding);
  const std::size_t count = columns.size();
  const auto fit = static_cast<std::size_t>(std::max(1.0F, area.width() / ui.px(kLeastColumn)));
  if (fit >= count) {
    const float width = std::floor(area.width() / static_cast<float>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const float x = area.x0 + width * static_cast<float>(i);
      if (i > 0) vertical_line(ui, x, area.y0, area.y1, ui.colour(Colour::line1));
      ColumnDrawing(ui, columns[i], i, stale, result).draw(Rect{x, area.y0, x + width, area.y1}.inset(padding, 0));
    }
    return result;
  }
  const std::size_t lines = (count + fit - 1) / fit;
  const float height = ui.px(kColumnHead + 12 + kRow * static_cast<float>(kStackedRows));
  const ScrollArea scroll(ui, "visible.columns", area, height * static_cast<float>(lines));
  const float width = std::floor(scroll.content().width() / static_cast<float>(fit));
  for (std::size_t i = 0; i < count; ++i) {
    const float x = scroll.content().x0 + width * static_cast<float>(i % fit);
    const std::size_t line = i / fit;
    const float y = scroll.content().y0 + height * static_cast<float>(line);
    ColumnDrawing(ui, columns[i], i, stale, result)
        .draw(Rect{x, y, x + width, y + height - ui.px(10)}.inset(padding, 0));
  }
  return result;
}

constexpr float kFactsWidth = 210, kFactRow = 18, kBinsWidth = 250, kSelectionGap = 14;
constexpr float kLeastTable = 440;

EventFilter selected_filter(const SessionTab& tab) {
  if (tab.region) return *tab.region;
  EventFilter visible;
  visible.range = tab.view.whole_ns();
  return visible;
}

EventFilter wanted_filter(const SessionTab& tab) { return both(tab.choices.filter, selected_filter(tab)); }

std::string bin_label(const SummaryBin& bin, bool sizes) {
  if (sizes) return bin.begin == 0 ? "0 B" : format_bytes(bin.begin);
  return bin.begin == 0 ? "0 ns" : format_duration(bin.begin);
}

// The summary as text, a table after the other.
std::string summary_text(const SelectionSummary& summary, char separator) {
  const auto quoted = [separator](std::string text) {
    std::replace(text.begin(), text.end(), '\t', ' ');
    if (separator != ',' || text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
  };
  std::string text;
  const auto line = [&](const std::string& table, const SummaryRow& row) {
    text += fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}\n", separator, table, quoted(row.text), row.kind,
                        row.count, row.busy_ns, row.bytes, row.flops);
  };
  text += fmt::format("table{0}key{0}kind{0}events{0}busy_ns{0}bytes{0}flops\n", separator);
  line("total", {"", "", summary.event_count, summary.busy_ns, summary.bytes, summary.flops});
  const std::array<std::pair<const char*, const SummaryRows*>, 3> tables = {
      {{"name", &summary.names}, {"line", &summary.lines}, {"layer", &summary.layers}}};
  for (const auto& [name, rows] : tables) {
    for (const SummaryRow& row : rows->rows) line(name, row);
  }
  for (const SummaryBin& bin : summary.sizes) {
    line("size", {std::to_string(bin.begin), "", bin.count, bin.busy_ns, bin.bytes, 0});
  }
  for (const SummaryBin& bin : summary.durations) {
    line("duration", {std::to_string(bin.begin), "", bin.count, bin.busy_ns, bin.bytes, 0});
  }
  return text;
}

}  // namespace

// A track's lanes may work side by side: each moment counts once.
std::vector<SummaryRow> SummaryPartTable::lane_rows(const RangeActivity* activity, const Snapshot& snapshot) const {
  std::vector<SummaryRow> lanes;
  const TrackDevices devices(snapshot);
  for (const SummaryTrack& track : summary_->tracks) {
    const TrackSnapshot* known = snapshot.find_track(track.track);
    const bool of_device = known != nullptr && !known->track->device.empty();
    const auto index = of_device ? static_cast<std::size_t>(known - snapshot.tracks.data()) : 0;
    SummaryRow row{.text = known != nullptr ? known->track->name : "",
                   .kind = of_device ? devices.name(devices.of_track(index)) : "",
                   .count = track.count,
                   .busy_ns = track.busy_ns,
                   .bytes = track.bytes};
    if (known != nullptr && known->lanes.size() > 1 && work_kind_of(*known) != WorkKind::host) {
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

void SummaryPartTable::take(const std::shared_ptr<const SessionSummary>& answer,
                            const std::shared_ptr<const RangeActivity>& activity, const Snapshot& snapshot) {
  summary_ = answer->summary;
  const SummaryRows* found = part_ == SummaryPart::names   ? &summary_->names
                             : part_ == SummaryPart::lines ? &summary_->lines
                                                           : &summary_->layers;
  const auto keep = [this](std::vector<SummaryRow> rows) {
    rows_ = std::make_shared<const std::vector<SummaryRow>>(std::move(rows));
  };
  distinct_ = found->distinct;
  if (part_ == SummaryPart::lanes) {
    keep(lane_rows(activity.get(), snapshot));
    distinct_ = rows_->size();
  } else if (part_ == SummaryPart::lines && activity != nullptr) {
    const StringPool& strings = *snapshot.strings;
    keep(with_self_times(with_self_times(found->rows, activity->host.lines, strings), activity->zone_lines, strings));
  } else if (part_ == SummaryPart::names) {
    keep(with_own_names(found->rows, activity.get(), *snapshot.strings));
  } else {
    rows_ = std::shared_ptr<const std::vector<SummaryRow>>(summary_, &found->rows);
  }
  std::int64_t sum = 0;
  for (const SummaryRow& row : *rows_) sum += std::max<std::int64_t>(0, row.busy_ns);
  whole_ns_ = std::max({std::int64_t{1}, sum, summary_->busy_ns + summary_->wait_ns});
  has_bytes_ = std::ranges::any_of(*rows_, [](const SummaryRow& row) { return row.bytes > 0; });
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
      std::ranges::any_of(*rows_, [&](const SummaryRow& row) { return row.kind != rows_->front().kind; });
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
  const SummaryRow& row = (*rows)[order[index]];
  const auto busy = static_cast<double>(std::max<std::int64_t>(0, row.busy_ns));
  switch (figures[column]) {
    case Figure::text: {
      const std::size_t slash = part == SummaryPart::lines ? row.text.rfind('/') : std::string::npos;
      return {.text = slash == std::string::npos ? row.text : row.text.substr(slash + 1),
              .fit = Fit::middle,
              .exact = row.text,
              .data = row.text};
    }
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
      if (row.bytes == 0) return {.text = "–", .colour = Colour::text3, .data = "0"};
      return {.text = format_bytes(row.bytes), .exact = exact_bytes(row.bytes), .data = std::to_string(row.bytes)};
    case Figure::achieved:
      if (row.flops == 0) return {.text = "–", .colour = Colour::text3, .data = "0"};
      return {.text = amount_per_second(static_cast<double>(row.flops), busy, "FLOP/s"),
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
    const SummaryRow& row = (*rows_)[index];
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
    const SummaryRow& x = (*rows_)[a];
    const SummaryRow& y = (*rows_)[b];
    if (*wanted == Figure::text) return x.text < y.text;
    if (*wanted == Figure::kind) return x.kind < y.kind;
    return key(a) < key(b);
  };
  std::ranges::stable_sort(order_,
                           [&](std::uint32_t a, std::uint32_t b) { return descending_ ? before(b, a) : before(a, b); });
}

std::optional<EventFilter> SummaryPartTable::narrowed(const PanelContext& context, const EventFilter& selected,
                                                      std::size_t row) const {
  const SummaryRow& chosen = (*rows_)[order_[row]];
  const Snapshot& snapshot = *context.tab.snapshot;
  switch (part_) {
    case SummaryPart::names:
      return with_term_toggled(selected, search_of_name(snapshot, chosen, *rows_));
    case SummaryPart::lines:
      return with_term_toggled(selected, search_of_line(chosen.text));
    case SummaryPart::layers: {
      const auto search = search_of_layer(snapshot, chosen.text);
      return search ? std::optional(with_term_toggled(selected, *search)) : std::nullopt;
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
    const SummaryRow& of = (*rows_)[order_[row]];
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
      for (const CodeLine& each : code_lines(*sources[*file])) code_.push_back(each.text);
    }
  }
  if (place.line == 0 || place.line > code_.size()) return {};
  const std::string& text = code_[place.line - 1];
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first);
}

void SelectionPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const EventFilter wanted = wanted_filter(context.tab);
  take_answers(context, wanted);
  const bool stale = answer_ && answer_->summary->filter != wanted;
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(36))), stale);
  if (!context.analysis().summary_error().empty())
    return empty_sentence(ui, "selection.error", rest, icon::kWarning, context.analysis().summary_error());
  if (!answer_) {
    const std::optional<double> share = context.analysis().summary_index_share();
    if (share) ui.request_frame_after(0.1);  // for the share that is done
    empty_state(ui, "selection.loading", rest, icon::kClock,
                fmt::format("Adding up the session's events ... {:.0f} %", share.value_or(1.0) * 100));
    return;
  }
  if (answer_->summary->event_count == 0)
    return empty_sentence(ui, "selection.none", rest, icon::kTable,
                          context.tab.region
                              ? "No events lie in what is selected."
                              : "No event lies in view; counters, if there are any, stand on the timeline.");
  if (!context.tab.region) return draw_visible(context, rest, stale);
  rest = rest.inset(ui.px(size::kPanelPadding), ui.px(4));
  draw_facts(context, rest.cut_left(ui.px(kFactsWidth)));
  rest.cut_left(ui.px(kSelectionGap));
  if (rest.width() >= ui.px(kLeastTable + kSelectionGap + kBinsWidth)) {
    draw_bins(context, rest.cut_right(ui.px(kBinsWidth)));
    rest.cut_right(ui.px(kSelectionGap));
  }
  draw_parts(context, rest, wanted_parts());
}

void SelectionPanel::take_answers(const PanelContext& context, const EventFilter& wanted) {
  const auto answer = context.analysis().summary(wanted);
  const auto report = context.analysis().report(wanted);
  if (answer == answer_ && report == report_) return;
  answer_ = answer;
  report_ = report;
  if (!answer_) return;
  const bool fits = report_ && report_->activity->filter == answer_->summary->filter;
  const std::shared_ptr<const RangeActivity> activity = fits ? report_->activity : nullptr;
  for (SummaryPartTable& part : parts_) part.take(answer_, activity, *context.tab.snapshot);
  copied_ = copied_bytes(*context.tab.snapshot, *answer_->summary);
  columns_ = visible_columns(*context.tab.snapshot, *answer_->summary, report_.get());
  // While data come what is not there yet may be in view already.
  if (!report_ || report_->activity->snapshot_version == context.tab.snapshot->version) return;
  for (VisibleColumn& column : columns_) column.empty = kStillCounted;
}

void SelectionPanel::draw_visible(const PanelContext& context, const Rect& area, bool stale) {
  const VisibleColumnsResult result = draw_visible_columns(context.ui, area, columns_, stale);
  if (result.search) select(context, *result.search);
  if (result.copy) context.copy(*result.copy, "the figure");
}

std::vector<SummaryPartTable*> SelectionPanel::wanted_parts() {
  std::vector<SummaryPartTable*> parts;
  for (SummaryPartTable& part : parts_) {
    if (!part.empty()) parts.push_back(&part);
  }
  return parts;
}

// As many as fit side by side, from the chosen one on; where not all do, their names stand above.
void SelectionPanel::draw_parts(const PanelContext& context, Rect area, const std::vector<SummaryPartTable*>& parts) {
  Ui& ui = context.ui;
  if (parts.empty()) return;
  const float gap = ui.px(kSelectionGap);
  const auto fits = static_cast<std::size_t>((area.width() + gap) / (ui.px(kLeastTable) + gap));
  const std::size_t shown = std::clamp<std::size_t>(fits, 1, parts.size());
  if (shown < parts.size()) {
    std::vector<Segment> names;
    for (const SummaryPartTable* part : parts) names.push_back({.label = part->title()});
    first_part_ = std::min(first_part_, static_cast<int>(parts.size()) - 1);
    const Rect row = area.cut_top(ui.px(size::kSmallControl));
    segmented(ui, "selection.part", {row.x0, row.y0, row.x0 + segmented_width(ui, names), row.y1}, names, first_part_);
    area.cut_top(ui.px(4));
  } else {
    first_part_ = 0;
  }
  const float width = (area.width() - gap * static_cast<float>(shown - 1)) / static_cast<float>(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Rect column = i + 1 == shown ? area : area.cut_left(std::floor(width));
    area.cut_left(gap);
    SummaryPartTable& part = *parts[(static_cast<std::size_t>(first_part_) + i) % parts.size()];
    if (auto narrowed = part.draw(context, column, selected_filter(context.tab))) {
      context.tab.region = std::move(*narrowed);
    }
  }
}

void SelectionPanel::draw_head(const PanelContext& context, Rect head, bool stale) {
  Ui& ui = context.ui;
  SessionTab& tab = context.tab;
  const bool ready = answer_ && answer_->summary->event_count > 0;
  const auto action = [&](const char* name, const char* label, const char* symbol, bool disabled, const char* tip) {
    const ButtonOptions options{.label = label, .icon = symbol, .disabled = disabled, .tooltip = tip};
    const bool clicked = button_right(ui, name, head, options);
    head.cut_right(ui.px(8));
    return clicked;
  };
  if (!tab.region) {
    if (action("selection.copy", "Copy", icon::kCopy, !ready, "All columns, tab-separated")) {
      context.copy(columns_text(columns_, '\t'), "the summary");
    }
    if (action("selection.csv", "CSV...", icon::kSave, !ready || !ui.can_offer_file(),
               "A file of all names and sums")) {
      ui.offer_file({"visible.csv", [summary = answer_->summary] { return summary_text(*summary, ','); }});
    }
    if (action("selection.filter", "Filter", icon::kFilter, !ready, "Every panel shows only the visible range")) {
      const EventFilter wanted = wanted_filter(tab);
      tab.change([&](ViewChoices& choices) { choices.filter = wanted; });
    }
    if (action("selection.out", "Zoom out", icon::kExpand, !ready, "Shows the whole session")) {
      show_stretch(tab, tab.snapshot->begin_ns, tab.snapshot->end_ns);
    }
    return draw_heading(context, head, stale);
  }
  if (action("selection.csv", "Export CSV...", icon::kSave, !ready || !ui.can_offer_file(),
             "A file of all tables, with every digit")) {
    ui.offer_file({"selection.csv", [summary = answer_->summary] { return summary_text(*summary, ','); }});
  }
  if (action("selection.copy", "Copy", icon::kCopy, !ready, "All tables, tab-separated")) {
    context.copy(summary_text(*answer_->summary, '\t'), "the summary");
  }
  if (action("selection.pin", "Pin as span", icon::kFlag, !ready, "A marker over this stretch of time")) pin(context);
  if (action("selection.filter", "Filter", icon::kFilter, !tab.region, "Every panel shows only what is selected")) {
    const EventFilter wanted = wanted_filter(tab);
    tab.change([&](ViewChoices& choices) { choices.filter = wanted; });
  }
  if (action("selection.zoom", "Zoom in", icon::kExpand, !ready, "Shows this stretch of time")) {
    show_stretch(tab, answer_->summary->range.begin_ns, answer_->summary->range.end_ns);
  }
  if (action("selection.clear", "Clear", icon::kClose, false, "Nothing is selected any more")) tab.region.reset();
  draw_heading(context, head, stale);
}

void SelectionPanel::draw_heading(const PanelContext& context, const Rect& head, bool stale) const {
  const SessionTab& tab = context.tab;
  std::string hint;
  if (!tab.region && answer_) {
    const SelectionSummary& summary = *answer_->summary;
    hint = fmt::format("{}, {} {}; nothing is selected  ", format_duration(summary.range.length_ns()),
                       format_count(summary.event_count), summary.event_count == 1 ? "event" : "events");
  }
  for (const FilterTerm& term : tab.region ? tab.region->terms : std::vector<FilterTerm>()) {
    hint += (term.excluded ? "not " : "") + term.search + "  ";
  }
  if (stale) {
    hint += "updating ...";
  } else if (answer_ && tab.region) {
    hint += answer_->summary->scanned ? "every event looked at, " : "";
    hint += fmt::format("in {:.1f} ms", answer_->took_ms);
  }
  heading(context.ui, head, tab.region ? "Selection" : "Visible range", hint);
}

void SelectionPanel::draw_facts(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const std::vector<Fact> facts = facts_of();
  const float row_height = ui.px(kFactRow);
  const ScrollArea scroll(ui, "selection.facts", area, static_cast<float>(facts.size()) * row_height);
  Rect rest = scroll.content();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const Fact& fact = facts[i];
    const Rect row = rest.cut_top(row_height);
    const Interaction response = interact(ui, "selection.fact." + std::to_string(i), row);
    if (response.hovered) fill(ui, row, ui.colour(Colour::bg3), size::kChipRadius);
    draw_text(ui, row, fact.name, {.colour = Colour::text2});
    draw_text(ui, row, fact.value, {.style = TextStyle::mono, .align = Align::right});
    tooltip(ui, response, row, fact.exact + "\n" + fact.explanation + " Click: copy.");
    if (response.clicked) context.copy(fact.exact, std::string(fact.name) + ": " + fact.exact);
  }
}

// Each moment once; a wait is in none but the last. What is not known yet says so.
void SelectionPanel::add_times(std::vector<Fact>& facts) const {
  const SelectionSummary& summary = *answer_->summary;
  const RangeActivity* activity =
      report_ && report_->activity->filter == summary.filter ? report_->activity.get() : nullptr;
  const auto share = [&](const char* name, std::int64_t RangeActivity::*ns, const char* explanation, bool always) {
    if (activity == nullptr) {
      if (always) facts.push_back({name, "...", "...", "Being added up: each moment counts once."});
      return;
    }
    const std::int64_t value = (*activity).*ns;
    if (value == 0 && !always) return;
    const auto span = static_cast<double>(std::max<std::int64_t>(1, activity->range.length_ns()));
    facts.push_back({name, format_duration(value),
                     format_time_exact(value) + ", " + format_share(static_cast<double>(value) / span) + " of the span",
                     explanation});
  };
  share("Active", &RangeActivity::active_ns, "At least one of the lanes works; each moment counts once.", true);
  share("Device work", &RangeActivity::working_ns, "At least one device computes.", false);
  share("Transfers", &RangeActivity::transfer_ns, "Data is under way.", false);
  share("Host, self", &RangeActivity::host_ns, "At least one thread works; waiting calls do not count.", false);
  std::int64_t wait = summary.wait_ns + summary.waited_ns;
  if (activity != nullptr) wait = report_->waits.wait_ns + activity->host.wait_ns;
  if (wait > 0) {
    facts.push_back({"Wait", format_duration(wait), format_time_exact(wait),
                     "Of events that do nothing else, and before the others began; units add up."});
  }
}

// Nothing while the time is not known, and where nothing moves.
std::optional<double> SelectionPanel::copy_rate() const {
  if (!report_ || report_->activity->filter != answer_->summary->filter) return std::nullopt;
  const std::int64_t ns = report_->activity->unions.copies_ns;
  if (ns <= 0 || copied_ == 0) return std::nullopt;
  return static_cast<double>(copied_) / static_cast<double>(ns) * 1e9;
}

std::vector<SelectionPanel::Fact> SelectionPanel::facts_of() const {
  const SelectionSummary& summary = *answer_->summary;
  const std::int64_t span_ns = summary.range.length_ns();
  std::vector<Fact> facts;
  const auto time = [&](const char* name, std::int64_t ns, const char* explanation) {
    facts.push_back({name, format_duration(ns), format_time_exact(ns), explanation});
  };
  time("Span", span_ns, "From the begin to the end of the range, no further than events go.");
  facts.push_back({"Events", format_count(summary.event_count), format_count(summary.event_count),
                   "Those that reach into the range count as one."});
  add_times(facts);
  if (summary.bytes > 0) {
    facts.push_back(
        {"Bytes", format_bytes(summary.bytes), format_count(summary.bytes) + " B", "That the events moved."});
    if (const std::optional<double> rate = copy_rate()) {
      facts.push_back({"Bandwidth", format_rate(*rate), fmt::format("{:.0f} B/s", *rate),
                       "Bytes of transfers by the time in which data moves; fills apart."});
    }
  }
  if (summary.flops > 0) {
    const auto flops = static_cast<double>(summary.flops);
    facts.push_back({"Work", amount_per_second(flops, 1e9, "FLOP"), format_count(summary.flops) + " FLOP",
                     "Floating-point operations as the events state them, transposes too."});
    if (report_ && report_->activity->filter == summary.filter && report_->activity->active_ns > 0) {
      const auto active = static_cast<double>(report_->activity->active_ns);
      facts.push_back({"Achieved", amount_per_second(flops, active, "FLOP/s"),
                       fmt::format("{:.0f} FLOP/s", flops / active * 1e9),
                       "Work by the active time; a roofline leaves transposes out."});
    }
  }
  return facts;
}

void SelectionPanel::draw_bins(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const SelectionSummary& summary = *answer_->summary;
  const float row_height = ui.px(18);
  const auto rows = static_cast<float>(summary.sizes.size() + summary.durations.size() + 3);
  const ScrollArea scroll(ui, "selection.bins", area, rows * row_height + ui.px(8));
  Rect rest = scroll.content();
  const auto histogram = [&](std::string_view title, const std::vector<SummaryBin>& bins, bool sizes) {
    if (bins.empty()) return;
    draw_text(ui, rest.cut_top(row_height), title, kGroupText);
    std::uint64_t most = 1;
    for (const SummaryBin& bin : bins) most = std::max(most, bin.count);
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const Rect row = rest.cut_top(row_height);
      const std::string name = fmt::format("selection.{}.{}", sizes ? "sizes" : "durations", i);
      const Interaction response = interact(ui, name, row);
      if (response.hovered) fill(ui, row, ui.colour(Colour::bg4));
      Rect part = row;
      draw_text(ui, part.cut_left(ui.px(72)), bin_label(bins[i], sizes), {.style = TextStyle::mono});
      draw_text(ui, part.cut_left(ui.px(60)), format_count(bins[i].count),
                {.style = TextStyle::mono, .align = Align::right});
      part.cut_left(ui.px(8));
      Rect bar = part.middle(ui.px(8));
      fill(ui, bar, ui.colour(Colour::bg4));
      bar.x1 =
          bar.x0 + bar.width() * static_cast<float>(static_cast<double>(bins[i].count) / static_cast<double>(most));
      fill(ui, bar, ui.colour(Colour::accent));
      const std::string unit = sizes ? " B" : " ns";
      tooltip(ui, response, row,
              "From " + format_count(bins[i].begin) + unit + " to below " + format_count(bins[i].end) + unit + ": " +
                  format_count(bins[i].count) + (bins[i].count == 1 ? " event" : " events") + ", busy " +
                  format_time_exact(bins[i].busy_ns));
      if (!response.clicked) continue;
      const auto search = sizes ? search_of_sizes(*context.tab.snapshot, bins[i]) : search_of_durations(bins[i]);
      if (search) select(context, *search);
    }
    rest.cut_top(ui.px(8));
  };
  histogram("Transfer sizes", summary.sizes, true);
  histogram("Durations", summary.durations, false);
}

void SelectionPanel::select(const PanelContext& context, const std::string& search) const {
  context.tab.region = with_term_toggled(selected_filter(context.tab), search);
}

void SelectionPanel::pin(const PanelContext& context) const {
  const TimeRange& range = answer_->summary->range;
  Marker marker;
  marker.ts_ns = range.begin_ns;
  marker.end_ns = range.end_ns;
  marker.name = "Selection";
  put_marker(context.tab, std::move(marker));
  context.actions.inform("Pinned the selection as a span");
}

std::unique_ptr<Panel> make_selection_panel(const PanelParts&) { return std::make_unique<SelectionPanel>(); }

}  // namespace accelscope::app
