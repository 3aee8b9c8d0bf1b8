#include "capture/sources/xplane/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::xplane {
namespace {

using namespace columns;

constexpr ColumnSpec kXMemory[] = {
    {"Bytes", kInt, "B", kMemory, "", "Allocated, or released if negative.", Role::allocation},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    {"Total Allocated", kInt, "B", kMemory, "", "In use after this."},
    {"Total Reserved", kInt, "B", kMemory, "", "Held by the allocator after this."},
};

constexpr OwnColumn kTimes[] = {OwnColumn::start_ps, OwnColumn::dur_ps};
constexpr OwnColumn kOfKernels[] = {OwnColumn::layer, OwnColumn::private_memory, OwnColumn::start_ps,
                                    OwnColumn::dur_ps};
constexpr OwnColumn kOfOps[] = {OwnColumn::hlo,   OwnColumn::layer,    OwnColumn::bytes,
                                OwnColumn::flops, OwnColumn::start_ps, OwnColumn::dur_ps};
constexpr OwnColumn kOfAsyncOps[] = {OwnColumn::hlo, OwnColumn::layer, OwnColumn::bytes, OwnColumn::start_ps,
                                     OwnColumn::dur_ps};
constexpr OwnColumn kOfTotals[] = {OwnColumn::occurrences, OwnColumn::total_ps};
constexpr OwnColumn kOfAnnotations[] = {OwnColumn::hlo, OwnColumn::start_ps, OwnColumn::dur_ps};

constexpr std::string_view kWaitingOnHost[] = {"Wait for donation holds", "Acquire semaphore",
                                               "PjrtAsyncWait",           "CustomWait",
                                               "BlockHostUntilReady",     "ReadSyncFlag"};

// In the order of XTable. Tables that all profiles of GPUs have get their columns from sources/tracks.
const std::array kXTables = {
    XTableRule{{"kernel", EventKind::slice, "name", "The function that ran."},
               tracks::gpu_columns(tracks::GpuTable::kernel),
               kOfKernels},
    XTableRule{{"memcpy", EventKind::slice, "name", "What moves the bytes."},
               tracks::gpu_columns(tracks::GpuTable::memcpy),
               kTimes},
    XTableRule{{"memset", EventKind::slice, "name", "What sets the bytes."},
               tracks::gpu_columns(tracks::GpuTable::memset),
               kTimes},
    XTableRule{{"runtime_call", EventKind::slice, "name", "The function that was called.",
                tracks::gpu_waiting_names(tracks::GpuTable::runtime_call)},
               tracks::gpu_columns(tracks::GpuTable::runtime_call),
               kTimes,
               "runtime",
               3},
    XTableRule{{"nvtx", EventKind::slice, "text", "What the program calls it."},
               tracks::gpu_columns(tracks::GpuTable::nvtx),
               kTimes,
               "annotations",
               0},
    XTableRule{{"device_event", EventKind::slice, "name", "What the device's driver did."}, {}, kTimes},
    XTableRule{{"xla_op", EventKind::slice, "name", "The operation of the program."}, {}, kOfOps},
    XTableRule{{"xla_async_op", EventKind::slice, "name", "The operation that runs beside others."}, {}, kOfAsyncOps},
    XTableRule{{"xla_module", EventKind::slice, "name", "The program that ran."}, {}, kOfAnnotations},
    XTableRule{{"step", EventKind::slice, "name", "The step of the training or serving loop."}, {}, kOfAnnotations},
    XTableRule{{"xla_annotation", EventKind::slice, "name", "What the framework calls it."}, {}, kOfAnnotations},
    XTableRule{{"host_event", EventKind::slice, "name", "What the host did.", kWaitingOnHost}, {}, kTimes, "events", 1},
    XTableRule{{"python_function", EventKind::slice, "name", "The function, with its place."}, {}, kTimes, "python", 2},
    XTableRule{{"memory", EventKind::memory, "name", "What was done."}, kXMemory, {}},
    XTableRule{{"xla_total", EventKind::table, "name", "What is added up."}, {}, kOfTotals},
};
static_assert(std::tuple_size_v<decltype(kXTables)> == kXTableCount);

// In the order of OwnColumn.
constexpr std::array kOwnColumns = {
    ColumnSpec{"hlo", kString, "", kOperation, "HLO", "The whole operation as the compiler writes it."},
    ColumnSpec{"layer", kString, "", kLayerAndSource, "Layer", "Where in the model it stands.", Role::layer},
    ColumnSpec{"bytes", kInt, "B", kTransfer, "Bytes",
               "Bytes that it reads and writes; of an asynchronous operation "
               "those of its one row, not of its begin and end too.",
               Role::bytes},
    ColumnSpec{"work_flops", kInt, "FLOP", kOperation, "Work",
               "Floating point operations, without those of "
               "operations that only hold others.",
               Role::flops},
    ColumnSpec{"private memory", kInt, "B", kLaunch, "", "Private memory of a thread."},
    ColumnSpec{"occurrences", kInt, "", kDetails, "", "How often it happened."},
    ColumnSpec{"total_ps", kInt, "ps", kTiming, "", "How long, together."},
    ColumnSpec{"start_ps", kInt, "ps", kTiming, "Start, exact",
               "ps since the profile began, where that is no whole number of ns."},
    ColumnSpec{"dur_ps", kInt, "ps", kTiming, "Duration, exact", "ps, where that is no whole number of ns."},
};
static_assert(std::tuple_size_v<decltype(kOwnColumns)> == kOwnColumnCount);

struct StatName {
  std::string_view name;
  Stat stat;
};
constexpr StatName kStatNames[] = {
    {"correlation_id", Stat::correlation},
    {"context_id", Stat::context},
    {"kernel_details", Stat::kernel_details},
    {"memcpy_details", Stat::memcpy_details},
    {"Memset_details", Stat::memset_details},
    {"memset_details", Stat::memset_details},
    {"memalloc_details", Stat::memory_details},
    {"MemFree_details", Stat::memory_details},
    {"MemoryResidency_details", Stat::memory_details},
    {"_pt", Stat::producer_type},
    {"_p", Stat::producer},
    {"_ct", Stat::consumer_type},
    {"_c", Stat::consumer},
    {"counter_value", Stat::counter_value},
    {"hlo_category", Stat::category},
    {"tf_op", Stat::tf_op},
    {"name", Stat::op_name},
    {"addr", Stat::address},
    {"allocator_name", Stat::allocator},
    {"index_on_host", Stat::host_index},
    {"bytes_allocated", Stat::bytes_allocated},
    {"bytes_reserved", Stat::bytes_reserved},
    {"allocation_bytes", Stat::allocation_bytes},
    {"flops", Stat::flops},
    {"bytes_accessed", Stat::bytes_accessed},
    {"source", Stat::source},
};

// What is known of stats by name. Their types are those of their values.
constexpr ColumnSpec kKnownStats[] = {
    {"hlo_category", kString, "", kOperation, "Category", "What kind of operation it is."},
    {"hlo_op", kString, "", kOperation, "HLO operation", "The compiled program's name of it."},
    {"hlo_module", kString, "", kOperation, "Program", "The compiled program that it is of."},
    {"flops", kInt, "FLOP", kOperation, "FLOPs", "Floating point operations, as the compiler counts them."},
    {"model_flops", kInt, "FLOP", kOperation, "Model FLOPs", "Those that the model asks for."},
    {"bytes_accessed", kInt, "B", kTransfer, "Bytes accessed", "Bytes read and written, as the compiler counts them."},
    {"raw_bytes_accessed", kInt, "B", kTransfer, "Raw bytes accessed", "The same, before the compiler's corrections."},
    {"shape_with_layout", kString, "", kOperation, "Shape", "Of the result, with its layout in memory."},
    {"tf_op", kString, "", kLayerAndSource, "Framework operation", "As the framework calls it."},
    {"source", kString, "", kLayerAndSource, "Source", "The line of the program.", Role::source_location},
    {"source_stack", kString, "", kLayerAndSource, "Source stack", "The calls that led there, outermost first."},
    {"program_id", kInt, "", kIds, "Program id", "Number of the compiled program."},
    {"symbol_id", kInt, "", kIds, "Symbol id", "Number of the operation in its program."},
    {"run_id", kInt, "", kIds, "Run id", "Number of the program's run."},
    {"group_id", kInt, "", kIds, "Group id", "The step that it is of."},
    {"device_offset_ps", kInt, "ps", kTiming, "Device offset", "By the device's own clock."},
    {"device_duration_ps", kInt, "ps", kTiming, "Device duration", "By the device's own clock."},
    {"all_reduce_unique_id", kInt, "", kIds, "Collective id", "Joins the parts of one collective."},
    {"allocator_name", kString, "", kMemory, "Allocator", "Whose memory it is.", Role::pool},
    {"requested_bytes", kInt, "B", kMemory, "Requested", "Bytes that were asked for."},
    {"peak_bytes_in_use", kInt, "B", kMemory, "Peak", "Most bytes in use until then."},
    {"bytes_available", kInt, "B", kMemory, "Available", "Bytes that can still be had."},
    {"size", kInt, "B", kTransfer, "Size", "Bytes that it is about."},
    {"theoretical_occupancy_pct", kReal, "%", kLaunch, "Theoretical occupancy", "What the launch allows."},
};

constexpr std::string_view kContexts[] = {"flow",
                                          "legacy",
                                          "TfExecutor",
                                          "TfrtExecutor",
                                          "SharedBatchScheduler",
                                          "Pjrt",
                                          "AdaptiveSharedBatchScheduler",
                                          "TfrtTpuRuntime",
                                          "TpuEmbeddingEngine",
                                          "GpuLaunch",
                                          "Batcher",
                                          "TpuStream",
                                          "TpuLaunch",
                                          "PathwaysExecutor",
                                          "PjrtLibraryCall",
                                          "ThreadpoolEvent",
                                          "JaxServingExecutor",
                                          "ScOffload"};

}  // namespace

const XTableRule& rule_of(XTable table) noexcept { return kXTables[static_cast<std::size_t>(table)]; }

const ColumnSpec& spec_of(OwnColumn column) noexcept { return kOwnColumns[static_cast<std::size_t>(column)]; }

Stat stat_of(std::string_view name) noexcept {
  for (const StatName& each : kStatNames) {
    if (each.name == name) return each.stat;
  }
  return Stat::other;
}

bool is_reported_otherwise(Stat stat, XTable table) noexcept {
  switch (stat) {
    case Stat::correlation:
      return table == XTable::kernel || table == XTable::memcpy || table == XTable::memset ||
             table == XTable::runtime_call;
    case Stat::context:
      return table == XTable::kernel || table == XTable::memcpy || table == XTable::memset;
    case Stat::address:
    case Stat::bytes_allocated:
    case Stat::bytes_reserved:
    case Stat::allocation_bytes:
      return table == XTable::memory;
    default:
      return false;
  }
}

ColumnSpec spec_of_stat(std::string_view name, XTable table) noexcept {
  const auto known = std::find_if(std::begin(kKnownStats), std::end(kKnownStats),
                                  [&](const ColumnSpec& each) { return each.name == name; });
  ColumnSpec spec = known != std::end(kKnownStats) ? *known : ColumnSpec{.name = name, .group = kDetails};
  if (name == "name") spec.name = "op_name";  // the events have names of their own
  if (spec.role == Role::pool && table != XTable::memory) spec.role = Role::none;
  return spec;
}

std::string_view name_of_context(std::int64_t type) noexcept {
  const bool known = type >= 0 && type < static_cast<std::int64_t>(std::size(kContexts));
  return known ? kContexts[type] : kContexts[0];
}

namespace {

constexpr std::size_t kMostFields = 400;  // SQL's tables have 2000 columns at most, views of them fewer
constexpr std::size_t kMostWaitNames = 20'000;
constexpr std::uint64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::uint32_t StatTable::field(std::string_view stat, Stat known) {
  if (is_reported_otherwise(known, table_)) return kNoField;
  if (const auto found = numbers_.find(stat); found != numbers_.end()) return found->second;
  if (fields_.size() >= kMostFields) {
    ++left_out_;
    return kNoField;
  }
  const auto number = static_cast<std::uint32_t>(fields_.size());
  fields_.emplace_back().name = stat;
  numbers_.emplace(stat, number);
  return number;
}

void StatTable::see(std::uint32_t field, const StatValue& value, std::string_view text, bool recurs) {
  if (field == kNoField) return;
  Field& seen = fields_[field];
  switch (value.kind) {
    case StatValue::Kind::real:
      seen.number = true;
      seen.real = true;
      break;
    case StatValue::Kind::natural:
      seen.number = true;
      seen.above_int64 = seen.above_int64 || value.bits > kInt64Max;
      break;
    case StatValue::Kind::whole:
      seen.number = true;
      seen.negative = seen.negative || value.bits > kInt64Max;
      break;
    case StatValue::Kind::text:
    case StatValue::Kind::packed:
    case StatValue::Kind::reference:
      seen.text = true;
      if (recurs || value.kind == StatValue::Kind::reference || seen.texts_until_many > 0) break;
      ++seen.texts;
      seen.distinct.insert(std::hash<std::string_view>{}(text));
      if (seen.distinct.size() >= kMostDistinct) {
        seen.texts_until_many = seen.texts;
        seen.distinct = {};
      }
      break;
    default:
      break;
  }
}

void StatTable::add_wait_name(std::string_view name) {
  if (wait_names_.size() < kMostWaitNames) wait_names_.emplace(name);
}

ColumnType StatTable::type_of(const Field& field) noexcept {
  if (field.text && field.number) return ColumnType::string;
  if (field.text) {
    const bool unique = field.texts_until_many > 0 && field.texts_until_many < 2 * kMostDistinct;
    return unique ? ColumnType::text : ColumnType::string;
  }
  if (field.real) return ColumnType::float64;
  if (field.above_int64) return field.negative ? ColumnType::string : ColumnType::uint64;
  return ColumnType::int64;
}

Schema StatTable::make_schema() {
  const XTableRule& rule = rule_of(table_);
  Schema schema = accelscope::make_schema(rule.schema, rule.columns);
  std::unordered_set<std::string> taken;
  for (const Column& column : schema.columns) taken.insert(lower_case(column.name));
  own_.fill(kNoField);
  for (const OwnColumn own : rule.own) {
    if (!own_seen_[static_cast<std::size_t>(own)]) continue;
    own_[static_cast<std::size_t>(own)] = static_cast<std::uint32_t>(schema.columns.size());
    append_columns(schema, std::span(&spec_of(own), 1));
    taken.insert(lower_case(spec_of(own).name));
  }
  for (Field& field : fields_) {
    if (!field.number && !field.text) continue;
    ColumnSpec spec = spec_of_stat(field.name, table_);
    field.type = type_of(field);
    spec.type = field.type;
    Column column = make_column(spec);
    while (!taken.insert(lower_case(column.name)).second) column.name += " (stat)";
    field.column = static_cast<std::uint32_t>(schema.columns.size());
    schema.columns.push_back(std::move(column));
  }
  for (const std::string& name : wait_names_) schema.wait_names.push_back(name);
  std::sort(schema.wait_names.begin(), schema.wait_names.end());
  return schema;
}

void StatTable::bind(std::uint32_t field, const StatValue& value, std::string_view text, StringId known,
                     const Intern& intern, tracks::EventValues& values) const {
  const Field& to = fields_[field];
  switch (to.type) {
    case ColumnType::int64:
    case ColumnType::uint64:
      values.unsigned_integer(to.column, value.bits);
      break;
    case ColumnType::float64:
      values.real(to.column, real_of(value));
      break;
    case ColumnType::string:
      values.string(to.column, known != 0 ? known : intern(value.is_number() ? number_text(value) : text));
      break;
    default:
      values.text(to.column, text);
  }
}

}  // namespace accelscope::capture::sources::xplane
