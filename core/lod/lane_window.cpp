#include "core/lod/lane_window.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "core/lod/window_decoder.h"

namespace accelscope {
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
  std::sort(loaded.begin(), loaded.end(), [](const Loaded& a, const Loaded& b) { return a.used < b.used; });
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

}  // namespace accelscope
