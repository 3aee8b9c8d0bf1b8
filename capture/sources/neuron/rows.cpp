// What rows of a Neuron profile mean beyond their columns: dependencies, derived figures, and what the quality report
// counts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/source_finder.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "capture/sources/neuron/tool.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::size_t kMaxLocations = 1'000'000;
constexpr std::int64_t kSemaphoreWriteBytes = 4;  // a transfer of so many only signals a semaphore

// Members of the first group: "[[0, 1, 2, 3], [4, 5, 6, 7]]" -> 4.
[[nodiscard]] std::size_t group_size(std::string_view replica_group) {
  const auto groups = replica_groups(replica_group);
  return groups.empty() ? 0 : groups.front().size();
}

}  // namespace

bool NeuronImporter::look_at(NeuronTable kind, ImportTable& into, BoundRow& row, const json::RowPlace& place) {
  switch (kind) {
    case NeuronTable::instruction:
      look_at_instruction(into, row);
      break;
    case NeuronTable::dma:
      look_at_move(into, row, false);
      break;
    case NeuronTable::dma_transfer:
      look_at_move(into, row, true);
      break;
    case NeuronTable::cc_op:
      look_at_collective(into, row);
      break;
    case NeuronTable::throttle:
      look_at_throttle(into, row);
      break;
    case NeuronTable::sbuf_usage:
    case NeuronTable::psum_usage:
      look_at_usage(row);
      break;
    case NeuronTable::dma_throughput:
      add_hbm_sample(row);
      break;
    case NeuronTable::memory:
      look_at_allocation(into, row);
      break;
    case NeuronTable::active_time:
    case NeuronTable::layer_summary:
      if (row.end) into.sorter().integer(into.column(kind == NeuronTable::active_time ? "end_ts" : "end"), *row.end);
      break;
    case NeuronTable::pending_dma:
      if (const auto value = row.integer("value")) {
        LastPending& last = last_pending_[place_];
        if (*row.start >= last.time) last = {*row.start, *value};
      }
      break;
    case NeuronTable::neff_node:
      if (const auto size = row.integer("size"); size && *size > 0 && !row.name.empty()) {
        static_tensors_.push_back({std::string(row.name), std::string(row.text("type")), *size});
      }
      break;
    case NeuronTable::trace_event:
    case NeuronTable::framework_event:
      look_at_call(kind, into, row);
      break;
    case NeuronTable::warnings:
      look_at_warning(row);
      break;
    default:
      break;
  }
  const Schema& schema = into.schema();
  if (schema.kind == EventKind::counter && !into.sorter().is_set(0)) {
    report_.skipped_row(current_.json_name, "no value", place.offset);
    return false;
  }
  return true;
}

void NeuronImporter::look_at_warning(const BoundRow& row) {
  const std::string message(row.text("message"));
  const std::string dropped = dropped_system_events(message);
  report_.note(dropped.empty() ? QualityKind("vendor_warning") : QualityKind("buffer_overflow"),
               dropped.empty() ? message : dropped);
}

void NeuronImporter::look_at_instruction(ImportTable& into, const BoundRow& row) {
  ++counts_.instructions;
  constexpr std::size_t raw_flops = neuron_column(NeuronTable::instruction, "raw_flops");
  const auto elements = row.integer("elements");
  if (elements && *elements > 0 && *elements < (std::int64_t{1} << 61) && row.name.starts_with("MATMUL") &&
      !into.sorter().is_set(raw_flops)) {
    into.sorter().integer(raw_flops, 2 * *elements);
  }
  // Newer exports have the bytes alone; the flag stands where there are any (all real files).
  constexpr std::size_t drains = neuron_column(NeuronTable::instruction, "is_psum_read_sbuf_write");
  if (row.integer("psum_read_sbuf_write_bytes").value_or(0) > 0 && !into.sorter().is_set(drains)) {
    into.sorter().unsigned_integer(drains, 1);
  }
  const std::string_view nki = row.text("nki_source_location");
  const std::string_view bir = row.text("bir_debug_info_source_location");
  if (nki.empty() && bir.empty()) {
    ++counts_.without_location;
  } else {
    remember_location(nki);
    remember_location(bir);
  }
  if (const json::JsonField* ids = row.get("stack_frame_ids"); ids != nullptr && !ids->text.empty()) {
    const StringId id = writer_.intern(ids->text);
    if (!stack_texts_.contains(id)) stack_texts_.emplace(id, ids->text);
  }
  const json::JsonField* id_field = row.get("id");
  const std::optional<std::uint64_t> id = id_field == nullptr ? std::nullopt : json::to_uint64(*id_field);
  if (!id) return;
  if (has_flow_table_) return starts_.add(*id, *row.start);
  if (const auto triggered = row.integer("trigger")) triggers_.add_instruction(*row.start, *triggered, *id);
  if (row.get("predecessors") != nullptr) add_predecessors(row, *id);
}

// Rows of dependencies name two events by number; the arrow stands where the second one begins.
bool NeuronImporter::settle_flow(BoundRow& row, const json::RowPlace& place) {
  if (row.start) return true;
  for (const Captured end : {Captured("out_id"), Captured("in_id")}) {
    const json::JsonField* field = row.get(end);
    const std::optional<std::uint64_t> id = field == nullptr ? std::nullopt : json::to_uint64(*field);
    if (id) row.start = starts_.find(*id);
    if (row.start) return true;
  }
  report_.skipped_row(current_.json_name, "neither of the two events is in the profile", place.offset);
  return false;
}

void NeuronImporter::add_predecessors(const BoundRow& row, std::uint64_t id) {
  const json::JsonField& list = *row.get("predecessors");
  if (list.kind == json::JsonKind::null) return;
  ImportTable& flows = table(NeuronTable::flow);
  constexpr std::size_t in_id = neuron_column(NeuronTable::flow, "in_id");
  constexpr std::size_t out_id = neuron_column(NeuronTable::flow, "out_id");
  const std::uint32_t track = flows.track(plan_, "flow", "", "Dependencies", -1);
  bool complete = true;
  const bool whole = json::each_element(list.text, [&](const json::JsonField& element) {
    std::optional<std::uint64_t> predecessor;
    std::string type;
    const bool is_object = json::each_member(element.text, [&](const json::JsonField& field) {
      if (field.key == "id") predecessor = json::to_uint64(field);
      if (field.key == "type") type = field.text;
      return true;
    });
    complete = complete && is_object && predecessor;
    if (!is_object) return false;
    if (!predecessor) return true;
    EventSorter& sorter = flows.sorter();
    sorter.begin();
    sorter.unsigned_integer(in_id, *predecessor);
    sorter.unsigned_integer(out_id, id);
    sorter.commit(track, *row.start, 0, writer_.intern(type));
    return true;
  });
  if (!complete || !whole) {
    report_.note("dependencies_skipped", "lists of predecessors that could not be read; those arrows are missing");
  }
}

void NeuronImporter::remember_location(std::string_view location) {
  if (location.empty() || locations_.size() >= kMaxLocations) return;
  if (!locations_.emplace(location).second) return;
  if (const std::string_view file = file_of_location(location); !file.empty()) source_files_.emplace(file);
}

void NeuronImporter::look_at_move(ImportTable& into, const BoundRow& row, bool is_transfer) {
  (void)into;
  if (const json::JsonField* duplicate = row.get("duplicate");
      duplicate != nullptr && json::to_boolean(*duplicate) == true) {
    ++counts_.duplicate_moves;
  }
  if (!is_transfer) {
    ++counts_.packets;
    const bool fetches_instructions = row.text("queue_type") == "instruction";
    if (row.name == "unknown" && !fetches_instructions) ++counts_.undescribed_packets;
    return;
  }
  const std::int64_t bytes = row.integer("transfer_size").value_or(0);
  if (bytes > kSemaphoreWriteBytes && row.text("queue_type") != "instruction") {
    counts_.transfer_bytes += static_cast<std::uint64_t>(bytes);
  }
  const json::JsonField* id_field = row.get("id");
  const std::optional<std::uint64_t> id = id_field == nullptr ? std::nullopt : json::to_uint64(*id_field);
  if (id && has_flow_table_) {
    starts_.add(*id, *row.start);
  } else if (id) {
    if (const auto trigger = row.integer("trigger")) triggers_.add_transfer(*row.start, *trigger, *id);
  }
  const auto touches_spill = [&](Captured end) { return row.text(end).find("VIRTUAL") != std::string_view::npos; };
  const std::int64_t end = *row.start + *row.duration;
  if (touches_spill("dest")) {
    spills_.add(row.name, *row.start, end, row.integer("write_size").value_or(0), true);
  }
  if (touches_spill("source")) {
    spills_.add(row.name, *row.start, end, row.integer("read_size").value_or(0), false);
  }
}

void NeuronImporter::look_at_collective(ImportTable& into, const BoundRow& row) {
  constexpr std::size_t algorithm = neuron_column(NeuronTable::cc_op, "algorithm_bandwidth");
  constexpr std::size_t bus = neuron_column(NeuronTable::cc_op, "bus_bandwidth");
  const std::int64_t bytes = std::max(row.integer("input_size").value_or(0), row.integer("output_size").value_or(0));
  if (*row.duration <= 0 || bytes <= 0) return;
  // Algorithm bandwidth: the larger of input and output over the duration, in bytes per second.
  const double bandwidth = static_cast<double>(bytes) / static_cast<double>(*row.duration) * 1e9;
  if (!into.sorter().is_set(algorithm)) into.sorter().real(algorithm, bandwidth);
  if (!into.sorter().is_set(bus)) {
    into.sorter().real(bus, bandwidth * bus_factor(row.name, group_size(row.text("replica_group"))));
  }
}

void NeuronImporter::look_at_throttle(ImportTable& into, const BoundRow& row) {
  constexpr std::size_t limit = neuron_column(NeuronTable::throttle, "util_limit");
  const auto k = row.integer("k");
  const auto n = row.integer("n");
  if (k && n && *n > 0 && !into.sorter().is_set(limit)) {
    into.sorter().real(limit, static_cast<double>(*k) / static_cast<double>(*n));
  }
}

void NeuronImporter::look_at_usage(const BoundRow& row) {
  const std::string_view type = row.text("type");
  if (type.empty() || type == "sb" || type == "sbuf" || type == "psum") return;
  report_.note("usage_kind_unknown",
               fmt::format("samples of on-chip memory of the kind \"{}\" are shown with those of the state buffer",
                           type.substr(0, 40)));
}

void NeuronImporter::look_at_allocation(ImportTable& into, const BoundRow& row) {
  constexpr std::size_t bytes = neuron_column(NeuronTable::memory, "allocation_bytes");
  constexpr std::size_t address = neuron_column(NeuronTable::memory, "address");
  constexpr std::size_t tensor = neuron_column(NeuronTable::memory, "tensor");
  constexpr std::size_t pool = neuron_column(NeuronTable::memory, "pool");
  EventSorter& sorter = into.sorter();
  const auto first = row.integer("start_address");
  const auto last = row.integer("end_address");
  if (first && last && *last >= *first && capped_difference(*last, *first) < kMaxAllocationBytes) {
    sorter.integer(bytes, *last - *first + 1);  // the end is inclusive
    sorter.unsigned_integer(address, static_cast<std::uint64_t>(*first));
  }
  sorter.string(tensor, writer_.intern(row.name));
  sorter.string(pool, writer_.intern(fmt::format("SBUF partition {}", row.text("partition"))));
}

void NeuronImporter::add_hbm_sample(const BoundRow& row) {
  constexpr std::size_t rate = neuron_column(NeuronTable::hbm_throughput, "hbm_transfer_rate");
  constexpr std::size_t total = neuron_column(NeuronTable::hbm_throughput, "hbm_total_transfer_bytes");
  const json::JsonField* rate_field = row.get("hbm_transfer_rate");
  const std::optional<double> value = rate_field == nullptr ? std::nullopt : json::to_double(*rate_field);
  if (!value) return;
  ImportTable& hbm = table(NeuronTable::hbm_throughput);
  EventSorter& sorter = hbm.sorter();
  sorter.begin();
  sorter.real(rate, *value);
  if (const auto moved = row.integer("hbm_total_transfer_bytes")) sorter.integer(total, *moved);
  sorter.commit(hbm.track(plan_, "counter", "HBM throughput", "", place_), *row.start, 0, 0);
}

}  // namespace accelscope::capture::sources::neuron
