#include "core/lod/lane_window.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "core/chunk/chunk_format.h"
#include "core/model/palette.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"

namespace accelscope::lod {
namespace {

constexpr std::size_t kDetails = 2;

// Lanes that are drawn by others ask some frames late: so long requests stand without being asked again.
constexpr std::uint64_t kPatience = 8;  // frames

// Names a window across snapshots.
struct WindowName {
  LaneNumber lane = 0;
  const LaneData* data = nullptr;
  std::uint32_t window = 0;
  WindowDetail detail = WindowDetail::micro;
};

struct Finished {
  WindowName name;
  std::unique_ptr<const LaneWindow> result;  // null: could not be read
  std::string error;
};

}  // namespace

// What the requests of one frame refer to; kept alive by whoever works on one of them.
struct LaneWindows::Source {
  std::shared_ptr<const Store> store;
  std::shared_ptr<const Snapshot> snapshot;
};

// Windows that went. Who holds one of these holds all that go later too, so that nothing vanishes under a thread that
// draws from it.
struct LaneWindows::Gone {
  std::vector<std::unique_ptr<const LaneWindow>> windows;
  std::shared_ptr<Gone> later;

  Gone() = default;
  Gone(const Gone&) = delete;
  Gone& operator=(const Gone&) = delete;
  ~Gone() {  // one after another: a long chain must not end in a deep recursion
    std::shared_ptr<Gone> next = std::move(later);
    while (next && next.use_count() == 1) next = std::move(next->later);
  }
};

std::size_t LaneWindow::memory_bytes() const noexcept {
  return sizeof(LaneWindow) + nodes.capacity() * sizeof(SliceNode) + weights.capacity() * sizeof(MicroWeights) +
         counter_nodes.capacity() * sizeof(CounterNode) + events.capacity() * sizeof(WindowEvent) +
         samples.capacity() * sizeof(WindowSample);
}

// The windows of one lane, by their place in it.
class LaneWindows::Table final : public LaneDetail {
 public:
  struct Slot {
    std::unique_ptr<const LaneWindow> window;
    std::uint64_t used = 0;       // frame in which it was last asked for
    std::uint64_t requested = 0;  // the same, while it is missing or too short
    bool underway = false;        // a worker has it
    bool failed = false;
  };

  const LaneWindow* find(std::uint32_t leaf, WindowDetail detail) override {
    const std::scoped_lock lock(mutex);
    const std::uint32_t window = leaf / kWindowLeaves;
    std::vector<Slot>& slots = slots_[static_cast<std::size_t>(detail)];
    if (window >= slots.size()) slots.resize(window + 1);
    Slot& slot = slots[window];
    slot.used = frame;
    if (holds(slot, leaf)) return slot.window.get();
    if (slot.requested != frame && !slot.failed) {
      slot.requested = frame;
      if (!slot.underway) missing.push_back({window, detail});
    }
    return nullptr;
  }

  const LaneWindow* ready(std::uint32_t leaf, WindowDetail detail) const override {
    const std::scoped_lock lock(mutex);
    const std::uint32_t window = leaf / kWindowLeaves;
    const std::vector<Slot>& slots = slots_[static_cast<std::size_t>(detail)];
    return window < slots.size() && holds(slots[window], leaf) ? slots[window].window.get() : nullptr;
  }

  bool lost(std::uint32_t leaf, WindowDetail detail) const override {
    const std::scoped_lock lock(mutex);
    const std::uint32_t window = leaf / kWindowLeaves;
    const std::vector<Slot>& slots = slots_[static_cast<std::size_t>(detail)];
    return window < slots.size() && slots[window].failed;
  }

  struct Missing {
    std::uint32_t window;
    WindowDetail detail;
  };
  // The rest under the lock.
  [[nodiscard]] std::vector<Slot>& slots(WindowDetail detail) { return slots_[static_cast<std::size_t>(detail)]; }
  [[nodiscard]] Slot* slot(const WindowName& name) {
    std::vector<Slot>& slots = slots_[static_cast<std::size_t>(name.detail)];
    return data == name.data && name.window < slots.size() ? &slots[name.window] : nullptr;
  }

  mutable std::mutex mutex;
  const LaneData* data = nullptr;
  const LaneSnapshot* lane = nullptr;  // of the source
  std::shared_ptr<const Source> source;
  std::uint64_t frame = 0;
  std::vector<Missing> missing;  // since end_frame() last looked

 private:
  [[nodiscard]] static bool holds(const Slot& slot, std::uint32_t leaf) {
    return slot.window && leaf < slot.window->first_leaf + slot.window->leaf_count;
  }
  std::array<std::vector<Slot>, kDetails> slots_;
};

// What is asked for, and who reads it: tasks of the pool, as many as there is work for.
struct LaneWindows::Readers {
  struct Request {
    std::shared_ptr<const Source> source;
    const LaneSnapshot* lane = nullptr;  // of the source
    std::uint32_t window = 0;
    WindowDetail detail = WindowDetail::micro;
    std::uint64_t asked = 0;  // frame
  };
  // A decoder keeps the last chunk, for the next task too.
  struct Reader {
    std::shared_ptr<const Source> source;
    WindowDecoder decoder{
        [this](const LaneSnapshot& lane, std::uint32_t chunk) { return source->store->read_chunk(lane, chunk); }};
  };

  explicit Readers(unsigned readers) : most(std::max(readers, 1U)) {}

  void read() {
    std::unique_lock lock(mutex);
    std::unique_ptr<Reader> reader;
    if (!idle.empty()) {
      reader = std::move(idle.back());
      idle.pop_back();
    }
    if (!reader) reader = std::make_unique<Reader>();
    while (head < queue.size()) {
      const std::vector<Request> run = take_run();
      reader->source = run.front().source;
      lock.unlock();
      std::vector<Finished> results;
      for (const Request& request : run) results.push_back(decode(*reader, request));
      lock.lock();
      underway -= run.size();
      for (Finished& result : results) finished.push_back(std::move(result));
      settled.notify_all();
    }
    reader->source.reset();
    idle.push_back(std::move(reader));
    --reading;
  }

  // Neighbours in the queue mostly share a chunk, so a worker takes several at once.
  std::vector<Request> take_run() {
    constexpr std::size_t kRun = 16;
    std::vector<Request> run;
    const LaneSnapshot* lane = queue[head].lane;
    while (head < queue.size() && run.size() < kRun && queue[head].lane == lane) run.push_back(queue[head++]);
    underway += run.size();
    for (const Request& request : run) taken.push_back(name_of(request));
    return run;
  }

  static WindowName name_of(const Request& request) {
    return {request.lane->number(), request.lane->data.get(), request.window, request.detail};
  }

  static Result<LaneWindow> decoded(Reader& reader, const Request& request) {
    try {
      return reader.decoder.decode(*request.lane, *reader.source->snapshot->strings, request.window * kWindowLeaves,
                                   request.detail);
    } catch (const std::bad_alloc&) {
      return out_of_memory_error();
    }
  }

  static Finished decode(Reader& reader, const Request& request) {
    Finished result{name_of(request), nullptr, {}};
    Result<LaneWindow> window = decoded(reader, request);
    if (window) {
      result.result = std::make_unique<const LaneWindow>(std::move(window).value());
    } else {
      result.error = window.message();
    }
    return result;
  }

  const std::size_t most;
  std::mutex mutex;
  std::condition_variable settled;
  std::vector<Request> queue;
  std::size_t head = 0;           // first of the queue that nobody has taken
  std::vector<WindowName> taken;  // since the UI thread last looked
  std::vector<Finished> finished;
  std::size_t underway = 0;
  std::size_t reading = 0;  // tasks
  std::vector<std::unique_ptr<Reader>> idle;
  std::string last_error;
};

LaneWindows::LaneWindows(WorkerPool& pool, std::size_t memory_budget, unsigned readers)
    : memory_budget_(memory_budget),
      gone_(std::make_shared<Gone>()),
      pool_(pool),
      readers_(std::make_shared<Readers>(readers)) {}

LaneWindows::~LaneWindows() {
  const std::scoped_lock lock(readers_->mutex);
  readers_->queue.clear();
  readers_->head = 0;
}

void LaneWindows::begin_frame(std::shared_ptr<const Store> store, std::shared_ptr<const Snapshot> snapshot) {
  ++frame_;
  if (!source_ || source_->store != store) {
    tables_.clear();
    memory_bytes_ = 0;
  }
  source_ = std::make_shared<const Source>(Source{std::move(store), std::move(snapshot)});
  std::vector<Finished> finished;
  std::vector<WindowName> taken;
  {
    const std::scoped_lock lock(readers_->mutex);
    finished.swap(readers_->finished);
    taken.swap(readers_->taken);
    for (const Finished& result : finished) {
      if (!result.error.empty()) readers_->last_error = result.error;
    }
  }
  const auto with_slot = [this](const WindowName& name, const auto& change) {
    const auto found = tables_.find(name.lane);
    if (found == tables_.end()) return;
    const std::scoped_lock lock(found->second->mutex);
    if (Table::Slot* slot = found->second->slot(name)) change(*slot);
  };
  for (const WindowName& name : taken) {
    with_slot(name, [](Table::Slot& slot) { slot.underway = true; });
  }
  for (Finished& result : finished) {
    with_slot(result.name, [&](Table::Slot& slot) {
      slot.underway = false;
      slot.failed = result.result == nullptr;
      if (slot.window) memory_bytes_ -= slot.window->memory_bytes();
      if (result.result) memory_bytes_ += result.result->memory_bytes();
      bury(std::exchange(slot.window, std::move(result.result)));
    });
  }
}

// It goes, but not before those who hold what was there.
void LaneWindows::bury(std::unique_ptr<const LaneWindow> window) {
  if (!window) return;
  gone_->windows.push_back(std::move(window));
  gone_->later = std::make_shared<Gone>();
  gone_ = gone_->later;
}

LaneDetail& LaneWindows::lane(const LaneSnapshot& lane) {
  std::shared_ptr<Table>& table = tables_[lane.number()];
  if (!table) table = std::make_shared<Table>();
  const std::scoped_lock lock(table->mutex);
  table->data = lane.data.get();
  table->lane = &lane;
  table->source = source_;
  table->frame = frame_;
  return *table;
}

std::shared_ptr<LaneDetail> LaneWindows::held_lane(const LaneSnapshot& lane) {
  struct Held {
    std::shared_ptr<Table> table;
    std::shared_ptr<const Gone> gone;
  };
  static_cast<void>(this->lane(lane));
  const auto held = std::make_shared<Held>(Held{tables_[lane.number()], gone_});
  return {held, held->table.get()};
}

void LaneWindows::end_frame() {
  std::vector<Readers::Request> queue;
  for (auto& [number, table] : tables_) {
    const std::scoped_lock lock(table->mutex);
    for (const Table::Missing& missing : table->missing) {
      queue.push_back({table->source, table->lane, missing.window, missing.detail, frame_});
    }
    table->missing.clear();
  }
  const auto stands = [this](const Readers::Request& request) {
    if (request.asked + kPatience <= frame_) return false;
    const auto found = tables_.find(request.lane->number());
    if (found == tables_.end()) return false;
    const std::scoped_lock lock(found->second->mutex);
    const Table::Slot* slot = found->second->slot(Readers::name_of(request));
    return slot != nullptr && slot->requested <= request.asked;
  };
  {
    // A window that a worker took since begin_frame() may be queued again; reading it twice does no harm.
    const std::scoped_lock lock(readers_->mutex);
    for (std::size_t i = readers_->head; i < readers_->queue.size(); ++i) {
      if (stands(readers_->queue[i])) queue.push_back(std::move(readers_->queue[i]));
    }
    readers_->queue.swap(queue);
    readers_->head = 0;
    for (; readers_->reading < std::min(readers_->most, readers_->queue.size()); ++readers_->reading) {
      (void)pool_.start(Priority::drawing, [readers = readers_](TaskControl&) {
        readers->read();
        return true;
      });
    }
  }
  if (memory_bytes_ > memory_budget_) evict();
}

// Least recently used first, down to three quarters of the budget, never what this frame has drawn.
void LaneWindows::evict() {
  struct Loaded {
    std::uint64_t used;
    Table* table;
    WindowDetail detail;
    std::size_t window;
  };
  std::vector<Loaded> loaded;
  for (auto& [number, table] : tables_) {
    const std::scoped_lock lock(table->mutex);
    for (const WindowDetail detail : {WindowDetail::micro, WindowDetail::events}) {
      const std::vector<Table::Slot>& slots = table->slots(detail);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].window && slots[i].used != frame_) loaded.push_back({slots[i].used, table.get(), detail, i});
      }
    }
  }
  std::ranges::sort(loaded, {}, &Loaded::used);
  for (const Loaded& each : loaded) {
    if (memory_bytes_ <= memory_budget_ / 4 * 3) return;
    const std::scoped_lock lock(each.table->mutex);
    Table::Slot& slot = each.table->slots(each.detail)[each.window];
    memory_bytes_ -= slot.window->memory_bytes();
    bury(std::move(slot.window));
  }
}

bool LaneWindows::pending() const {
  const std::scoped_lock lock(readers_->mutex);
  return readers_->head < readers_->queue.size() || readers_->underway > 0 || !readers_->finished.empty();
}

void LaneWindows::wait_until_settled() const {
  std::unique_lock lock(readers_->mutex);
  readers_->settled.wait(lock, [this] { return readers_->head >= readers_->queue.size() && readers_->underway == 0; });
}

std::size_t LaneWindows::memory_bytes() const noexcept { return memory_bytes_; }

std::string LaneWindows::last_error() const {
  const std::scoped_lock lock(readers_->mutex);
  return readers_->last_error;
}

namespace {

constexpr std::uint32_t kMostNames = 4096;  // totals that are looked at for a name; beyond, none is told

class StretchWalk {
 public:
  StretchWalk(const LaneSnapshot& lane, const LaneDetail* detail, const TickRange& range)
      : lane_(lane), detail_(detail), range_(range) {}

  LaneStretch run() {
    std::size_t begin = 0;  // leaves before it are done
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t leaves = std::size_t{1} << (3 * level);
      static_assert(kTreeFanout == 8);
      for (std::size_t index = begin / leaves; index < lane_.tree.nodes[level]; ++index) {
        add(level, index);
        begin = (index + 1) * leaves;
      }
    }
    if (whole_leaves_) {  // events of the edges alone would not speak for it
      names_.clear();
      add_totals();
    }
    const auto most = std::ranges::max_element(names_, {}, [](const auto& each) { return each.second; });
    if (most != names_.end()) stretch_.name = most->first;
    if (stretch_.events == 1 && stretch_.exact) stretch_.lone = last_;
    return stretch_;
  }

 private:
  void add_whole(const SliceNode& node) {
    const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end);
    stretch_.events += node.count;
    stretch_.busy_ns += rate * static_cast<double>(node.busy);
    stretch_.wait_ns += rate * static_cast<double>(node.wait);
  }

  // Where nothing finer is decoded, its events are taken to be spread evenly.
  void add_part(const SliceNode& node) {
    if (range_.covers(node.begin, node.end)) {
      add_whole(node);
    } else if (const auto length = static_cast<double>(node.end - node.begin); length > 0) {
      const double share = static_cast<double>(range_.shared(node.begin, node.end)) / length;
      const double rate = mean_ns_per_tick(*lane_.clock, node.begin, node.end) * share;
      stretch_.events += std::max(1.0, share * node.count);
      stretch_.busy_ns += rate * static_cast<double>(node.busy);
      stretch_.wait_ns += rate * static_cast<double>(node.wait);
    }
    stretch_.exact = false;
  }

  void add(std::size_t level, std::size_t index) {
    const SliceNode& node = lane_.data->slices.node(level, index);
    if (!range_.holds(node.begin, node.end)) return;
    if (range_.covers(node.begin, node.end) && level > 0) {
      whole_leaves_ = true;
      return add_whole(node);
    }
    if (level == 0) return add_leaf(node, static_cast<std::uint32_t>(index));
    for (std::size_t i = 0; i < kTreeFanout; ++i) add(level - 1, index * kTreeFanout + i);
  }

  void add_leaf(const SliceNode& node, std::uint32_t leaf) {
    if (const LaneWindow* window = detail_ != nullptr ? detail_->ready(leaf, WindowDetail::events) : nullptr) {
      return add_events(*window, leaf);
    }
    if (range_.covers(node.begin, node.end)) return add_whole(node);
    const LaneWindow* window = detail_ != nullptr ? detail_->ready(leaf, WindowDetail::micro) : nullptr;
    if (window == nullptr) return add_part(node);
    const std::uint32_t place = leaf - window->first_leaf;
    for (std::uint32_t i = window->first_entry[place]; i < window->first_entry[place + 1]; ++i) {
      const SliceNode& micro = window->nodes[i];
      if (range_.covers(micro.begin, micro.end)) {
        add_whole(micro);
      } else if (range_.holds(micro.begin, micro.end)) {
        add_part(micro);
      }
    }
  }

  void add_events(const LaneWindow& window, std::uint32_t leaf) {
    const std::uint32_t place = leaf - window.first_leaf;
    const std::uint32_t first = window.first_entry[place];
    for (std::uint32_t i = first; i < window.first_entry[place + 1]; ++i) {
      const WindowEvent& event = window.events[i];
      if (!range_.holds(event.begin_ticks, event.end_ticks)) continue;
      const double rate = mean_ns_per_tick(*lane_.clock, event.begin_ticks, event.end_ticks);
      const double time_ns = rate * static_cast<double>(range_.shared(event.begin_ticks, event.end_ticks));
      stretch_.events += 1;
      (event.waits ? stretch_.wait_ns : stretch_.busy_ns) += time_ns;
      if (!event.waits) names_[event.name] += time_ns;
      last_ = make_event_id(lane_.number(), window.first_ordinal[place] + (i - first));
    }
  }

  // Names of whole chunks, from their totals.
  void add_totals() {
    std::uint32_t looked = 0;
    for (std::uint32_t i = lane_.first_chunk_ending_after(range_.begin); i < lane_.chunk_count; ++i) {
      const ChunkPlace& chunk = lane_.chunk(i);
      if (chunk.begin_ticks >= range_.end || looked > kMostNames) return;
      if (i >= lane_.totals.stretches[0] || !range_.covers(chunk.begin_ticks, chunk.end_ticks)) continue;
      const NameTotals::Stretch totals = lane_.data->totals.stretch(0, i);
      if (!totals.retained) continue;
      const double rate = mean_ns_per_tick(*lane_.clock, chunk.begin_ticks, chunk.end_ticks);
      for (std::uint32_t n = 0; n < totals.size; ++n) {
        names_[totals.totals[n].name] += rate * static_cast<double>(totals.totals[n].busy);
      }
      looked += std::max<std::uint32_t>(totals.size, 1);
    }
  }

  const LaneSnapshot& lane_;
  const LaneDetail* detail_;
  TickRange range_;
  LaneStretch stretch_;
  std::map<StringId, double> names_;  // ns
  std::optional<EventId> last_;
  bool whole_leaves_ = false;
};

}  // namespace

LaneStretch lane_stretch(const LaneSnapshot& lane, const LaneDetail* detail, const TimeRange& range) {
  const EventKind kind = lane.data->kind;
  if (kind == EventKind::counter || kind == EventKind::table || lane.event_count == 0) return {};
  return StretchWalk(lane, detail, tick_range(lane, range)).run();
}

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
    TRY(load(lane, chunk_index));
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
  Bytes bytes = TRY(read_chunk_(lane, chunk_index));
  bytes_ = std::move(bytes);
  ChunkView view = TRY(ChunkView::parse(bytes_));
  view_ = std::move(view);
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

}  // namespace accelscope::lod
