#include "capture/sources/neuron/read/row_binding.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/inferred_columns.h"

namespace accelscope::capture::sources::neuron {
namespace {

// Newer exports say the same under other names.
struct Alias {
  std::string_view newer;
  std::string_view known;
};
constexpr Alias kAliases[] = {
    {"evt_wait_time_ns", "evt_wait_time"},
    {"scalar_activation_fn", "activation_fn"},
    {"tensor_instruction_type", "instruction_type"},
    {"tensor_elements", "elements"},
    {"dma_trigger_start_ts", "trigger"},
    {"timeline_track", "label"},
    {"transfer_bytes", "transfer_size"},
    {"read_bytes", "read_size"},
    {"write_bytes", "write_size"},
    {"throughput", "transfer_rate"},
    {"queue_name", "subgroup"},
    {"engine", "subgroup"},
    {"queue_idx", "dma_queue"},
    {"engine_idx", "dma_engine"},
    {"current_throughput", "transfer_rate"},
    {"current_throughput", "hbm_transfer_rate"},
    {"total_transfer_bytes", "hbm_total_transfer_bytes"},
    {"avg_util_percent", "usage_avg"},
    {"partition_0_util_percent", "partition_0_usage"},
    {"partition_32_util_percent", "partition_32_usage"},
    {"partition_64_util_percent", "partition_64_usage"},
    {"partition_96_util_percent", "partition_96_usage"},
    {"bank_0_util_percent", "bank_0_usage"},
    {"bank_1_util_percent", "bank_1_usage"},
    {"bank_2_util_percent", "bank_2_usage"},
    {"bank_3_util_percent", "bank_3_usage"},
    {"bank_4_util_percent", "bank_4_usage"},
    {"bank_5_util_percent", "bank_5_usage"},
    {"bank_6_util_percent", "bank_6_usage"},
    {"bank_7_util_percent", "bank_7_usage"},
    {"read_offset", "source_offset"},
    {"read_steps", "source_steps"},
    {"read_sbuf_partitions", "source_sb_partitions"},
    {"read_num_sbuf_partitions", "source_num_sb_partitions"},
    {"write_offset", "dest_offset"},
    {"write_steps", "dest_steps"},
    {"write_sbuf_partitions", "dest_sb_partitions"},
    {"write_num_sbuf_partitions", "dest_num_sb_partitions"},
    {"name", "q_name"},
    {"type", "q_type"},
    {"idx", "q_idx"},
    {"engine_idx", "q_eng_idx"},
    {"axi_port", "q_axi_port"},
    {"dram_channel", "q_dram_channel"},
    {"neuron_device_idx", "nd"},
    {"neuroncore_idx", "nc"},
    {"usage_bytes", "amount_bytes"},
    {"logical_neuroncore_count", "number_of_logical_neuroncores"},
    {"pcore_count_per_lnc", "number_of_neuroncores_per_lnc"},
    {"used_bytes", "usage"},
    {"used_percent", "percent_usage"},
    {"util_percent", "util"},
    {"trace_event_source", "group"},
    {"nc_idx", "lnc_idx"},
    {"trigger_start_ts", "cc_trigger"},
};

constexpr std::array<std::string_view, 2> kEndKeys = {"end", "end_ts"};
[[nodiscard]] bool is_end_key(std::string_view key) noexcept {
  return std::find(kEndKeys.begin(), kEndKeys.end(), key) != kEndKeys.end();
}

// [["WEIGHT"]] -> WEIGHT, ["a","b"] -> a, b: how a list of words reads. Anything else stays JSON.
[[nodiscard]] bool join_words(std::string_view json, std::string& out, int depth = 0) {
  return depth <= 2 && json::each_element(json, [&](const json::JsonField& item) {
           if (item.kind == json::JsonKind::array) return join_words(item.text, out, depth + 1);
           if (item.kind != json::JsonKind::string) return false;
           if (!out.empty()) out += ", ";
           out += item.text;
           return true;
         });
}

// What a string or text column shows for a value of any kind.
[[nodiscard]] std::string_view shown_text(const json::JsonField& field, std::string& scratch) {
  if (field.kind != json::JsonKind::array) return field.text;
  scratch.clear();
  return join_words(field.text, scratch) ? std::string_view(scratch) : field.text;
}

}  // namespace

void add_extra_column(Schema& schema) {
  schema.columns.push_back({.name = std::string(kExtraColumn),
                            .type = ColumnType::text,
                            .unit = "",
                            .group = "Details",
                            .title = "Further fields",
                            .explanation = "Fields of the file that have no column of their own, as JSON."});
}

std::string_view schema_column_of(const Schema& schema, std::string_view newer) {
  const auto* const found = std::find_if(std::begin(kAliases), std::end(kAliases), [&](const Alias& alias) {
    return alias.newer == newer && (schema.find(alias.known) || schema.name_column == alias.known);
  });
  return found == std::end(kAliases) || schema.find(newer) ? newer : found->known;
}

RowBinding::RowBinding(const Schema& schema, std::span<const std::string_view> consumed) : table_(1024) {
  assert(!schema.columns.empty() && schema.columns.back().name == kExtraColumn);
  extra_column_ = schema.columns.size() - 1;
  const bool timed = schema.kind != EventKind::table;
  for (std::size_t i = 0; i < extra_column_; ++i) {
    const Column& column = schema.columns[i];
    if (timed && is_end_key(column.name)) continue;  // an event's end first of all
    add({column.name, Role::column, Captured::by_key(column.name), static_cast<std::uint16_t>(i), column.type});
  }
  if (timed) {
    for (const char* key : {"timestamp", "start_ts", "start"}) add({key, Role::start});
    for (const std::string_view key : kEndKeys) add({std::string(key), Role::end});
    for (const char* key : {"duration", "duration_ns"}) add({key, Role::duration});
  }
  add({schema.name_column, Role::name, Captured::by_key(schema.name_column)});
  for (const Alias& alias : kAliases) {
    if (const Slot* known = find(alias.known); known != nullptr && known->role != Role::nothing) {
      Slot slot = *known;
      slot.key = alias.newer;
      add(std::move(slot));
    }
  }
  add({"device", Role::nothing, "device"});
  for (const std::string_view key : consumed) add({std::string(key), Role::nothing, Captured::by_key(key)});
}

RowBinding::Digest RowBinding::digest_of(std::string_view key) noexcept {
  Digest digest;
  if (key.size() >= sizeof digest.head) {
    std::memcpy(&digest.head, key.data(), sizeof digest.head);
    std::memcpy(&digest.tail, key.data() + key.size() - sizeof digest.tail, sizeof digest.tail);
  } else {
    for (const char c : key) digest.head = digest.head << 8 | static_cast<unsigned char>(c);
  }
  return digest;
}

std::size_t RowBinding::place_of(std::string_view key, const Digest& digest) const noexcept {
  const std::uint64_t mixed = digest.head ^ std::rotl(digest.tail, 21) ^ key.size();
  return static_cast<std::size_t>((mixed * 0x9e3779b97f4a7c15U) >> 40) % table_.size();
}

void RowBinding::add(Slot slot) {
  if (slot.key.empty() || find(slot.key) != nullptr) return;
  slot.digest = digest_of(slot.key);
  std::size_t at = place_of(slot.key, slot.digest);
  while (table_[at] != 0) at = (at + 1) % table_.size();
  slots_.push_back(std::move(slot));
  table_[at] = static_cast<std::uint16_t>(slots_.size());
}

const RowBinding::Slot* RowBinding::find(std::string_view key) const noexcept {
  constexpr std::size_t kDigestedBytes = 2 * sizeof(std::uint64_t);
  const Digest digest = digest_of(key);
  for (std::size_t at = place_of(key, digest); table_[at] != 0; at = (at + 1) % table_.size()) {
    const Slot& slot = slots_[table_[at] - 1U];
    if (slot.key.size() != key.size() || slot.digest != digest) continue;
    if (key.size() <= kDigestedBytes || slot.key == key) return &slot;
  }
  return nullptr;
}

void RowBinding::bind(std::span<const json::JsonField> fields, EventSorter& sorter, SessionWriter& writer,
                      BoundRow& row) {
  row = {};
  extra_.clear();
  sorter.begin();
  for (const json::JsonField& field : fields) {
    const Slot* slot = find(field.key);
    if (slot != nullptr) {
      bind_field(field, *slot, sorter, writer, row);
      continue;
    }
    if (counts_.unknown_keys++ == 0) counts_.first_unknown_key = field.key;
    keep(field);
  }
  if (!extra_.empty()) {
    extra_ += '}';
    sorter.text(extra_column_, extra_);
  }
}

void RowBinding::bind_field(const json::JsonField& field, const Slot& slot, EventSorter& sorter, SessionWriter& writer,
                            BoundRow& row) {
  if (slot.captured.is_any()) row.captured[slot.captured.place()] = &field;
  if (field.kind == json::JsonKind::null) return;
  if (field.kind == json::JsonKind::not_finite && slot.type != ColumnType::string && slot.type != ColumnType::text) {
    ++counts_.not_finite;
    return;
  }
  const auto time = [&](std::optional<std::int64_t>& out) {
    if (out) ++counts_.duplicate_keys;
    out = json::to_rounded_int64(field);
    return out.has_value();
  };
  bool fits = true;
  switch (slot.role) {
    case Role::start:
      fits = time(row.start);
      break;
    case Role::duration:
      fits = time(row.duration);
      break;
    case Role::end:
      fits = time(row.end);
      break;
    case Role::name:
      if (!row.name.empty()) ++counts_.duplicate_keys;
      row.name = shown_text(field, name_);
      break;
    case Role::column:
      if (sorter.is_set(slot.column)) ++counts_.duplicate_keys;
      fits = set_column(field, slot, sorter, writer, scratch_);
      break;
    case Role::nothing:
    case Role::unknown:
      break;
  }
  if (fits) return;
  if (counts_.wrong_types++ == 0) counts_.first_wrong_type = field.key;
  keep(field);
}

bool RowBinding::set_column(const json::JsonField& field, const Slot& slot, EventSorter& sorter, SessionWriter& writer,
                            std::string& scratch) {
  if (slot.type == ColumnType::string || slot.type == ColumnType::text) {
    const std::string_view text = shown_text(field, scratch);
    if (text.empty()) return true;
    if (slot.type == ColumnType::text) {
      sorter.text(slot.column, text);
    } else {
      sorter.string(slot.column, writer.intern(text));
    }
    return true;
  }
  std::optional<std::uint64_t> bits = to_bits(slot.type, field);
  if (!bits && slot.type == ColumnType::uint64) bits = to_bits(ColumnType::int64, field);  // -1 for none
  // An empty text in a column of numbers is how the vendor writes "none".
  if (!bits) return field.kind == json::JsonKind::string && field.text.empty();
  if (slot.type == ColumnType::int64) {
    sorter.integer(slot.column, static_cast<std::int64_t>(*bits));
  } else {
    sorter.unsigned_integer(slot.column, *bits);
  }
  return true;
}

void RowBinding::keep(const json::JsonField& field) {
  extra_ += extra_.empty() ? '{' : ',';
  json::append_json(extra_, field);
}

}  // namespace accelscope::capture::sources::neuron
