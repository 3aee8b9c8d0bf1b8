// What the makers of devices call things, a row each in vendors.cpp. General analysis knows no maker's words: it asks
// here, and an event of no maker finds nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/definitions.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {

// The useful floating point operations of a lane's events, a block of them at a time.
class EventWork {
 public:
  EventWork() = default;
  virtual ~EventWork() = default;
  EventWork(const EventWork&) = delete;
  EventWork& operator=(const EventWork&) = delete;
  virtual void read(BlockReader& reader) = 0;
  [[nodiscard]] virtual double at(std::uint32_t index) const = 0;  // of the block that was read
  // The event takes time of the matrix engine, but only moves data about.
  [[nodiscard]] virtual bool transposes(std::uint32_t index) const = 0;
};

// visitor(address, written) for every operand with an address in on-chip memory.
using AddressVisitor = std::function<void(std::uint64_t, bool)>;

// A memory of a device, or what moves or works between memories, as a box of its hierarchy.
struct MemoryBox {
  enum class Kind : std::uint8_t { memory, mover, engine };
  std::string_view name;   // "HBM"
  std::string_view title;  // "Vector, Scalar, GpSimd"
  Kind kind = Kind::memory;
  std::uint8_t row = 0, column = 0;  // where it stands in the picture
  std::string_view peak = {};        // of core/analysis/peaks: of a memory
};

// Bytes that go from one box to another, as a column of the table of instructions counts them.
struct MemoryPathWords {
  enum class Of : std::uint8_t {
    transfers,  // the transfers that an instruction sets off move them
    matrix,     // the matrix engine
    others,     // all other engines; not of instructions that set off transfers
  };
  std::string_view from, to;
  std::string_view column;
  Of of = Of::others;
  std::string_view peak = {}, other_peak = {};  // the lower of the two counts
};

// What of a table of instructions tells of memories.
struct MemoryWords {
  std::span<const MemoryBox> boxes;
  std::span<const MemoryPathWords> paths;
  std::string_view mover;                         // the box that moves what transfers move; "": none
  std::string_view engine_column, matrix_engine;  // "subgroup" is "Tensor"
  std::string_view transfer_table;                // whose events are single transfers
  std::string_view transfer_word;                 // "descriptors"
  double transfer_cost_bytes = 0;                 // what each costs beside its bytes, in bytes at the mover's peak
};

// How the engines of a device tell each other that something is done.
struct SignalWords {
  // What an instruction's operands wait for: semaphore, value, whether exactly that, whether transfers add to it; and
  // the semaphores that it adds to when it is done.
  void (*visit)(std::string_view operands,
                const std::function<void(std::uint32_t, std::int64_t, bool, bool)>& waits_for,
                const std::function<void(std::uint32_t)>& adds_to);
  std::int64_t (*number)(std::string_view name);     // of a semaphore; below 0: it is none
  std::string_view semaphore_column;                 // of packets: the semaphore that each adds to when it is done
  std::string_view unit_column;                      // of packets: the DMA engine that serves it, in order
  std::string_view engine_column;                    // of instructions: rows of one engine issue in order
  std::span<const std::string_view> transfer_names;  // of instructions that set off transfers
  std::string_view queue_column;                     // of packets: the number of their queue
  std::string_view (*queue)(std::string_view name);  // whose transfers add to a semaphore; "": an engine does
  // Of an instruction that sets off a transfer: what that adds to, by how much, and the device memory it goes to or
  // comes from; false where its operands do not say.
  bool (*signal)(std::string_view operands, std::uint32_t& semaphore, std::uint32_t& increment);
  void (*range)(std::string_view operands, bool written, std::uint64_t& address, std::uint64_t& bytes);
};

// DMA packets below it are small: the NKI DMA Overview recommends at least 2 KiB.
inline constexpr double kSmallPacketBytes = 2048;

struct Vendor {
  // Tables whose time lies in another table of the device in more detail.
  struct DetailedTable {
    std::string_view table, detail;
    std::string_view part_column = {};    // of the detail: the key of what it is a part of; "": it does not say
    std::string_view server_column = {};  // of the detail: which of the device's movers did it, one part after another
  };

  std::span<const std::string_view> setup_names;  // of events that set up, order or synchronise others' work
  std::string_view place_column;                  // of a table of instructions: where in the program each stands
  std::string_view load_name;                     // of events that load code: work, but not where work begins
  std::span<const DetailedTable> detailed_tables;
  bool (*has_work)(const LaneSnapshot& lane);  // whether its events can have floating point operations
  std::unique_ptr<EventWork> (*event_work)(const LaneSnapshot& lane, const StringPool& pool);
  std::string_view on_chip_pool;   // pools of on-chip memory begin so
  std::string_view on_chip_place;  // as transfers name it
  std::string_view reload_column;  // of a table of tensors: how often each was loaded into it
  void (*visit_addresses)(std::string_view operands, const AddressVisitor& visitor);
  // The same of operands in all memories of the engines, and the column that holds them.
  void (*visit_operands)(std::string_view operands, const AddressVisitor& visitor);
  std::string_view operands_column;
  std::string_view weights_name;     // of events that load the stationary operand of the next multiplication
  std::string_view multiply_name;    // and of multiplications
  std::string_view copy_name;        // of events that only copy
  double columns_per_ns = 0;         // that move through the matrix engine
  double widest_columns = 0;         // that one multiplication moves at most
  double column_flops = 0;           // floating point operations of a column
  std::string_view size_column;      // of a table of tensors: bytes of one
  std::string_view from_column;      // of transfers: the kind of memory that is read
  std::string_view to_column;        // and written
  std::string_view spill_place;      // memory for what on-chip memory has no room for
  std::string_view packet_table;     // of transfers as DMA engines do them, one by one
  std::int64_t no_payload_bytes;     // packets of up to so many carry signals
  std::string_view purpose_column;   // of packets: what their queue is for
  std::string_view program_purpose;  // it carries a program, no data
  double packet_rate;                // bytes a second that a DMA engine can move
  std::string_view transpose_term;   // a search that finds transposes of the matrix engine
  std::string_view multiply_term;    // and its multiplications
  std::string_view limit_column;     // of throttling: share of cycles in which the matrix engine may work
  std::span<const std::string_view> no_limits = {};       // kinds of throttling that slow nothing down
  std::span<const std::string_view> warm_up_limits = {};  // that hold until an engine has been busy for a while
  const MemoryWords* memory = nullptr;                    // of lanes that have work
  const SignalWords* signals = nullptr;
};

// How a maker's logs tell of runs of a program on many cores.
struct ProgramTables {
  std::string_view run_table;      // a row for each run
  std::string_view kernel_suffix;  // of the names of events in which a core does its part of a run
  std::string_view total_table;    // a row for what a core has summed up over a run
  std::string_view total_column;   // ns
  std::string_view data_wait;      // the row's name: computing waited for data
  std::string_view room_wait;      // and for room for its results
  std::string_view network_table;  // transfers between cores
};

// How traces of CUDA tell of a stream that waits for an event: which stream it was recorded on, and the call that did.
struct StreamWaitWords {
  std::string_view stream_column, record_column;
  std::string_view call_column;  // of calls: what others name them by
};

[[nodiscard]] const StreamWaitWords& stream_wait_words();
[[nodiscard]] std::span<const Vendor> vendors();
[[nodiscard]] std::span<const ProgramTables> program_tables();

// Whether what recorded the session ran each launch several times and alone, to read counters in passes: the pauses
// between launches are its own.
[[nodiscard]] bool pauses_are_of_profiler(const Snapshot& snapshot);

// Of the vendor that knows the lane; null where its events have none.
[[nodiscard]] const Vendor* vendor_of_work(const LaneSnapshot& lane);

// Whether a table's time lies in another one in more detail, of those that `has_table` knows of the same device.
template <typename HasTable>
[[nodiscard]] bool has_detail(std::string_view table, HasTable has_table) {
  for (const Vendor& vendor : vendors()) {
    for (const Vendor::DetailedTable& each : vendor.detailed_tables) {
      if (each.table == table && has_table(each.detail)) return true;
    }
  }
  return false;
}

// A figure and how far it may lie beside the truth because times are whole ns. The arithmetic carries that on.
struct Figure {
  double value = 0;
  double slack = 0;         // in the figure's unit, >= 0
  bool unfiltered = false;  // not made of events: which of them are looked at does not change it

  [[nodiscard]] double relative_slack() const noexcept { return value == 0 ? 0 : slack / std::abs(value); }
};

[[nodiscard]] inline Figure scaled(const Figure& figure, double factor) noexcept {
  return {figure.value * factor, figure.slack * std::abs(factor)};
}
[[nodiscard]] inline Figure divided(const Figure& part, const Figure& whole) noexcept {
  const double value = whole.value == 0 ? 0 : part.value / whole.value;
  return {value, std::abs(value) * (part.relative_slack() + whole.relative_slack())};
}

using Figures = std::map<std::string, Figure, std::less<>>;  // by the vendor's name; times in s, shares as fractions

struct DeviceFigures {
  std::string device;  // as TrackDevices names it
  Figures figures;
};

// Which of the devices, named as TrackDevices names them, the vendor's metric is of: metrics of files with one device
// name none, so they are the first's; what names a host or a rank alone is of the first of its devices.
[[nodiscard]] inline std::optional<std::size_t> device_of(const Metric& metric, std::span<const std::string> devices) {
  const auto index = [&](auto found) {
    return found == devices.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - devices.begin()));
  };
  if (metric.device.empty()) return index(devices.begin());
  const auto exact = index(std::find(devices.begin(), devices.end(), metric.device));
  return exact ? exact : index(std::ranges::find_if(devices, [&](const std::string& device) {
    return device.starts_with(metric.device + " ") || metric.device.ends_with(" " + device);
  }));
}

// What a table of throttling says of its events: the share of cycles in which engines may work. An event that leaves
// all of them, 8 of 8, is no limit, whatever it is called.
class LimitBlock {
 public:
  LimitBlock(const Schema& schema, const StringPool& strings) : strings_(strings) {
    for (const Vendor& vendor : vendors()) {
      column_ = vendor.limit_column.empty() ? std::nullopt : schema.find(vendor.limit_column);
      if (column_ && is_text(schema.columns[*column_].type)) column_.reset();
      if (!column_) continue;
      type_ = schema.columns[*column_].type;
      vendor_ = &vendor;
      return;
    }
  }
  [[nodiscard]] bool is_known() const noexcept { return column_.has_value(); }
  void read(BlockReader& reader) { values_ = reader.column(*column_, type_); }
  // 1: none is in force.
  [[nodiscard]] double at(std::uint32_t index, StringId name) const {
    if (!values_.has(index) || is_one_of(name, vendor_->no_limits)) return 1;
    return std::clamp(real_number(type_, values_.values[index]), 0.0, 1.0);
  }
  // It lasts until the engine has been busy for a while, and comes back after a pause.
  [[nodiscard]] bool warms_up(StringId name) const { return is_one_of(name, vendor_->warm_up_limits); }

 private:
  [[nodiscard]] bool is_one_of(StringId name, std::span<const std::string_view> names) const {
    return std::find(names.begin(), names.end(), strings_.text(name)) != names.end();
  }

  const StringPool& strings_;
  const Vendor* vendor_ = nullptr;
  std::optional<std::size_t> column_;
  ColumnType type_{};
  BlockValues values_;
};

}  // namespace accelscope::analysis
