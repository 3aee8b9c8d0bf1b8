#include "capture/kinds/itt/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "capture/json/json_cursor.h"
#include "capture/probe/itt/metadata_text.h"

namespace accelscope::capture::kinds::itt {

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
  TaskTold told{.type = type, .value = value};
  if (type == RecordType::task_text || type == RecordType::task_name) {
    if (!words.text(value, told.text)) return false;
  } else if (type != RecordType::task_colour) {
    if (!words.has(1)) return false;
    told.number = words.next();
  }
  const bool timed = type == RecordType::task_begin || type == RecordType::task_end;
  if (timed) told.ns = to_ns(told.number);
  if (thread.fiber == 0) {
    tasks_.apply(tasks_of(thread), told);
    return true;
  }
  // What has no time of its own follows what came before it.
  if (timed) thread.fiber_ns = told.ns;
  ordered_.add({.ns = thread.fiber_ns,
                .type = type,
                .value = value,
                .thread = &thread.facts,
                .first = told.number,
                .fiber = thread.fiber,
                .text = std::move(told.text)});
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
      json::mend_utf8(metadata_text(static_cast<MetadataType>(type_and_bytes & 0xffffffffU), bytes));
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

}  // namespace accelscope::capture::kinds::itt
