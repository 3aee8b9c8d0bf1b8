#include "app/content/capture/output_lines.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/chunk/chunk_view.h"

namespace accelscope::app::content {

namespace {

constexpr const char* kOutputKind = "output";
constexpr const char* kErrorStream = "stderr";
constexpr std::size_t kFilteredPerFrame = 50'000;
constexpr std::uint64_t kMostPerBatch = 400'000;  // lines: the first of a large session are shown early

bool earlier(const OutputLine& a, const OutputLine& b) { return a.ns < b.ns; }

std::optional<std::size_t> text_column(const Schema& schema) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].name == "text") return i;
  }
  return std::nullopt;
}

}  // namespace

bool OutputLines::update(const std::shared_ptr<Store>& store, const std::shared_ptr<const Snapshot>& snapshot) {
  bool changed = false;
  if (task_.ready()) {
    const std::shared_ptr<Batch> batch = task_.take();
    changed = !batch->lines.empty();
    blocks_.push_back(batch);
    take(*batch);
  }
  find_lanes(*snapshot);
  const bool more = std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
    return lane.chunks_read < snapshot->lanes[lane.index].chunk_count;
  });
  if (more && !task_.valid()) {
    task_ = pool_.start(
        [store, snapshot, lanes = lanes_](TaskControl& control) { return read(*store, *snapshot, lanes, control); });
  }
  filter_some();
  return changed;
}

void OutputLines::find_lanes(const Snapshot& snapshot) {
  if (snapshot.tracks.size() == tracks_seen_ && snapshot.lanes.size() == lanes_seen_) return;
  tracks_seen_ = snapshot.tracks.size();
  lanes_seen_ = snapshot.lanes.size();
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.track->kind != kOutputKind) continue;
    const std::string program =
        track.track->host.empty() ? track.track->device : track.track->host + " " + track.track->device;
    for (const std::uint32_t index : track.lanes) {
      const bool known =
          std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.index == index; });
      if (known || !text_column(*track.schema)) continue;
      auto place = std::find(programs_.begin(), programs_.end(), program);
      if (place == programs_.end()) place = programs_.insert(place, program);
      lanes_.push_back({.index = index,
                        .program = static_cast<std::uint16_t>(place - programs_.begin()),
                        .err = track.track->name == kErrorStream});
    }
  }
}

std::shared_ptr<OutputLines::Batch> OutputLines::read(const Store& store, const Snapshot& snapshot,
                                                      const std::vector<Lane>& lanes, const TaskControl& control) {
  auto batch = std::make_shared<Batch>();
  struct TextPlace {
    std::size_t offset, size;
  };
  std::vector<TextPlace> places;  // of the texts, which move while they grow
  for (const Lane& lane : lanes) {
    const LaneSnapshot& source = snapshot.lanes[lane.index];
    const std::size_t column = *text_column(*source.schema);
    std::uint32_t chunk = lane.chunks_read;
    const std::uint64_t limit = batch->lines.size() + kMostPerBatch / lanes.size();
    for (; chunk < source.chunk_count && batch->lines.size() < limit && !control.cancelled(); ++chunk) {
      const auto bytes = store.read_chunk(source, chunk);
      const auto view = bytes ? ChunkView::parse(*bytes) : Result<ChunkView>(bytes.error());
      if (!view) {
        batch->problem = view.message();
        continue;
      }
      for (std::uint32_t row = 0; row < view->count(); ++row) {
        std::int64_t begin_ticks = 0;
        std::int64_t end_ticks = 0;
        view->event_times(row, begin_ticks, end_ticks);
        const std::string_view text = view->has_value(column, row) ? view->text(column, row) : std::string_view();
        places.push_back({batch->text.size(), text.size()});
        batch->text += text;
        batch->lines.push_back({.ns = source.clock->to_ns(begin_ticks),
                                .id = make_event_id(source.number(), view->header().first_ordinal + row),
                                .text = {},
                                .program = lane.program,
                                .err = lane.err});
      }
    }
    batch->chunks_read.push_back(chunk);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    batch->lines[i].text = std::string_view(batch->text).substr(places[i].offset, places[i].size);
  }
  std::stable_sort(batch->lines.begin(), batch->lines.end(), earlier);
  return batch;
}

void OutputLines::take(Batch& batch) {
  for (std::size_t i = 0; i < batch.chunks_read.size(); ++i) lanes_[i].chunks_read = batch.chunks_read[i];
  if (!batch.problem.empty()) problem_ = std::move(batch.problem);
  if (batch.lines.empty()) return;
  // Streams are sealed one after the other: only the last lines can be in another order.
  const std::size_t before = lines_.size();
  const auto first = std::upper_bound(lines_.begin(), lines_.end(), batch.lines.front(), earlier);
  const auto retained = static_cast<std::size_t>(first - lines_.begin());
  lines_.insert(lines_.end(), batch.lines.begin(), batch.lines.end());
  const auto at = [&](std::size_t index) { return lines_.begin() + static_cast<std::ptrdiff_t>(index); };
  std::inplace_merge(at(retained), at(before), lines_.end(), earlier);
  batch.lines = {};
  if (filtered_ > retained) {
    filtered_ = retained;
    shown_.erase(std::lower_bound(shown_.begin(), shown_.end(), static_cast<std::uint32_t>(retained)), shown_.end());
  }
}

void OutputLines::set_filter(std::string text) {
  if (text == filter_) return;
  filter_ = std::move(text);
  shown_.clear();
  filtered_ = 0;
}

void OutputLines::filter_some() {
  if (filter_.empty()) {
    filtered_ = lines_.size();
    return;
  }
  const std::size_t end = std::min(lines_.size(), filtered_ + kFilteredPerFrame);
  for (; filtered_ < end; ++filtered_) {
    if (matches_words(lines_[filtered_].text, filter_)) shown_.push_back(static_cast<std::uint32_t>(filtered_));
  }
}

std::string OutputLines::text(std::size_t most_bytes) const {
  std::string all;
  for (std::size_t i = 0; i < shown_count() && all.size() < most_bytes; ++i) {
    all += shown(i).text;
    all += '\n';
  }
  return all;
}

}  // namespace accelscope::app::content
