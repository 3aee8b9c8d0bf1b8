// What is told once every table is read.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/nsys/importer.h"

namespace accelscope::capture::sources::nsys {
namespace {

// Tables that say what others mean; they are read with the facts, or say nothing of what happened.
constexpr std::string_view kDescribing[] = {"StringIds",
                                            "PROCESSES",
                                            "ThreadNames",
                                            "ProcessStreams",
                                            "UnwindMethodType",
                                            "META_DATA_EXPORT",
                                            "META_DATA_CAPTURE",
                                            "EXPORT_META_DATA",
                                            "ANALYSIS_DETAILS",
                                            "ANALYSIS_FILE",
                                            "NVTX_PAYLOAD_SCHEMAS",
                                            "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                                            "NVTX_PAYLOAD_ENUMS",
                                            "NVTX_PAYLOAD_ENUM_ENTRIES",
                                            "NVTX_SCOPES"};
constexpr std::string_view kDescribingBegins[] = {"ENUM_", "TARGET_INFO_", "sqlite_"};

// Of the machine; the rest is the profiler's own concern, or the environment of a user.
constexpr std::string_view kShownFacts[] = {"Hostname",        "OsDescription",     "KernelVersion",
                                            "CpuDescription",  "CpuCores",          "CpuArchitecture",
                                            "NvDriverVersion", "CudaDriverVersion", "HardwarePlatform"};

[[nodiscard]] bool describes(std::string_view table) noexcept {
  return std::find(std::begin(kDescribing), std::end(kDescribing), table) != std::end(kDescribing) ||
         std::any_of(std::begin(kDescribingBegins), std::end(kDescribingBegins),
                     [&](std::string_view begin) { return table.starts_with(begin); });
}

}  // namespace

void NsysImporter::tell_unread_tables() {
  for (const std::string& table : file_.tables()) {
    if (read_tables_.contains(table) || describes(table)) continue;
    const Result<std::int64_t> rows = file_.row_count(table);
    if (rows && rows.value() == 0) continue;
    session_.report().note("unknown_table", fmt::format("rows of table {} were not read", table),
                           rows ? static_cast<std::uint64_t>(rows.value()) : 1);
  }
}

void NsysImporter::tell_unread_columns() {
  std::vector<std::string> unread = file_.unread_columns();
  std::erase_if(unread, [](const std::string& column) { return describes(column.substr(0, column.find('.'))); });
  session_.report().note_unread("the report", unread);
}

void NsysImporter::write_facts() {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", "Nsight Systems export (SQLite)");
  for (const std::string_view name :
       {"EXPORT_SCHEMA_VERSION", "EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "DERIVED_FROM", "DERIVED_BY"}) {
    const std::string key(name);
    if (const std::string value = facts_.exported_value(key); !value.empty()) writer.set_meta("nsys." + key, value);
  }
  for (const std::string_view name : kShownFacts) {
    const auto known = facts_.environment().find(std::string(name));
    if (known != facts_.environment().end()) writer.set_meta(fmt::format("nsys.{}", name), known->second);
  }
  for (const auto& [number, gpu] : facts_.gpus()) {
    if (!gpu.name.empty()) writer.set_meta(fmt::format("device.{}.name", number), gpu.name);
    if (gpu.multiprocessors > 0) {
      writer.set_meta(fmt::format("device.{}.numSms", number), std::to_string(gpu.multiprocessors));
    }
    if (gpu.memory_bytes > 0) {
      writer.set_meta(fmt::format("device.{}.totalGlobalMem", number), std::to_string(gpu.memory_bytes));
      writer.set_meta(fmt::format("capacity.{} memory", rows_.device_label(number)), std::to_string(gpu.memory_bytes));
    }
  }
  if (const auto ranges = source_rows_.find("nvtx"); ranges != source_rows_.end()) {
    ranges->second.all -= counts_.naming_ranges;
    ranges->second.read -= counts_.naming_ranges;
  }
  for (const auto& [table, rows] : source_rows_) set_row_counts(writer, table, rows.all, rows.read);
}

void NsysImporter::write_report() {
  ImportReport& report = session_.report();
  report.note("rows_skipped", "rows have no begin, so that they cannot be shown", counts_.missing_times);
  report.note("times_out_of_capture", "rows of devices have no time: the driver did not collect it; they were left out",
              counts_.not_collected);
  report.note("times_out_of_capture", "samples of metrics lie before the session began; they were left out",
              counts_.before_session);
  report.note("rows_mended",
              "waits have a type that other versions number otherwise; they are named by the stream and event that "
              "they wait for, and syncType is what the file says",
              counts_.renamed_waits);
  report.note("begin_without_end", "ranges never end; they are shown up to the end of the session",
              counts_.open_ranges);
  report.note("unknown_types", "rows of NVTX_EVENTS are of types that are not known; they were skipped",
              counts_.unknown_ranges);
  report.note("values_left_out",
              "payloads of ranges have a layout that the file does not describe; export with --include-json=true",
              counts_.unread_payloads);
  report.note("names_left_out", "names are numbers that the file has no string for; they are shown as nothing",
              strings_.missing());
  report.note("unmatched_begins", "threads still had a CPU when the capture ended; that stretch is not shown",
              counts_.open_states);
  report.note("unmatched_ends", "threads got or lost a CPU where they had it so already; what lies before is not shown",
              counts_.unknown_states);
  if (any_call_ && !any_work_) {
    report.note("nothing_on_device",
                "the file has calls of CUDA but nothing that ran on a device: the program ended before the driver "
                "handed its records over, or no kernel was launched; profile with --trace=cuda and let it end by "
                "itself");
  }
}

}  // namespace accelscope::capture::sources::nsys
