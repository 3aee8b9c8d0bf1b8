// The kinds of quality entries, a row each, with how grave they are. What the code says of a session is one of these: a
// name that has no row here does not compile. Files and agents of another version may name others.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/immediate.h"

namespace accelscope {

enum class Severity : std::uint8_t { note, warning, error };

struct QualityKindRow {
  std::string_view name;
  Severity severity;
};

inline constexpr QualityKindRow kQualityKinds[] = {
    {"bad_counter", Severity::warning},
    {"bad_records", Severity::warning},
    {"begin_without_end", Severity::warning},
    {"broken_args", Severity::warning},
    {"buffer_overflow", Severity::warning},
    {"bytes_lost", Severity::warning},
    {"calls_without_work", Severity::note},
    {"capture_failed", Severity::error},
    {"capture_stopped", Severity::warning},
    {"capture_unfinished", Severity::warning},
    {"chips_not_synchronised", Severity::warning},
    {"clock_residual", Severity::note},
    {"clocks_not_aligned", Severity::note},
    {"columns_left_out", Severity::warning},
    {"connection_lost", Severity::error},
    {"counter_values_cut", Severity::warning},
    {"damaged_chunks", Severity::error},
    {"damaged_definitions", Severity::error},
    {"damaged_frames", Severity::error},
    {"definition_cut", Severity::note},
    {"definitions_left_out", Severity::warning},
    {"definitions_refused", Severity::error},
    {"dependencies_skipped", Severity::warning},
    {"device_clock_estimated", Severity::note},
    {"device_run_left_out", Severity::error},
    {"doubled_frames", Severity::note},
    {"doubled_keys", Severity::note},
    {"dropped_events", Severity::warning},
    {"duplicate_dma", Severity::note},
    {"duplicate_events", Severity::note},
    {"duplicate_keys", Severity::warning},
    {"duplicate_rows", Severity::warning},
    {"end_without_begin", Severity::warning},
    {"ends_without_begin", Severity::note},
    {"facts_left_out", Severity::note},
    {"file_holes", Severity::error},
    {"files_skipped", Severity::note},
    {"flow_begun_twice", Severity::note},
    {"flow_without_event", Severity::warning},
    {"flow_without_id", Severity::warning},
    {"flow_without_partner", Severity::note},
    {"frame_images_left_out", Severity::note},
    {"frequency_missing", Severity::warning},
    {"further_problems", Severity::warning},
    {"host_table_unreadable", Severity::warning},
    {"host_times_estimated", Severity::note},
    {"ids_over_limit", Severity::note},
    {"ids_rounded", Severity::warning},
    {"impossible_times", Severity::warning},
    {"index_rebuilt", Severity::note},
    {"inputs_all_zero", Severity::warning},
    {"journal_beside", Severity::warning},
    {"lanes_left_out", Severity::warning},
    {"log_unreadable", Severity::error},
    {"log_written_anew", Severity::note},
    {"long_lines_cut", Severity::note},
    {"lost_events", Severity::error},
    {"lost_frames", Severity::error},
    {"memory_estimated", Severity::note},
    {"memory_snapshots_rare", Severity::note},
    {"memory_without_addresses", Severity::note},
    {"mismatched_end", Severity::note},
    {"missing_dge_notifications", Severity::warning},
    {"missing_duration", Severity::warning},
    {"missing_source_locations", Severity::warning},
    {"names_left_out", Severity::warning},
    {"names_over_limit", Severity::warning},
    {"negative_duration", Severity::warning},
    {"negative_durations", Severity::warning},
    {"no_rows", Severity::warning},
    {"no_trace", Severity::warning},
    {"not_finite", Severity::note},
    {"not_kept", Severity::error},
    {"nothing_attached", Severity::warning},
    {"nothing_on_device", Severity::warning},
    {"opencl_long_lists", Severity::note},
    {"opencl_malformed", Severity::error},
    {"opencl_unfinished", Severity::warning},
    {"opencl_without_calls", Severity::warning},
    {"opencl_without_times", Severity::warning},
    {"orphan_chunks", Severity::error},
    {"output_bytes_replaced", Severity::note},
    {"output_left_open", Severity::note},
    {"overlay_in_memory", Severity::note},
    {"own_clock_times", Severity::note},
    {"pairs_out_of_order", Severity::warning},
    {"pauses_not_followed", Severity::warning},
    {"pending_dma_open", Severity::warning},
    {"probe_broken", Severity::error},
    {"probe_late", Severity::warning},
    {"probe_refused", Severity::warning},
    {"probe_trouble", Severity::warning},
    {"profiler_message", Severity::warning},
    {"program_failed", Severity::error},
    {"program_stopped", Severity::warning},
    {"program_without_trace", Severity::note},
    {"python_calls_open", Severity::note},
    {"python_calls_running", Severity::note},
    {"python_calls_too_deep", Severity::warning},
    {"python_profile_replaced", Severity::warning},
    {"python_records_broken", Severity::warning},
    {"python_threads_left_out", Severity::warning},
    {"python_trace_replaced", Severity::warning},
    {"ranks_not_read", Severity::warning},
    {"records_out_of_range", Severity::note},
    {"recovery_cut", Severity::note},
    {"recovery_file", Severity::warning},
    {"relations_open", Severity::note},
    {"releases_unknown", Severity::note},
    {"repeated_header", Severity::warning},
    {"rounded_counter", Severity::note},
    {"rows_late", Severity::warning},
    {"rows_left_out", Severity::note},
    {"rows_lost", Severity::warning},
    {"rows_mended", Severity::note},
    {"rows_not_remembered", Severity::warning},
    {"rows_skipped", Severity::warning},
    {"runs_aligned_by_start", Severity::note},
    {"salvage_lost", Severity::error},
    {"salvaged", Severity::warning},
    {"schema_column_missing", Severity::error},
    {"schema_differs", Severity::note},
    {"schema_guessed", Severity::warning},
    {"secrets_left_out", Severity::note},
    {"single_io_outputs_wrong", Severity::warning},
    {"source_files_missing", Severity::note},
    {"sources_left_out", Severity::note},
    {"spill_failed", Severity::warning},
    {"spool_failed", Severity::warning},
    {"stray_bytes", Severity::warning},
    {"summary_missing", Severity::note},
    {"table_unreadable", Severity::error},
    {"tasks_unfinished", Severity::note},
    {"texts_cut", Severity::note},
    {"time_check", Severity::warning},
    {"time_unit", Severity::note},
    {"times_out_of_capture", Severity::warning},
    {"times_out_of_range", Severity::error},
    {"too_many_overlaps", Severity::error},
    {"too_many_tracks", Severity::warning},
    {"totals_disagree", Severity::warning},
    {"trace_begin_estimated", Severity::note},
    {"trace_unreadable", Severity::error},
    {"traces_not_read", Severity::note},
    {"tracks_shared", Severity::warning},
    {"trailing_bytes", Severity::warning},
    {"transfers_incomplete", Severity::warning},
    {"truncated", Severity::error},
    {"unit_moved", Severity::note},
    {"unknown_columns", Severity::note},
    {"unknown_definitions", Severity::warning},
    {"unknown_fields", Severity::note},
    {"unknown_phase", Severity::warning},
    {"unknown_table", Severity::note},
    {"unknown_types", Severity::note},
    {"unmatched_begins", Severity::warning},
    {"unmatched_ends", Severity::warning},
    {"unreadable", Severity::error},
    {"unreadable_events", Severity::error},
    {"unreadable_input", Severity::error},
    {"usage_kind_unknown", Severity::note},
    {"utilization_estimated", Severity::note},
    {"values_left_out", Severity::warning},
    {"values_lost", Severity::error},
    {"values_mended", Severity::warning},
    {"vendor_value_implausible", Severity::note},
    {"vendor_warning", Severity::warning},
    {"wrong_types", Severity::warning},
};

class QualityKind {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): so that a name in the code is one of the table.
  ACCELSCOPE_CONSTEVAL QualityKind(const char* name) : row_(row_of(name)) {}
  [[nodiscard]] constexpr std::string_view name() const noexcept { return row_.name; }
  [[nodiscard]] constexpr Severity severity() const noexcept { return row_.severity; }
  [[nodiscard]] constexpr QualityKind as(Severity severity) const noexcept {  // where it is graver or less so
    QualityKind other = *this;
    other.row_.severity = severity;
    return other;
  }

 private:
  static ACCELSCOPE_CONSTEVAL QualityKindRow row_of(std::string_view name) {
    for (const QualityKindRow& row : kQualityKinds) {
      if (row.name == name) return row;
    }
    throw "not in the table of quality kinds";
  }
  QualityKindRow row_;
};

}  // namespace accelscope
