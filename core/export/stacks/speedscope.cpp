#include "core/export/base/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/format.h"
#include "core/base/json.h"
#include "core/export/base/event_cells.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/base/track_groups.h"
#include "core/scan/group_by.h"

namespace accelscope::exporting {
namespace {

constexpr std::uint32_t kNoFrame = ~std::uint32_t{0};

// The names of the events that are written, by number of their frame: the file's list of frames.
struct SpeedscopeFrames {
  std::vector<std::uint32_t> of_name;  // by StringId
  std::vector<StringId> names;         // by frame
};

Result<SpeedscopeFrames> find_frames(const ExportRequest& request, const ExportPlan& plan) {
  LaneIndices lanes;
  for (const ExportTrack& track : plan.tracks) {
    lanes.insert(lanes.end(), track.snapshot->lanes.begin(), track.snapshot->lanes.end());
  }
  const std::size_t strings = request.query.snapshot->strings->size();
  WorkerParts met(request.query, [strings] { return std::vector<bool>(strings); });
  const Result<void> scanned =
      scan_chunks(request.query, lanes, request.range, [&](const ScannedChunk& chunk, std::size_t worker) {
        std::vector<bool>& names = met.of(worker);
        chunk.for_each_block([&](const ScannedBlock& block) {
          for (std::uint32_t i = block.first; i < block.last; ++i) names[block.name(i)] = true;
        });
      });
  if (!scanned) return scanned.error();
  SpeedscopeFrames frames;
  frames.of_name.assign(strings, kNoFrame);
  for (StringId id = 0; id < strings; ++id) {
    bool any = false;
    met.for_each([&](const std::vector<bool>& names) { any = any || names[id]; });
    if (!any) continue;
    frames.of_name[id] = static_cast<std::uint32_t>(frames.names.size());
    frames.names.push_back(id);
  }
  return frames;
}

class SpeedscopePieces {
 public:
  SpeedscopePieces(const ExportRequest& request, const ExportPlan& plan, const SpeedscopeFrames& frames)
      : plan_(plan), frames_(frames), reader_(request.query, request.range) {}

  // Rows that end in commas; how many events it were.
  Result<std::uint64_t> write(const EventPiece& piece, std::string& out) {
    TRY(reader_.open(plan_.tracks[piece.track], piece));
    const auto add = [&](std::string_view type, const PieceEvent& event, std::int64_t ticks) {
      out += type;
      append_json_integer(out, std::uint64_t{frames_.of_name[reader_.name(event)]});
      out += ",\"at\":";
      append_json_integer(out, reader_.ns(ticks));
      out += "},\n";
    };
    reader_.walk([&](const PieceEvent& event) { add(R"({"type":"O","frame":)", event, event.begin); },
                 [&](const PieceEvent& event) { add(R"({"type":"C","frame":)", event, event.end); });
    return reader_.events().size();
  }

 private:
  const ExportPlan& plan_;
  const SpeedscopeFrames& frames_;
  PieceReader reader_;
};

class SpeedscopeFile {
 public:
  SpeedscopeFile(const ExportRequest& request, const ExportPlan& plan, ExportOutput& output)
      : snapshot_(*request.query.snapshot), plan_(plan), output_(output), groups_(tracks_of(plan)) {}

  Result<void> begin() {
    return put(
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"Accelscope\",\n"
        "\"name\":" +
        json_quote(snapshot_.meta_value("name")) + ",\"profiles\":[");
  }
  // The profile that the piece begins comes after that of the last one. The last row waits for its comma.
  Result<void> add(const EventPiece& piece, std::string_view rows) {
    if (piece.first) {
      const std::string head = (any_profile_ ? close() + ",\n" : std::string("\n")) + open(piece);
      any_profile_ = true;
      if (Result<void> done = put(head); !done) return done;
    } else if (!rows.empty() && any_row_) {
      if (Result<void> done = put(",\n"); !done) return done;
    }
    if (rows.empty()) return {};
    any_row_ = true;
    return put(rows.substr(0, rows.size() - 2));
  }
  Result<void> end(const SpeedscopeFrames& frames) {
    std::string text = (any_profile_ ? close() : std::string()) + "],\n\"shared\":{\"frames\":[";
    for (std::size_t i = 0; i < frames.names.size(); ++i) {
      const std::string_view name = snapshot_.strings->text(frames.names[i]);
      text += (i == 0 ? "\n" : ",\n") + json_object("name", name.empty() ? "(no name)" : name);
      constexpr std::size_t kTextAtOnce = 1U << 20;
      if (text.size() < kTextAtOnce) continue;
      if (Result<void> done = put(text); !done) return done;
      text.clear();
    }
    return put(text + "]}}\n");
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static std::vector<const TrackSnapshot*> tracks_of(const ExportPlan& plan) {
    std::vector<const TrackSnapshot*> tracks;
    for (const ExportTrack& track : plan.tracks) tracks.push_back(track.snapshot);
    return tracks;
  }
  [[nodiscard]] static std::string close() { return "]}"; }
  std::string open(const EventPiece& piece) {
    any_row_ = false;
    const ExportTrack& track = plan_.tracks[piece.track];
    const Track& of = *track.snapshot->track;
    std::string name = groups_.all()[groups_.of(of)].title + ": " + of.name;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool any = false;
    for (const std::uint32_t index : track.snapshot->lanes) {
      if (!track.nested && index != piece.lane) continue;
      const LaneSnapshot& lane = snapshot_.lanes[index];
      if (lane.event_count == 0) continue;
      const std::int64_t first = lane.clock->to_ns(lane.begin_ticks);
      const std::int64_t last = lane.clock->to_ns(lane.end_ticks);
      begin = any ? std::min(begin, first) : first;
      end = any ? std::max(end, last) : last;
      any = true;
    }
    if (!track.nested && track.snapshot->lanes.size() > 1) {
      name += fmt::format(" ({})", snapshot_.lanes[piece.lane].data->lane.depth + 1);
    }
    return fmt::format(
        "{{\"type\":\"evented\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":{},\"endValue\":{},\"events\":[\n",
        json_quote(name), begin, end);
  }
  Result<void> put(std::string_view text) {
    bytes_ += text.size();
    return output_.write(text);
  }

  const Snapshot& snapshot_;
  const ExportPlan& plan_;
  ExportOutput& output_;
  const TrackGroups groups_;
  std::uint64_t bytes_ = 0;
  bool any_profile_ = false;
  bool any_row_ = false;
};

[[nodiscard]] bool is_interval_track(const TrackSnapshot& track) { return track.schema->kind == EventKind::slice; }

}  // namespace

Result<ExportReport> write_speedscope(const ExportRequest& request, ExportOutput& output) {
  const ExportPlan plan = TRY(plan_export(request, is_interval_track));
  const SpeedscopeFrames frames = TRY(find_frames(request, plan));
  SpeedscopeFile file(request, plan, output);
  TRY(file.begin());
  ExportReport report;
  std::vector<std::uint64_t> counts(plan.pieces.size());
  std::vector<std::unique_ptr<SpeedscopePieces>> writers(request.query.pool.concurrency());
  const Result<void> written = write_pieces(
      request.query, plan.pieces.size(),
      [&](std::size_t piece, std::size_t worker, std::string& out) -> Result<void> {
        if (!writers[worker]) writers[worker] = std::make_unique<SpeedscopePieces>(request, plan, frames);
        const std::uint64_t events = TRY(writers[worker]->write(plan.pieces[piece], out));
        counts[piece] = events;
        return {};
      },
      [&](std::size_t piece, std::string_view rows) -> Result<void> {
        report.rows += counts[piece];
        if (request.progress) request.progress(report.rows, plan.events);
        return file.add(plan.pieces[piece], rows);
      });
  if (!written) return written.error();
  TRY(file.end(frames));
  report.bytes = file.bytes();
  report.losses = losses_by_kind(request, {.samples = true, .moments = true, .flows = true});
  if (report.rows > 0) {
    report.losses.insert(report.losses.begin(),
                         fmt::format("the arguments of {} events are left out", format_count(report.rows)));
  }
  return report;
}

}  // namespace accelscope::exporting
