// What a profile says besides its events: when it was taken and of what devices, and what of it could not be read.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "capture/sources/base/source_finder.h"
#include "capture/sources/xplane/importer.h"
#include "core/base/format.h"

namespace accelscope::capture::sources::xplane {
namespace {

struct FactUnit {
  std::string_view ending, unit;
};
constexpr FactUnit kFactUnits[] = {
    {"teraflops_per_second", "TFLOP/s"},
    {"gigabytes_per_second", "GB/s"},
    {"memory_bandwidth", "B/s"},
    {"memory_size", "B"},
    {"clock_rate", "kHz"},
    {"_percent", "%"},
    {"_ps", "ps"},
};

}  // namespace

void XPlaneImporter::write_facts() {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", "XPlane (XLA profiler)");
  if (!space_.hostnames.empty()) writer.set_meta("hostname", space_.hostnames.front());
  for (const TableState& each : tables_) {
    if (each.stats.events() == 0) continue;
    writer.set_meta(fmt::format("source.rows.{}", rule_of(each.table).schema.name),
                    std::to_string(each.stats.events()));
  }
  for (PlaneState& plane : planes_) write_plane_facts(plane);
  sources_.erase("");
  std::set<std::string> files;
  for (const std::string& source : sources_) files.insert(source.substr(0, source.rfind(':')));
  add_source_files(files, options_.source_roots, "the operations name", writer);
}

void XPlaneImporter::write_plane_facts(PlaneState& plane) {
  SessionWriter& writer = session_.writer();
  const bool of_device = plane.role.kind == PlaneKind::gpu || plane.role.kind == PlaneKind::tpu;
  for (const PlaneStat& stat : plane.index.stats) {
    const std::string& name = slot_of(plane, stat.id).name;
    const bool is_text = stat.value.kind == StatValue::Kind::text || stat.value.kind == StatValue::Kind::reference;
    const std::string text =
        stat.value.kind == StatValue::Kind::reference ? reference(plane, stat.value).text : stat.text;
    if (!is_text && !stat.value.is_number()) continue;
    if (name == "dropped_traces" && stat.value.is_number() && real_of(stat.value) > 0) {
      session_.report().note("dropped_events",
                             "traces were dropped by the profiler, by its own account; profile for a shorter time",
                             static_cast<std::uint64_t>(real_of(stat.value)));
    }
    if (!of_device || !plane.role.part.empty()) {
      writer.set_meta(plane.role.kind == PlaneKind::environment ? name : fmt::format("{}.{}", plane.index.name, name),
                      is_text ? text : number_text(stat.value));
      continue;
    }
    if ((name == "device_type_string" || name == "gpu_device_name") && plane.role.ordinal >= 0)
      writer.set_meta(fmt::format("device.{}.name", plane.role.ordinal), text);
    Metric metric{.name = name, .group = "Device", .text = text, .device = plane.role.device};
    if (!is_text) metric.value = real_of(stat.value);
    for (const FactUnit& each : kFactUnits) {
      if (!is_text && name.ends_with(each.ending)) metric.unit = each.unit;
    }
    writer.add_metric(std::move(metric));
  }
}

void XPlaneImporter::write_report(const SpaceBytes& bytes) {
  ImportReport& report = session_.report();
  for (const std::string& text : space_.errors)
    report.note("profiler_message", fmt::format("the profiler says: {}", text));
  for (const std::string& text : space_.warnings)
    report.note("profiler_message", fmt::format("the profiler says: {}", text));
  if (!bytes.broken_off().empty())
    report.note("truncated", fmt::format("{}; what came before was read", bytes.broken_off()));
  if (!bytes.failure().empty()) report.note("unreadable", fmt::format("{}: {}", path_, bytes.failure()));
  for (const SpaceIndex::Broken& broken : space_.broken) {
    const bool cut = broken.problem == MessageWalk::Problem::cut;
    std::string text = fmt::format("{} {} at byte {}; what came before was read. Copy or write the file anew",
                                   broken.what, cut ? "breaks off" : "holds what is no message", broken.at);
    if (cut) {
      report.note("truncated", std::move(text));
    } else {
      report.note("bad_records", std::move(text));
    }
  }
  report.note("unreadable_events",
              fmt::format("events are no messages and were skipped, the first at byte {}", counts_.first_broken),
              counts_.broken_events);
  report.note("truncated", "the last event before a break is not whole and was skipped", counts_.cut_events);
  report.note("unreadable_events", "events are larger than 16 MiB each and were skipped", counts_.long_events);
  report.note("times_out_of_capture",
              fmt::format("events whose times cannot be were skipped, the first of a line at byte {}",
                          counts_.first_out_of_range),
              counts_.out_of_range);
  report.note("names_left_out", "events name metadata that the file does not have; they are called by its number",
              counts_.without_metadata);
  report.note("vendor_value_implausible",
              "launch or transfer sizes that no device has were left out: the profiler read a structure of another "
              "version; the texts that hold them are shown as they are",
              counts_.implausible);
  report.note("values_left_out", "stats that hold bytes, such as serialised messages, are not shown",
              counts_.bytes_stats);
  report.note("bad_counter", "samples of counters without a number were skipped", counts_.counters_without_value);
  report.note("memory_estimated",
              "releases do not say how many bytes; they have those of the last allocation at the same address",
              counts_.releases_joined);
  report.note("releases_unknown", "releases of memory whose allocation was not recorded do not say how many bytes",
              counts_.releases_without_size);
  report.note("names_left_out", "names or texts are broken off; they are shown as far as they go", counts_.cut_texts);
  report.note("unknown_fields", "fields that this version does not know were passed over", space_.unknown_fields);
  report.note("rows_left_out", "lines beyond the first 200,000 were left out", space_.lines_left_out);
  report.note("names_left_out", "names beyond the first 8,000,000 were left out", space_.metadata_left_out);
  if (in_ns_) {
    report.note("time_unit",
                "the profile is longer than 53 days, which in ps is more than can be counted: its times are in ns, "
                "rounded down where they are finer",
                std::max<std::uint64_t>(1, counts_.rounded_times));
  }
  std::uint64_t columns_left_out = 0;
  for (const TableState& each : tables_) columns_left_out += each.stats.left_out();
  report.note("unknown_columns", "stats beyond the first 400 of a table are not shown", columns_left_out);
  if (session_.event_count() == 0)
    report.note("no_rows", "the profile holds no events; was the program idle while it was taken?");
}

}  // namespace accelscope::capture::sources::xplane
