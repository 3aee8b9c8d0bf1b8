// How the keys of one JSON table become the start, duration, name and columns of one schema. Built once per table
// from the schema itself, so a column that the schema gains is read without further code. Values that do not fit
// their column, and keys that the schema does not know, are kept as JSON in the schema's "extra" column.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/event_sorter.h"
#include "core/base/immediate.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::neuron {

inline constexpr std::string_view kExtraColumn = "extra";

// Adds the column for what the schema does not know.
void add_extra_column(Schema& schema);

// The name of the schema's column that takes the values of a newer export's: "transfer_size" for "transfer_bytes";
// the same name where there is no other.
[[nodiscard]] std::string_view schema_column_of(const Schema& schema, std::string_view newer);

// Keys that rules look at besides putting their values into columns.
inline constexpr std::string_view kCapturedWords =
    "id label subgroup engine pcore_idx trigger predecessors elements variable queue_type source dest "
    "duplicate type value k n write_size read_size nki_source_location bir_debug_info_source_location "
    "hlo_attrs core_idx cpu_id instance_id process_id thread_id lnc_idx engine_name partition "
    "start_address end_address tensor_name hbm_transfer_rate hbm_total_transfer_bytes message size "
    "usage_avg input_size output_size replica_group algorithm_bandwidth bus_bandwidth stack_frame_ids "
    "subgraph fully_qualified_subgraph sg_name nc nc_idx device in_id out_id dma_queue dma_engine transfer_size "
    "psum_read_sbuf_write_bytes group worker_gid total_size flow_id model_id nc_timestamp_ns cpu_timestamp_ns";
inline constexpr std::size_t kCapturedCount = 63;
inline constexpr auto kCapturedKeys = [] {
  std::array<std::string_view, kCapturedCount> keys;
  std::string_view words = kCapturedWords;
  for (std::string_view& key : keys) {
    key = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(key.size() + 1, words.size()));
  }
  return keys;
}();

// One of them. Others do not compile: row.text("variable").
class Captured {
 public:
  constexpr Captured() = default;  // none
  ACCELSCOPE_CONSTEVAL Captured(const char* key) : place_(by_key(key).place_) {
    if (!is_any()) std::abort();
  }
  [[nodiscard]] static constexpr Captured by_key(std::string_view key) noexcept {
    Captured found;
    while (found.place_ > 0 && kCapturedKeys[found.place_ - 1U] != key) --found.place_;
    return found.place_ > 0 ? Captured(static_cast<std::uint8_t>(found.place_ - 1)) : Captured();
  }
  [[nodiscard]] constexpr bool is_any() const noexcept { return place_ != kCapturedCount; }
  [[nodiscard]] constexpr std::size_t place() const noexcept { return place_; }

 private:
  explicit constexpr Captured(std::uint8_t place) noexcept : place_(place) {}
  std::uint8_t place_ = kCapturedCount;
};

// What one row says apart from its columns, which are in the sorter already. Views live as long as the row.
struct BoundRow {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> duration;
  std::optional<std::int64_t> end;
  std::string_view name;
  std::array<const json::JsonField*, kCapturedCount> captured{};

  [[nodiscard]] const json::JsonField* get(Captured what) const noexcept { return captured[what.place()]; }
  [[nodiscard]] std::string_view text(Captured what) const noexcept {
    const json::JsonField* field = get(what);
    return field == nullptr || field->kind == json::JsonKind::null ? std::string_view{} : field->text;
  }
  [[nodiscard]] std::optional<std::int64_t> integer(Captured what) const noexcept {
    const json::JsonField* field = get(what);
    return field == nullptr ? std::nullopt : json::to_int64(*field);
  }
};

// Counted while binding, told to the user at the end.
struct BindingCounts {
  std::uint64_t unknown_keys = 0;    // values kept in "extra" because the schema has no such column
  std::uint64_t wrong_types = 0;     // kept in "extra" because the value does not fit its column
  std::uint64_t duplicate_keys = 0;  // the last one counts
  std::uint64_t not_finite = 0;      // NaN and the like: no value
  std::string first_unknown_key;
  std::string first_wrong_type;
};

class RowBinding {
 public:
  // `consumed`: keys that are looked at through BoundRow::get and need no column. So is "device", which our own export
  // of several devices adds to every row.
  RowBinding(const Schema& schema, std::span<const std::string_view> consumed);

  // Begins an event in the sorter and sets its columns.
  void bind(std::span<const json::JsonField> fields, EventSorter& sorter, SessionWriter& writer, BoundRow& row);
  [[nodiscard]] const BindingCounts& counts() const noexcept { return counts_; }
  // Whether values of that key go anywhere else than into the extra column.
  [[nodiscard]] bool knows(std::string_view key) const noexcept { return find(key) != nullptr; }

 private:
  enum class Role : std::uint8_t { unknown, start, duration, end, name, column, nothing };
  // A key's first and last eight bytes: with its size they tell keys of up to sixteen bytes apart.
  struct Digest {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    bool operator==(const Digest&) const = default;
  };
  struct Slot {
    std::string key;
    Role role = Role::unknown;
    Captured captured;
    std::uint16_t column = 0;
    ColumnType type = ColumnType::int64;
    Digest digest;
  };

  [[nodiscard]] static Digest digest_of(std::string_view key) noexcept;
  [[nodiscard]] std::size_t place_of(std::string_view key, const Digest& digest) const noexcept;
  [[nodiscard]] const Slot* find(std::string_view key) const noexcept;
  void add(Slot slot);
  void bind_field(const json::JsonField& field, const Slot& slot, EventSorter& sorter, SessionWriter& writer,
                  BoundRow& row);
  // False if the value does not fit.
  [[nodiscard]] static bool set_column(const json::JsonField& field, const Slot& slot, EventSorter& sorter,
                                       SessionWriter& writer, std::string& scratch);
  void keep(const json::JsonField& field);

  std::vector<Slot> slots_;
  std::vector<std::uint16_t> table_;  // open addressing over slots_ + 1
  std::size_t extra_column_ = 0;
  std::string extra_;
  std::string scratch_;
  std::string name_;
  BindingCounts counts_;
};

}  // namespace accelscope::capture::sources::neuron
