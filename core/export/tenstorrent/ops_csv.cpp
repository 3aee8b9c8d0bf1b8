#include "core/base/capped.h"
#include "core/export/base/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/base/format.h"
#include "core/export/base/event_cells.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"

namespace accelscope::exporting::tenstorrent {
namespace {

constexpr std::string_view kOperands = "INPUT_ and OUTPUT_";  // where the columns of tensors stand
// The header that the tools document, in their order.
constexpr std::array kHeader = std::to_array<std::string_view>({
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "DEVICE ARCH",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT",
    "PARALLELIZATION STRATEGY",
    "HOST START TS",
    "HOST END TS",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "OP TO OP LATENCY [ns]",
    "OP TO OP LATENCY BR/NRISC START [ns]",
    "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
    "DEVICE KERNEL DURATION DM START [ns]",
    "DEVICE KERNEL DURATION PER CORE MIN [ns]",
    "DEVICE KERNEL DURATION PER CORE MAX [ns]",
    "DEVICE KERNEL DURATION PER CORE AVG [ns]",
    "DEVICE KERNEL FIRST TO LAST START [ns]",
    "DEVICE BRISC KERNEL DURATION [ns]",
    "DEVICE NCRISC KERNEL DURATION [ns]",
    "DEVICE TRISC0 KERNEL DURATION [ns]",
    "DEVICE TRISC1 KERNEL DURATION [ns]",
    "DEVICE TRISC2 KERNEL DURATION [ns]",
    "DEVICE ERISC KERNEL DURATION [ns]",
    "DEVICE COMPUTE CB WAIT FRONT [ns]",
    "DEVICE COMPUTE CB RESERVE BACK [ns]",
    "DISPATCH TOTAL CQ CMD OP TIME [ns]",
    "DISPATCH GO SEND WAIT TIME [ns]",
    kOperands,
    "METAL TRACE ID",
    "METAL TRACE REPLAY SESSION ID",
    "COMPUTE KERNEL SOURCE",
    "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL SOURCE",
    "DATA MOVEMENT KERNEL HASH",
    "PROGRAM HASH",
    "PROGRAM CACHE HIT",
    "TENSIX DM 0 MAX KERNEL SIZE [B]",
    "TENSIX DM 1 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 0 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 1 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 2 MAX KERNEL SIZE [B]",
    "ACTIVE ETH DM 0 MAX KERNEL SIZE [B]",
    "ACTIVE ETH DM 1 MAX KERNEL SIZE [B]",
    "IDLE ETH DM 0 MAX KERNEL SIZE [B]",
    "IDLE ETH DM 1 MAX KERNEL SIZE [B]",
    "PM IDEAL [ns]",
    "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]",
    "PM REQ I BW",
    "PM REQ O BW",
    "PM FPU UTIL (%)",
    "NOC UTIL (%)",
    "MULTICAST NOC UTIL (%)",
    "DRAM BW UTIL (%)",
    "DRAM BW UTIL PER CTRL (%)",
    "ETH BW UTIL (%)",
    "NPE CONG IMPACT (%)",
});

[[nodiscard]] bool is_operand(std::string_view name) noexcept {
  return name.starts_with("INPUT_") || name.starts_with("OUTPUT_");
}

// The documented columns, those of tensors as the session has them, and what it has beyond.
[[nodiscard]] std::vector<std::string> ops_header(const Snapshot& snapshot) {
  std::vector<std::string> own;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr || track.schema->name != "op") continue;
    for (const Column& column : track.schema->columns) {
      if (std::find(own.begin(), own.end(), column.name) == own.end()) own.push_back(column.name);
    }
  }
  std::vector<std::string> header;
  for (const std::string_view name : kHeader) {
    if (name != kOperands) {
      header.emplace_back(name);
      continue;
    }
    std::copy_if(own.begin(), own.end(), std::back_inserter(header), is_operand);
  }
  for (const std::string& name : own) {
    if (std::find(header.begin(), header.end(), name) == header.end()) header.push_back(name);
  }
  return header;
}

struct OpsLine {
  std::int64_t order = 0;  // ns
  std::string text;
};

void append_line(const std::vector<std::string>& cells, std::string& out) {
  for (const std::string& cell : cells) {
    listing::append_csv_cell(out, cell);
    out += ',';
  }
  out.back() = '\n';
}

// Of a report: the cells as they were read.
Result<void> lines_of_report(const ExportRequest& request, const std::vector<std::string>& header,
                             std::vector<OpsLine>& lines) {
  std::vector<std::string> cells(header.size());
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const std::size_t code = place("OP CODE"), type = place("OP TYPE"), start = place("HOST START TS");
  const auto add = [&](const EventCells& event, bool signpost) {
    for (std::size_t i = 0; i < header.size(); ++i) cells[i] = signpost ? std::string() : event.text(header[i]);
    cells[code] = event.name();
    OpsLine line;
    if (signpost) {
      cells[type] = "signpost";
      cells[start] = fmt::format("{}", event.begin_ticks());
      line.order = event.begin_ticks();
    } else {
      line.order = event.integer("HOST START TS").value_or(event.begin_ns());
    }
    append_line(cells, line.text);
    lines.push_back(std::move(line));
  };
  Result<void> done = for_each_event(request, "op", [&](const EventCells& event) { add(event, false); });
  if (!done) return done;
  return for_each_event(request, "signpost", [&](const EventCells& event) { add(event, true); });
}

struct Span {
  std::int64_t begin = INT64_MAX;  // cycles
  std::int64_t end = INT64_MIN;
  void add(std::int64_t from, std::int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
  [[nodiscard]] bool known() const noexcept { return begin <= end; }
  [[nodiscard]] std::int64_t length() const noexcept { return capped_difference(end, begin); }
};

constexpr std::array<std::string_view, 6> kProcessors = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC"};

// What the zones of one run tell.
struct LoggedRun {
  double ns_per_cycle = 1;
  std::string trace, replay;
  Span firmware, kernels;
  std::array<Span, kProcessors.size()> processors;
  std::map<std::pair<std::int64_t, std::int64_t>, Span> cores;  // kernels
  std::int64_t last_start = INT64_MIN;
};

// Chip, run host id, replay.
using RunId = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

Result<void> read_runs(const ExportRequest& request, std::map<RunId, LoggedRun>& runs, std::uint64_t& without_run) {
  return for_each_event(request, "zone", [&](const EventCells& zone) {
    const std::string_view name = zone.name();
    const bool firmware = name.ends_with("-FW");
    const bool kernel = name.ends_with("-KERNEL");
    if (!firmware && !kernel) return;
    const auto id = zone.integer("run_host_id");
    if (!id) {
      ++without_run;
      return;
    }
    LoggedRun& run = runs[{zone.integer("pcie_slot").value_or(0), *id, zone.integer("trace_id_counter").value_or(-1)}];
    run.ns_per_cycle = zone.ns_per_tick();
    run.trace = zone.text("trace_id");
    run.replay = zone.text("trace_id_counter");
    const std::int64_t begin = zone.begin_ticks(), end = zone.end_ticks();
    if (firmware) return run.firmware.add(begin, end);
    run.kernels.add(begin, end);
    run.last_start = std::max(run.last_start, begin);
    run.cores[{zone.integer("core_x").value_or(0), zone.integer("core_y").value_or(0)}].add(begin, end);
    const auto processor = std::find(kProcessors.begin(), kProcessors.end(), zone.text("risc"));
    if (processor != kProcessors.end())
      run.processors[static_cast<std::size_t>(processor - kProcessors.begin())].add(begin, end);
  });
}

// By names of the header; the rest stays empty.
[[nodiscard]] std::map<std::string_view, std::string> cells_of_run(const RunId& id, const LoggedRun& run,
                                                                   std::optional<std::int64_t> previous_end) {
  const auto ns = [&](std::int64_t cycles) {
    return fmt::format("{}", capped_integer(std::round(static_cast<double>(cycles) * run.ns_per_cycle)));
  };
  const auto length = [&](const Span& span) { return span.known() ? ns(span.length()) : std::string(); };
  const Span& whole = run.firmware.known() ? run.firmware : run.kernels;
  std::map<std::string_view, std::string> cells = {
      {"OP CODE", fmt::format("run {}", std::get<1>(id))},
      {"OP TYPE", "tt_dnn_device"},
      {"GLOBAL CALL COUNT", fmt::format("{}", std::get<1>(id))},
      {"DEVICE ID", fmt::format("{}", std::get<0>(id))},
      {"DEVICE FW START CYCLE", fmt::format("{}", whole.begin)},
      {"DEVICE FW END CYCLE", fmt::format("{}", whole.end)},
      {"DEVICE FW DURATION [ns]", length(whole)},
      {"OP TO OP LATENCY [ns]",
       previous_end ? ns(std::max<std::int64_t>(0, capped_difference(whole.begin, *previous_end))) : "0"},
      {"DEVICE KERNEL DURATION [ns]", length(run.kernels)},
      {"METAL TRACE ID", run.trace},
      {"METAL TRACE REPLAY SESSION ID", run.replay},
  };
  if (!run.cores.empty()) {
    std::int64_t least = INT64_MAX, most = 0, sum = 0;
    for (const auto& [core, span] : run.cores) {
      least = std::min(least, span.length());
      most = std::max(most, span.length());
      sum = capped_sum(sum, span.length());
    }
    cells["CORE COUNT"] = fmt::format("{}", run.cores.size());
    cells["DEVICE KERNEL DURATION PER CORE MIN [ns]"] = ns(least);
    cells["DEVICE KERNEL DURATION PER CORE MAX [ns]"] = ns(most);
    cells["DEVICE KERNEL DURATION PER CORE AVG [ns]"] = ns(sum / static_cast<std::int64_t>(run.cores.size()));
    cells["DEVICE KERNEL FIRST TO LAST START [ns]"] = ns(capped_difference(run.last_start, run.kernels.begin));
  }
  constexpr std::array<std::string_view, kProcessors.size()> kColumns = {
      "DEVICE BRISC KERNEL DURATION [ns]",  "DEVICE NCRISC KERNEL DURATION [ns]", "DEVICE TRISC0 KERNEL DURATION [ns]",
      "DEVICE TRISC1 KERNEL DURATION [ns]", "DEVICE TRISC2 KERNEL DURATION [ns]", "DEVICE ERISC KERNEL DURATION [ns]"};
  for (std::size_t i = 0; i < kColumns.size(); ++i) cells[kColumns[i]] = length(run.processors[i]);
  return cells;
}

Result<void> lines_of_log(const ExportRequest& request, const std::vector<std::string>& header,
                          std::vector<OpsLine>& lines, std::vector<std::string>& losses) {
  std::map<RunId, LoggedRun> runs;
  std::uint64_t without_run = 0;
  if (Result<void> done = read_runs(request, runs, without_run); !done) return done;
  std::vector<std::pair<RunId, const LoggedRun*>> sorted;
  for (const auto& [id, run] : runs) {
    if (run.firmware.known() || run.kernels.known()) sorted.emplace_back(id, &run);
  }
  const auto begin = [](const LoggedRun& run) { return run.firmware.known() ? run.firmware.begin : run.kernels.begin; };
  std::ranges::sort(sorted, [&](const auto& a, const auto& b) {
    return std::tuple(std::get<0>(a.first), begin(*a.second), a.first) <
           std::tuple(std::get<0>(b.first), begin(*b.second), b.first);
  });
  std::map<std::int64_t, std::int64_t> ends;  // by chip
  for (const auto& [id, run] : sorted) {
    const std::int64_t chip = std::get<0>(id);
    const auto before = ends.find(chip);
    const std::map<std::string_view, std::string> cells =
        cells_of_run(id, *run, before == ends.end() ? std::nullopt : std::optional(before->second));
    ends[chip] = run->firmware.known() ? run->firmware.end : run->kernels.end;
    std::vector<std::string> row;
    for (const std::string& name : header) {
      const auto cell = cells.find(name);
      row.push_back(cell == cells.end() ? std::string() : cell->second);
    }
    append_line(row, lines.emplace_back().text);
  }
  if (!sorted.empty()) {
    losses.emplace_back(
        "a device log does not tell operations' names, inputs, attributes and host times: those cells are empty; open "
        "the "
        "operations report of the run for them");
  }
  if (without_run > 0) {
    losses.push_back(
        fmt::format("{} zones of firmware and kernels tell no run and are left out", format_count(without_run)));
  }
  return {};
}

}  // namespace

bool has_operations(const Snapshot& snapshot) { return has_table(snapshot, "op") || has_zones(snapshot); }

bool has_zones(const Snapshot& snapshot) { return has_table(snapshot, "zone"); }

Result<ExportReport> write_ops_csv(const ExportRequest& request, ExportOutput& output) {
  const Snapshot& snapshot = *request.query.snapshot;
  const bool from_report = has_table(snapshot, "op");
  if (!has_operations(snapshot)) {
    return Error{"the session has neither operations of tt-metal nor zones of its device log"};
  }
  const std::vector<std::string> header = ops_header(snapshot);
  std::vector<OpsLine> lines;
  ExportReport report;
  TRY(from_report ? lines_of_report(request, header, lines) : lines_of_log(request, header, lines, report.losses));
  if (from_report) {
    std::ranges::stable_sort(lines, {}, &OpsLine::order);
  }
  std::string text;
  append_line(header, text);
  for (const OpsLine& line : lines) text += line.text;
  report.rows = lines.size();
  report.bytes = text.size();
  TRY(output.write(text));
  return report;
}

namespace {

struct CoreStamps {
  // By processor and zone: begin and end, in cycles.
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<std::int64_t, std::int64_t>>> zones;
};

}  // namespace

Result<ExportReport> write_rearranged_csv(const ExportRequest& request, ExportOutput& output) {
  if (!has_zones(*request.query.snapshot)) return Error{"the session has no zones of a device log of tt-metal"};
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, CoreStamps> cores;
  std::map<std::pair<std::string, std::string>, std::size_t> most;  // how often a zone came on one core
  std::uint64_t left_out = 0;
  std::size_t columns = 0;
  const Result<void> read = for_each_event(request, "zone", [&](const EventCells& zone) {
    const auto chip = zone.integer("pcie_slot"), x = zone.integer("core_x"), y = zone.integer("core_y");
    if (!x || !y) return;
    const std::pair key(zone.text("risc"), std::string(zone.name()));
    auto& stamps = cores[{chip.value_or(0), *x, *y}].zones[key];
    std::size_t& times = most[key];
    if (stamps.size() == times) {
      if (columns + 2 > kMostStampColumns) {
        ++left_out;
        return;
      }
      columns += 2;
      ++times;
    }
    stamps.emplace_back(zone.begin_ticks(), zone.end_ticks());
  });
  if (!read) return read.error();
  std::string text = "device,core_x,core_y";
  for (const auto& [key, times] : most) {
    for (std::size_t i = 1; i <= times; ++i) {
      for (const char* edge : {"begin", "end"}) {
        text += ',';
        listing::append_csv_cell(text, fmt::format("{} {} {}{}", key.first, key.second, edge,
                                                   times > 1 ? fmt::format(" {}", i) : std::string()));
      }
    }
  }
  text += '\n';
  ExportReport report;
  for (auto& [place, core] : cores) {
    text += fmt::format("{},{},{}", std::get<0>(place), std::get<1>(place), std::get<2>(place));
    for (const auto& [key, times] : most) {
      auto& stamps = core.zones[key];
      std::ranges::sort(stamps);
      for (std::size_t i = 0; i < times; ++i) {
        if (i < stamps.size()) {
          text += fmt::format(",{},{}", stamps[i].first, stamps[i].second);
        } else {
          text += ",,";
        }
      }
    }
    text += '\n';
    ++report.rows;
  }
  report.bytes = text.size();
  if (left_out > 0) {
    report.losses.push_back(fmt::format("{} zones are left out: a row has {} columns of time stamps at most",
                                        format_count(left_out), kMostStampColumns));
  }
  TRY(output.write(text));
  return report;
}

}  // namespace accelscope::exporting::tenstorrent
