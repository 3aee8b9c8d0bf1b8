#include "capture/kinds/base/traced_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/kinds/base/kind_list.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds {

TracedProcess::TracedProcess(const probes::ProbeProcess& process, SessionWriter& writer, Flows& flows,
                             const TracingLibrary& library)
    : process_(process),
      writer_(writer),
      title_(process.title()),
      threads_(process, writer),
      launches_(flows),
      turn_ns_(process.attached_ns),
      library_(library) {}

void TracedProcess::define(std::uint32_t type, std::string_view body) {
  probe::BodyReader reader(body);
  switch (static_cast<probe::TracingDefinition>(type)) {
    case probe::TracingDefinition::name: {
      const auto number = reader.number<std::uint32_t>();
      define_name(number, reader.text());
      break;
    }
    case probe::TracingDefinition::thread: {
      const auto number = reader.number<std::uint32_t>();
      threads_.name(number, reader.text(), true);
      break;
    }
    case probe::TracingDefinition::trouble:
      writer_.add_quality({"probe_trouble", 1, fmt::format("{}: {}", title_, reader.text())});
      break;
    default:
      define_own(type, reader);
  }
  if (!reader.ok()) ++malformed_;
}

void TracedProcess::record(const probes::ProbeThread& thread, probe::RecordHead head,
                           std::span<const std::uint64_t> words) {
  const auto type = static_cast<probe::TracingRecord>(head.type);
  if (type == probe::TracingRecord::clock) {
    if (probe::ClockRecord record{}; probes::read_record(head, words, record)) return take_clock(record);
  } else if (type == probe::TracingRecord::lost) {
    if (probe::LostRecord record{}; probes::read_record(head, words, record)) {
      const auto cause = static_cast<probe::LossCause>(head.value);
      (cause == probe::LossCause::no_room    ? no_room_
       : cause == probe::LossCause::not_read ? not_read_
                                             : cut_) += record.count;
      return;
    }
  } else {
    return record_own(thread, head, words);
  }
  ++malformed_;
}

void TracedProcess::hold(probe::RecordHead head, std::span<const std::uint64_t> words, std::int64_t begin_ns,
                         std::int64_t end_ns) {
  held_.hold(head, words, begin_ns, std::max<std::int64_t>(0, end_ns - begin_ns), turn_ns_);
}

void TracedProcess::read_until(std::int64_t now_ns) {
  turn_ns_ = now_ns;
  write_held(now_ns - HeldRecords::kHoldNs);
}

void TracedProcess::write_held(std::int64_t until_ns) {
  held_.write(until_ns, [this](probe::RecordHead head, const std::uint64_t* words) { write(head, words); });
}

TrackNumber TracedProcess::host_track(TrackNumber& track, const char* name, SchemaNumber schema, const char* kind) {
  constexpr std::int64_t kAfterThreads = 1'000'000'000;
  if (track == kNone) {
    track = writer_.add_track({.name = name, .kind = kind, .host = title_, .schema = schema, .order = kAfterThreads});
  }
  return track;
}

void TracedProcess::tell_of_process(std::initializer_list<QualityEntry> findings) {
  tell(writer_, title_ + ": ", findings);
}

void TracedProcess::ended(const probes::ProbeEnd& end) {
  write_held(HeldRecords::kAll);
  const std::uint64_t open = settle(end.end_ns);
  if (has_clock_) {
    writer_.set_meta(fmt::format("{}.{}.clock_residual_ns", library_.kind, process_.id), std::to_string(residual_ns_));
  }
  tell_of_process(
      {{"clock_residual", residual_ns_ > 0 ? 1U : 0U,
        fmt::format("{} keeps a clock of its own here; its times are right to {}", library_.name,
                    format_duration(residual_ns_))},
       {"times_out_of_capture", without_times_, library_.without_times},
       {"dropped_events", no_room_,
        fmt::format("records that {} {}; choose --when-full wait, or leave out calls with --calls or --exclude-calls",
                    library_.name, library_.no_room)},
       {"rows_left_out", not_read_, "records of kinds that are not shown"},
       {"rows_lost", cut_, library_.cut},
       {"begin_without_end", open, "ranges never ended; they are shown up to the end of the program"},
       {"clocks_not_aligned", launches_.before_call(),
        fmt::format("pieces of work seem to begin before the call that launched them, by up to {}{}",
                    format_duration(launches_.most_before_ns()), library_.before_call)},
       {"bad_records", malformed_, "records that cannot be read"}});
  tell_own();
}

}  // namespace accelscope::capture::kinds
