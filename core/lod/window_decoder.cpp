#include "core/lod/window_decoder.h"

#include <algorithm>
#include <cmath>

#include "core/model/palette.h"
#include "core/scan/column_values.h"

namespace accelscope {
namespace {

// Sums up every kMicroEvents entries of the last leaf.
template <typename Node, typename Entry, typename ToNode>
void add_micro_nodes(const std::vector<Entry>& entries, std::vector<Node>& nodes, ToNode to_node) {
  std::array<Node, kMicroEvents> run;
  for (std::size_t first = 0; first < entries.size(); first += kMicroEvents) {
    const std::size_t count = std::min<std::size_t>(kMicroEvents, entries.size() - first);
    for (std::size_t i = 0; i < count; ++i) run[i] = to_node(entries[first + i]);
    nodes.push_back(merge(run.data(), count));
  }
}

// As merge() weighs the colours of the events: waits count where nothing else is, instants as one tick.
void add_micro_weights(const std::vector<WindowEvent>& events, std::vector<MicroWeights>& weights) {
  for (std::size_t first = 0; first < events.size(); first += kMicroEvents) {
    const std::size_t count = std::min<std::size_t>(kMicroEvents, events.size() - first);
    std::array<double, kMicroEvents> busy{}, waits{};
    double all_busy = 0, all_waits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const SliceNode node = event_node(events[first + i]);
      (node.wait > 0 ? waits[i] : busy[i]) = static_cast<double>(node.wait > 0 ? node.wait : node.busy + 1);
      all_busy += static_cast<double>(node.busy);
      all_waits += static_cast<double>(node.wait);
    }
    const std::array<double, kMicroEvents>& counted = all_busy == 0 && all_waits > 0 ? waits : busy;
    const double most = *std::max_element(counted.begin(), counted.end());
    MicroWeights& out = weights.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = static_cast<std::uint8_t>(counted[i] > 0 ? std::max(1.0, counted[i] / most * 255) : 0);
    }
  }
}

[[nodiscard]] CounterNode sample_node(const WindowSample& sample) noexcept {
  const auto value = static_cast<float>(sample.value);
  return {sample.ticks, sample.ticks, value, value, sample.value, 0};
}

const StringMap kNoStrings;  // names are looked up one by one: a map of all would be made anew for each lane

[[nodiscard]] bool is_wait_name(const Schema* schema, std::string_view name) {
  return schema != nullptr &&
         std::find(schema->wait_names.begin(), schema->wait_names.end(), name) != schema->wait_names.end();
}

}  // namespace

SliceNode event_node(const WindowEvent& event) noexcept {
  const auto length = static_cast<std::uint64_t>(event.end_ticks) - static_cast<std::uint64_t>(event.begin_ticks);
  return {event.begin_ticks,        event.end_ticks,           event.waits ? 0 : length,
          event.waits ? length : 0, kSlicePalette[event.slot], 1};
}

Result<LaneWindow> WindowDecoder::decode(const LaneSnapshot& lane, const StringPool& strings, std::uint32_t first_leaf,
                                         WindowDetail detail) {
  LaneWindow window;
  window.detail = detail;
  window.first_leaf = first_leaf;
  window.leaf_count = std::min(kWindowLeaves, lane.tree.nodes[0] - first_leaf);
  const bool counter = lane.data->kind == EventKind::counter;
  if (!counter && detail == WindowDetail::events) window.events.reserve(std::size_t{window.leaf_count} * kBlockEvents);
  if (!counter && detail == WindowDetail::micro) {
    window.nodes.reserve(std::size_t{window.leaf_count} * kMicroEvents);
    window.weights.reserve(std::size_t{window.leaf_count} * kMicroEvents);
  }
  LaneWindow leaf;  // reused: the entries of one leaf on their way to micro nodes
  for (std::uint32_t i = 0; i < window.leaf_count; ++i) {
    const std::uint32_t chunk_index = lane.chunk_of_leaf(first_leaf + i);
    if (chunk_index >= lane.chunk_count) return Error{"The index of a lane names a chunk that the session lacks."};
    if (Result<void> loaded = load(lane, chunk_index); !loaded) return loaded.error();
    const ChunkPlace& place = lane.chunk(chunk_index);
    const std::uint32_t block = first_leaf + i - place.first_leaf;
    if (block >= view_.block_count()) return Error{"A chunk of the session is shorter than its index says."};
    window.first_ordinal[i] = place.first_ordinal + std::uint64_t{block} * kBlockEvents;
    reader_.open(lane, kNoStrings, place, view_);
    reader_.seek(block);
    LaneWindow& target = detail == WindowDetail::events ? window : leaf;
    leaf.events.clear();
    leaf.samples.clear();
    if (counter) {
      add_samples(lane, first_leaf + i, target);
    } else {
      add_events(lane, strings, target);
    }
    if (detail == WindowDetail::micro) {
      add_micro_nodes(leaf.events, window.nodes, event_node);
      add_micro_weights(leaf.events, window.weights);
      add_micro_nodes(leaf.samples, window.counter_nodes, sample_node);
    }
    window.first_entry[i + 1] = static_cast<std::uint32_t>(window.nodes.size() + window.counter_nodes.size() +
                                                           window.events.size() + window.samples.size());
  }
  return window;
}

Result<void> WindowDecoder::load(const LaneSnapshot& lane, std::uint32_t chunk_index) {
  if (loaded_lane_ == lane.data && loaded_chunk_ == chunk_index) return {};
  if (loaded_lane_ != lane.data) names_.fill(Name{});
  loaded_lane_.reset();
  Result<Bytes> bytes = read_chunk_(lane, chunk_index);
  if (!bytes) return bytes.error();
  bytes_ = std::move(bytes).value();
  Result<ChunkView> view = ChunkView::parse(bytes_);
  if (!view) return view.error();
  view_ = std::move(view).value();
  loaded_lane_ = lane.data;
  loaded_chunk_ = chunk_index;
  return {};
}

const WindowDecoder::Name& WindowDecoder::name(const LaneSnapshot& lane, const StringPool& strings,
                                               std::uint64_t local) {
  Name& entry = names_[local % names_.size()];
  if (entry.local == local) return entry;
  entry.local = local;
  entry.session = strings.session_id(scope_of(lane.number()), static_cast<std::uint32_t>(local));
  entry.slot = strings.slot(entry.session);
  entry.waits = is_wait_name(lane.schema.get(), strings.text(entry.session));
  return entry;
}

void WindowDecoder::add_events(const LaneSnapshot& lane, const StringPool& strings, LaneWindow& window) {
  const BlockTimes& times = reader_.ticks();
  std::array<std::uint64_t, kBlockEvents> names;  // numbered by their source
  view_.names(reader_.block(), names.data());
  for (std::uint32_t i = 0; i < view_.block_size(reader_.block()); ++i) {
    const Name& known = name(lane, strings, names[i]);
    window.events.push_back({times.begins[i], times.ends[i], known.session, known.slot, known.waits});
  }
}

void WindowDecoder::add_samples(const LaneSnapshot& lane, std::uint32_t leaf, LaneWindow& window) {
  const BlockTimes& times = reader_.ticks();
  const bool has_value = lane.schema != nullptr && !lane.schema->columns.empty();
  const ColumnType type = has_value ? lane.schema->columns[0].type : ColumnType::text;
  const BlockValues found = is_text(type) ? BlockValues{} : reader_.column(0, type);
  // A sample without a value repeats the one before, as in the lane's tree.
  double value = leaf == 0 ? 0 : lane.data->counters.node(0, leaf - 1).last;
  for (std::uint32_t i = 0; i < view_.block_size(reader_.block()); ++i) {
    const double next = found.has(i) ? real_number(type, found.values[i]) : value;
    if (std::isfinite(next)) value = next;
    window.samples.push_back({times.begins[i], value});
  }
}

}  // namespace accelscope
