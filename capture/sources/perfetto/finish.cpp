// What is done once every packet was read: open slices, flows, rows, the report.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/perfetto/importer.h"

namespace accelscope::capture::sources::perfetto {
namespace {

struct PacketName {
  std::uint32_t field;
  std::string_view name;
};
// Kinds of packets that are not read, as the format calls them.
constexpr PacketName kPacketNames[] = {
    {1, "ftrace events (scheduler and kernel)"},
    {5, "Chrome JSON within the trace"},
    {7, "statistics of processes"},
    {9, "battery counters"},
    {33, "the trace's configuration"},
    {34, "ftrace statistics"},
    {35, "statistics of the tracing service"},
    {36, "marks of the service"},
    {37, "heap profiles"},
    {38, "power rails"},
    {39, "Android logs"},
    {40, "statistics of the system"},
    {45, "facts about the system"},
    {46, "triggers"},
    {48, "Android packages"},
    {49, "Chrome benchmarks"},
    {51, "facts about Chrome"},
    {54, "sampled call stacks (streaming profile)"},
    {56, "heap graphs"},
    {57, "graphics frames"},
    {63, "Vulkan memory"},
    {64, "GPU logs"},
    {65, "Vulkan calls"},
    {66, "sampled call stacks (perf)"},
    {67, "CPU facts"},
    {72, "descriptions of extensions"},
    {74, "Android energy"},
    {75, "service events"},
    {90, "ranges of interest"},
    {135, "sampled call stacks"},
};

[[nodiscard]] std::string packet_name(std::uint32_t field) {
  for (const PacketName& name : kPacketNames) {
    if (name.field == field) return std::string(name.name);
  }
  return fmt::format("packets of field {}", field);
}

constexpr PacketName kArgumentNames[] = {
    {24, "cc_scheduler_state"},     {25, "chrome_user_event"},        {26, "chrome_keyed_service"},
    {27, "chrome_legacy_ipc"},      {28, "chrome_histogram_sample"},  {29, "chrome_latency_info"},
    {32, "chrome_frame_reporter"},  {35, "chrome_message_pump"},      {38, "chrome_mojo_event_info"},
    {39, "application_state_info"}, {40, "renderer_scheduler_state"}, {41, "window_handle_event_info"},
    {43, "content_settings"},       {49, "active_processes"},         {50, "screenshot"},
};

[[nodiscard]] std::string argument_name(std::uint32_t field) {
  for (const PacketName& name : kArgumentNames) {
    if (name.field == field) return std::string(name.name);
  }
  return fmt::format("field {}", field);
}

}  // namespace

Result<void> PerfettoImporter::finish(const PacketStream::Losses& losses) {
  gpu_.finish();
  if (Result<void> done = slices_.finish(last_ns_); !done) return done;
  flows_.join();
  book_.describe_rows();
  write_report(losses);
  tracks::UnorderedSession::Finish options;
  options.path = name_;
  options.unix_ns = clocks_.unix_at_zero();
  options.about_rows = [this] {
    book_.write_tables();
    gpu_.write_tables();
  };
  options.unjoined_sources = "calls name work of a GPU that is not in the trace, so there is no arrow for them";
  return session_.finish(options);
}

void PerfettoImporter::write_report(const PacketStream::Losses& losses) {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", "Perfetto trace");
  const auto& gpu = gpu_.counts();
  const auto set_counts = [&](std::string_view table, std::uint64_t packets, std::uint64_t left_out) {
    if (packets > 0) set_row_counts(writer, table, packets, packets - std::min(packets, left_out));
  };
  set_counts("track_event", counts_.track_events,
             counts_.bad_times + counts_.without_type + counts_.async_without_id + counts_.states_without_track +
                 counts_.counters_without_value + counts_.counters_without_track);
  set_counts("gpu_render_stage_event", gpu.stages, gpu.without_queue);
  std::uint64_t unread = counts_.without_state;
  for (const auto& [field, count] : counts_.unread_packets) unread += count;
  set_counts("other_packet", counts_.packets - std::min(counts_.packets, counts_.track_events + gpu.stages), unread);
  tracks::UnorderedSession& session = session_;
  ImportReport& report = session.report();
  const SliceStacks::Counts& slices = slices_.counts();
  report.note("begin_without_end",
              "slices had not ended when the trace did; they are drawn until its end and marked \"unfinished\"",
              slices.unfinished);
  report.note("ends_without_begin", "ends of slices whose begin is not in the trace were left out",
              slices.ends_without_begin);
  report.note("flow_without_event", "flows that are bound to a slice, where there is none, were left out",
              slices.flows_without_slice);
  report.note("flow_without_partner", "flows go on or end that have not begun, so there is no arrow for them",
              flows_.without_begin());
  report.note("values_left_out", "arguments of slices' ends were left out, because it was not known what they are of",
              slices.arguments_lost);
  for (const auto& [field, count] : counts_.unread_packets) {
    report.note("unknown_types", fmt::format("{} are not read here", packet_name(field)), count);
  }
  for (const auto& [field, count] : counts_.unread_arguments) {
    report.note("unknown_fields", fmt::format("arguments of the type {} are not read here", argument_name(field)),
                count);
  }
  for (const auto& [phase, count] : counts_.unknown_phases) {
    report.note("unknown_phase", fmt::format("old events of the phase \"{}\" are not read here", phase), count);
  }
  report.note("names_left_out", "tracks have no descriptor in the trace; they are called as their first event",
              book_.undescribed());
  report_losses(losses);
}

void PerfettoImporter::report_losses(const PacketStream::Losses& losses) {
  ImportReport& report = session_.report();
  if (!losses.failure.empty()) report.note("unreadable", losses.failure);
  report.note(
      "truncated",
      fmt::format("the file ends within a packet, at byte {}; copy it completely or record it again", losses.cut_at),
      losses.cut_packets);
  report.note("stray_bytes",
              fmt::format("bytes that are no packets were skipped, the first at byte {}; the file is damaged: copy or "
                          "record it again",
                          losses.skipped_at),
              losses.skipped_bytes);
  report.note(
      "unreadable_events",
      fmt::format("compressed packets could not be inflated wholly, the first at byte {}", losses.broken_pack_at),
      losses.broken_packs);
  report.note(
      "rows_mended",
      fmt::format("packets are damaged and were read as far as they go, the first at byte {}", counts_.broken_at),
      counts_.broken_packets);
  report.note("lost_events",
              "times that packets were lost before one of their sequence: the recorder's buffer was full",
              counts_.lost_before);
  report.note("rows_skipped",
              "packets were skipped because what they refer to was lost, or has not been in the trace yet",
              counts_.without_state);
  report.note("clocks_not_aligned",
              "times are in a clock that no snapshot relates to the trace's; they were taken as they are",
              counts_.guessed_clocks);
  report.note("rows_skipped", "events without a time were skipped", counts_.without_time);
  report.note("rows_skipped", "events whose time is out of range were skipped", counts_.bad_times);
  report.note("rows_skipped", "events that do not say whether they begin or end something were skipped",
              counts_.without_type);
  report.note("rows_skipped", "asynchronous events without an id were skipped", counts_.async_without_id);
  report.note("rows_skipped", "states on a track that is a thread's or a process's own were skipped",
              counts_.states_without_track);
  report.note("rows_skipped", "work of a GPU on a queue that is not in the trace was skipped",
              gpu_.counts().without_queue);
  report.note("bad_counter", "counter events without a value or a track were skipped",
              counts_.counters_without_value + counts_.counters_without_track);
  report.note(
      "rounded_counter",
      "counters hold whole numbers beyond 2^53; they were rounded to the nearest of the 53 bits that a sample has",
      counts_.rounded_counters);
  report.note("bad_counter", "samples of GPU counters without a time were skipped",
              gpu_.counts().counters_without_time);
  report.note("bad_counter", "GPU counters that no descriptor names were skipped", gpu_.counts().counters_without_name);
  report.note("names_left_out", "names refer to texts that are not in the trace; they are shown as numbers",
              counts_.unknown_names);
}

}  // namespace accelscope::capture::sources::perfetto
