#include "capture/sources/tt_ops/columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "capture/sources/base/csv_table.h"
#include "core/analysis/statistics/estimates.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tt_ops {
namespace {

struct UnitRow {
  std::string_view ending;
  std::string_view unit;
};
constexpr std::array kOpUnits = {
    UnitRow{"[ns]", "ns"},  UnitRow{"[cycles]", "cycles"}, UnitRow{"[B]", "B"},
    UnitRow{"(%)", "%"},    UnitRow{" CYCLE", "cycles"},   UnitRow{" TS", "ns"},
    UnitRow{"_BYTES", "B"}, UnitRow{"_cycles", "cycles"},  UnitRow{"_timestamp", "cycles"},
    UnitRow{"_ns", "ns"},   UnitRow{"_ghz", "GHz"},
};

struct HeadingRow {
  std::string_view word;  // in the name
  std::string_view heading;
};
// The first one that fits.
constexpr std::array kOpHeadings = {
    HeadingRow{"INPUT_", "Inputs"},           HeadingRow{"OUTPUT_", "Outputs"},
    HeadingRow{"HASH", "Programs"},           HeadingRow{"KERNEL SIZE", "Programs"},
    HeadingRow{"KERNEL SOURCE", "Programs"},  HeadingRow{"PROGRAM", "Programs"},
    HeadingRow{"COUNT", columns::kIds},       HeadingRow{" ID", columns::kIds},
    HeadingRow{"UTIL", "Utilisation"},        HeadingRow{"Util", "Utilisation"},
    HeadingRow{"PM ", "Utilisation"},         HeadingRow{"NPE ", "Utilisation"},
    HeadingRow{"HOST ", columns::kTiming},    HeadingRow{"DEVICE ", columns::kTiming},
    HeadingRow{"OP TO OP", columns::kTiming}, HeadingRow{"DISPATCH ", columns::kTiming},
    HeadingRow{"_id", columns::kIds},         HeadingRow{"kernel_sources", "Programs"},
    HeadingRow{"_cycles", columns::kTiming},  HeadingRow{"_timestamp", columns::kTiming},
    HeadingRow{"_ns", columns::kTiming},      HeadingRow{"_ghz", columns::kTiming},
};

struct WordRow {
  std::string_view name;
  std::string_view explanation;
};
constexpr std::array kOpWords = {
    WordRow{"OP TYPE", "Where it ran: on a device, on the host, or as a fallback in Python."},
    WordRow{"GLOBAL CALL COUNT", "The call's number; the device log calls it run host ID."},
    WordRow{"ATTRIBUTES", "With which options it was called."},
    WordRow{"MATH FIDELITY", "How many passes a multiplication takes: LoFi 1, HiFi2 2, HiFi3 3, HiFi4 4."},
    WordRow{"CORE COUNT", "Cores that took part."},
    WordRow{"OP TO OP LATENCY [ns]", "From the end of the operation before to the begin of this one on its device."},
    WordRow{"DEVICE KERNEL DURATION [ns]", "From the first kernel's begin on any processor to the last one's end."},
    WordRow{"DEVICE FW DURATION [ns]", "As the kernels' duration, with the firmware around them."},
    WordRow{"DEVICE COMPUTE CB WAIT FRONT [ns]", "Compute waited for data in circular buffers."},
    WordRow{"DEVICE COMPUTE CB RESERVE BACK [ns]", "Compute waited for room in circular buffers."},
    WordRow{"PM IDEAL [ns]", "The performance model's shortest time."},
    WordRow{"METAL TRACE ID", "The recorded trace that it was replayed from."},
    WordRow{"METAL TRACE REPLAY SESSION ID", "Which replay of that trace it was."},
    WordRow{"DEVICE BRISC KERNEL DURATION [ns]", "How long it was occupied, waits for buffers included."},
    WordRow{"DEVICE NCRISC KERNEL DURATION [ns]", "How long it was occupied, waits for buffers included."},
    WordRow{"DEVICE TRISC0 KERNEL DURATION [ns]", "How long it was occupied, waits for buffers included."},
    WordRow{"DEVICE TRISC1 KERNEL DURATION [ns]", "How long it was occupied, waits for buffers included."},
    WordRow{"DEVICE TRISC2 KERNEL DURATION [ns]", "How long it was occupied, waits for buffers included."},
};

}  // namespace

CellKind wider(CellKind known, std::string_view cell) noexcept {
  if (cell.empty() || known == CellKind::text) return known;
  if (known != CellKind::real && csv_integer(cell)) return CellKind::integer;
  return csv_real(cell) ? CellKind::real : CellKind::text;
}

std::vector<Column> op_columns(std::span<const std::string> names, std::span<const CellKind> kinds) {
  std::vector<Column> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Column column;
    column.name = names[i];
    column.type = kinds[i] == CellKind::integer ? ColumnType::int64
                  : kinds[i] == CellKind::real  ? ColumnType::float64
                                                : ColumnType::string;
    const auto unit = std::find_if(kOpUnits.begin(), kOpUnits.end(),
                                   [&](const UnitRow& row) { return names[i].ends_with(row.ending); });
    if (unit != kOpUnits.end() && column.type != ColumnType::string) column.unit = unit->unit;
    const auto heading = std::find_if(kOpHeadings.begin(), kOpHeadings.end(), [&](const HeadingRow& row) {
      return names[i].find(row.word) != std::string::npos;
    });
    column.group = heading == kOpHeadings.end() ? columns::kOperation : heading->heading;
    const auto words =
        std::find_if(kOpWords.begin(), kOpWords.end(), [&](const WordRow& row) { return row.name == names[i]; });
    if (words != kOpWords.end()) column.explanation = words->explanation;
    found.push_back(std::move(column));
  }
  return found;
}

std::optional<std::size_t> find_op_column(std::span<const std::string> header, const OpColumn::Names& names) noexcept {
  for (const std::string_view name : names) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (!name.empty() && found != header.end()) return static_cast<std::size_t>(found - header.begin());
  }
  return std::nullopt;
}

bool is_ops_header(std::span<const std::string> names) noexcept {
  const auto has = [&](const OpColumn::Names& column) { return find_op_column(names, column).has_value(); };
  const bool on_device = has(OpColumn::fw_start) && has(OpColumn::device_id);
  // Names of the real-time profiler are common words: all of them have to be there.
  return has(OpColumn::op_code) ? has(OpColumn::host_start) || on_device
                                : on_device && has(OpColumn::call_count) && has(OpColumn::fw_end);
}

void DeviceTime::add(std::int64_t first_cycle, std::optional<std::int64_t> last_cycle,
                     std::optional<double> duration_ns, std::optional<std::int64_t> host_begin_ns) {
  first_cycle_ = std::min(first_cycle_, first_cycle);
  // The duration may be that of one core, and the cycles those of all: the median passes over such rows.
  if (last_cycle && duration_ns && *duration_ns > 0 && *last_cycle > first_cycle) {
    const double rate = static_cast<double>(*last_cycle - first_cycle) / *duration_ns;
    if (rate > 0 && std::isfinite(rate)) rates_.push_back(rate);
  }
  operations_.push_back({first_cycle, std::max(first_cycle, last_cycle.value_or(first_cycle)), host_begin_ns});
}

std::optional<double> DeviceTime::ticks_per_ns() const {
  if (rates_.empty()) return std::nullopt;
  const double middle = analysis::middle_value(rates_);
  constexpr double kMhz = 1000;
  constexpr double kRounded = 1e-3;
  const double whole = std::round(middle * kMhz) / kMhz;
  return whole > 0 && std::abs(whole - middle) < kRounded * whole ? whole : middle;
}

std::vector<ClockAnchor> DeviceTime::anchors(double ticks_per_ns) const {
  std::vector<ClockAnchor> following = following_anchors(ticks_per_ns);
  if (following.empty()) return following;
  const auto elapsed = [&](std::int64_t cycle) {
    return capped_integer(static_cast<double>(cycle - first_cycle_) / ticks_per_ns);
  };
  const std::int64_t slack =
      capped_difference(capped_difference(following.back().ns, following.front().ns),
                        capped_difference(elapsed(following.back().ticks), elapsed(following.front().ticks)));
  if (slack > kMostSlack) return following;
  std::int64_t latest = INT64_MIN;
  for (const Operation& operation : operations_) {
    if (operation.host_ns)
      latest = std::max(latest, capped_difference(*operation.host_ns, elapsed(operation.first_cycle)));
  }
  return {{first_cycle_, latest}};
}

std::vector<ClockAnchor> DeviceTime::following_anchors(double ticks_per_ns) const {
  constexpr std::int64_t kLeastStep = 10'000;  // ns; what is less adds up until it is that much
  std::vector<Operation> sorted = operations_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Operation& a, const Operation& b) { return a.first_cycle < b.first_cycle; });
  // An end that was stamped far too late says nothing of what ran.
  constexpr std::int64_t kTooLong = 1024;  // times the usual length
  std::vector<std::int64_t> lengths;
  for (const Operation& operation : sorted) lengths.push_back(operation.last_cycle - operation.first_cycle);
  const std::int64_t usual = std::max<std::int64_t>(analysis::middle_value(lengths), 1);
  for (Operation& operation : sorted) {
    if ((operation.last_cycle - operation.first_cycle) / usual >= kTooLong)
      operation.last_cycle = operation.first_cycle;
  }
  std::vector<ClockAnchor> anchors;
  std::int64_t busy_until = 0;  // the last cycle of the operations so far
  for (const Operation& operation : sorted) {
    if (anchors.empty() && operation.host_ns) {
      anchors.push_back({operation.first_cycle, *operation.host_ns});
    } else if (operation.host_ns) {
      const auto at = [&](std::int64_t cycle) {
        return capped_sum(anchors.back().ns,
                          capped_integer(static_cast<double>(cycle - anchors.back().ticks) / ticks_per_ns));
      };
      // The clock rested after all that ran before. Where something still runs, there is no place for a rest.
      const ClockAnchor rest{busy_until, at(busy_until)};
      if (busy_until < operation.first_cycle &&
          capped_difference(*operation.host_ns, at(operation.first_cycle)) >= kLeastStep) {
        if (rest.ticks > anchors.back().ticks && rest.ns > anchors.back().ns) anchors.push_back(rest);
        anchors.push_back({operation.first_cycle, *operation.host_ns});
      }
    }
    busy_until = std::max(busy_until, operation.last_cycle);
  }
  // What follows the last anchor goes on as the line before it, which would be that of a rest.
  if (anchors.size() > 1) {
    const ClockAnchor last = anchors.back();
    const std::int64_t end = std::max(busy_until, last.ticks + 1'000);
    const std::int64_t length = capped_integer(static_cast<double>(end - last.ticks) / ticks_per_ns);
    anchors.push_back({end, capped_sum<std::int64_t>(last.ns, std::max<std::int64_t>(length, 1))});
  }
  return anchors;
}

}  // namespace accelscope::capture::sources::tt_ops
