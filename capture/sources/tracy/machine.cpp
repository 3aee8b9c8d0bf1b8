// What the system told of the program's threads: call stacks, when they ran, what the processors ran.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/tracy/importer.h"

namespace accelscope::capture::sources::tracy {
namespace {

constexpr std::size_t kProcessorsKept = 256;
constexpr std::size_t kMostStackText = 16U << 10;

}  // namespace

void TracyImport::read_callstacks() {
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> ends;
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    for (auto frames = reader_.number<std::uint16_t>(); frames > 0 && !reader_.ended(); --frames) {
      addresses.push_back(reader_.number<std::uint64_t>());
    }
    ends.push_back(addresses.size());
  }
  std::vector<StackFrame> frames;
  std::vector<FrameGroup> groups;
  for (std::uint64_t left = reader_.count(); left > 0; --left) {
    TraceRecord record = reader_.record(12);
    if (reader_.ended()) break;
    FrameGroup group;
    group.address = record.next<std::uint64_t>();
    group.first = frames.size();
    for (auto inlined = record.next<std::uint8_t>(); inlined > 0; --inlined) {
      TraceRecord frame = reader_.record(18);
      if (reader_.ended()) break;
      StackFrame& at = frames.emplace_back();
      at.name = frame.next24();
      at.file = frame.next24();
      at.line = frame.next<std::uint32_t>();
    }
    group.count = frames.size() - group.first;
    groups.push_back(group);
  }
  write_callstacks(addresses, ends, frames, std::move(groups));
}

void TracyImport::write_callstacks(const std::vector<std::uint64_t>& addresses, const std::vector<std::uint64_t>& ends,
                                   const std::vector<StackFrame>& frames, std::vector<FrameGroup> groups) {
  if (ends.empty()) return;
  std::sort(groups.begin(), groups.end(),
            [](const FrameGroup& a, const FrameGroup& b) { return a.address < b.address; });
  const auto track = lanes_.add_track(track_of("Call stacks", "table", TracyTableKind::callstack));
  if (!track) return;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); begin = ends[i], ++i) {
    std::string text;
    std::string_view innermost;
    for (std::uint64_t at = begin; at < ends[i] && text.size() < kMostStackText; ++at) {
      const auto group =
          std::lower_bound(groups.begin(), groups.end(), addresses[at],
                           [](const FrameGroup& a, std::uint64_t address) { return a.address < address; });
      if (group == groups.end() || group->address != addresses[at]) {
        text += fmt::format("{}0x{:x}", text.empty() ? "" : "\n", addresses[at]);
        continue;
      }
      for (std::size_t frame = group->first; frame < group->first + group->count; ++frame) {
        const std::string_view name = names_.text_above(frames[frame].name);
        if (innermost.empty()) innermost = name;
        text += fmt::format("{}{} ({}:{})", text.empty() ? "" : "\n", name, names_.text_above(frames[frame].file),
                            frames[frame].line);
      }
    }
    std::optional<Row> row = lanes_.put(*track, 0, 0, writer_.intern(innermost));
    if (!row) return;
    count_row(TracyTableKind::callstack);
    row->integer(CallstackColumns::callstack, static_cast<std::int64_t>(i + 1));
    row->text(CallstackColumns::stack, text);
  }
}

void TracyImport::read_context_switches() {
  for (std::uint64_t left = reader_.count(); left > 0 && !stopped(); --left) {
    TraceRecord head = reader_.record(16);
    if (reader_.ended()) return;
    const std::string name = thread_label(head.next<std::uint64_t>()) + " running";
    std::optional<TrackNumber> track;
    std::uint64_t time = 0;
    for (auto switches = head.next<std::uint64_t>(); switches > 0; --switches) {
      TraceRecord record = reader_.record(35U + (layout_.wakeup_cpu ? 1U : 0U));
      if (reader_.ended()) return;
      const auto woken = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      const auto begin = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      auto end = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      const auto cpu = record.next<std::uint8_t>();
      const auto reason = record.next<std::int8_t>();
      const auto state = record.next<std::int8_t>();
      (void)record.next<std::uint64_t>();
      if (!is_time(woken) || !is_time(begin) || !is_time(end)) continue;
      if (end < 0) end = std::max(last_time_, begin);
      if (!track) track = lanes_.add_track(track_of(name, "layer", TracyTableKind::context_switch));
      if (!track) continue;
      std::optional<Row> row = lanes_.put_at(*track, 0, begin, end, writer_.intern("running"));
      if (!row) continue;
      count_row(TracyTableKind::context_switch);
      row->integer(SwitchColumns::cpu, cpu);
      row->integer(SwitchColumns::waited, std::max<std::int64_t>(begin - woken, 0));
      row->integer(SwitchColumns::reason, reason);
      row->integer(SwitchColumns::state, state);
      if (layout_.wakeup_cpu) row->integer(SwitchColumns::wakeup_cpu, record.next<std::uint8_t>());
    }
  }
}

void TracyImport::read_cpus() {
  reader_.skip(8);  // how many there are on all processors
  for (std::size_t cpu = 0; cpu < kProcessorsKept && !stopped(); ++cpu) {
    std::optional<TrackNumber> track;
    std::uint64_t time = 0;
    for (std::uint64_t left = reader_.count(); left > 0; --left) {
      TraceRecord record = reader_.record(18);
      if (reader_.ended()) return;
      const auto begin = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      auto end = static_cast<std::int64_t>(time += record.next<std::uint64_t>());
      const std::uint64_t thread = names_.other_thread(record.next<std::uint16_t>());
      if (!is_time(begin) || !is_time(end)) continue;
      if (end < 0) end = std::max(last_time_, begin);
      if (!track) track = lanes_.add_track(track_of(fmt::format("CPU {}", cpu), "layer", TracyTableKind::cpu));
      if (!track) continue;
      const std::string_view program = names_.other_program(thread);
      const std::string_view name = names_.thread_name(thread);
      const StringId what = writer_.intern(!name.empty()     ? thread_label(thread)
                                           : program.empty() ? fmt::format("Thread {}", thread)
                                                             : std::string(program));
      std::optional<Row> row = lanes_.put_at(*track, 0, begin, end, what);
      if (!row) continue;
      count_row(TracyTableKind::cpu);
      row->integer(CpuColumns::thread, static_cast<std::int64_t>(thread));
    }
  }
  reader_.skip(reader_.count(), 16);  // the processes of threads
  reader_.skip(reader_.count(), 24);  // how long threads ran, which their switches tell
}

}  // namespace accelscope::capture::sources::tracy
