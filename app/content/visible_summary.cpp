#include "app/content/visible_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "app/content/source/text.h"
#include "core/analysis/figures/metrics.h"
#include "core/base/format.h"
#include "core/listing/terms.h"
#include "core/model/palette.h"
#include "core/names/short_names.h"

namespace accelscope::app::content {
namespace {

constexpr std::size_t kMostVisibleRows = 100;
constexpr double kNsPerSecond = 1e9;
constexpr const char* kBeingComputed = "...";

struct NamedTime {
  std::string name;
  std::int64_t ns = 0;
  std::uint64_t count = 0, bytes = 0;
  bool selects = true;  // a click on it selects the events of the name
  const std::string* kind = nullptr;
};

std::string share_of_range(std::int64_t ns, const TimeRange& range) {
  return range.empty() ? "–" : format_share(static_cast<double>(ns) / static_cast<double>(range.length_ns()));
}

std::string exact_share(std::int64_t ns, const TimeRange& range, const char* what) {
  return fmt::format("{} {} of {}: {}", what, format_time_exact(ns), format_time_exact(range.length_ns()),
                     share_of_range(ns, range));
}

class ColumnMaker {
 public:
  ColumnMaker(const Snapshot& snapshot, const VisibleFacts& facts, const analysis::SelectionSummary& summary,
              const analysis::RangeReport* report)
      : snapshot_(snapshot), summary_(summary), kinds_(facts.kinds), devices_(facts.devices) {
    if (report != nullptr && report->activity->filter == summary.filter) report_ = report;
  }

  VisibleColumns run() { return {work(), transfers(), waits(), host(), memory()}; }

 private:
  // The longest first, bars by the longest.
  void add_times(VisibleColumn& column, std::vector<NamedTime> times, bool colours) {
    std::erase_if(times, [](const NamedTime& each) { return each.ns <= 0; });
    std::stable_sort(times.begin(), times.end(), [](const NamedTime& a, const NamedTime& b) {
      return a.ns != b.ns ? a.ns > b.ns : a.name < b.name;
    });
    if (times.size() > kMostVisibleRows) times.resize(kMostVisibleRows);
    ShortNames names;
    for (const NamedTime& each : times) names.add(each.name);
    for (const NamedTime& each : times) {
      VisibleRow row;
      const std::vector<std::string>& forms = names.forms(each.name);
      row.text = forms.front();
      row.shorter.assign(forms.begin() + 1, forms.end());
      row.value = format_duration(each.ns);
      row.exact = fmt::format("{}\n{}", each.name, format_time_exact(each.ns));
      if (each.count > 0) row.exact += ", " + counted(each.count, "event");
      if (each.bytes > 0) row.exact += ", " + format_bytes(each.bytes);
      row.bar = static_cast<double>(each.ns) / static_cast<double>(times.front().ns);
      if (colours) row.slot = palette_slot(each.name);
      if (each.selects) {
        const analysis::SummaryRow named{.text = each.name, .kind = each.kind == nullptr ? "" : *each.kind};
        row.search = listing::search_of_name(snapshot_, named, summary_.names.rows);
      }
      column.rows.push_back(std::move(row));
    }
  }
  void add_fact(VisibleColumn& column, std::string text, std::string value, std::string exact) {
    column.rows.push_back({.text = std::move(text), .value = std::move(value), .exact = std::move(exact)});
  }
  void set_share(VisibleColumn& column, std::int64_t analysis::RangeActivity::*ns, const char* what) const {
    column.value = kBeingComputed;
    if (report_ == nullptr) return;
    column.value = share_of_range((*report_->activity).*ns, report_->activity->range);
    column.exact = exact_share((*report_->activity).*ns, report_->activity->range, what);
  }

  // The names that are covered, each by the time that at least one of its events takes.
  [[nodiscard]] std::vector<NamedTime> covered(const analysis::ActivityUnions::ByName& names, bool moves,
                                               bool repeats) const {
    std::map<std::string_view, NamedTime> counted;
    for (const analysis::SummaryRow& row : summary_.names.rows) {
      if (row.waits || row.repeats != repeats || !is_device_work(row.work)) continue;
      if ((row.work == WorkKind::transfer) != moves) continue;
      NamedTime& time = counted.try_emplace(row.text, NamedTime{.kind = &row.kind}).first->second;
      time.count += row.count;
      time.bytes += row.bytes;
    }
    std::vector<NamedTime> times;
    for (const auto& [name, ns] : names) {
      const std::string_view text = snapshot_.strings->text(name);
      const auto known = counted.find(text);
      NamedTime& time = times.emplace_back(known == counted.end() ? NamedTime{} : known->second);
      time.name = text;
      time.ns = ns;
    }
    return times;
  }

  VisibleColumn work() {
    VisibleColumn column{.kind = VisibleColumn::Kind::work, .title = "Device work, union"};
    column.empty = kinds_.any_device() ? "No device works in view." : "No device was recorded.";
    if (!kinds_.any_device()) return column;
    set_share(column, &analysis::RangeActivity::working_ns, "At least one device computes");
    if (report_ == nullptr) {
      column.empty = kStillCounted;
      return column;
    }
    add_times(column, covered(report_->activity->unions.work, false, false), true);
    return column;
  }

  // Names say more than queues, but where they are not known.
  VisibleColumn transfers() {
    const bool copies = !kinds_.any(WorkKind::transfer) || has_track("stream");
    VisibleColumn column{.kind = VisibleColumn::Kind::transfers, .title = copies ? "Copies, union" : "DMA, union"};
    column.empty = kinds_.any(WorkKind::transfer) ? "No transfer in view."
                   : has_figure("host_to_device_bytes") || has_figure("device_to_host_bytes")
                       ? "Transfers are calls of the host here, and counters of the devices."
                       : "No transfers were recorded.";
    if (!kinds_.any(WorkKind::transfer)) return column;
    set_share(column, &analysis::RangeActivity::transfer_ns, "Data is under way");
    if (report_ == nullptr) {
      column.empty = kStillCounted;
      return column;
    }
    const analysis::ActivityUnions& unions = report_->activity->unions;
    std::int64_t nameless_ns = 0, all_ns = 0;
    for (const auto& [name, ns] : unions.transfers) {
      const std::string_view text = snapshot_.strings->text(name);
      all_ns += ns;
      if (text.empty() || text == "unknown") nameless_ns += ns;
    }
    const bool nameless = unions.whole.empty() && nameless_ns * 2 > all_ns;
    add_times(column,
              nameless               ? queues()
              : unions.whole.empty() ? covered(unions.transfers, true, false)
                                     : covered(unions.whole, true, true),
              true);
    if (!column.rows.empty()) add_rates(column, unions.copies_ns);
    return column;
  }

  // Facts stand in sight, below the longest.
  void add_rates(VisibleColumn& column, std::int64_t copies_ns) {
    const std::uint64_t moved = analysis::copied_bytes(snapshot_, kinds_, summary_);
    if (moved == 0 || copies_ns <= 0) return;
    constexpr std::size_t kRoom = 3;
    std::vector<VisibleRow> rest;
    if (column.rows.size() > kRoom) {
      const auto below = column.rows.begin() + static_cast<std::ptrdiff_t>(kRoom);
      rest.assign(std::make_move_iterator(below), std::make_move_iterator(column.rows.end()));
      column.rows.erase(below, column.rows.end());
    }
    const auto bytes = static_cast<double>(moved);
    const double rate = bytes / static_cast<double>(copies_ns) * kNsPerSecond;
    add_fact(column, "moved", format_bytes(bytes), format_count(moved) + " B moved in view");
    add_fact(column, "bandwidth", format_rate(rate),
             fmt::format("{:.0f} B/s over the {} in which data moves", rate, format_time_exact(copies_ns)));
    if (const double peak = memory_bandwidth(); peak > 0) {
      add_fact(column, "of HBM peak", format_share(rate / peak), fmt::format("of {}", format_rate(peak)));
    }
    column.rows.insert(column.rows.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  }

  std::vector<NamedTime> queues() const {
    std::map<std::string_view, NamedTime> by_queue;
    for (const analysis::SummaryTrack& each : summary_.tracks) {
      const TrackSnapshot* track = snapshot_.find_track(each.track);
      if (track == nullptr || analysis::work_kind_of(*track) != WorkKind::transfer) continue;
      NamedTime& sum = by_queue[analysis::queue_of_ring(track->track->name)];
      sum.count += each.count;
      sum.bytes += each.bytes;
    }
    std::vector<NamedTime> times;
    for (const auto& [queue, ns] : report_->activity->unions.queues) {
      NamedTime& time = times.emplace_back(by_queue[queue]);
      time.name = queue;
      time.ns = ns;
      time.selects = false;
    }
    return times;
  }

  // Of all devices; cores that one is made of share it.
  [[nodiscard]] double memory_bandwidth() const {
    if (report_ == nullptr) return 0;
    std::vector<bool> counted(devices_.count(), false);
    for (const analysis::DeviceActivity& each : report_->activity->devices) {
      for (std::size_t device = 0; device < devices_.count(); ++device) {
        if (devices_.label(device) == each.device) counted[device] = true;
      }
    }
    for (std::size_t device = 0; device < devices_.count(); ++device) {
      const bool whole = !devices_.parts(device).empty();
      for (const std::size_t part : devices_.parts(device)) counted[part] = false;
      counted[device] = counted[device] || whole;
    }
    double sum = 0;
    for (std::size_t device = 0; device < devices_.count(); ++device) {
      if (!counted[device]) continue;
      sum += analysis::device_peaks(snapshot_, devices_.label(device)).bandwidth;
    }
    return sum;
  }
  [[nodiscard]] bool any_zones() const {
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane)
      if (kinds_.has_zones(lane)) return true;
    return false;
  }
  [[nodiscard]] bool has_track(std::string_view kind) const {
    return std::any_of(snapshot_.tracks.begin(), snapshot_.tracks.end(),
                       [&](const TrackSnapshot& each) { return each.track->kind == kind; });
  }

  [[nodiscard]] bool has_figure(std::string_view name) const {
    return std::ranges::any_of(snapshot_.metrics, [&](const Metric& each) { return each.name == name; });
  }

  [[nodiscard]] bool has_source_lines() const {
    return std::any_of(snapshot_.lanes.begin(), snapshot_.lanes.end(), [](const LaneSnapshot& lane) {
      return lane.event_count > 0 && lane.schema->find(Role::source_location).has_value();
    });
  }

  // Of devices by cause, of the host by the call that waits; a device that is fed by a host waits for it while it
  // idles.
  VisibleColumn waits() {
    VisibleColumn column{.kind = VisibleColumn::Kind::waits, .title = "Waits, not busy", .value = kBeingComputed};
    column.empty = report_ == nullptr ? kStillCounted : "Nothing waits in view.";
    if (report_ == nullptr) return column;
    std::vector<NamedTime> times;
    for (const analysis::WaitCause& cause : report_->waits.causes)
      times.push_back({cause.name, cause.wait_ns, cause.count, 0, false});
    const analysis::RangeActivity& activity = *report_->activity;
    for (const auto& [name, time] : activity.host.names) {
      if (time.wait_ns > 0) times.push_back({std::string(snapshot_.strings->text(name)), time.wait_ns});
    }
    if (has_track("stream") && kinds_.any(WorkKind::host)) {
      for (const analysis::DeviceActivity& each : activity.devices) {
        times.push_back({each.device + " idle", activity.range.length_ns() - each.active_ns(), 0, 0, false});
      }
    }
    column.value = times.empty() ? "–" : report_->waits.sampled ? "≈ by cause" : "by cause";
    column.exact = "None of it is in another column; units that wait side by side add up";
    add_times(column, std::move(times), false);
    return column;
  }

  // Lines of what runs on the device; else what the host's threads do, each moment of a thread once.
  VisibleColumn host() {
    VisibleColumn column{.kind = VisibleColumn::Kind::host, .title = "Lines, self"};
    if (!kinds_.any(WorkKind::host) && !summary_.lines.rows.empty()) return lines(std::move(column));
    column.title = "Host, self";
    column.empty = kinds_.any(WorkKind::host) ? "The host does nothing in view."
                   : has_track("host_thread") ? "The host's threads have samples or marks, and no calls."
                   : has_source_lines()       ? "No host was recorded, and no line of source is in view."
                                              : "No host and no lines were recorded.";
    if (!kinds_.any(WorkKind::host)) return column;
    set_share(column, &analysis::RangeActivity::host_ns, "At least one thread works");
    if (report_ == nullptr) {
      column.empty = kStillCounted;
      return column;
    }
    std::vector<NamedTime> times;
    for (const auto& [name, time] : report_->activity->host.names) {
      if (time.busy_ns > 0) times.push_back({std::string(snapshot_.strings->text(name)), time.busy_ns});
    }
    add_times(column, std::move(times), false);
    return column;
  }

  VisibleColumn lines(VisibleColumn column) const {
    column.empty = "No line of source in view.";
    std::string file;
    bool one_file = true;
    const auto path_of = [](const std::string& text) { return text.substr(0, text.rfind(':')); };
    if (report_ == nullptr && any_zones()) {
      column.empty = kStillCounted;
      return column;
    }
    const std::vector<analysis::SummaryRow> own =
        report_ == nullptr
            ? summary_.lines.rows
            : analysis::with_self_times(summary_.lines.rows, report_->activity->zone_lines, *snapshot_.strings);
    for (const analysis::SummaryRow& row : own) {
      if (row.busy_ns <= 0 || column.rows.size() >= kMostVisibleRows) continue;
      one_file = one_file && (file.empty() || file == path_of(row.text));
      file = path_of(row.text);
      VisibleRow shown;
      shown.text = row.text.substr(row.text.find_last_of("/\\") + 1);
      shown.value = format_duration(row.busy_ns);
      shown.exact = fmt::format("{}\n{}, {} events, without their waits", row.text, format_time_exact(row.busy_ns),
                                format_count(row.count));
      shown.search = listing::search_of_line(row.text);
      shown.detail = code_at(row.text);
      column.rows.push_back(std::move(shown));
    }
    if (one_file && !file.empty()) {
      column.value = file.substr(file.find_last_of("/\\") + 1);
      column.exact = file;
      for (VisibleRow& row : column.rows) row.text = row.text.substr(row.text.rfind(':') + 1);
    }
    return column;
  }

  // The text of the line that "dir/mlp.py:33" names, where the session stores its file.
  [[nodiscard]] std::string code_at(const std::string& place) const {
    std::string_view path;
    std::uint32_t line = 0;
    if (!parse_source_location(place, path, line) || line == 0) return {};
    const auto file = find_source(snapshot_.sources, path);
    if (!file) return {};
    std::string_view text = snapshot_.sources[*file]->content;
    for (std::uint32_t at = 1; at < line && !text.empty(); ++at) {
      const std::size_t end = text.find('\n');
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    text = text.substr(0, text.find_first_of("\r\n"));
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string() : std::string(text.substr(first));
  }

  VisibleColumn memory() const {
    VisibleColumn column{.kind = VisibleColumn::Kind::memory, .title = "Memory"};
    column.empty = report_ == nullptr || !report_->memory.known ? kStillCounted
                   : report_->memory.any_in_session             ? "No memory is in use in view."
                                                                : "No memory was recorded.";
    if (report_ == nullptr) {
      column.value = kBeingComputed;
      return column;
    }
    const analysis::MemoryInRange& memory = report_->memory;
    if (memory.pools.empty()) return column;
    const analysis::MemoryInRange::Pool& first = memory.pools.front();
    column.title = first.name;
    column.value = (first.estimated ? "≈" : "") + format_bytes(first.peak_bytes);
    column.exact = fmt::format("{}: {} B in use at the peak within view", first.name, format_count(first.peak_bytes));
    if (first.capacity_bytes) column.exact += " of " + format_bytes(*first.capacity_bytes);
    for (const auto& [tensor, size] : memory.tensors) {
      VisibleRow row;
      row.text = tensor;
      row.value = format_bytes(size);
      row.exact = fmt::format("{}\n{} B", tensor, format_count(size));
      row.bar = static_cast<double>(size) / static_cast<double>(memory.tensors.front().second);
      row.slot = palette_slot(tensor);
      column.rows.push_back(std::move(row));
    }
    std::vector<VisibleRow> pools;
    for (const analysis::MemoryInRange::Pool& pool : memory.pools) {
      if (&pool == &first && !memory.tensors.empty()) continue;
      std::string exact = fmt::format("{}\n{} B at the peak within view", pool.name, format_count(pool.peak_bytes));
      if (pool.capacity_bytes) exact += " of " + format_bytes(*pool.capacity_bytes);
      // "GPU 0 memory Total Reserved" below "GPU 0 memory"
      const bool below = pool.name.starts_with(first.name + " ");
      pools.push_back({.text = below ? pool.name.substr(first.name.size() + 1) : pool.name,
                       .value = format_bytes(pool.peak_bytes),
                       .exact = std::move(exact)});
      if (pool.capacity_bytes && *pool.capacity_bytes > 0) {
        pools.back().bar =
            std::min(1.0, static_cast<double>(pool.peak_bytes) / static_cast<double>(*pool.capacity_bytes));
      }
    }
    constexpr std::size_t kTensorsAbove = 3;  // other memories stand in sight
    column.rows.insert(column.rows.begin() + static_cast<std::ptrdiff_t>(std::min(column.rows.size(), kTensorsAbove)),
                       pools.begin(), pools.end());
    return column;
  }

  const Snapshot& snapshot_;
  const analysis::SelectionSummary& summary_;
  const analysis::RangeReport* report_ = nullptr;
  const analysis::WorkKinds& kinds_;
  const analysis::TrackDevices& devices_;
};

}  // namespace

VisibleColumns visible_columns(const Snapshot& snapshot, const VisibleFacts& facts,
                               const analysis::SelectionSummary& summary, const analysis::RangeReport* report) {
  return ColumnMaker(snapshot, facts, summary, report).run();
}

std::string columns_text(const VisibleColumns& columns, char separator) {
  std::string text;
  for (const VisibleColumn& column : columns) {
    text += fmt::format("{1}{0}{2}\n", separator, column.title, column.value);
    for (const VisibleRow& row : column.rows) {
      std::string exact = row.exact;
      std::replace(exact.begin(), exact.end(), '\n', separator);
      text += fmt::format("{1}{0}{2}{0}{3}\n", separator, column.title, row.value, exact);
    }
  }
  return text;
}

}  // namespace accelscope::app::content
