#include "app/content/event_labels.h"

#include <algorithm>

#include "app/content/event_text.h"
#include "core/analysis/dependencies/chain.h"

namespace accelscope::app {
namespace {

// The longest that has at most so many characters.
[[nodiscard]] std::string_view longest_fitting(const std::vector<std::string>& texts, std::size_t characters) {
  for (const std::string& text : texts) {
    if (character_count(text) <= characters) return text;
  }
  return {};
}

// What the event was held back by: "MATMUL", "DMA w1".
[[nodiscard]] std::string cause_of(const EventRecord& event, const Dependencies* dependencies, EventReader& reader,
                                   std::map<std::string, ShortNames, std::less<>>& names) {
  const auto last = dependencies != nullptr ? last_predecessor(*dependencies, event.id, reader) : std::nullopt;
  const auto before = last ? reader.read(last->source) : Result<EventRecord>(Error{"none"});
  if (!before || before->waits || before->lane->schema == nullptr) return stated_cause(event);
  const TrackSnapshot* track = reader.snapshot().find_track(before->lane->track);
  const bool transfer = track != nullptr && track->track->kind == "dma_queue";
  const std::vector<std::string>& forms = names[before->lane->schema->name].forms(before->name_text);
  if (!transfer) return forms.front();
  const std::vector<std::string> texts = transfer_texts(*before, forms);
  return texts.empty() ? "DMA" : "DMA " + texts.back();
}

}  // namespace

void EventLabels::begin_frame(std::shared_ptr<const Snapshot> snapshot) {
  if (snapshot != snapshot_) {
    snapshot_ = std::move(snapshot);
    lanes_.clear();
    for (const LaneSnapshot& lane : snapshot_->lanes) lanes_[lane.number()] = &lane;
    next_lane_ = next_total_ = 0;
  }
  wanted_.clear();
  take();
  add_names();
}

// A few in each frame, so that a name is known before it is first drawn beside another one.
void EventLabels::add_names() {
  std::size_t budget = kNamesPerFrame;
  while (budget > 0 && next_lane_ < snapshot_->lanes.size()) {
    const LaneSnapshot& lane = snapshot_->lanes[next_lane_];
    const bool slices = lane.schema != nullptr && lane.data->kind == EventKind::slice;
    // The totals of a lane's first chunks: names mostly come again.
    const bool any = slices && lane.totals.stretches[0] > 0;
    const NameTotals::Stretch stretch = any ? lane.data->totals.stretch(0, 0) : NameTotals::Stretch{};
    ShortNames* names = stretch.kept ? &names_[lane.schema->name] : nullptr;
    if (names == nullptr || next_total_ >= stretch.size || names->size() > kMostNames) {
      ++next_lane_;
      next_total_ = 0;
      continue;
    }
    names->add(snapshot_->strings->text(stretch.totals[next_total_++].name));
    --budget;
  }
}

const LaneSnapshot* EventLabels::lane_of_slice(const render::WideSlice& slice) {
  const auto lane = lanes_.find(lane_of(slice.id));
  return lane != lanes_.end() && lane->second->schema != nullptr ? lane->second : nullptr;
}

std::string_view EventLabels::label(const render::WideSlice& slice, std::size_t characters) {
  const std::string_view name = snapshot_->strings->text(slice.name);
  const LaneSnapshot* lane = lane_of_slice(slice);
  if (lane == nullptr) return longest_fitting({std::string(name)}, characters).empty() ? std::string_view() : name;
  waits_seen_ = waits_seen_ || slice.waits;
  if (has_event_text(*lane->schema, slice.waits)) {
    const auto known = texts_.find(slice.id);
    if (known != texts_.end() && !known->second.empty()) return longest_fitting(known->second, characters);
    if (known == texts_.end() && wanted_.size() < kMostAsked) {
      wanted_.push_back(slice.id);
    }
  }
  return names_[lane->schema->name].fitting(name, characters);
}

void EventLabels::take() {
  if (!task_.valid() || !task_.ready()) return;
  const auto found = task_.take();
  if (!found) return;  // asked for again as long as it is seen
  if (texts_.size() > kMostKept) texts_.clear();
  for (const auto& [event, texts] : **found) texts_[event] = texts;
}

void EventLabels::end_frame(SessionAnalysis* analysis, bool grows) {
  if (analysis == nullptr) return;
  const auto dependencies = grows || !waits_seen_ ? dependencies_ : analysis->dependencies();
  if (dependencies != dependencies_) {
    dependencies_ = dependencies;
    texts_.clear();  // some of the waits may be known now
    task_ = {};      // what is under way was read without them
  }
  if (task_.valid() || wanted_.empty()) return;
  std::sort(wanted_.begin(), wanted_.end());
  task_ = analysis->start(
      [events = wanted_, dependencies](const QueryContext& query) { return read(query, events, dependencies.get()); });
}

Result<std::shared_ptr<const EventLabels::Found>> EventLabels::read(const QueryContext& query,
                                                                    const std::vector<EventId>& events,
                                                                    const Dependencies* dependencies) {
  EventReader reader(query.store, query.snapshot);
  std::map<std::string, ShortNames, std::less<>> names;
  auto found = std::make_shared<Found>();
  for (const EventId id : events) {
    if (query.control.cancelled()) return cancelled_error();
    const auto event = reader.read(id);
    if (!event || event->lane->schema == nullptr) {
      found->emplace_back(id, Texts());  // its name is all there is
      continue;
    }
    const std::vector<std::string>& forms = names[event->lane->schema->name].forms(event->name_text);
    found->emplace_back(
        id, event->waits ? wait_texts(cause_of(*event, dependencies, reader, names)) : transfer_texts(*event, forms));
  }
  return std::shared_ptr<const Found>(std::move(found));
}

}  // namespace accelscope::app
