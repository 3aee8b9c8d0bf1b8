#include "app/commands/top_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/frame/app_state.h"
#include "app/panels/quality/panel.h"
#include "app/session/shown_advice.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/names/short_names.h"
#include "core/scan/event_reader.h"

namespace accelscope::app::commands {
namespace {

using session::SessionAnalysis;

constexpr std::int64_t kNowNs = 1'000'000'000;
constexpr std::size_t kMostNamed = 64;  // engines whose event is looked up: each reads a chunk

TimeRange last_of(const Snapshot& snapshot, double seconds) {
  const std::int64_t begin = whole_time(static_cast<double>(snapshot.end_ns) - seconds * 1e9);
  return {std::max(begin, snapshot.begin_ns), snapshot.end_ns};
}

// The one that began last and was under way within the range; "" where there is none.
Result<std::string> last_event(EventReader& reader, const TrackSnapshot& track, const TimeRange& range) {
  const Snapshot& snapshot = reader.snapshot();
  std::optional<EventRecord> last;
  for (const std::uint32_t index : track.lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    if (lane.event_count == 0) continue;
    const std::optional<EventId> event = TRY(reader.last_before(lane, range.end_ns));
    if (!event) continue;
    EventRecord record = TRY(reader.read(*event));
    if (record.end_ns > range.begin_ns && (!last || record.begin_ns > last->begin_ns)) last = std::move(record);
  }
  if (!last) return std::string();
  return last->waits ? "waits: " + last->name_text : last->name_text;
}

// As the summary of a selection counts them: each moment of a track once, however many lanes it has.
Result<std::shared_ptr<const std::vector<DeviceNow>>> find_now(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  const EventFilter filter{.range = range};
  const auto activity = TRY(analysis::range_activity(query, filter));
  const auto summary = TRY(analysis::selection_summary(query, filter));
  const analysis::TrackDevices devices(snapshot);
  const analysis::WorkKinds kinds(snapshot);
  EventReader reader(query.store, query.snapshot);
  const auto span = static_cast<double>(std::max<std::int64_t>(activity->range.length_ns(), 1));
  auto found = std::make_shared<std::vector<DeviceNow>>();
  for (const analysis::DeviceActivity& device : activity->devices)
    found->push_back({device.device, static_cast<double>(device.active_ns()) / span, {}});
  for (std::size_t i = 0; i < snapshot.tracks.size(); ++i) {
    const TrackSnapshot& track = snapshot.tracks[i];
    if (track.lanes.empty() || track.track->device.empty()) continue;
    if (!is_device_work(kinds.of_lane(track.lanes.front())) || !kinds.covers_time(track.lanes.front())) continue;
    const std::string& label = devices.label(devices.of_track(i));
    const auto device = std::ranges::find(*found, label, &DeviceNow::device);
    if (device == found->end()) continue;
    std::int64_t busy_ns = 0;
    if (track.lanes.size() > 1) {
      const auto covered = activity->unions.tracks.find(track.track->number);
      if (covered != activity->unions.tracks.end()) busy_ns = covered->second;
    } else {
      const auto row = std::ranges::find(summary->tracks, track.track->number, &analysis::SummaryTrack::track);
      if (row != summary->tracks.end()) busy_ns = row->busy_ns;
    }
    device->engines.push_back({label, track.track->name, static_cast<double>(busy_ns) / span, std::to_string(i)});
  }
  std::size_t named = 0;
  for (DeviceNow& device : *found) {
    std::ranges::stable_sort(device.engines, std::greater<>(), &EngineNow::busy_share);
    for (EngineNow& engine : device.engines) {
      const std::size_t track = std::stoul(engine.runs);
      engine.runs.clear();
      if (named++ >= kMostNamed) continue;
      std::string runs = TRY(last_event(reader, snapshot.tracks[track], range));
      engine.runs = std::move(runs);
    }
  }
  return std::shared_ptr<const std::vector<DeviceNow>>(std::move(found));
}

Result<std::shared_ptr<const std::vector<TopKernel>>> find_kernels(const QueryContext& query,
                                                                   const EventFilter& filter) {
  const analysis::HotspotList list = TRY(analysis::find_hotspots(query, filter.range.value_or(TimeRange{})));
  auto kernels = std::make_shared<std::vector<TopKernel>>();
  const double all = std::max(1.0, static_cast<double>(list.total_ns));
  for (const analysis::Hotspot& row : list.rows) {
    const auto total = static_cast<double>(row.total_ns);
    kernels->push_back({std::string(query.snapshot->strings->text(row.name)), row.count, row.total_ns, total / all,
                        total / static_cast<double>(row.count)});
  }
  return std::shared_ptr<const std::vector<TopKernel>>(std::move(kernels));
}

std::string phase_text(const session::SessionTab& tab) {
  using capture::client::CapturePhase;
  if (tab.capture.agents.empty()) return "";
  constexpr std::array<const char*, 7> kPhases = {"connecting", "recording", "paused", "reconnecting",
                                                  "stopping",   "ended",     "failed"};
  return kPhases[static_cast<std::size_t>(tab.capture.phase)];
}

std::vector<TopPool> pools_of(const analysis::MemoryUsage& usage, std::int64_t ns) {
  std::vector<TopPool> pools;
  for (std::uint32_t i = 0; i < usage.pool_count(); ++i) {
    const analysis::PoolUsage& pool = usage.pool(i);
    pools.push_back({pool.name, usage.used_at(i, ns), usage.peak(i).bytes, pool.capacity_bytes});
  }
  std::ranges::stable_sort(pools, std::greater<>(), &TopPool::peak_bytes);
  return pools;
}

}  // namespace

void TopFigures::update(session::SessionTab& tab, bool recent) {
  const Snapshot& snapshot = *tab.snapshot;
  SessionAnalysis& analysis = *tab.analysis;
  shown_.title = tab.title;
  shown_.host.clear();
  shown_.lost_events = analysis.store_status().lost;
  shown_.dropped_events = 0;
  std::uint64_t lost = 0;
  for (const capture::client::AgentStatus& agent : tab.capture.agents) {
    shown_.host += (shown_.host.empty() ? "" : ", ") + (agent.host.empty() ? agent.place : agent.host);
    lost += agent.lost_events;
    shown_.dropped_events += agent.dropped_events;
  }
  shown_.lost_events = std::max(shown_.lost_events, lost);
  shown_.phase = phase_text(tab);
  shown_.message = tab.capture.message;
  shown_.seconds = tab.capture_seconds;
  shown_.events = count_passing(snapshot, nullptr);
  shown_.events_per_second = tab.events_per_second;
  if (shown_.events == 0) return;
  shown_.active = frame::active_text(tab);
  shown_.quality = panels::quality_text(panels::summarise_quality(snapshot));

  const TimeRange second = last_of(snapshot, 1);
  const auto now = analysis.ask_of(now_, {.range = second}, SessionAnalysis::NoKey{},
                                   [second](const QueryContext& query) { return find_now(query, second); });
  if (now) shown_.devices = *now;
  shown_.now_ns = second.length_ns();
  EventFilter of;
  if (recent) of.range = last_of(snapshot, kRecentSeconds);
  const auto kernels = analysis.ask_of(kernels_, of, SessionAnalysis::NoKey{},
                                       [of](const QueryContext& query) { return find_kernels(query, of); });
  if (kernels) {
    shown_.kernels = *kernels;
    shown_.kernels_are_recent = kernels_.value_key.filter.range.has_value();
  }
  if (const auto memory = analysis.memory()) shown_.pools = pools_of(*memory, snapshot.end_ns);
  if (const auto verdict = analysis.verdict()) shown_.verdict = verdict->text();
  shown_.warning.clear();
  if (const auto advice = session::shown_advice(tab)) {
    const analysis::Finding* finding = analysis::reported_error(*advice);
    if (finding == nullptr) finding = analysis::costliest_finding(*advice);
    if (finding != nullptr) shown_.warning = finding->headline;
  }
  shown_.error = !kernels_.error.empty() ? kernels_.error : now_.error;
}

bool TopFigures::settled(const session::SessionTab& tab) const {
  if (shown_.events == 0) return true;
  const SessionAnalysis& analysis = *tab.analysis;
  return !analysis.pending() && (analysis.is_newest(now_) || !now_.error.empty()) &&
         (analysis.is_newest(kernels_) || !kernels_.error.empty());
}

namespace {

constexpr std::size_t kBar = 20, kNumber = 11, kLeastWidth = 80, kLeastRows = 24;
constexpr std::array<const char*, kTopSorts> kSortNames = {"total", "calls", "mean", "name"};
constexpr const char* kKeys = "q quit  p stand still  s sort by {}  w {}  arrows scroll  ? help";

std::string cell(std::string_view text, std::size_t width, bool right = false) {
  std::string fitted = shorten_middle(text, width);
  const std::string blanks(width - std::min(width, listing::display_width(fitted)), ' ');
  return right ? blanks + fitted : fitted + blanks;
}

// A sentence, of which the begin says most.
std::string sentence(std::string_view text, std::size_t width) {
  if (listing::display_width(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < width; ++i) end += std::max<std::size_t>(utf8_length(text.substr(end)), 1);
  return std::string(text.substr(0, end)) + "…";
}

std::string name_cell(ShortNames& names, std::string_view name, std::size_t width) {
  const std::string_view fitting = names.fitting(name, width);
  return cell(fitting.empty() ? names.usual(name) : std::string(fitting), width);
}

std::string bar(double share) {
  const double clamped = std::clamp(share, 0.0, 1.0);
  auto filled = static_cast<std::size_t>(clamped * static_cast<double>(kBar) + 0.5);
  if (clamped > 0) filled = std::max<std::size_t>(filled, 1);
  return "[" + std::string(filled, '|') + std::string(kBar - filled, ' ') + "]";
}

std::string both_ends(std::string_view left, std::string_view right, std::size_t width) {
  const std::size_t of_right = listing::display_width(right);
  return cell(left, width - std::min(width, of_right)) + std::string(right);
}

void sort_kernels(std::vector<TopKernel>& kernels, TopSort sort) {
  if (sort == TopSort::total) return;  // they are
  std::ranges::stable_sort(kernels, [sort](const TopKernel& a, const TopKernel& b) {
    if (sort == TopSort::calls) return a.count > b.count;
    return sort == TopSort::mean ? a.mean_ns > b.mean_ns : natural_less(a.name, b.name);
  });
}

class TopPainter {
 public:
  TopPainter(const TopShown& shown, const TopChoices& choices, terminal::ScreenSize size)
      : shown_(shown),
        choices_(choices),
        width_(std::max(size.columns, kLeastWidth)),
        height_(std::max(size.rows, kLeastRows)) {}

  std::vector<terminal::ScreenLine> run() {
    head();
    const std::size_t room = height_ - 1;  // the last row is of the keys
    if (choices_.help) {
      help();
    } else if (shown_.events == 0) {
      line("");
      line(shown_.message.empty() ? "  No events yet." : "  " + shown_.message);
    } else {
      const std::size_t heads = 3;
      const std::size_t rest = room - lines_.size() - heads;
      engines(std::max<std::size_t>(4, rest * 2 / 5));
      memory(std::max<std::size_t>(2, rest / 6));
      kernels(room - lines_.size() - 1);
    }
    while (lines_.size() < room) line("");
    lines_.resize(room);
    const std::string keys = fmt::format(fmt::runtime(kKeys), kSortNames[static_cast<std::size_t>(choices_.sort)],
                                         choices_.recent ? "whole session" : "last 10 s");
    title(choices_.still ? both_ends(keys, " STANDS STILL ", width_) : keys);
    return std::move(lines_);
  }

 private:
  void line(std::string text) { lines_.push_back({std::move(text), false}); }
  void title(std::string text) { lines_.push_back({cell(text, width_), true}); }

  void head() {
    std::string state = shown_.phase;
    if (shown_.seconds > 0) state += "  " + format_duration(shown_.seconds * 1e9);
    std::string who = "accelscope top  " + shown_.title;
    if (!shown_.host.empty()) who += "  on " + shown_.host;
    title(both_ends(who, state, width_));
    std::string counts = counted(shown_.events, "event");
    if (shown_.phase == "recording")
      counts += fmt::format("  {}/s", format_count(static_cast<std::uint64_t>(shown_.events_per_second)));
    if (!shown_.active.empty()) counts += "  " + shown_.active;
    counts += shown_.lost_events > 0 ? "  LOST " + counted(shown_.lost_events, "event") : "  nothing lost";
    if (shown_.dropped_events > 0)
      counts += fmt::format(", {} dropped by the agent", format_count(shown_.dropped_events));
    line(sentence(counts, width_));
    std::string marks = shown_.quality;
    if (!shown_.warning.empty()) marks += (marks.empty() ? "" : "  ! ") + shown_.warning;
    if (!shown_.message.empty()) marks = "! " + shown_.message;
    if (shown_.phase == "reconnecting") marks += "; connecting again, this is the last picture";
    if (!shown_.error.empty()) marks = "! " + shown_.error;
    line(sentence(marks, width_));
    const bool looks = shown_.verdict.empty() && shown_.events > 0;
    line(sentence(looks ? "Looking for what bounds it ..." : shown_.verdict, width_));
  }

  // Every device first; of each as many engines, the busiest.
  void engines(std::size_t rows) {
    const std::size_t name = 24, runs = width_ - name - kBar - 12;
    title(cell("DEVICE, ENGINE", name) + cell("BUSY, LAST " + format_duration(shown_.now_ns), kBar + 11) + " RUNS");
    if (shown_.devices.empty()) return line("  No device works here.");
    const std::size_t devices = std::min(shown_.devices.size(), rows - 1);
    const std::size_t each = (rows - 1 - devices) / devices;
    ShortNames names;
    std::size_t left_out = shown_.devices.size() - devices;
    for (std::size_t i = 0; i < devices; ++i) {
      const DeviceNow& device = shown_.devices[i];
      line(cell(device.device, name) + bar(device.busy_share) + cell(format_share(device.busy_share), 9, true));
      std::size_t shown = 0;
      for (const EngineNow& engine : device.engines) {
        if (engine.busy_share <= 0 && engine.runs.empty()) continue;
        if (shown++ >= each) continue;
        line("  " + cell(engine.name, name - 2) + bar(engine.busy_share) +
             cell(format_share(engine.busy_share), 9, true) + " " + name_cell(names, engine.runs, runs));
      }
      left_out += shown - std::min(shown, each);
    }
    if (left_out > 0) line(fmt::format("  and {} more", left_out));
  }

  void memory(std::size_t rows) {
    if (shown_.pools.empty()) return;
    const std::size_t name = width_ - 3 * (kNumber + 2);
    title(cell("MEMORY", name) + cell("IN USE", kNumber + 2, true) + cell("PEAK", kNumber + 2, true) +
          cell("OF", kNumber + 2, true));
    std::vector<std::string> all;
    for (const TopPool& pool : shown_.pools) {
      all.push_back(cell(pool.name, name) + cell(format_bytes(pool.used_bytes), kNumber + 2, true) +
                    cell(format_bytes(pool.peak_bytes), kNumber + 2, true) +
                    cell(pool.capacity_bytes ? format_bytes(*pool.capacity_bytes) : "–", kNumber + 2, true));
    }
    some(all, rows, "memories");
  }

  void kernels(std::size_t rows) {
    const std::size_t name = width_ - 4 * (kNumber + 1);
    title(cell(shown_.kernels_are_recent ? "KERNEL, LAST 10 s" : "KERNEL, WHOLE SESSION", name) +
          cell("CALLS", kNumber + 1, true) + cell("TOTAL", kNumber + 1, true) + cell("SHARE", kNumber + 1, true) +
          cell("MEAN", kNumber + 1, true));
    if (shown_.kernels.empty()) return line("  No work of a device.");
    std::vector<TopKernel> sorted = shown_.kernels;
    sort_kernels(sorted, choices_.sort);
    ShortNames names;
    for (const TopKernel& kernel : sorted) names.add(kernel.name);
    const std::size_t first = std::min(choices_.scroll, sorted.size() - 1);
    for (std::size_t i = first; i < std::min(sorted.size(), first + rows); ++i) {
      const TopKernel& kernel = sorted[i];
      line(name_cell(names, kernel.name, name) + cell(format_count(kernel.count), kNumber + 1, true) +
           cell(format_duration(kernel.total_ns), kNumber + 1, true) +
           cell(format_share(kernel.share), kNumber + 1, true) +
           cell(format_duration(kernel.mean_ns), kNumber + 1, true));
    }
  }

  void some(const std::vector<std::string>& all, std::size_t rows, const char* what) {
    const bool cut = all.size() > rows;
    const std::size_t shown = cut ? rows - 1 : all.size();
    for (std::size_t i = 0; i < shown; ++i) line(all[i]);
    if (cut) line(fmt::format("  and {} more {}", all.size() - shown, what));
  }

  void help() {
    constexpr std::array kHelp = {
        "",
        "  q             quit; a capture that this command began ends",
        "  p             the picture stands still, and goes on; the capture goes on",
        "  s             sort the kernels by total time, calls, mean time, name",
        "  w             kernels of the whole session, or of its last 10 s",
        "  arrows, PgUp, PgDn, Home, End    other kernels",
        "  ?             this, and back",
        "",
        "  Busy is the share of the last second of the session's time; each moment counts once.",
        "  Kernels, memory and the verdict are those of the viewer: accelscope HOST:PORT."};
    for (const char* text : kHelp) line(text);
  }

  const TopShown& shown_;
  const TopChoices& choices_;
  std::size_t width_, height_;
  std::vector<terminal::ScreenLine> lines_;
};

}  // namespace

std::vector<terminal::ScreenLine> top_lines(const TopShown& shown, const TopChoices& choices,
                                            terminal::ScreenSize size) {
  return TopPainter(shown, choices, size).run();
}

std::string top_json(const TopShown& shown) {
  JsonWriter json(JsonLayout::rows);
  json.begin_object("session", shown.title, "host", shown.host, "phase", shown.phase, "seconds", shown.seconds);
  json.add("events", shown.events, "events_per_second", shown.events_per_second, "lost_events", shown.lost_events);
  json.add("dropped_events", shown.dropped_events, "quality", shown.quality, "warning", shown.warning);
  json.add("verdict", shown.verdict, "message", shown.message);
  json.array("devices", shown.devices, [&](const DeviceNow& device) {
    json.begin_object("device", device.device, "busy_share", device.busy_share);
    json.array("engines", device.engines, [&](const EngineNow& engine) {
      json.object("name", engine.name, "busy_share", engine.busy_share, "runs", engine.runs);
    });
    json.end();
  });
  json.array("kernels", shown.kernels, [&](const TopKernel& kernel) {
    json.object("name", kernel.name, "count", kernel.count, "total_ns", kernel.total_ns, "share", kernel.share,
                "mean_ns", kernel.mean_ns);
  });
  json.array("memory", shown.pools, [&](const TopPool& pool) {
    json.object("name", pool.name, "used_bytes", pool.used_bytes, "peak_bytes", pool.peak_bytes, "capacity_bytes",
                pool.capacity_bytes);
  });
  return json.done();
}

}  // namespace accelscope::app::commands
