// A sink for tests: keeps every definition and chunk, and reads events back from the chunks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/chunk/chunk_view.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture {

struct RecordedEvent {
  LaneNumber lane = 0;
  TrackNumber track = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string name;
  std::size_t chunk = 0;  // into RecordingSink::chunks
  std::uint32_t row = 0;
};

class RecordingSink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    definition_bytes.push_back(encode(definition));
    if (const auto* schema = std::get_if<Schema>(&definition)) schemas[schema->number] = *schema;
    if (const auto* clock = std::get_if<Clock>(&definition)) clocks[clock->number] = *clock;
    if (const auto* track = std::get_if<Track>(&definition)) tracks[track->number] = *track;
    if (const auto* lane = std::get_if<Lane>(&definition)) lanes[lane->number] = *lane;
    if (const auto* file = std::get_if<SourceFile>(&definition)) source_files.push_back(*file);
    if (const auto* entry = std::get_if<MetaEntry>(&definition)) meta[entry->key] = entry->value;
    if (const auto* metric = std::get_if<Metric>(&definition)) metrics[metric->name] = *metric;
    if (const auto* quality = std::get_if<QualityEntry>(&definition)) qualities.push_back(*quality);
    if (const auto* batch = std::get_if<StringBatch>(&definition)) {
      strings.resize(batch->first_id);
      strings.insert(strings.end(), batch->strings.begin(), batch->strings.end());
    }
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    event_count += chunk.count();
    chunks.push_back(std::move(chunk));
    return {};
  }
  [[nodiscard]] bool cancelled() const override { return cancel_after != 0 && event_count >= cancel_after; }

  [[nodiscard]] const Schema& schema_of(const RecordedEvent& event) const {
    return schemas.at(tracks.at(event.track).schema);
  }
  [[nodiscard]] ChunkView view(const RecordedEvent& event) const {
    return ChunkView::parse(chunks[event.chunk].bytes).value();
  }
  [[nodiscard]] std::vector<RecordedEvent> events() const {
    std::vector<RecordedEvent> all;
    for (std::size_t index = 0; index < chunks.size(); ++index) {
      const ChunkView chunk = ChunkView::parse(chunks[index].bytes).value();
      for (std::uint32_t row = 0; row < chunk.count(); ++row) {
        RecordedEvent event{
            .lane = chunk.header().lane, .track = lanes.at(chunk.header().lane).track, .chunk = index, .row = row};
        chunk.event_times(row, event.start, event.end);
        event.name = strings.at(chunk.name(row));
        all.push_back(std::move(event));
      }
    }
    return all;
  }

  std::vector<Bytes> definition_bytes;
  std::vector<SealedChunk> chunks;
  std::map<SchemaNumber, Schema> schemas;
  std::map<ClockNumber, Clock> clocks;  // the newest versions
  std::map<TrackNumber, Track> tracks;
  std::map<LaneNumber, Lane> lanes;
  std::map<std::string, std::string> meta;
  std::map<std::string, Metric> metrics;
  std::vector<SourceFile> source_files;
  std::vector<QualityEntry> qualities;
  std::vector<std::string> strings = {""};
  std::uint64_t event_count = 0;
  std::uint64_t cancel_after = 0;
};

}  // namespace accelscope::capture
