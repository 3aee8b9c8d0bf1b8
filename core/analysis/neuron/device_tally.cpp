#include "core/analysis/neuron/device_tally.h"

#include <algorithm>
#include <functional>

#include "core/analysis/neuron/facts/operands.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis::neuron {
namespace {

// The number or string columns of one schema, block by block; nothing where the schema has no such column.
class NumberColumn {
 public:
  NumberColumn(const ScannedChunk& chunk, std::string_view name) : column_(chunk.lane.schema->find(name)) {
    if (column_) type_ = chunk.lane.schema->columns[*column_].type;
  }
  void read(BlockReader& reader) {
    if (column_) values_.read(reader, *column_, type_);
  }
  [[nodiscard]] bool found() const noexcept { return column_.has_value(); }
  [[nodiscard]] std::int64_t operator[](std::uint32_t index) const noexcept { return column_ ? values_[index] : 0; }

 private:
  std::optional<std::size_t> column_;
  ColumnType type_ = ColumnType::int64;
  NumberBlock values_;
};

class StringColumn {
 public:
  StringColumn(const ScannedChunk& chunk, std::string_view name) {
    const auto column = chunk.lane.schema->find(name);
    if (column && *column < chunk.view.column_count() &&
        chunk.lane.schema->columns[*column].type == ColumnType::string) {
      column_ = column;
    }
  }
  void read(BlockReader& reader) {
    if (column_) values_ = reader.column(*column_, ColumnType::string);
  }
  // Session-wide; 0 ("") where there is none.
  [[nodiscard]] StringId at(std::uint32_t index) const noexcept {
    return values_.has(index) ? static_cast<StringId>(values_.values[index]) : 0;
  }

 private:
  std::optional<std::size_t> column_;
  BlockValues values_;  // of the block that was read
};

// An event as a window sees it.
struct Seen {
  StringId name = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // the part inside the window
  bool owned = false;                     // counts in this window
  double share = 1;                       // of the event inside the range; instants lie inside as a whole
};

void add_time(EventTotals& totals, const Seen& event) {
  totals.time_ns += std::max<std::int64_t>(0, event.end_ns - event.begin_ns);
  totals.timed += event.owned ? 1 : 0;
  totals.active.add(event.begin_ns, event.end_ns);
}

// An amount that is there only where some event states it.
void add_stated(std::optional<Amount>& amount, std::int64_t value, double share) {
  if (value == 0) return;
  if (!amount) amount.emplace();
  amount->add(value, share);
}

}  // namespace

struct DeviceTally::Place {
  const ScanWindow& window;
  const TimeRange& range;
  Lane lane;

  // read(reader) before the events of a block, body(event, index in its block) for each.
  template <typename Read, typename Body>
  void for_each_event(const ScannedChunk& chunk, Read read, Body body) const {
    chunk.for_each_block([&](const ScannedBlock& block) {
      read(block.reader);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::int64_t begin = block.begin_ns(i);
        const std::int64_t end = block.end_ns(i);
        body(Seen{.name = block.name(i),
                  .begin_ns = std::max(begin, window.range.begin_ns),
                  .end_ns = std::min(end, window.range.end_ns),
                  .owned = window.owns(chunk, block.ticks().begins[i]),
                  .share = share_inside(range, begin, end)},
             i);
      }
    });
  }
};

KnownNames::KnownNames(const StringPool& pool)
    : wait(pool.find("EVENT_SEMAPHORE")),
      matmul(pool.find("MATMUL")),
      activate(pool.find("ACTIVATE")),
      transpose(pool.find("TRANSPOSE")),
      software_dynamic(pool.find("software_dynamic")),
      hardware_dynamic(pool.find("hardware_dynamic")),
      instruction_fetch(pool.find("instruction")) {
  for (const std::string_view name : kSetupOpcodes) {
    if (const StringId id = pool.find(name); id != kNone) setup.push_back(id);
  }
  std::ranges::sort(setup);
}

void DeviceTally::add(const ScannedChunk& chunk, const ScanWindow& window, const TimeRange& range,
                      const KnownNames& known, const Lane& lane) {
  const Place place{window, range, lane};
  const std::string& schema = chunk.lane.schema->name;
  if (schema == "instruction") add_instructions(chunk, place, known);
  if (schema == "dma") add_packets(chunk, place, known);
  if (schema == "dma_transfer") add_transfers(chunk, place);
  if (schema == "cc_op") add_collectives(chunk, place, collectives);
  if (schema == "cc_instruction") add_collectives(chunk, place, collective_steps);
  if (schema == "throttle") add_throttling(chunk, place);
}

// Waiting for a semaphore is an instruction of its own; it counts, but has no part in times.
void DeviceTally::add_instructions(const ScannedChunk& chunk, const Place& place, const KnownNames& known) {
  StringColumn engine(chunk, "subgroup");
  StringColumn type(chunk, "instruction_type");
  NumberColumn elements(chunk, "elements");
  NumberColumn raw_flops(chunk, "raw_flops");
  NumberColumn drain(chunk, "is_psum_read_sbuf_write");
  NumberColumn adjusted(chunk, "adjusted_flops");
  NumberColumn adjusted_transpose(chunk, "adjusted_flops_transpose");
  std::vector<NumberColumn> columns;
  for (const std::string_view name : kSummedColumns) columns.emplace_back(chunk, name);
  const auto read = [&](BlockReader& reader) {
    engine.read(reader);
    type.read(reader);
    elements.read(reader);
    raw_flops.read(reader);
    drain.read(reader);
    adjusted.read(reader);
    adjusted_transpose.read(reader);
    for (NumberColumn& column : columns) column.read(reader);
  };
  StringId last_engine = kNone;
  EventTotals* totals = nullptr;
  place.for_each_event(chunk, read, [&](const Seen& event, std::uint32_t i) {
    if (const StringId name = engine.at(i); totals == nullptr || name != last_engine) {
      last_engine = name;
      totals = &engines[name];
    }
    if (event.name != known.wait) {
      add_time(*totals, event);
      if (place.lane.is_active) active.add(event.begin_ns, event.end_ns);
      if (!std::binary_search(known.setup.begin(), known.setup.end(), event.name)) {
        worked.add(event.begin_ns, event.end_ns);
      }
    }
    if (event.name == known.activate) {
      add_time(activations, event);
      activations.count += event.owned ? 1 : 0;
    }
    if (!event.owned) return;
    ++totals->count;
    for (std::size_t c = 0; c < columns.size(); ++c) sums[c].add(columns[c][i], event.share);
    drains += drain[i] != 0 ? 1 : 0;
    add_stated(adjusted_flops, adjusted[i], event.share);
    add_stated(adjusted_transpose_flops, adjusted_transpose[i], event.share);
    if (event.name != known.matmul) return;
    // A multiply-accumulate is two operations; files of the newer format state the operations alone.
    const std::int64_t work = elements[i] != 0 ? 2 * elements[i] : raw_flops[i];
    ++matmuls;
    flops.add(work, event.share);
    if (known.transpose != kNone && type.at(i) == known.transpose) transpose_flops.add(work, event.share);
  });
}

void DeviceTally::add_packets(const ScannedChunk& chunk, const Place& place, const KnownNames& known) {
  StringColumn type(chunk, "queue_type");
  NumberColumn size(chunk, "transfer_size");
  NumberColumn queue(chunk, "dma_queue");
  NumberColumn engine(chunk, "dma_engine");
  const auto read = [&](BlockReader& reader) {
    type.read(reader);
    size.read(reader);
    queue.read(reader);
    engine.read(reader);
  };
  Ring last_ring{-1, -1, -1};
  StringId last_kind = kNone;
  place.for_each_event(chunk, read, [&](const Seen& event, std::uint32_t i) {
    const StringId kind = type.at(i);
    const bool is_software = known.software_dynamic != kNone && kind == known.software_dynamic;
    const bool is_hardware = known.hardware_dynamic != kNone && kind == known.hardware_dynamic;
    Packets& of_kind = is_software ? software : is_hardware ? hardware : fixed;
    if (place.lane.is_active) active.add(event.begin_ns, event.end_ns);
    for (Packets* to : {&packets, &of_kind}) {
      add_time(to->totals, event);
      if (!event.owned) continue;
      ++to->totals.count;
      to->bytes.add(size[i], event.share);
    }
    if (const Ring ring{place.lane.core, queue[i], engine[i]}; ring != last_ring || kind != last_kind) {
      last_ring = ring;
      last_kind = kind;
      const bool fetches = known.instruction_fetch != kNone && kind == known.instruction_fetch;
      (fetches ? fetching_rings : rings).insert(ring);
    }
  });
}

void DeviceTally::add_transfers(const ScannedChunk& chunk, const Place& place) {
  NumberColumn size(chunk, "transfer_size");
  place.for_each_event(
      chunk, [&](BlockReader& reader) { size.read(reader); },
      [&](const Seen& event, std::uint32_t i) {
        add_time(transfers.totals, event);
        if (place.lane.is_active) active.add(event.begin_ns, event.end_ns);
        if (!event.owned) return;
        ++transfers.totals.count;
        transfers.bytes.add(size[i], event.share);
      });
}

void DeviceTally::add_collectives(const ScannedChunk& chunk, const Place& place, EventTotals& totals) {
  place.for_each_event(
      chunk, [](BlockReader&) {},
      [&](const Seen& event, std::uint32_t) {
        add_time(totals, event);
        totals.count += event.owned ? 1 : 0;
        if (place.lane.is_active) active.add(event.begin_ns, event.end_ns);
      });
}

void DeviceTally::add_throttling(const ScannedChunk& chunk, const Place& place) {
  const std::uint32_t core = place.lane.core;
  NumberColumn k(chunk, "k");
  NumberColumn n(chunk, "n");
  const auto read = [&](BlockReader& reader) {
    k.read(reader);
    n.read(reader);
  };
  place.for_each_event(chunk, read, [&](const Seen& event, std::uint32_t i) {
    const std::int64_t time = std::max<std::int64_t>(0, event.end_ns - event.begin_ns);
    // More than all cycles cannot be allowed, and a pattern of no length says nothing.
    const double limit = n[i] > 0 ? std::clamp(static_cast<double>(k[i]) / static_cast<double>(n[i]), 0.0, 1.0) : 1.0;
    const auto add_to = [&](ThrottleTotals& totals) {
      totals.rows += event.owned ? 1 : 0;
      totals.time_ns += time;
      totals.allowed_ns += limit * static_cast<double>(time);
    };
    add_to(throttling[{core, event.name}]);
    ThrottleTotals& of_core = throttled[core];  // exists as soon as the core reports anything
    if (limit < 1) add_to(of_core);
  });
}

std::size_t DeviceTally::queue_count() const {
  const auto same_queue = [](const Ring& a, const Ring& b) { return a[0] == b[0] && a[1] == b[1]; };
  const auto fetches = [&](const auto& listed) {
    return std::ranges::any_of(fetching_rings, [&](const Ring& ring) { return same_queue(ring, listed.first); });
  };
  const auto is_counted = [&](const Ring& ring) {
    return rings.contains(ring) ||
           std::ranges::any_of(listed_queues, [&](const auto& listed) { return same_queue(ring, listed.first); });
  };
  const auto listed = std::ranges::count_if(listed_queues, fetches);
  const auto others = std::ranges::count_if(fetching_rings, std::not_fn(is_counted));
  return rings.size() + static_cast<std::size_t>(listed + others);
}

void DeviceTally::close_window() {
  for (auto& [name, totals] : engines) totals.active.close_window();
  for (EventTotals* totals : {&activations, &packets.totals, &fixed.totals, &software.totals, &hardware.totals,
                              &transfers.totals, &collectives, &collective_steps}) {
    totals->active.close_window();
  }
  active.close_window();
}

}  // namespace accelscope::analysis::neuron
