// Single events: where they go and what is made of them beside.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "capture/json/json_cursor.h"
#include "capture/sources/chrome/importer.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sources::chrome {
namespace {

// Columns whose presence says that an event happened on a device.
constexpr std::string_view kDeviceColumns[] = {"device", "stream",     "correlation",   "grid",
                                               "block",  "call_stack", "kernel_details"};

[[nodiscard]] bool tells_of_device(const Schema& schema, std::span<const BoundValue> values) noexcept {
  return std::any_of(values.begin(), values.end(), [&](const BoundValue& value) {
    const std::string& name = schema.columns[value.column].name;
    return std::find(std::begin(kDeviceColumns), std::end(kDeviceColumns), name) != std::end(kDeviceColumns);
  });
}

[[nodiscard]] std::optional<std::int64_t> integer_of(const Schema& schema, std::span<const BoundValue> values,
                                                     std::string_view column) noexcept {
  for (const BoundValue& value : values) {
    if (schema.columns[value.column].name == column) return static_cast<std::int64_t>(value.value);
  }
  return std::nullopt;
}

// A whole number that is another one as a double: beyond 2^53.
[[nodiscard]] bool is_rounded(const json::JsonField& field, double value) noexcept {
  constexpr double kExact = 9007199254740992.0;
  if (std::fabs(value) < kExact) return false;
  if (const auto whole = json::to_int64(field)) {
    return value >= 9223372036854775808.0 || static_cast<std::int64_t>(value) != *whole;
  }
  const auto wide = json::to_uint64(field);
  return wide && (value >= 18446744073709551616.0 || static_cast<std::uint64_t>(value) != *wide);
}

[[nodiscard]] bool is_no_thread(std::string_view key) {
  static const std::string kNoThread = thread_key("-1", "-1");
  return key == kNoThread;
}

[[nodiscard]] bool is_thread_0(std::string_view key) {
  static const std::string kThread0 = thread_key("0", "0");
  return key == kThread0;
}

// Begin and end both say what their thread's clock was ("tts"): the event has that of its begin, and how far it went
// on.
void keep_thread_time(const TableBinding& binding, const std::vector<BoundValue>& begin,
                      std::vector<BoundValue>& values) {
  const std::optional<std::uint32_t> column = binding.column_of("tts");
  if (!column) return;
  const auto in = [](auto& all, std::uint32_t wanted) {
    return std::find_if(all.begin(), all.end(), [&](const BoundValue& value) { return value.column == wanted; });
  };
  const auto first = in(begin, *column);
  const auto last = in(values, *column);
  if (first == begin.end() || last == values.end()) return;
  const ColumnType type = binding.schema().columns[*column].type;
  const std::optional<std::uint32_t> length = binding.column_of("tdur");
  if (length && binding.schema().columns[*length].type == type && in(values, *length) == values.end()) {
    if (type == ColumnType::int64) {
      values.push_back({*length, 0, last->value - first->value});
    } else if (type == ColumnType::float64) {
      const double us = std::bit_cast<double>(last->value) - std::bit_cast<double>(first->value);
      values.push_back({*length, 0, std::bit_cast<std::uint64_t>(us)});
    }
  }
  in(values, *column)->value = first->value;
}

constexpr std::uint64_t kAsyncPrime = 0x9E3779B97F4A7C15U;

}  // namespace

void ChromeImporter::saw_time(std::int64_t begin, std::int64_t end) noexcept {
  first_ns_ = any_time_ ? std::min(first_ns_, begin) : begin;
  last_ns_ = any_time_ ? std::max(last_ns_, end) : end;
  any_time_ = true;
}

const ChromeSchema& ChromeImporter::schema_of(ChromeTable table) {
  const auto index = static_cast<std::size_t>(table);
  ChromeSchema& schema = schemas_[index];
  if (schema.schema == nullptr) {
    schema.schema = &bindings_[index]->schema();
    schema.number = writer_.add_schema(*schema.schema);
  }
  return schema;
}

const ChromeSchema& ChromeImporter::counter_schema() {
  if (counters_.schema == nullptr) {
    counter_schema_ = std::make_unique<Schema>(tracks::make_counter_schema());
    counters_ = {writer_.add_schema(*counter_schema_), counter_schema_.get()};
  }
  return counters_;
}

void ChromeImporter::write_slice(const EventRecord& record, std::span<const BoundValue> values, std::string_view text,
                                 bool asynchronous) {
  std::int64_t duration = record.duration;
  if (duration < 0) {
    ++counts_.negative_durations;
    duration = 0;
  }
  const ChromeSchema& schema = schema_of(record.table);
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  std::uint32_t track = asynchronous ? tracks_.of_async(record.thread, record.category, schema)
                                     : tracks_.known(record.thread, record.table);
  if (record.table == ChromeTable::kernel && tracks::is_collective_kernel(vocabulary_.strings.text(record.name))) {
    track = tracks_.of_collective_kernels(record.thread, schema);
  } else if (record.table == ChromeTable::python_function && is_thread_0(vocabulary_.threads.text(record.thread))) {
    const auto id = integer_of(*schema.schema, values, "Python id");
    const auto parent = integer_of(*schema.schema, values, "Python parent id");
    const std::size_t slot = unknown_threads_.slot_of(id, parent, record.start, record.start + duration);
    track = tracks_.of_unknown_thread(record.thread, slot, schema);
  }
  const bool on_stream =
      record.table == ChromeTable::kernel || record.table == ChromeTable::memcpy || record.table == ChromeTable::memset;
  if (on_stream && !asynchronous && is_no_thread(vocabulary_.threads.text(record.thread))) {
    if (const auto stream = integer_of(*schema.schema, values, "stream"))
      track = tracks_.of_stream(record.thread, record.table, *stream, schema);
  }
  if (track == kNone) {
    track = tracks_.of_thread(record.thread, record.table, schema, tells_of_device(*schema.schema, values));
  }
  if (tracks_.wants_facts(record.thread)) {
    const auto stated = [&](std::string_view column) {
      const auto place = schema.schema->find(column);
      const bool whole = place && schema.schema->columns[*place].type == ColumnType::int64;
      return whole ? integer_of(*schema.schema, values, column) : std::nullopt;
    };
    const bool on_device = rule_of(record.table).place != TablePlace::host_thread;
    tracks_.add_facts(record.thread, stated("rank"), on_device ? stated("device") : std::nullopt);
  }
  with_category_.assign(values.begin(), values.end());
  if (record.category != 0) with_category_.push_back({binding.category, 0, record.category});
  share_collective_facts(record, with_category_);
  note_work(record, track, duration, with_category_);
  saw_time(record.start, record.start + duration);
  events_.write(track, record.start, duration, record.name, with_category_, text);
  if (record.has_bind_id) flows_.add_bound(record, track, vocabulary_.strings.intern("flow").id);
  any_on_device_ = any_on_device_ || rule_of(record.table).place != TablePlace::host_thread;
  any_runtime_ = any_runtime_ || record.table == ChromeTable::runtime_call;
}

void ChromeImporter::share_collective_facts(const EventRecord& record, std::vector<BoundValue>& values) {
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  if (binding.collective == TableBinding::kNoColumn || binding.external_id == TableBinding::kNoColumn) return;
  const bool is_kernel = record.table == ChromeTable::kernel;
  if (is_kernel && (collectives_.empty() || !tracks::is_collective_kernel(vocabulary_.strings.text(record.name))))
    return;
  const auto count = static_cast<std::uint32_t>(collective_columns(record.table).size());
  const auto is_fact = [&](const BoundValue& value) {
    return value.column >= binding.collective && value.column < binding.collective + count;
  };
  const auto id = std::find_if(values.begin(), values.end(),
                               [&](const BoundValue& value) { return value.column == binding.external_id; });
  if (id == values.end() || id->value == 0) return;
  const bool has_facts = std::any_of(values.begin(), values.end(), is_fact);
  if (is_kernel && !has_facts) {
    const auto known = collectives_.find(id->value);
    if (known == collectives_.end()) return;
    for (BoundValue fact : known->second) {
      fact.column += binding.collective;
      values.push_back(fact);
    }
  } else if (!is_kernel && has_facts) {
    std::vector<BoundValue>& facts = collectives_[id->value];
    facts.clear();
    for (BoundValue fact : values) {
      if (!is_fact(fact)) continue;
      fact.column -= binding.collective;
      facts.push_back(fact);
    }
  }
}

void ChromeImporter::write_retained(const RetainedEvent& event, bool asynchronous) {
  write_slice(event.record, event.values, event.text, asynchronous);
}

void ChromeImporter::write_instant(const EventRecord& record, std::span<const BoundValue> values,
                                   std::string_view text) {
  if (record.table == ChromeTable::memory) return write_memory(record, values, text);
  const ChromeSchema& schema = schema_of(record.table);
  with_category_.assign(values.begin(), values.end());
  if (record.category != 0) {
    with_category_.push_back({bindings_[static_cast<std::size_t>(record.table)]->category, 0, record.category});
  }
  saw_time(record.start, record.start);
  const std::uint32_t track = tracks_.of_thread(record.thread, record.table, schema, false);
  events_.write(track, record.start, 0, record.name, with_category_, text);
  if (record.has_bind_id) {
    EventRecord moment = record;
    moment.duration = 0;
    flows_.add_bound(moment, track, vocabulary_.strings.intern("flow").id);
  }
}

// An end of a flow that says which event it belongs to: {"event": NAME, "ts": ..., "dur": ...}.
void ChromeImporter::add_stated_flow(const EventRecord& record, std::string_view args) {
  StringId name = 0;
  ExactTime begin, duration;
  int times = 0;
  (void)json::each_member(args, [&](const json::JsonField& field) {
    if (field.key == "event") name = vocabulary_.strings.intern(field.text).id;
    if (field.key == "ts") times += read_microseconds(field.text, begin) == TimeReading::ok ? 1 : 0;
    if (field.key == "dur") times += read_microseconds(field.text, duration) == TimeReading::ok ? 1 : 0;
    return true;
  });
  if (times == 2) {
    flows_.add_stated(record, begin.ns, (begin + duration).ns, name);
  } else {
    flows_.add(record, is_launch_flow(vocabulary_.strings.text(record.category)));
  }
}

void ChromeImporter::write_memory(const EventRecord& record, std::span<const BoundValue> values,
                                  std::string_view text) {
  const ChromeSchema& schema = schema_of(record.table);
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  std::string_view pool;
  for (const BoundValue& value : values) {
    if (value.column == binding.pool) pool = vocabulary_.strings.text(static_cast<StringId>(value.value));
  }
  saw_time(record.start, record.start);
  any_memory_ = true;
  any_memory_address_ = any_memory_address_ || integer_of(*schema.schema, values, "Addr").has_value();
  const bool own = facts_.is_own();
  const std::uint32_t track = own ? tracks_.of_thread(record.thread, record.table, schema, false)
                                  : tracks_.of_pool(record.thread, pool, schema);
  events_.write(track, record.start, 0, record.name, values, text);
  if (own) return;  // its counters are in the trace
  for (const std::string_view total : {"Total Allocated", "Total Reserved"}) {
    if (const auto bytes = integer_of(*schema.schema, values, total)) {
      write_sample(tracks_.of_pool_counter(record.thread, pool, total, counter_schema()), record.start,
                   static_cast<double>(*bytes));
    }
  }
}

void ChromeImporter::write_sample(std::uint32_t track, std::int64_t ns, double value) {
  const BoundValue sample{0, 0, std::bit_cast<std::uint64_t>(value)};
  saw_time(ns, ns);
  events_.write(track, ns, 0, 0, std::span(&sample, 1), {});
}

// {"series": 1, "other": 2}: a track each.
void ChromeImporter::write_counters(const EventRecord& record, std::string_view args) {
  const std::string_view name = vocabulary_.strings.text(record.name);
  bool any = false;
  (void)json::each_member(args, [&](const json::JsonField& field) {
    const std::optional<double> value = json::to_double(field);
    if (!value) return true;
    any = true;
    if (is_rounded(field, *value)) ++counts_.rounded_counters;
    const std::string_view series = field.key;
    std::string label =
        series.empty() || series == name || series == "value" ? std::string(name) : fmt::format("{} {}", name, series);
    if (record.has_id) {
      label += record.id_is_text ? fmt::format(" [{}]", vocabulary_.strings.text(static_cast<StringId>(record.id)))
                                 : fmt::format(" [{}]", static_cast<std::int64_t>(record.id));
    }
    // Counters belong to the process, whichever thread wrote them.
    const std::string process = split_thread_key(vocabulary_.threads.text(record.thread)).pid;
    const std::uint32_t owner = vocabulary_.threads.intern(thread_key(process, {})).id;
    write_sample(tracks_.of_counter(owner, label, counter_schema()), record.start, *value);
    return true;
  });
  if (any) return;
  ++counts_.bad_counters;
  --counts_.rows_read;
}

// Events of one id are of one category and, where the id says "local", of one process.
std::uint64_t ChromeImporter::async_key(const EventRecord& record) const {
  std::uint64_t key = record.category;
  key = key * kAsyncPrime + record.scope;
  key = key * kAsyncPrime + record.id;
  key = key * kAsyncPrime + (record.id_is_text ? 2 : record.has_id ? 1 : 0);
  if (record.scope != 0 && vocabulary_.strings.text(record.scope) == "local") {
    key = key * kAsyncPrime + std::hash<std::string>{}(split_thread_key(vocabulary_.threads.text(record.thread)).pid);
  }
  return key;
}

OpenEvents::Handlers ChromeImporter::joined(bool asynchronous) {
  OpenEvents::Handlers handlers;
  handlers.emit = [this, asynchronous](const RetainedEvent& event) { write_retained(event, asynchronous); };
  handlers.add_args = [this](RetainedEvent& event, std::string_view args) {
    end_batch_.clear();
    binder_.begin_batch();
    const TableBinding& binding = *bindings_[static_cast<std::size_t>(event.record.table)];
    const std::vector<BoundValue> before = event.values;
    event.add_values(binder_.bind(binding, {}, args, {}, end_batch_), end_batch_);
    keep_thread_time(binding, before, event.values);
  };
  handlers.without_begin = [this, asynchronous](const EventRecord& end) {
    ++counts_.ends_without_begin;
    EventRecord alone = end;
    alone.duration = 0;
    write_slice(alone, {}, {}, asynchronous);
  };
  return handlers;
}

// What kernels compute, by the operators that launched them.

namespace {

using tracks::KernelColumns;
using tracks::KernelPart;

// Of collective_columns().
enum CollectiveColumn : std::uint32_t { kInElements = 1, kOutElements = 2, kElementType = 4 };

[[nodiscard]] std::uint64_t value_in(std::span<const BoundValue> values, std::optional<std::uint32_t> column) noexcept {
  if (!column) return 0;
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const BoundValue& value) { return value.column == *column; });
  return found == values.end() ? 0 : found->value;
}

// "all_reduce" of "nccl:all_reduce fp32 [1000], ...": kernels of one name carry several operations out.
[[nodiscard]] std::string_view operation_of(std::string_view basis) noexcept {
  constexpr std::string_view kCollective = "nccl:";
  if (!basis.starts_with(kCollective)) return {};
  basis.remove_prefix(kCollective.size());
  return basis.substr(0, basis.find(' '));
}

}  // namespace

void ChromeImporter::note_work(const EventRecord& record, std::uint32_t track, std::int64_t duration,
                               std::vector<BoundValue>& values) {
  switch (record.table) {
    case ChromeTable::cpu_op:
    case ChromeTable::user_annotation:
      return note_operator(record, duration, values);
    case ChromeTable::runtime_call: {
      const std::uint64_t correlation = value_in(values, tracks::RuntimeColumns::correlation);
      if (correlation != 0) work_.add_call(correlation, record.thread, record.start);
      return;
    }
    case ChromeTable::kernel:
      break;
    default:
      return;
  }
  if (value_in(values, KernelColumns::flops) != 0 || value_in(values, KernelColumns::bytes) != 0) return;  // stated
  const std::string_view name = vocabulary_.strings.text(record.name);
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  const bool is_collective = tracks::is_collective_kernel(name);
  if (is_collective) {
    const auto fact = [&](CollectiveColumn which) { return value_in(values, binding.collective + which); };
    const std::uint64_t elements = std::max(fact(kInElements), fact(kOutElements));
    const std::uint64_t size = element_bytes(vocabulary_.strings.text(static_cast<StringId>(fact(kElementType))));
    constexpr std::uint64_t kMostElements = std::uint64_t{1} << 50;
    if (elements > 0 && elements < kMostElements && size > 0) {
      values.push_back({KernelColumns::bytes, 0, elements * size});
      return;
    }
  }
  const auto [known, is_new] = parts_.try_emplace(record.name, KernelPart::main);
  if (is_new && !is_collective) known->second = tracks::part_of_kernel(name);
  if (known->second == KernelPart::helper) return;
  if (std::find(kernel_tracks_.rbegin(), kernel_tracks_.rend(), track) == kernel_tracks_.rend())
    kernel_tracks_.push_back(track);
  const auto reported = work_.add_kernel({.track = track,
                                          .begin = record.start,
                                          .duration = duration,
                                          .name = record.name,
                                          .grid = static_cast<StringId>(value_in(values, KernelColumns::grid)),
                                          .block = static_cast<StringId>(value_in(values, KernelColumns::block)),
                                          .correlation = value_in(values, KernelColumns::correlation),
                                          .external_id = value_in(values, KernelColumns::external_id),
                                          .part = known->second});
  if (!reported) return;
  if (reported->flops > 0) values.push_back({KernelColumns::flops, 0, std::bit_cast<std::uint64_t>(reported->flops)});
  if (reported->bytes > 0)
    values.push_back({KernelColumns::bytes, 0, static_cast<std::uint64_t>(std::llround(reported->bytes))});
  if (reported->type != 0) values.push_back({KernelColumns::precision, 0, reported->type});
  values.push_back({KernelColumns::work_from, 0, reported->basis});
  if (const std::string_view operation = operation_of(vocabulary_.strings.text(reported->basis)); !operation.empty())
    values.push_back({binding.collective, 0, vocabulary_.strings.intern(operation).id});
}

void ChromeImporter::note_operator(const EventRecord& record, std::int64_t duration,
                                   std::span<const BoundValue> values) {
  const auto [known, is_new] = may_have_work_.try_emplace(record.name, false);
  if (is_new) known->second = tracks::may_have_work(vocabulary_.strings.text(record.name));
  if (!known->second) return;
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  const tracks::KernelWork::Operator* work = work_of(binding, record, values);
  if (work == nullptr) return;
  tracks::KernelWork::Operator made = *work;
  made.thread = record.thread;
  made.begin = record.start;
  made.end = record.start + duration;
  made.external_id = value_in(values, binding.column_of("External id"));
  work_.add_operator(made);
}

// Operators of one name, shapes and types are read once. Null: they do not tell.
const tracks::KernelWork::Operator* ChromeImporter::work_of(const TableBinding& binding, const EventRecord& record,
                                                            std::span<const BoundValue> values) {
  const auto text = [&](std::string_view column) {
    const std::optional<std::uint32_t> place = binding.column_of(column);
    const bool is_string = place && binding.schema().columns[*place].type == ColumnType::string;
    return is_string ? static_cast<StringId>(value_in(values, place)) : StringId{0};
  };
  const std::array<StringId, 4> key = {record.name, text("Input Dims"), text("Input type"), text("Concrete Inputs")};
  if (key[1] == 0) return nullptr;
  const auto [known, is_new] = works_.try_emplace(key);
  if (is_new) {
    const SharedStrings& strings = vocabulary_.strings;
    if (const auto work = tracks::operator_work(strings.text(key[0]), strings.text(key[1]), strings.text(key[2]),
                                                strings.text(key[3]))) {
      tracks::KernelWork::Operator& made = known->second;
      made.kind = work->kind;
      made.flops = work->flops;
      made.bytes = work->bytes;
      if (!work->type.empty()) made.type = vocabulary_.strings.intern(work->type).id;
      made.basis = vocabulary_.strings.intern(work->basis).id;
    }
  }
  return known->second.basis == 0 ? nullptr : &known->second;
}

void ChromeImporter::amend_kernels() {
  work_.join();
  for (const std::uint32_t track : kernel_tracks_) {
    if (!work_.has(track)) continue;
    events_.amend(track, [this, track](std::int64_t start, StringId name, Row& row) {
      const tracks::KernelWork::Found* work = work_.find(track, start, name);
      if (work == nullptr) return;
      if (work->flops > 0) row.real(KernelColumns::flops, work->flops);
      if (work->bytes > 0) row.integer(KernelColumns::bytes, std::llround(work->bytes));
      if (work->type != 0) row.unsigned_integer(KernelColumns::precision, work->type);
      row.unsigned_integer(KernelColumns::work_from, work->basis);
      if (const std::string_view operation = operation_of(vocabulary_.strings.text(work->basis)); !operation.empty())
        row.unsigned_integer(bindings_[static_cast<std::size_t>(ChromeTable::kernel)]->collective,
                             vocabulary_.strings.intern(operation).id);
    });
  }
}

}  // namespace accelscope::capture::sources::chrome
