// What is done once all rows are read: flows, the clock, the tracks, the report.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "capture/sources/chrome/importer.h"
#include "capture/sources/tracks/flow_ends.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::chrome {
namespace {

// Calls of drivers that give a device something to do, by a part of their names; all others ask, wait or set up.
constexpr std::array<std::string_view, 9> kStartingWords = {"launch",  "memcpy", "memset",  "copy",    "fill",
                                                            "enqueue", "submit", "execute", "prefetch"};

bool starts_work(std::string_view call) {
  const std::string name = lower_case(call);
  return std::any_of(kStartingWords.begin(), kStartingWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

// September 2001: no machine has been up for so long, so that such a time is of the day.
constexpr std::int64_t kLeastUnixNs = 1'000'000'000'000'000'000;

[[nodiscard]] std::string meaning_of_phase(char phase) {
  switch (phase) {
    case 'P':
      return "samples (\"P\")";
    case 'N':
    case 'O':
    case 'D':
      return "object life times";
    case 'v':
    case 'V':
      return "memory dumps";
    case 'c':
      return "clock marks";
    case '(':
    case ')':
      return "contexts";
    default:
      return "a phase that is not known";
  }
}

}  // namespace

Result<void> ChromeImporter::finish(const json::JsonTableReader& reader) {
  stacks_.close_all(last_ns_);
  async_.close_all(last_ns_);
  if (Result<void> done = finish_events(); !done) return done;
  if (Result<void> done = write_flows(); !done) return done;
  if (Result<void> done = writer_.finish(); !done) return done;

  Clock clock;
  clock.name = "trace";
  if (any_time_) clock.anchors = {{first_ns_, 0}};
  const ClockNumber number = writer_.add_clock(clock);
  facts_.write(writer_, report_);
  tracks_.for_each_label([&](const std::string& pid, const std::string& labels) {
    writer_.set_meta(fmt::format("process.{}.labels", pid), labels);
  });
  writer_.set_meta("source_format", facts_.is_kineto() ? "PyTorch profiler trace (Chrome JSON)" : "Chrome JSON trace");
  if (any_time_) {
    writer_.set_meta("trace_begin_ns", std::to_string(first_ns_));
    const std::int64_t base = facts_.base_ns().value_or(0);
    if (first_ns_ >= kLeastUnixNs) {  // older profilers tell the time of day itself
      writer_.set_meta("begin_unix_ns", std::to_string(first_ns_));
    } else if (base > 0 && first_ns_ >= 0 && base < kMaxTimeNs) {
      writer_.set_meta("begin_unix_ns", std::to_string(base + first_ns_));
    }
  }
  write_report(reader);
  if (Result<void> done = writer_.status(); !done) return done;
  if (Result<void> done = tracks_.define_all(sink_, writer_, number, facts_.is_kineto()); !done) return done;
  if (Result<void> done = vocabulary_.strings.define_all(sink_); !done) return done;
  if (Result<void> done = held_.release(); !done) {
    return sink_.cancelled() ? Error{fmt::format("{}: the import was cancelled", path_)} : done;
  }
  return {};
}

Result<void> ChromeImporter::finish_events() {
  amend_kernels();
  const auto uses = tracks_.time_uses();
  if (Result<void> done = events_.finish([&](std::uint32_t track) { return uses[track]; }); !done) return done;
  if (events_.doubtful_count() == 0) return {};
  first_ns_ = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t track = 0; track < uses.size(); ++track)
    first_ns_ = std::min(first_ns_, events_.first_start(track));
  any_time_ = first_ns_ != std::numeric_limits<std::int64_t>::max();
  return {};
}

Result<void> ChromeImporter::write_flows() {
  if (facts_.is_own()) {
    flows_.state_all();
    tracks_.keep_names();
  }
  tracks_.find_ranks(facts_.is_kineto() || any_on_device_);
  const StringId launch = vocabulary_.strings.intern("launch").id;
  flows_.set_launches([this](StringId name) { return starts_work(vocabulary_.strings.text(name)); });
  Result<std::vector<BoundFlow>> flows = flows_.bind(tracks_.bound_tracks(), held_, launch);
  if (!flows) return flows.error();
  if (flows.value().empty()) return {};
  flow_schema_ = std::make_unique<Schema>(tracks::make_flow_schema());
  const ChromeSchema schema{writer_.add_schema(*flow_schema_), flow_schema_.get()};
  const std::uint32_t track = tracks_.of_flows(schema);
  for (const BoundFlow& flow : flows.value()) {
    std::array<BoundValue, 4> values{
        BoundValue{tracks::kFlowSource, 0, flow.source}, BoundValue{tracks::kFlowTarget, 0, flow.target},
        BoundValue{static_cast<std::uint32_t>(flow.id_is_text ? tracks::kFlowIdText : tracks::kFlowId), 0, flow.id},
        BoundValue{tracks::kFlowCategory, 0, flow.category}};
    const std::size_t count = flow.category == 0 ? 3 : 4;
    events_.write(track, flow.target_ns, 0, flow.name, std::span(values).first(count), {});
  }
  return {};
}

void ChromeImporter::write_report(const json::JsonTableReader& reader) {
  set_row_counts(writer_, "traceEvents", counts_.rows, counts_.rows_read);
  for (const json::JsonProblem& problem : reader.problems()) {
    // The bracket at the end of an array of events may be left out.
    if (problem.kind != json::JsonProblem::Kind::unclosed) report_.add(problem);
  }
  for (const auto& [phase, count] : counts_.unknown_phases) {
    report_.note(
        "unknown_phase",
        fmt::format("events of phase \"{}\" ({}) were skipped: they are neither intervals, instants, counters "
                    "nor flows",
                    phase >= ' ' && phase <= '~' ? std::string(1, phase) : std::string("?"), meaning_of_phase(phase)),
        count);
  }
  report_.note("negative_duration", "events end before they begin; they are shown with no duration",
               counts_.negative_durations);
  report_.note("missing_duration",
               "complete events (\"X\") without a duration are shown with none; they had probably not ended",
               counts_.missing_durations);
  report_.note("begin_without_end", "events begin but never end; they are shown up to the end of the trace",
               stacks_.left_open() + async_.left_open());
  report_.note("end_without_begin",
               "events end but never begin, probably because the capture started later; they are shown as moments",
               counts_.ends_without_begin);
  report_.note(
      "pairs_out_of_order",
      "begins and ends of events come far behind later ones of their thread, so that some may be joined wrongly",
      stacks_.too_late() + async_.too_late());
  report_.note("mismatched_end",
               "an end (\"E\") names another event than any that is open; the innermost one was closed",
               stacks_.mismatched_names());
  report_.note("bad_counter", "counter events (\"C\") without a number were skipped", counts_.bad_counters);
  report_.note(
      "rounded_counter",
      "counters hold whole numbers beyond 2^53; they were rounded to the nearest of the 53 bits that a sample has",
      counts_.rounded_counters);
  report_losses();
  report_.write(writer_);
}

void ChromeImporter::report_losses() {
  report_.note(
      "flow_without_partner",
      "flow events have no begin or no end in the file, so there is no arrow for them; in profiler traces these are "
      "launches whose work was not recorded, or work whose call was not",
      flows_.counts().without_partner);
  report_.note("calls_without_work",
               "flows begin at calls that start nothing on a device, such as questions and waits; nothing is missing",
               flows_.counts().without_work);
  report_.note("flow_without_event",
               "flows begin or end where no event of their thread lies whose times can be true, so there is no arrow "
               "for them",
               flows_.counts().without_event);
  report_.note("impossible_times", std::string(tracks::kDoubtfulTimesAreSetAside), events_.doubtful_count());
  report_.note("flow_begun_twice",
               "flows (\"bind_id\") begin at a second event while they are under way; the first one counts",
               flows_.counts().doubled);
  report_.note("flow_without_id", "flow events without an id were skipped", counts_.flows_without_id);
  report_.note(
      "too_many_overlaps",
      "events were left out because more than 1024 of one track, or more than 16,000 of all, lie over each other",
      events_.without_lane());
  report_.note("too_many_tracks",
               "events of threads or counters beyond the first 6,000 share rows called \"further ...\"",
               tracks_.merged());
  report_.note("names_over_limit", "more different texts than can be kept apart; the later ones share one name",
               vocabulary_.strings.overflowing());
  if (any_runtime_ && !any_on_device_) {
    report_.note("nothing_on_device",
                 "the trace has runtime calls but nothing that ran on a device: the profiler was not able to record "
                 "the device; include "
                 "ProfilerActivity.CUDA (or XPU) in `activities`, record more than one step, and let no other profiler "
                 "hold the device");
  }
  if (any_memory_ && !any_memory_address_) {
    report_.note("memory_without_addresses",
                 "memory events have no addresses, so releases are matched to allocations by size; profilers since "
                 "2022 record them with profile_memory=True");
  }
}

}  // namespace accelscope::capture::sources::chrome
