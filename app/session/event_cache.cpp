#include "app/session/event_cache.h"

#include <algorithm>
#include <mutex>

namespace accelscope::app::session {
namespace {

std::size_t bytes_of(const EventRecord& record) {
  std::size_t bytes = record.name_text.capacity() + record.fields.capacity() * sizeof(FieldValue);
  for (const FieldValue& field : record.fields) {
    if (const auto* text = std::get_if<std::string>(&field)) bytes += text->capacity();
  }
  return bytes;
}

}  // namespace

struct EventCache::Shared {
  struct Read {
    EventId id;
    std::shared_ptr<const Snapshot> snapshot;  // that the record's lane is of
    Result<EventRecord> record;
  };
  std::shared_ptr<const Store> store;
  std::mutex mutex;
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<EventId> wanted;  // in this frame, and by nobody taken yet
  std::optional<EventId> under_way;
  bool at_work = false;
  std::vector<Read> read;
};

EventCache::EventCache(WorkerPool& pool, std::shared_ptr<const Store> store, std::size_t memory_budget)
    : pool_(pool),
      store_(std::move(store)),
      snapshot_(store_->snapshot()),
      memory_budget_(memory_budget),
      shared_(std::make_shared<Shared>()) {
  shared_->store = store_;
  shared_->snapshot = snapshot_;
}

EventCache::~EventCache() = default;

void EventCache::begin_frame(std::shared_ptr<const Snapshot> snapshot) {
  ++frame_;
  snapshot_ = std::move(snapshot);
  std::vector<Shared::Read> read;
  {
    const std::scoped_lock lock(shared_->mutex);
    read.swap(shared_->read);
    shared_->snapshot = snapshot_;
    shared_->wanted.clear();  // what is still wanted is asked for again
  }
  for (Shared::Read& each : read) keep(each.id, std::move(each.record), each.snapshot->version);
  if (memory_bytes_ > memory_budget_) evict();
  for (std::optional<Intent>& slot : intents_) {
    if (!slot || !slot->ready()) continue;
    const Intent intent = std::move(*slot);
    slot.reset();
    if (&slot == &intents_[static_cast<std::size_t>(EventIntent::selection)]) steps_.clear();
    intent.then();
  }
}

void EventCache::keep(EventId id, Result<EventRecord> read, std::uint64_t version) {
  Entry& entry = entries_[id];
  memory_bytes_ -= entry.bytes;
  const std::uint64_t used = std::max(entry.used, frame_);
  entry = Entry{};
  entry.used = used;
  entry.bytes = sizeof(Entry) + (read ? bytes_of(*read) : read.message().size());
  memory_bytes_ += entry.bytes;
  entry.version = version;
  if (!read) {
    entry.problem = read.message();
    return;
  }
  entry.record = std::move(*read);
  refresh(entry);
}

// A record outlives the snapshot that it was read from; a clock may have been fitted anew since.
void EventCache::refresh(Entry& entry) const {
  EventRecord& record = *entry.record;
  entry.version = snapshot_->version;
  record.lane = snapshot_->find_lane(lane_of(record.id));
  record.begin_ns = record.lane->clock->to_ns(record.begin_ticks);
  record.end_ns = record.lane->clock->to_ns(record.end_ticks);
}

const EventRecord* EventCache::find(EventId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    want(id);
    return nullptr;
  }
  Entry& entry = found->second;
  entry.used = frame_;
  const bool stale = entry.version != snapshot_->version;
  if (!entry.record) {
    if (stale) want(id);  // it may have come meanwhile
    return nullptr;
  }
  if (stale) refresh(entry);
  return &*entry.record;
}

std::string EventCache::problem(EventId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::string() : found->second.problem;
}

void EventCache::want(EventId id) {
  {
    const std::scoped_lock lock(shared_->mutex);
    const auto has_read = [id](const Shared::Read& read) { return read.id == id; };
    if (shared_->under_way == id || std::ranges::find(shared_->wanted, id) != shared_->wanted.end() ||
        std::ranges::any_of(shared_->read, has_read)) {
      return;
    }
    shared_->wanted.push_back(id);
    if (std::exchange(shared_->at_work, true) && !reading_.ready()) return;
  }
  reading_ = pool_.start(Priority::drawing,
                         [shared = shared_](TaskControl& control) { return read_wanted(*shared, control); });
}

// One after another, so that what is not wanted any more is not read.
Result<void> EventCache::read_wanted(Shared& shared, const TaskControl& control) {
  std::unique_ptr<EventReader> reader;  // neighbours mostly share a chunk, which it keeps
  std::unique_lock lock(shared.mutex);
  while (!shared.wanted.empty() && !control.cancelled()) {
    const EventId id = shared.wanted.front();
    shared.wanted.erase(shared.wanted.begin());
    shared.under_way = id;
    const std::shared_ptr<const Snapshot> snapshot = shared.snapshot;
    lock.unlock();
    if (!reader || &reader->snapshot() != snapshot.get())
      reader = std::make_unique<EventReader>(*shared.store, snapshot);
    Result<EventRecord> record = reader->read(id);
    lock.lock();
    shared.under_way.reset();
    shared.read.push_back({id, snapshot, std::move(record)});
  }
  shared.at_work = false;
  return {};
}

// Least recently used first, down to three quarters of the budget, never what this frame or the last has shown.
void EventCache::evict() {
  std::vector<std::pair<std::uint64_t, EventId>> old;
  for (const auto& [id, entry] : entries_) {
    if (entry.used + 1 < frame_) old.emplace_back(entry.used, id);
  }
  std::ranges::sort(old);
  for (const auto& [used, id] : old) {
    if (memory_bytes_ <= memory_budget_ / 4 * 3) return;
    const auto entry = entries_.find(id);
    memory_bytes_ -= entry->second.bytes;
    entries_.erase(entry);
  }
}

void EventCache::put(EventIntent intent, Intent made) {
  if (intent == EventIntent::selection) steps_.clear();
  intents_[static_cast<std::size_t>(intent)] = std::move(made);
}

void EventCache::drop(EventIntent intent) {
  if (intent == EventIntent::selection) steps_.clear();
  intents_[static_cast<std::size_t>(intent)].reset();
}

void EventCache::when_known(EventIntent intent, std::vector<EventId> ids, std::function<void()> then) {
  auto known = [this, ids = std::move(ids)] {
    // All of them are asked for, also behind one that is missing.
    return std::ranges::count_if(ids, [this](EventId id) { return find(id) == nullptr && problem(id).empty(); }) == 0;
  };
  drop(intent);
  if (known()) return then();
  put(intent, {std::move(known), std::move(then), [] { return false; }});
}

void EventCache::step(const StepPlace& from, EventStep step, std::function<void(const Result<StepPlace>&)> arrived) {
  std::vector<EventStep> steps = steps_from_ == from.event ? std::exchange(steps_, {}) : std::vector<EventStep>{};
  steps.push_back(std::move(step));
  struct Arrived {
    StepPlace place;
    std::shared_ptr<const Snapshot> snapshot;
    std::optional<Result<EventRecord>> event;
  };
  ask(
      EventIntent::selection,
      [from, steps, snapshot = snapshot_](EventReader& reader, const TaskControl& control) -> Result<Arrived> {
        Arrived at{from, snapshot, std::nullopt};
        for (const EventStep& each : steps) {
          at.place.said.clear();
          TRY(each(reader, at.place, control));
        }
        if (at.place.event) at.event = reader.read(*at.place.event);
        return at;
      },
      [this, arrived = std::move(arrived)](Result<Arrived> at) {
        if (!at) return arrived(at.error());
        if (at->event) keep(*at->place.event, std::move(*at->event), at->snapshot->version);
        arrived(std::move(at->place));
      });
  steps_from_ = from.event;
  steps_ = std::move(steps);
}

bool EventCache::under_way() const {
  const bool asked =
      std::ranges::any_of(intents_, [](const std::optional<Intent>& intent) { return intent && intent->under_way(); });
  const std::scoped_lock lock(shared_->mutex);
  return asked || !shared_->wanted.empty() || shared_->under_way;
}

bool EventCache::pending() const {
  const bool waits = std::ranges::any_of(intents_, [](const auto& intent) { return intent.has_value(); });
  const std::scoped_lock lock(shared_->mutex);
  return waits || !shared_->wanted.empty() || shared_->under_way || !shared_->read.empty();
}

}  // namespace accelscope::app::session
