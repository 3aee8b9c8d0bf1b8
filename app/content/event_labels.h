// What the timeline writes on its slices: names as short as their table allows, transfers with direction and size,
// waits with what they wait for. Texts that need an event's values are read by a worker for the slices that are seen;
// until they come the name alone is shown. UI thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/session/analysis.h"
#include "core/scan/event_reader.h"
#include "render/timeline/lane_painter.h"

namespace accelscope::app::content {

class EventLabels final : public render::SliceLabels {
 public:
  void begin_frame(std::shared_ptr<const Snapshot> snapshot);
  [[nodiscard]] std::string_view label(const render::WideSlice& slice, std::size_t characters) override;
  // Asks for what the frame missed. `analysis` may be null: then names are all there is. While a session grows waits
  // say what their own values do: to resolve its flows anew for every change would cost more than they tell.
  void end_frame(session::SessionAnalysis* analysis, bool grows);
  [[nodiscard]] bool pending() const noexcept { return task_.valid(); }

  // Of the table that the lane's events lie in; for whoever writes the same names beside the timeline.
  [[nodiscard]] ShortNames& names(const Schema& schema) { return names_[schema.name]; }

 private:
  using Texts = std::vector<std::string>;
  using Found = std::vector<std::pair<EventId, Texts>>;
  static constexpr std::size_t kMostAsked = 512;
  static constexpr std::size_t kMostRetained = 20'000;
  static constexpr std::size_t kNamesPerFrame = 200;
  static constexpr std::size_t kMostNames = 20'000;  // that are compared: beyond, those that are drawn

  void add_names();
  void take();
  [[nodiscard]] std::string_view fitting_or_cut(std::string_view fitting, const std::string& shortest,
                                                std::size_t characters);
  [[nodiscard]] const LaneSnapshot* lane_of_slice(const render::WideSlice& slice);
  [[nodiscard]] static Result<std::shared_ptr<const Found>> read(const QueryContext& query,
                                                                 const std::vector<EventId>& events,
                                                                 const analysis::Dependencies* dependencies);

  std::shared_ptr<const Snapshot> snapshot_;
  std::unordered_map<LaneNumber, const LaneSnapshot*> lanes_;  // of the snapshot
  std::map<std::string, ShortNames, std::less<>> names_;       // by table
  std::size_t next_lane_ = 0, next_total_ = 0;                 // whose names are compared next
  std::unordered_map<EventId, Texts> texts_;
  std::map<std::pair<std::string, std::size_t>, std::string> cut_;  // forms that are longer than their slice has room
  std::vector<EventId> wanted_;
  bool waits_seen_ = false;
  Task<Result<std::shared_ptr<const Found>>> task_;
  std::shared_ptr<const analysis::Dependencies> dependencies_;  // that the texts of waits were read with
};

// What one event says on its slice beyond its name: a transfer its part of the tensor, direction and size; a wait what
// it waits for. Texts, longest first. No drawing, no reading.

// Whether events of the schema say more than their names do.
[[nodiscard]] bool has_event_text(const Schema& schema, bool waits);

// Whether a source wrote the name because it had none: "unknown".
[[nodiscard]] bool names_nothing(std::string_view name) noexcept;

// "w1 WEIGHT→SB 64 KiB", "w1 64 KiB", "w1"; "software dynamic 4 KiB", "4 KiB" where the tensor is not known. `names`:
// forms of the event's name, longest first. Empty: nothing beyond the names.
[[nodiscard]] std::vector<std::string> transfer_texts(const EventRecord& event, const std::vector<std::string>& names);

// "wait MATMUL", "MATMUL"; of a transfer "wait DMA w1", "DMA w1".
[[nodiscard]] std::vector<std::string> wait_texts(const std::string& cause);
// What the waiting event itself says that it waits for, where no dependency does: "stream 7", "Vector", "S[2]"; "" if
// nothing.
[[nodiscard]] std::string stated_cause(const EventRecord& event);

}  // namespace accelscope::app::content
