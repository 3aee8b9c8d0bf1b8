#include "capture/sources/rocm/compute/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/json/json_cursor.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::rocm {
namespace {

using namespace columns;
using sqlite::ForeignRows;

constexpr ColumnSpec kFigureColumns[] = {
    {"metric_id", kString, "", kIds, "Number", "The tool's number of the figure."},
    {"metric", kString, "", kOperation, "Figure", "What is measured."},
    {"table_name", kString, "", kOperation, "Table", "The tool's table that it belongs to."},
    {"sub_table_name", kString, "", kOperation, "Part", "The part of that table."},
    {"value_name", kString, "", kOperation, "Kind", "Whether it is the mean, the least, the greatest ..."},
    {"value", kReal, "", kOperation, "Value", "The figure."},
    {"unit", kString, "", kOperation, "Unit", "Its unit."},
};
constexpr ColumnSpec kRooflineColumns[] = {
    {"total_flops", kReal, "", kOperation, "Operations", "Floating point operations."},
    {"l1_cache_data", kReal, "B", kMemory, "L1", "Bytes that the first cache moved."},
    {"l2_cache_data", kReal, "B", kMemory, "L2", "Bytes that the second cache moved."},
    {"hbm_cache_data", kReal, "B", kMemory, "HBM", "Bytes that the device's memory moved."},
    {"lds_cache_data", kReal, "B", kMemory, "LDS", "Bytes that the memory of groups moved."},
};

[[nodiscard]] std::uint32_t add_table_row(RocmRun& run, const char* name, std::span<const ColumnSpec> columns,
                                          const char* name_column = "kernel",
                                          const char* explanation = "The function that it is said of.") {
  const std::uint32_t table =
      run.session().add_table(make_schema({name, EventKind::table, name_column, explanation}, columns));
  return run.session().add_track(table, {.name = name, .kind = "table"}, {tracks::kProfilerRows, 1});
}

}  // namespace

void ComputeReader::read() {
  process_ = run_.add_process({});
  read_facts();
  read_kernels();
  read_launches();
  read_values();
  read_workload_values();
  read_rooflines();
  const Result<std::int64_t> samples = database_.row_count("compute_pcsampling");
  database_.count_as_read("compute_pcsampling");
  run_.report().note("rows_left_out", "samples of instructions are not read",
                     samples ? static_cast<std::uint64_t>(std::max<std::int64_t>(*samples, 0)) : 0);
}

void ComputeReader::read_facts() {
  Result<ForeignRows> versions =
      database_.rows("compute_metadata", {"compute_version", "schema_version", "git_version"});
  SessionWriter& writer = run_.session().writer();
  if (versions && versions->next()) {
    writer.set_meta("compute_version", std::string(versions->text(0)));
    writer.set_meta("schema_version", std::string(versions->text(1)));
  }
  Result<ForeignRows> workloads =
      database_.rows("compute_workload", {"workload_id", "name", "sub_name", "sys_info_extdata"});
  while (workloads && workloads->next()) {
    const std::string prefix = fmt::format("workload.{}.", workloads->integer(0));
    workloads_[workloads->integer(0)] = run_.intern(workloads->text(1));
    writer.set_meta(prefix + "name", std::string(workloads->text(1)));
    if (!workloads->text(2).empty()) writer.set_meta(prefix + "sub_name", std::string(workloads->text(2)));
    (void)json::each_member(workloads->text(3), [&](const json::JsonField& field) {
      const bool plain = field.kind == json::JsonKind::string || field.kind == json::JsonKind::number;
      if (plain && !field.text.empty()) writer.set_meta(prefix + std::string(field.key), std::string(field.text));
      return true;
    });
  }
}

void ComputeReader::read_kernels() {
  Result<ForeignRows> rows = database_.rows("compute_kernel", {"kernel_uuid", "kernel_name"});
  while (rows && rows->next()) kernels_[rows->integer(0)] = run_.intern_kernel(rows->text(1));
  Result<ForeignRows> figures = database_.rows(
      "compute_metric_definition", {"metric_uuid", "metric_id", "name", "table_name", "sub_table_name", "unit"});
  while (figures && figures->next()) {
    figures_[figures->integer(0)] = {run_.intern(figures->text(1)), run_.intern(figures->text(2)),
                                     run_.intern(figures->text(3)), run_.intern(figures->text(4)),
                                     run_.intern(figures->text(5))};
  }
}

void ComputeReader::read_launches() {
  Result<ForeignRows> rows =
      database_.rows("compute_dispatch", {"kernel_uuid", "dispatch_id", "gpu_id", "start_timestamp", "end_timestamp"});
  std::uint64_t without_time = 0;
  while (rows && rows->next()) {
    if (!rows->has(3) || !rows->has(4)) {
      ++without_time;
      continue;
    }
    RocmDispatch dispatch;
    dispatch.process = process_;
    dispatch.start = rows->integer(3);
    dispatch.end = rows->integer(4);
    dispatch.dispatch_id = rows->number(1);
    dispatch.agent = rows->number(2);
    if (dispatch.agent) run_.add_agent(process_, *dispatch.agent, {true, *dispatch.agent, {}, {}, {}});
    const auto kernel = kernels_.find(rows->integer(0));
    dispatch.name = kernel == kernels_.end() ? run_.intern(fmt::format("kernel {}", rows->integer(0))) : kernel->second;
    run_.write(dispatch);
    ++progress_.done;
  }
  progress_.say();
  run_.count_skipped(RocmTable::kernel, without_time);
  run_.report().note("rows_skipped", "launches have no begin and end, and were left out", without_time);
  if (rows && !rows->status())
    run_.report().note("unreadable", "launches lie on damaged pages: " + rows->status().message());
}

void ComputeReader::read_values() {
  // Of before version 1.3 of its tables.
  const std::string_view table =
      database_.has_table("compute_kernel_metric_value") ? "compute_kernel_metric_value" : "compute_metric_value";
  Result<ForeignRows> rows = database_.rows(table, {"kernel_uuid", "metric_uuid", "value_name", "value"});
  if (!rows || !rows->has_column(0)) return;
  const std::uint32_t row = add_table_row(run_, "kernel_metric", kFigureColumns);
  tracks::EventValues values;
  while (rows->next()) {
    const auto kernel = kernels_.find(rows->integer(0));
    const auto known = figures_.find(rows->integer(1));
    const Figure figure = known == figures_.end() ? Figure{} : known->second;
    put_figure(values, figure, run_.intern(rows->text(2)));
    if (rows->has(3)) values.real(5, rows->real(3));
    run_.session().write(row, 0, 0, kernel == kernels_.end() ? 0 : kernel->second, values);
    ++progress_.done;
  }
  if (!rows->status()) run_.report().note("unreadable", "figures lie on damaged pages: " + rows->status().message());
}

// Of a whole workload: figures of all its launches together.
void ComputeReader::read_workload_values() {
  Result<ForeignRows> rows =
      database_.rows("compute_workload_metric_value", {"workload_id", "metric_uuid", "value_name", "value"});
  if (!rows || !rows->has_column(1)) return;
  const std::uint32_t row = add_table_row(run_, "workload_metric", kFigureColumns, "workload", "The workload.");
  tracks::EventValues values;
  while (rows->next()) {
    const auto known = figures_.find(rows->integer(1));
    const auto workload = workloads_.find(rows->integer(0));
    put_figure(values, known == figures_.end() ? Figure{} : known->second, run_.intern(rows->text(2)));
    if (rows->has(3)) values.real(5, rows->real(3));
    const bool only = workload == workloads_.end() && workloads_.size() == 1;
    const StringId name = only ? workloads_.begin()->second : workload == workloads_.end() ? 0 : workload->second;
    run_.session().write(row, 0, 0, name, values);
    ++progress_.done;
  }
  if (!rows->status())
    run_.report().note("unreadable", "figures of workloads lie on damaged pages: " + rows->status().message());
}

void ComputeReader::put_figure(tracks::EventValues& values, const Figure& figure, StringId kind) {
  values.clear();
  values.string(0, figure.id);
  values.string(1, figure.name);
  values.string(2, figure.table);
  values.string(3, figure.part);
  values.string(4, kind);
  values.string(6, figure.unit);
}

void ComputeReader::read_rooflines() {
  const std::string_view table =
      database_.has_table("compute_kernel_roofline_data") ? "compute_kernel_roofline_data" : "compute_roofline_data";
  Result<ForeignRows> rows = database_.rows(
      table, {"kernel_uuid", "total_flops", "l1_cache_data", "l2_cache_data", "hbm_cache_data", "lds_cache_data"});
  if (!rows || !rows->has_column(0)) return;
  const std::uint32_t row = add_table_row(run_, "kernel_roofline", kRooflineColumns);
  tracks::EventValues values;
  while (rows->next()) {
    const auto kernel = kernels_.find(rows->integer(0));
    values.clear();
    for (std::size_t column = 0; column < 5; ++column) {
      if (rows->has(column + 1)) values.real(column, rows->real(column + 1));
    }
    run_.session().write(row, 0, 0, kernel == kernels_.end() ? 0 : kernel->second, values);
  }
}

}  // namespace accelscope::capture::sources::rocm
