#include "capture/kinds/itt/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "capture/json/json_cursor.h"
#include "capture/kinds/base/held_records.h"
#include "capture/kinds/base/kind_list.h"
#include "capture/probe/itt/metadata_text.h"

namespace accelscope::capture::kinds::itt {
namespace {

using probe::itt::RecordType;

// Of which something is said; programs that make ids without end would fill the memory.
constexpr std::size_t kIttTasksMostIds = 1U << 18;

}  // namespace

std::string colour_text(std::uint32_t colour) { return fmt::format("#{:06x}", colour & 0xffffffU); }

void IttTasks::apply(TaskStack& stack, const TaskReported& reported) {
  if (reported.type == RecordType::task_begin) return stack.open.begin({reported.value, reported.ns, nullptr});
  if (reported.type == RecordType::task_end) {
    const std::size_t at =
        stack.open.find([&](const OpenTask& task) { return names_.site(task.site).domain_id == reported.value; });
    if (at != stack.open.kNone) return stack.open.end(at, writer_of(stack, reported.ns));
    ++counts_.ends_without_begin;
    return;
  }
  if (stack.open.empty()) return;  // its begin found no room
  TaskExtra& extra = stack.open.innermost().with_extra();
  switch (reported.type) {
    case RecordType::task_text:
      return extra.add_line(reported.text);
    case RecordType::task_name:
      extra.name = reported.text;
      return;
    case RecordType::task_value:
      extra.value = reported.number;
      return;
    default:
      extra.colour = reported.value;
  }
}

void IttTasks::close_all(TaskStack& stack, std::int64_t ns) { stack.open.end_inside(0, writer_of(stack, ns)); }

void IttTasks::write(TrackNumber track, std::uint32_t depth, OpenTask& task, std::int64_t end_ns, bool unfinished) {
  const IttSite& site = names_.site(task.site);
  const StringId name = task.extra && !task.extra->name.empty() ? writer_.intern(task.extra->name) : site.name;
  Row row = writer_.begin_event_at(track, depth, task.begin_ns, end_ns - task.begin_ns, name);
  row.string(kTaskDomain, site.domain);
  if (site.place != 0) row.string(kTaskSource, site.place);
  if (site.function != 0) row.string(kTaskFunction, site.function);
  const std::uint32_t colour = task.extra && task.extra->colour != 0 ? task.extra->colour : site.colour;
  if (colour != 0) row.string(kTaskColour, writer_.intern(colour_text(colour)));
  if (task.extra) write_extra(row, *task.extra);
  if (unfinished) {
    row.boolean(kTaskUnfinished, true);
    ++counts_.unfinished;
  }
}

void IttTasks::write_extra(Row& row, const TaskExtra& extra) {
  std::string metadata = extra.metadata;
  probe::itt::Id parent = extra.parent;
  if (!extra.id.empty()) {
    row.string(kTaskId, writer_.intern(id_text(extra.id)));
    if (const auto found = ids_.find(extra.id); found != ids_.end()) {
      for (const auto& [key, text] : found->second.metadata) {
        metadata += fmt::format("{}{}: {}", metadata.empty() ? "" : "\n", key, text);
      }
      if (parent.empty()) parent = found->second.parent;
    }
  }
  if (!parent.empty()) row.string(kTaskParent, writer_.intern(name_of(parent)));
  if (!metadata.empty()) row.text(kTaskMetadata, metadata);
  if (extra.value) row.unsigned_integer(kTaskValue, *extra.value);
  if (extra.key != 0) row.unsigned_integer(kTaskKey, extra.key);
}

std::string IttTasks::name_of(const probe::itt::Id& id) const {
  const auto found = ids_.find(id);
  return found != ids_.end() && !found->second.name.empty() ? found->second.name : id_text(id);
}

void IttTasks::own(const probe::itt::Id& child, const probe::itt::Id& parent) {
  if (KnownId* known_id = known(child)) known_id->parent = parent;
}

IttTasks::KnownId* IttTasks::known(const probe::itt::Id& id) {
  if (ids_.size() < kIttTasksMostIds) return &ids_[id];
  if (const auto found = ids_.find(id); found != ids_.end()) return &found->second;
  ++counts_.ids_over_limit;
  return nullptr;
}

void IttTasks::note(const probe::itt::Id& id, const std::string& key, const std::string& text) {
  KnownId* known_id = known(id);
  if (known_id == nullptr) return;
  // By this key libraries say what an object is called.
  if (key == "object_name") known_id->name = text;
  known_id->metadata[key] = text;
}

void IttTasks::name_id(const probe::itt::Id& id, const std::string& name) {
  KnownId* known_id = known(id);
  if (known_id != nullptr && known_id->name.empty()) known_id->name = name;
}

std::string IttTasks::id_text(const probe::itt::Id& id) const {
  if (id.d3 != 0) return fmt::format("{:#x}:{:#x}:{:#x}", id.d1, id.d2, id.d3);
  return id.d2 != 0 ? fmt::format("{:#x}:{:#x}", id.d1, id.d2) : fmt::format("{:#x}", id.d1);
}

namespace {

using namespace probe::itt;

constexpr std::size_t kMostMessageNames = 4096;
constexpr std::size_t kMessageNameBytes = 60;
constexpr std::size_t kMostRelations = 1U << 18;  // that wait for what has not run

// As the interface numbers them: "A is ... B", A being the head.
struct RelationKind {
  const char* name;
  bool tail_first;  // B comes before A
};
constexpr RelationKind kRelations[] = {{"related to", false},   {"dependent on", true},    {"sibling of", false},
                                       {"parent of", false},    {"continuation of", true}, {"child of", true},
                                       {"continued by", false}, {"predecessor to", false}};

constexpr const char* kScopes[] = {"", "global", "process", "thread", "task", "marker"};
constexpr const char* kSeverities[] = {"trace", "debug", "info", "warning", "error", "fatal"};

[[nodiscard]] const char* unit_of(CounterFormat format) {
  switch (format) {
    case CounterFormat::bytes:
      return "B";
    case CounterFormat::percent:
      return "%";
    case CounterFormat::watt:
      return "W";
    default:
      return "";
  }
}

[[nodiscard]] std::uint64_t place_of(std::uint32_t pool, std::uint64_t address) {
  return address ^ std::uint64_t{pool} << 48U;
}

}  // namespace

void IttOrdered::advance(std::int64_t now_ns) {
  const auto later = std::stable_partition(waiting_.begin(), waiting_.end(),
                                           [&](const OrderedRecord& record) { return record.ns <= now_ns; });
  ready_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(later));
  waiting_.erase(waiting_.begin(), later);
  std::stable_sort(ready_.begin(), ready_.end(),
                   [](const OrderedRecord& a, const OrderedRecord& b) { return a.ns < b.ns; });
  for (OrderedRecord& record : ready_) apply(record);
  ready_.clear();
}

void IttOrdered::apply(OrderedRecord& record) {
  if (record.fiber != 0) {  // its tasks may begin on one thread and end on another
    TaskStack& stack = fibers_[record.fiber];
    if (stack.track == kNone) stack.track = tracks_.fiber(names_.site(record.fiber).text);
    return tasks_.apply(stack, {record.type, record.value, record.ns, record.first, std::move(record.text)});
  }
  switch (record.type) {
    case RecordType::overlapped_begin:
      return begin(overlapped_, record);
    case RecordType::overlapped_end:
      return end(overlapped_, tracks_.overlapped(), record);
    case RecordType::region_begin:
      return begin(regions_, record);
    case RecordType::region_end:
      return end(regions_, tracks_.regions(), record);
    case RecordType::counter_set:
    case RecordType::counter_add:
      return count(record);
    case RecordType::marker:
    case RecordType::lock_mark:
      return mark(record);
    case RecordType::message:
      return inform(record);
    case RecordType::memory_alloc:
    case RecordType::memory_free:
      return apply_memory(record);
    case RecordType::relation:
      return relate({record.value, record.id, record.parent, record.first, record.ns});
    case RecordType::task_begin_ids:
      return ran(record.id, record.first);
    default:
      return apply_frame(record);
  }
}

void IttOrdered::begin(Overlapping& open, const OrderedRecord& record) {
  OpenTask task{record.value, record.ns, nullptr};
  TaskExtra& extra = task.with_extra();
  extra.id = record.id;
  extra.parent = record.parent;
  const std::uint64_t key = extra.key = schemas_.next_key();
  open.begin(record.id, std::move(task));
  ran(record.id, key);
  const std::uint64_t parent = key_of(record.parent);
  if (parent != 0) relate({kParentOf, record.parent, record.id, parent, record.ns});
}

void IttOrdered::end(Overlapping& open, TrackNumber track, const OrderedRecord& record) {
  const bool was_open = open.end(
      record.id, [&](OpenTask& task, std::uint32_t lane) { tasks_.write(track, lane, task, record.ns, false); });
  if (!was_open) ++counts_.ends_without_begin;
}

void IttOrdered::apply_frame(const OrderedRecord& record) {
  Frames& frames = frames_[record.value];
  switch (record.type) {
    case RecordType::frame_begin:
      return frames.open.begin(record.id, record.ns);
    case RecordType::frame_end: {
      const bool was_open = frames.open.end(record.id, [&](std::int64_t begin_ns, std::uint32_t lane) {
        write_frame(record.value, record.id, lane, begin_ns, record.ns);
      });
      if (!was_open) ++counts_.ends_without_begin;
      return;
    }
    case RecordType::frame_submit:  // its time may lie before those of frames that were told earlier
      return write_frame(record.value, record.id, 0, record.ns, static_cast<std::int64_t>(record.first));
    case RecordType::frame_mark:
      if (frames.mark_ns) write_frame(record.value, {}, 0, *frames.mark_ns, record.ns);
      frames.mark_ns = record.ns;
      return;
    default:
      ++counts_.bad_records;
  }
}

void IttOrdered::write_frame(std::uint32_t site_id, const Id& id, std::uint32_t lane, std::int64_t begin_ns,
                             std::int64_t end_ns) {
  const IttSite& site = names_.site(site_id);
  Row row = writer_.begin_event_at(tracks_.frames(site.text), lane, begin_ns, end_ns - begin_ns, site.name);
  row.string(kFrameDomain, site.domain);
  row.unsigned_integer(kFrameNumber, ++frames_[site_id].count);
  if (!id.empty()) row.string(kFrameId, writer_.intern(tasks_.id_text(id)));
  if (site.place != 0) row.string(kFrameSource, site.place);
}

void IttOrdered::count(const OrderedRecord& record) {
  const IttCounter* counter = names_.counter(record.value);
  if (counter == nullptr) {
    ++counts_.bad_records;
    return;
  }
  CounterState& state = counters_[record.value];
  const bool real = counter->type == CounterType::real;
  if (state.track == kNone) state.track = tracks_.counter(counter->name, real, unit_of(counter->format));
  if (real && record.type == RecordType::counter_set) {
    return writer_.sample(state.track, record.ns, std::bit_cast<double>(record.first));
  }
  if (record.type == RecordType::counter_add) {
    state.sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(state.sum) + record.first);
  } else if (counter->type == CounterType::unsigned_integer &&
             record.first > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    ++counts_.cut_counters;
    state.sum = std::numeric_limits<std::int64_t>::max();
  } else {
    state.sum = static_cast<std::int64_t>(record.first);
  }
  if (real) return writer_.sample(state.track, record.ns, static_cast<double>(state.sum));
  writer_.sample(state.track, record.ns, state.sum);
}

void IttOrdered::mark(const OrderedRecord& record) {
  const IttSite& site = names_.site(record.value);
  Row row = writer_.begin_event(tracks_.markers(), record.ns, 0, site.name);
  row.string(kMarkerDomain, site.domain);
  const std::string thread = tracks_.thread_name(*record.thread);
  row.string(kMarkerThread, writer_.intern(thread));
  if (record.type == RecordType::lock_mark) {
    row.string(kMarkerScope, writer_.intern("lock"));
    return;
  }
  if (record.first > 0 && record.first < std::size(kScopes)) {
    row.string(kMarkerScope, writer_.intern(kScopes[record.first]));
  }
  if (!record.id.empty()) row.string(kMarkerId, writer_.intern(tasks_.id_text(record.id)));
}

void IttOrdered::inform(const OrderedRecord& record) {
  const IttSite& site = names_.site(record.value);
  // What metadata tell is called by their key: their values differ each time.
  const bool is_keyed = record.first == kNoSeverity && !site.text.empty();
  std::string name = is_keyed ? site.text : record.text.substr(0, kMessageNameBytes);
  while (!name.empty() && record.text.size() > name.size() && json::repair_utf8(name) != name) name.pop_back();
  if (message_names_.size() < kMostMessageNames || message_names_.contains(name)) {
    message_names_.insert(name);
  } else {
    name = "message";
  }
  Row row = writer_.begin_event(tracks_.messages(), record.ns, 0, writer_.intern(name));
  row.text(kMessageText, record.text);
  if (record.first < std::size(kSeverities)) row.string(kMessageSeverity, writer_.intern(kSeverities[record.first]));
  row.string(kMessageThread, writer_.intern(tracks_.thread_name(*record.thread)));
  if (site.colour != 0) row.string(kMessageColour, writer_.intern(colour_text(site.colour)));
}

void IttOrdered::apply_memory(const OrderedRecord& record) {
  const IttSite& pool = names_.site(record.value);
  const std::uint64_t place = place_of(record.value, record.first);
  std::int64_t bytes = 0;
  if (record.type == RecordType::memory_alloc) {
    bytes = bounded_bytes(record.second);
    allocated_[place] = bytes;
  } else {
    const auto found = allocated_.find(place);
    if (found == allocated_.end()) {  // it was allocated before the capture, or while it was paused
      ++counts_.releases_unknown;
      return;
    }
    bytes = -found->second;
    allocated_.erase(found);
  }
  Row row = writer_.begin_event(tracks_.memory(pool.text), record.ns, 0, pool.name);
  row.integer(kMemoryBytes, bytes);
  row.unsigned_integer(kMemoryAddress, record.first);
  row.string(kMemoryPool, writer_.intern(schemas_.pool(pool.text, tracks_.process_id())));
  row.string(kMemoryThread, writer_.intern(tracks_.thread_name(*record.thread)));
}

std::uint64_t IttOrdered::key_of(const Id& id) const {
  const auto found = id.empty() ? keys_.end() : keys_.find(id);
  return found == keys_.end() ? 0 : found->second;
}

void IttOrdered::ran(const Id& id, std::uint64_t key) {
  if (id.empty()) return;
  keys_[id] = key;
  const auto waiting = later_.find(id);
  if (waiting == later_.end()) return;
  const std::vector<Relation> relations = std::move(waiting->second);
  later_.erase(waiting);
  for (const Relation& relation : relations) relate(relation);
}

void IttOrdered::relate(const Relation& relation) {
  const std::uint64_t head = relation.head_key != 0 ? relation.head_key : key_of(relation.head);
  const std::uint64_t tail = key_of(relation.tail);
  if (head == 0 || tail == 0) {
    if (later_.size() >= kMostRelations) {
      ++counts_.relations_open;
      return;
    }
    later_[tail == 0 ? relation.tail : relation.head].push_back(relation);
    return;
  }
  const RelationKind& kind = kRelations[relation.kind < std::size(kRelations) ? relation.kind : 0];
  Row row = writer_.begin_event(tracks_.flows(), relation.ns, 0, writer_.intern(kind.name));
  row.unsigned_integer(kFlowSource, kind.tail_first ? tail : head);
  row.unsigned_integer(kFlowTarget, kind.tail_first ? head : tail);
}

void IttOrdered::close(Overlapping& open, TrackNumber track, std::int64_t end_ns) {
  open.end_all([&](const Id&, OpenTask& task, std::uint32_t lane) { tasks_.write(track, lane, task, end_ns, true); });
}

void IttOrdered::finish(std::int64_t end_ns) {
  advance(std::numeric_limits<std::int64_t>::max());
  if (!overlapped_.empty()) close(overlapped_, tracks_.overlapped(), end_ns);
  if (!regions_.empty()) close(regions_, tracks_.regions(), end_ns);
  for (auto& [site, frames] : frames_) {
    frames.open.end_all([&](const Id& id, std::int64_t begin_ns, std::uint32_t lane) {
      ++counts_.unfinished;
      write_frame(site, id, lane, begin_ns, end_ns);
    });
  }
  for (auto& [site, stack] : fibers_) tasks_.close_all(stack, end_ns);
  for (const auto& [id, relations] : later_) {
    // Of parents and children the column says it.
    counts_.relations_open +=
        static_cast<std::uint64_t>(std::count_if(relations.begin(), relations.end(), [](const Relation& relation) {
          return relation.kind != kParentOf && relation.kind != kChildOf;
        }));
  }
}

using namespace probe::itt;

namespace {

// A session has room for some thousands of tracks.
constexpr std::uint32_t kThreadsWithRows = 256;

// How oneTBB marks what its users tell: by metadata of this key, behind these words.
constexpr std::string_view kUserEvent = "user_event";
constexpr std::string_view kUserEventPrefix = "FGA::DATAID::";

// Records that are put into order: the numbers and ids behind their time.
struct OrderedShape {
  RecordType type;
  std::size_t values, ids;
};
constexpr OrderedShape kOrderedShapes[] = {
    {RecordType::overlapped_begin, 0, 2}, {RecordType::region_begin, 0, 2}, {RecordType::overlapped_end, 0, 1},
    {RecordType::region_end, 0, 1},       {RecordType::frame_begin, 0, 1},  {RecordType::frame_end, 0, 1},
    {RecordType::frame_mark, 0, 0},       {RecordType::frame_submit, 1, 1}, {RecordType::counter_set, 1, 0},
    {RecordType::counter_add, 1, 0},      {RecordType::memory_free, 1, 0},  {RecordType::lock_mark, 1, 0},
    {RecordType::memory_alloc, 2, 0},     {RecordType::marker, 1, 1},       {RecordType::message, 1, 0},
};

[[nodiscard]] std::string without_prefix(std::string_view text, std::string_view prefix) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return std::string(text);
}

}  // namespace

IttProcess::IttProcess(const probes::ProbeProcess& process, SessionWriter& writer, IttSchemas& schemas)
    : process_(process),
      writer_(writer),
      schemas_(schemas),
      names_(writer, process),
      tracks_(writer, schemas, process),
      tasks_(writer, names_, counts_),
      ordered_(writer, schemas, tracks_, names_, tasks_, counts_) {}

std::int64_t IttProcess::to_ns(std::uint64_t ticks) {
  constexpr std::uint64_t kAhead = std::uint64_t{1} << 36U;  // some 20 s of processors' counters, a minute of ns
  const probes::TickClock& clock = *process_.clock;
  const bool future = ticks > clock.last_ticks() && ticks - clock.last_ticks() > kAhead;
  const std::int64_t ns = future ? clock.last_ns() : clock.to_ns(ticks);
  if (!future && ns >= 0) return ns;
  ++counts_.bad_times;
  return std::max<std::int64_t>(ns, 0);
}

void IttProcess::thread(const probes::ProbeThread& thread) { of(thread).facts = thread; }

IttProcess::Thread& IttProcess::of(const probes::ProbeThread& thread) {
  if (thread.index >= threads_.size()) threads_.resize(thread.index + 1);
  std::unique_ptr<Thread>& made = threads_[thread.index];
  if (!made) {
    made = std::make_unique<Thread>();
    made->facts = thread;
    if (thread.index >= kThreadsWithRows) share_rows(*made);
  }
  return *made;
}

void IttProcess::share_rows(Thread& thread) {
  if (free_rows_.empty()) {
    const std::uint32_t number = ++shared_rows_;
    thread.rows.shared_by =
        probes::ProbeThread{kThreadsWithRows + number, 0, fmt::format("further threads {}", number)};
    return;
  }
  thread.rows = free_rows_.back();
  free_rows_.pop_back();
}

TaskStack& IttProcess::tasks_of(Thread& thread) {
  TrackNumber& track = thread.rows.tasks;
  if (track == kNone) track = tracks_.tasks(thread.row());
  thread.tasks.track = track;
  return thread.tasks;
}

void IttProcess::define(std::uint32_t type, std::string_view body) {
  if (!names_.define(type, body)) ++counts_.bad_records;
}

void IttProcess::record(const probes::ProbeThread& thread, probe::RecordHead head,
                        std::span<const std::uint64_t> words) {
  IttWords left(words);
  if (!read(of(thread), static_cast<RecordType>(head.type), head.value, left)) ++counts_.bad_records;
}

bool IttProcess::read(Thread& thread, RecordType type, std::uint32_t value, IttWords& words) {
  switch (type) {
    case RecordType::task_begin:
    case RecordType::task_end:
    case RecordType::task_text:
    case RecordType::task_name:
    case RecordType::task_value:
    case RecordType::task_colour:
      return read_task(thread, type, value, words);
    case RecordType::task_begin_ids:
      return read_task_begin(thread, value, words);
    case RecordType::metadata:
      return read_metadata(thread, value, words);
    case RecordType::relation:
      return read_relation(thread, value, words);
    case RecordType::event_begin:
    case RecordType::event_end:
      return read_event(thread, type, value, words);
    case RecordType::lock_wait:
    case RecordType::lock_obtain:
    case RecordType::lock_release:
    case RecordType::lock_cancel:
      return read_lock(thread, type, value == 1, words);
    case RecordType::fiber_enter:
      thread.fiber = value;
      return words.has(1);
    case RecordType::fiber_leave:
      thread.fiber = 0;
      return words.has(1);
    case RecordType::group:
      if (!words.has(7)) return false;
      (void)words.next();
      tasks_.name_id(words.id(), names_.site(value).text);
      return true;
    default:
      return read_ordered(thread, type, value, words);
  }
}

bool IttProcess::read_task(Thread& thread, RecordType type, std::uint32_t value, IttWords& words) {
  TaskReported reported{.type = type, .value = value};
  if (type == RecordType::task_text || type == RecordType::task_name) {
    if (!words.text(value, reported.text)) return false;
  } else if (type != RecordType::task_colour) {
    if (!words.has(1)) return false;
    reported.number = words.next();
  }
  const bool timed = type == RecordType::task_begin || type == RecordType::task_end;
  if (timed) reported.ns = to_ns(reported.number);
  if (thread.fiber == 0) {
    tasks_.apply(tasks_of(thread), reported);
    return true;
  }
  // What has no time of its own follows what came before it.
  if (timed) thread.fiber_ns = reported.ns;
  ordered_.add({.ns = thread.fiber_ns,
                .type = type,
                .value = value,
                .thread = &thread.facts,
                .first = reported.number,
                .fiber = thread.fiber,
                .text = std::move(reported.text)});
  return true;
}

bool IttProcess::read_task_begin(Thread& thread, std::uint32_t site, IttWords& words) {
  if (!words.has(7)) return false;
  const std::int64_t ns = to_ns(words.next());
  auto extra = std::make_unique<TaskExtra>();
  extra->id = words.id();
  extra->parent = words.id();
  extra->key = schemas_.next_key();
  ordered_.add(
      {.ns = ns, .type = RecordType::task_begin_ids, .thread = &thread.facts, .id = extra->id, .first = extra->key});
  // The task that it is nested in needs no arrow.
  NestedSpans<OpenTask>& open = thread.tasks.open;
  const bool nested = !open.empty() && open.innermost().extra && open.innermost().extra->id == extra->parent;
  if (!extra->parent.empty() && !extra->id.empty() && !nested) {
    ordered_.add({.ns = ns,
                  .type = RecordType::relation,
                  .value = kParentOf,
                  .thread = &thread.facts,
                  .id = extra->parent,
                  .parent = extra->id});
  }
  tasks_of(thread).open.begin({site, ns, std::move(extra)});
  return true;
}

bool IttProcess::read_metadata(Thread& thread, std::uint32_t key, IttWords& words) {
  if (!words.has(5)) return false;
  const std::int64_t ns = to_ns(words.next());
  Id id = words.id();
  if (id.d1 == 0) id = {};  // made of no address: it stands for nothing
  const std::uint64_t type_and_bytes = words.next();
  std::string bytes;
  if (!words.bytes(static_cast<std::size_t>(type_and_bytes >> 32U), bytes)) return false;
  const std::string text =
      json::repair_utf8(metadata_text(static_cast<MetadataType>(type_and_bytes & 0xffffffffU), bytes));
  const std::string& key_text = names_.site(key).text;
  NestedSpans<OpenTask>& open = thread.tasks.open;
  const std::size_t of_id = open.find([&](const OpenTask& task) { return task.extra && task.extra->id == id; });
  if (!id.empty() && of_id == open.kNone) {
    tasks_.note(id, key_text, text);
    return true;
  }
  const bool is_users = key_text.empty() || key_text == kUserEvent;
  const std::string line = is_users ? without_prefix(text, kUserEventPrefix) : fmt::format("{}: {}", key_text, text);
  if (id.empty() && open.empty()) {  // outside of tasks libraries tell their users' events so, and OpenMP its figures
    ordered_.add({.ns = ns,
                  .type = RecordType::message,
                  .value = is_users ? 0 : key,
                  .thread = &thread.facts,
                  .first = kNoSeverity,
                  .text = line});
    return true;
  }
  (id.empty() ? open.innermost() : open[of_id]).with_extra().add_line(line);
  return true;
}

bool IttProcess::read_relation(Thread& thread, std::uint32_t kind, IttWords& words) {
  if (!words.has(7)) return false;
  OrderedRecord record{.ns = to_ns(words.next()), .type = RecordType::relation, .value = kind, .thread = &thread.facts};
  record.id = words.id();
  record.parent = words.id();
  // What is made of an object may run while the object itself never does.
  if (kind == kParentOf) tasks_.own(record.parent, record.id);
  if (kind == kChildOf) tasks_.own(record.id, record.parent);
  if (record.id.empty()) {
    if (thread.tasks.open.empty()) return true;  // its task was begun while nothing was collected
    TaskExtra& extra = thread.tasks.open.innermost().with_extra();
    if (extra.key == 0) extra.key = schemas_.next_key();
    record.first = extra.key;
  }
  ordered_.add(std::move(record));
  return true;
}

bool IttProcess::read_ordered(Thread& thread, RecordType type, std::uint32_t value, IttWords& words) {
  const auto shape = std::find_if(std::begin(kOrderedShapes), std::end(kOrderedShapes),
                                  [type](const OrderedShape& one) { return one.type == type; });
  if (shape == std::end(kOrderedShapes) || !words.has(1 + shape->values + 3 * shape->ids)) return false;
  OrderedRecord record{.ns = to_ns(words.next()), .type = type, .value = value, .thread = &thread.facts};
  if (shape->values > 0) record.first = words.next();
  if (shape->values > 1) record.second = words.next();
  if (shape->ids > 0) record.id = words.id();
  if (shape->ids > 1) record.parent = words.id();
  if (type == RecordType::frame_submit) record.first = static_cast<std::uint64_t>(to_ns(record.first));
  if (type == RecordType::message) {
    const std::uint64_t severity_and_bytes = std::exchange(record.first, record.first & 0xffffffffU);
    if (!words.text(static_cast<std::size_t>(severity_and_bytes >> 32U), record.text)) return false;
  }
  ordered_.add(std::move(record));
  return true;
}

// What is left when a thread or the process ends, and what the session says about it.

void IttProcess::thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) {
  Thread& ended = of(thread);
  close(ended, now_ns);
  if (ended.rows.shared_by) free_rows_.push_back(ended.rows);
}

void IttProcess::ended(const probes::ProbeEnd& end) {
  for (const auto& thread : threads_) {
    if (thread) close(*thread, end.end_ns);
  }
  ordered_.finish(end.end_ns);
  report(end);
  report_facts();
}

void IttProcess::report(const probes::ProbeEnd& end) {
  tell(writer_, process_.title() + ": ",
       {{"tasks_unfinished", counts_.unfinished,
         fmt::format("tasks, regions or frames had not ended when {} did; they are shown to end there",
                     end.by_capture ? "the capture" : "their thread or process")},
        {"ends_without_begin", counts_.ends_without_begin,
         "ends whose begin was not recorded were left out; pausing and resuming inside tasks leaves such ends"},
        {"releases_unknown", counts_.releases_unknown,
         "releases of memory that was allocated before the capture, or while it was paused, were left out"},
        {"relations_open", counts_.relations_open, "relations between things that never ran as tasks have no arrow"},
        {"counter_values_cut", counts_.cut_counters, "counter values over 9223372036854775807 are shown as that"},
        {"ids_over_limit", counts_.ids_over_limit,
         "metadata of ids over the number that can be kept apart was left out"},
        {"times_out_of_capture", counts_.bad_times,
         "times that the program gave lie outside of the capture; they are shown at its edges"},
        {"bad_records", counts_.bad_records, "records of the program that could not be understood were left out"}});
}

void IttProcess::report_facts() {
  for (const auto& [key, value] : names_.facts()) {
    if (key == "own_clock") {
      tell(writer_, process_.title() + ": ",
           {{"own_clock_times", 1, "calls with times of the program's own clock are shown when they were made"}});
    } else if (key == "frame_images") {
      tell(writer_, process_.title() + ": ", {{"frame_images_left_out", 1, "images of frames are not kept"}});
    } else {
      writer_.set_meta(fmt::format("{}: {}", process_.title(), key), value);
    }
  }
}

// Events and locks of a thread: what may overlap within it.

using namespace probe::itt;

bool IttProcess::read_event(Thread& thread, RecordType type, std::uint32_t site, IttWords& words) {
  if (!words.has(1)) return false;
  const std::int64_t ns = to_ns(words.next());
  const auto end_at = [&](std::optional<std::int64_t> end_ns) {
    return thread.events_open.end(site, [&](std::int64_t begin_ns, std::uint32_t lane) {
      write_event(thread, site, lane, begin_ns, end_ns.value_or(begin_ns));
    });
  };
  if (type == RecordType::event_end) {
    if (!end_at(ns)) ++counts_.ends_without_begin;
    return true;
  }
  end_at(std::nullopt);  // one that begins again without an end was a point in time
  thread.events_open.begin(site, ns);
  return true;
}

void IttProcess::write_event(Thread& thread, std::uint32_t site, std::uint32_t lane, std::int64_t begin_ns,
                             std::int64_t end_ns) {
  if (thread.rows.events == kNone) thread.rows.events = tracks_.events(thread.row());
  OpenTask task{site, begin_ns, nullptr};
  tasks_.write(thread.rows.events, lane, task, end_ns, false);
}

bool IttProcess::read_lock(Thread& thread, RecordType type, bool shared, IttWords& words) {
  if (!words.has(2)) return false;
  const std::int64_t ns = to_ns(words.next());
  const std::uint64_t lock = words.next();
  const auto end_wait = [&] {
    thread.waited.end(lock,
                      [&](std::int64_t begin_ns, std::uint32_t) { write_wait(thread, lock, begin_ns, ns, shared); });
  };
  switch (type) {
    case RecordType::lock_wait:
      thread.waited.begin(lock, ns);
      break;
    case RecordType::lock_cancel:
      end_wait();
      break;
    case RecordType::lock_obtain:
      end_wait();
      // Without marks of its releases an object is held anew each time.
      while (!names_.lock(lock).declared && thread.held.end(lock, [](const Held&, std::uint32_t) {})) {
      }
      thread.held.begin(lock, {ns, shared});
      break;
    default:  // nothing is held: obtained while nothing was collected, or on another thread
      thread.held.end(lock, [&](const Held& held, std::uint32_t lane) { write_hold(thread, lock, lane, held, ns); });
  }
  return true;
}

void IttProcess::write_wait(Thread& thread, std::uint64_t lock, std::int64_t begin_ns, std::int64_t end_ns,
                            bool shared) {
  if (thread.rows.waits == kNone) thread.rows.waits = tracks_.lock_waits(thread.row());
  write_lock(thread.rows.waits, 0, lock, begin_ns, end_ns, shared);
}

void IttProcess::write_hold(Thread& thread, std::uint64_t lock, std::uint32_t lane, const Held& held,
                            std::int64_t end_ns) {
  if (thread.rows.holds == kNone) thread.rows.holds = tracks_.lock_holds(thread.row());
  write_lock(thread.rows.holds, lane, lock, held.begin_ns, end_ns, held.shared);
}

void IttProcess::write_lock(TrackNumber track, std::uint32_t lane, std::uint64_t lock, std::int64_t begin_ns,
                            std::int64_t end_ns, bool shared) {
  const IttLock& known = names_.lock(lock);
  Row row = writer_.begin_event_at(track, lane, begin_ns, end_ns - begin_ns, known.name);
  if (known.place != 0) row.string(kLockPlace, known.place);
  if (shared) row.boolean(kLockShared, true);
  row.unsigned_integer(kLockAddress, lock);
}

// Waits and holds that are open say where a program hangs; of objects whose releases are not told nothing is known.
void IttProcess::close(Thread& thread, std::int64_t ns) {
  tasks_.close_all(thread.tasks, ns);
  thread.events_open.end_all([&](std::uint32_t site, std::int64_t begin_ns, std::uint32_t lane) {
    write_event(thread, site, lane, begin_ns, begin_ns);
  });
  thread.waited.end_all(
      [&](std::uint64_t lock, std::int64_t begin_ns, std::uint32_t) { write_wait(thread, lock, begin_ns, ns, false); });
  thread.held.end_all([&](std::uint64_t lock, const Held& held, std::uint32_t lane) {
    if (names_.lock(lock).declared) write_hold(thread, lock, lane, held, ns);
  });
}

}  // namespace accelscope::capture::kinds::itt
