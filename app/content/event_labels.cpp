#include "app/content/event_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/analysis/dependencies/wait_causes.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app::content {
namespace {

// The longest that has at most so many characters.
[[nodiscard]] std::string_view longest_fitting(const std::vector<std::string>& texts, std::size_t characters) {
  for (const std::string& text : texts) {
    if (character_count(text) <= characters) return text;
  }
  return {};
}

// What the event was held back by: "MATMUL", "DMA w1".
[[nodiscard]] std::string cause_of(const EventRecord& event, const analysis::Dependencies* dependencies,
                                   EventReader& reader, std::map<std::string, ShortNames, std::less<>>& names) {
  const auto last =
      dependencies != nullptr ? analysis::last_predecessor(*dependencies, event.id, reader) : std::nullopt;
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
    ShortNames* names = stretch.retained ? &names_[lane.schema->name] : nullptr;
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
    if (known != texts_.end() && !known->second.empty())
      return fitting_or_cut(longest_fitting(known->second, characters), known->second.back(), characters);
    if (known == texts_.end() && wanted_.size() < kMostAsked) {
      wanted_.push_back(slice.id);
    }
  }
  ShortNames& names = names_[lane->schema->name];
  return fitting_or_cut(names.fitting(name, characters), names.forms(name).back(), characters);
}

// Where no form fits and there is room for some letters, the shortest one is cut.
std::string_view EventLabels::fitting_or_cut(std::string_view fitting, const std::string& shortest,
                                             std::size_t characters) {
  constexpr std::size_t kFewest = 6;
  if (!fitting.empty() || characters < kFewest || shortest.empty()) return fitting;
  if (cut_.size() > kMostRetained) cut_.clear();
  std::string& cut = cut_[{shortest, characters}];
  if (cut.empty()) cut = std::string(utf8_front(shortest, characters - 1)) + "…";
  return cut;
}

void EventLabels::take() {
  if (!task_.valid() || !task_.ready()) return;
  const auto found = task_.take();
  if (!found) return;  // asked for again as long as it is seen
  if (texts_.size() > kMostRetained) texts_.clear();
  for (const auto& [event, texts] : **found) texts_[event] = texts;
}

void EventLabels::end_frame(session::SessionAnalysis* analysis, bool grows) {
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
                                                                    const analysis::Dependencies* dependencies) {
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

namespace {

// Columns that sources call so.
constexpr std::string_view kFrom = "source", kTo = "dest", kQueueType = "queue_type", kStream = "stream";
constexpr std::array<std::string_view, 3> kNothing = {"unknown", "Unknown", "(unknown)"};

[[nodiscard]] const FieldValue* field_of(const EventRecord& event, std::optional<std::size_t> column) {
  if (!column || *column >= event.fields.size()) return nullptr;
  return &event.fields[*column];
}

[[nodiscard]] std::string text_of(const EventRecord& event, std::string_view column) {
  const FieldValue* value = field_of(event, event.lane->schema->find(column));
  const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return text != nullptr ? *text : std::string();
}

[[nodiscard]] std::optional<double> number_of(const FieldValue* value) {
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<std::int64_t>(value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(value)) return static_cast<double>(*number);
  return {};
}

// "[['WEIGHT']]" -> "WEIGHT"; "" for what is not known.
[[nodiscard]] std::string place_text(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == '"' || c == ' '; });
  return names_nothing(text) ? std::string() : text;
}

[[nodiscard]] std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + " " + second;
}

void add(std::vector<std::string>& texts, std::string text) {
  if (!text.empty() && (texts.empty() || text.size() < texts.back().size())) texts.push_back(std::move(text));
}

}  // namespace

bool has_event_text(const Schema& schema, bool waits) { return waits || schema.find(Role::bytes).has_value(); }

bool names_nothing(std::string_view name) noexcept {
  return name.empty() || std::find(kNothing.begin(), kNothing.end(), name) != kNothing.end();
}

std::vector<std::string> transfer_texts(const EventRecord& event, const std::vector<std::string>& names) {
  const auto bytes = number_of(field_of(event, event.lane->schema->find(Role::bytes)));
  const std::string size = bytes && *bytes > 0 ? format_bytes(*bytes) : std::string();
  const std::string from = place_text(text_of(event, kFrom));
  const std::string to = place_text(text_of(event, kTo));
  const std::string direction = from.empty() && to.empty() ? std::string() : from + "→" + to;
  const bool named = !names.empty() && !names_nothing(names.front());
  std::vector<std::string> texts;
  if (named) {
    add(texts, joined(joined(names.front(), direction), size));
    add(texts, joined(names.front(), size));
    for (const std::string& name : names) add(texts, name);
    return texts;
  }
  const std::string queue = with_blanks(text_of(event, kQueueType));
  add(texts, joined(direction.empty() ? queue : direction, size));
  add(texts, size);
  return texts;
}

std::vector<std::string> wait_texts(const std::string& cause) {
  if (cause.empty()) return {};
  return {"wait " + cause, cause};
}

std::string stated_cause(const EventRecord& event) {
  const Schema& schema = *event.lane->schema;
  if (const auto stream = number_of(field_of(event, schema.find(kStream))); stream && *stream >= 0 && *stream < 4e9) {
    return fmt::format("stream {:.0f}", *stream);
  }
  // The vendor's operands name the semaphore, and in brackets whose it is: "S[5] (Tensor)>=1".
  const FieldValue* value = field_of(event, schema.find(Role::operands));
  const auto* operands = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  const std::size_t at = operands != nullptr ? operands->find("S[") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t end = operands->find(']', at);
  if (end == std::string::npos) return {};
  if (operands->compare(end + 1, 2, " (") == 0) {
    const std::size_t close = operands->find(')', end);
    if (close != std::string::npos) return operands->substr(end + 3, close - end - 3);
  }
  return operands->substr(at, end + 1 - at);
}

}  // namespace accelscope::app::content
