#include "core/analysis/advice/evidence.h"

#include <algorithm>

#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/aggregate.h"
#include "core/scan/event_mask.h"
#include "core/scan/event_reader.h"
#include "core/scan/group_by.h"
#include "core/search/filter_mask.h"

namespace accelscope::analysis {
namespace {

struct ByLength : EvidenceEvent {
  bool operator<(const ByLength& other) const noexcept {
    const std::int64_t length = end_ns - begin_ns, of_other = other.end_ns - other.begin_ns;
    return length != of_other ? length > of_other : id < other.id;
  }
};

}  // namespace

Result<Evidence> finding_evidence(const QueryContext& query, const Finding& finding, std::size_t most) {
  Evidence out;
  if (finding.first == kNoEvent || most == 0) return out;
  EventFilter filter = finding.events;
  const TimeRange range = filter.range.value_or(TimeRange{});
  QueryContext masked = query;
  const auto mask = TRY(search::filter_mask(query, filter));
  masked.mask = mask;
  struct Part {
    Best<ByLength> longest;
    std::uint64_t total = 0;
    std::size_t most = 0;
    void merge(Part&& from) {
      total += from.total;
      for (const ByLength& each : from.longest.values()) longest.add(each, most);
    }
  };
  const auto found =
      gather(masked, all_lanes(*query.snapshot), range, Part{{}, 0, most}, [](const ScannedChunk& chunk, Part& part) {
        if (chunk.lane.data->kind != EventKind::slice) return;
        chunk.for_each_block([&](const ScannedBlock& block) {
          part.total += block.last - block.first;
          for (std::uint32_t i = block.first; i < block.last; ++i)
            part.longest.add({{block.id(i), chunk.lane.track, block.name(i), block.begin_ns(i), block.end_ns(i)}},
                             part.most);
        });
      });
  if (!found) return found.error();
  out.total = found->total;
  out.events.assign(found->longest.values().begin(), found->longest.values().end());
  std::ranges::sort(out.events, [](const EvidenceEvent& a, const EvidenceEvent& b) {
    return std::pair(a.begin_ns, a.id) < std::pair(b.begin_ns, b.id);
  });
  return out;
}

namespace {

std::string text_of(const EventRecord& record, Role role) {
  const auto column = record.lane->schema->find(role);
  if (!column || *column >= record.fields.size()) return "";
  const auto* text = std::get_if<std::string>(&record.fields[*column]);
  return text == nullptr ? "" : *text;
}

// What is mostly text of its own, such as the data that the hardware sent along.
std::string details_of(const EventRecord& record) {
  std::string details;
  const std::vector<Column>& columns = record.lane->schema->columns;
  for (std::size_t i = 0; i < columns.size() && i < record.fields.size(); ++i) {
    const auto* text = std::get_if<std::string>(&record.fields[i]);
    if (text == nullptr || text->empty() || columns[i].type != ColumnType::text) continue;
    details += (details.empty() ? "" : "; ") + *text;
  }
  return details;
}

class Surroundings {
 public:
  explicit Surroundings(const QueryContext& query)
      : snapshot_(*query.snapshot),
        devices_(snapshot_),
        reader_(query.store, query.snapshot),
        shows_(snapshot_.lanes.size(), false),
        has_work_(devices_.count(), false) {
    find_shown();
  }

  Result<ReportedError> of(const Incident& incident) {
    const auto record = TRY(reader_.read(incident.event));
    ReportedError error;
    error.incident = incident;
    error.name = snapshot_.strings->text(incident.name);
    error.details = details_of(record);
    error.source = text_of(record, Role::source_location);
    const std::size_t device = device_of(record.lane->track);
    error.device = devices_.label(device);
    const bool works = has_work_[device];
    for (std::size_t t = 0; t < snapshot_.tracks.size(); ++t) {
      if (works && devices_.of_track(t) != device) continue;
      const auto ran = TRY(on_track(snapshot_.tracks[t], incident.begin_ns));
      if (ran) error.around.push_back(*ran);
    }
    std::stable_partition(error.around.begin(), error.around.end(),
                          [](const RanAround& each) { return each.under_way; });
    return error;
  }

 private:
  std::size_t device_of(TrackNumber track) const {
    for (std::size_t t = 0; t < snapshot_.tracks.size(); ++t) {
      if (snapshot_.tracks[t].track->number == track) return devices_.of_track(t);
    }
    return 0;
  }
  // Packets by the dozen tell less than the transfers that they belong to.
  void find_shown() {
    const WorkKinds kinds(snapshot_);
    const auto names_transfers = [&](std::uint32_t lane) {
      return kinds.of_lane(lane) == WorkKind::transfer && !kinds.covers_time(lane);
    };
    std::vector<bool> has_transfers(devices_.count(), false);
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (snapshot_.lanes[lane].event_count > 0 && names_transfers(lane)) has_transfers[devices_.of_lane(lane)] = true;
    }
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (snapshot_.lanes[lane].event_count == 0) continue;
      const WorkKind kind = kinds.of_lane(lane);
      const std::size_t device = devices_.of_lane(lane);
      const bool tells_most = kind == WorkKind::transfer && (!has_transfers[device] || !kinds.covers_time(lane));
      shows_[lane] = tells_most || kind == WorkKind::compute || kind == WorkKind::host ||
                     (kind == WorkKind::collective && kinds.covers_time(lane));
      if (shows_[lane]) has_work_[device] = true;
    }
  }

  // What is under way on any of its lanes, the deepest call of a thread; else the last that began before.
  Result<std::optional<RanAround>> on_track(const TrackSnapshot& track, std::int64_t ns) {
    std::optional<RanAround> best;
    for (const std::uint32_t lane : track.lanes) {
      if (!shows_[lane]) continue;
      auto event = reader_.event_at(snapshot_.lanes[lane], ns, 0);
      if (!event) return event.error();
      const bool under_way = event->has_value();
      if (!under_way) {
        event = reader_.last_before(snapshot_.lanes[lane], ns);
        if (!event) return event.error();
      }
      if (!*event) continue;
      const auto record = TRY(reader_.read(**event));
      const bool later = !best || record.begin_ns >= best->begin_ns;
      if (best && (best->under_way != under_way ? best->under_way : !later)) continue;
      best = RanAround{track.track->number,
                       record.id,
                       under_way,
                       record.begin_ns,
                       record.end_ns,
                       record.name_text,
                       text_of(record, Role::operands),
                       text_of(record, Role::source_location)};
    }
    return best;
  }

  const Snapshot& snapshot_;
  TrackDevices devices_;
  EventReader reader_;
  std::vector<bool> shows_;     // by lane
  std::vector<bool> has_work_;  // by device: any lane that shows
};

}  // namespace

Result<std::shared_ptr<const ErrorReport>> report_errors(const QueryContext& query, const EventFilter& filter) {
  const auto incidents = TRY(find_incidents(query));
  auto report = std::make_shared<ErrorReport>();
  report->filter = filter;
  report->snapshot_version = query.snapshot->version;
  const TimeRange range = filter.range.value_or(TimeRange{});
  std::optional<Surroundings> surroundings;
  for (const Incident& each : incidents->list) {
    if (each.alert != Alert::error || !range.holds(each.begin_ns, each.end_ns)) continue;
    if (query.mask && !query.mask->passes(*query.snapshot, each.event)) continue;
    if (report->errors.size() >= ErrorReport::kMost) {
      ++report->left_out;
      continue;
    }
    if (query.control.cancelled()) return cancelled_error();
    if (!surroundings) surroundings.emplace(query);
    auto error = TRY(surroundings->of(each));
    report->errors.push_back(std::move(error));
  }
  return std::shared_ptr<const ErrorReport>(std::move(report));
}

}  // namespace accelscope::analysis
