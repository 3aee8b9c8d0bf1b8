// Which tables the events of an XSpace become, and which stats are known by name.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "capture/sources/tracks/event_values.h"
#include "capture/sources/xplane/read/records.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::xplane {

enum class XTable : std::uint8_t {
  kernel,
  memcpy,
  memset,
  runtime_call,
  nvtx,
  device_event,  // what else a GPU's stream says: memory that is mapped, overhead
  xla_op,        // of an accelerator that runs XLA programs
  xla_async_op,  // what runs beside them
  xla_module,    // programs
  step,
  xla_annotation,  // what the framework calls the same time
  host_event,
  python_function,
  memory,
  total,  // counts and sums without times
};
inline constexpr std::size_t kXTableCount = 15;

// Columns that the importer fills itself, beside those for stats.
enum class OwnColumn : std::uint8_t {
  hlo,    // the whole text of an operation that is shown by a short name
  layer,  // Role::layer
  bytes,  // Role::bytes: of an operation, counted once
  flops,  // Role::flops
  private_memory,
  occurrences,
  total_ps,
  start_ps,  // of events that do not begin, or last, whole ns
  dur_ps,
};
inline constexpr std::size_t kOwnColumnCount = 9;

struct XTableRule {
  SchemaSpec schema;
  std::span<const ColumnSpec> columns;  // that every table of its kind has
  std::span<const OwnColumn> own;       // those of OwnColumn that it may have
  std::string_view label;               // of its row among several of a host's thread
  int place = 0;                        // and where it stands among them
};
[[nodiscard]] const XTableRule& rule_of(XTable table) noexcept;
[[nodiscard]] const ColumnSpec& spec_of(OwnColumn column) noexcept;

// Stats that mean something to the importer.
enum class Stat : std::uint8_t {
  other,
  correlation,
  context,
  kernel_details,
  memcpy_details,
  memset_details,
  memory_details,  // of a GPU's allocations
  producer_type,
  producer,
  consumer_type,
  consumer,
  counter_value,
  category,
  tf_op,
  op_name,
  address,
  allocator,
  host_index,
  bytes_allocated,
  bytes_reserved,
  allocation_bytes,
  flops,
  bytes_accessed,
  source,
};
[[nodiscard]] Stat stat_of(std::string_view name) noexcept;
// The stat's column is one of the table's own.
[[nodiscard]] bool is_reported_otherwise(Stat stat, XTable table) noexcept;
// What a column for a stat of that name says of itself; the name alone where nothing is known.
[[nodiscard]] ColumnSpec spec_of_stat(std::string_view name, XTable table) noexcept;

// Places of the columns of the table "memory".
struct MemoryColumns {
  static constexpr std::size_t bytes = 0, address = 1, allocated = 2, reserved = 3;
};

// What the ids of a flow are of: "TpuLaunch". The numbers are TraceMe's kinds of contexts.
[[nodiscard]] std::string_view name_of_context(std::int64_t type) noexcept;

// The columns of one table. A first reading of the file shows every stat to it; then it has the columns for all of
// them, of the types that fit every value, and binds the values of events.

class StatTable {
 public:
  static constexpr std::uint32_t kNoField = ~std::uint32_t{0};
  explicit StatTable(XTable table) : table_(table) {}

  // First reading. The number of a stat for this table; kNoField: it has no column.
  [[nodiscard]] std::uint32_t field(std::string_view stat, Stat known);
  // `text`: of a text. Those of metadata recur.
  void see(std::uint32_t field, const StatValue& value, std::string_view text, bool recurs);
  void see(OwnColumn column) noexcept { own_seen_[static_cast<std::size_t>(column)] = true; }
  [[nodiscard]] bool has_seen(OwnColumn column) const noexcept { return own_seen_[static_cast<std::size_t>(column)]; }
  void add_wait_name(std::string_view name);
  void add_event() noexcept { ++events_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

  // Ends the first reading.
  [[nodiscard]] Schema make_schema();
  // Stats that are no column: there are more than a table has room for. By occurrence.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

  // Second reading. Where the field's column stands; kNoField: it has none.
  [[nodiscard]] std::uint32_t column(std::uint32_t field) const noexcept {
    return field == kNoField ? kNoField : fields_[field].column;
  }
  [[nodiscard]] std::uint32_t column(OwnColumn column) const noexcept { return own_[static_cast<std::size_t>(column)]; }
  using Intern = std::function<StringId(std::string_view)>;
  // Of a field with a column. `known`: the text's number where that is known, else 0.
  void bind(std::uint32_t field, const StatValue& value, std::string_view text, StringId known, const Intern& intern,
            tracks::EventValues& values) const;

 private:
  static constexpr std::size_t kMostDistinct = 4096;
  struct Field {
    std::string name;
    bool real = false, negative = false, above_int64 = false, number = false, text = false;
    std::uint64_t texts = 0;  // that need not recur
    std::uint64_t texts_until_many = 0;
    std::unordered_set<std::size_t> distinct;
    std::uint32_t column = kNoField;
    ColumnType type = ColumnType::int64;
  };
  [[nodiscard]] static ColumnType type_of(const Field& field) noexcept;

  XTable table_;
  std::vector<Field> fields_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::array<bool, kOwnColumnCount> own_seen_{};
  std::array<std::uint32_t, kOwnColumnCount> own_{};
  std::unordered_set<std::string> wait_names_;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace accelscope::capture::sources::xplane
