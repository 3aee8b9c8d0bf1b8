// What the layer inside one process tells, as events: calls on the host's threads, commands on the tracks of their
// queues, allocations, builds. A command is written when both its call and its times have come; they come from
// different threads of the process and so in any order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/kinds/opencl/schemas.h"
#include "capture/probe/bodies.h"
#include "capture/probe/host/reader.h"
#include "capture/probe/opencl/format.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"
#include "core/model/clock.h"

namespace accelscope::capture::kinds::opencl {

// What the processes of a capture of OpenCL share: tables, devices with their clocks, files of source.

// The clock of an OpenCL device, found by brackets: readings of the device that were taken between two times of the
// host. Every command gives one, since the device's time of queueing lies within the call that queued it. The tightest
// bracket of every tenth of a second becomes an anchor, wide ones only where the clock would miss them otherwise;
// between anchors the clock runs evenly.

class DeviceClock {
 public:
  static constexpr std::int64_t kFirstSpacingNs = 100'000'000;
  static constexpr std::size_t kMostAnchors = 1024;  // then every second one goes, and new ones come half as often

  // The device stood at `ticks` between the two times; brackets may come in any order.
  void add(std::int64_t ticks, std::int64_t before_ns, std::int64_t after_ns);
  // The anchors so far, among them the tightest bracket of the stretch that has not ended; true if any is new.
  bool update(Clock& clock);
  [[nodiscard]] bool known() const noexcept { return stretch_.has_value() || !anchors_.empty(); }

 private:
  struct Bracket {
    std::int64_t ticks = 0;
    std::int64_t before_ns = 0;
    std::int64_t after_ns = 0;
    [[nodiscard]] std::int64_t width() const noexcept { return after_ns - before_ns; }
    [[nodiscard]] ClockAnchor anchor() const noexcept { return {ticks, before_ns + width() / 2}; }
  };
  void join(const std::vector<Bracket>& brackets, Clock& clock) const;
  void end_stretch();
  void thin_out();

  std::vector<Bracket> anchors_;
  std::optional<Bracket> stretch_;  // the tightest since stretch_begin_ns_
  std::int64_t stretch_begin_ns_ = 0;
  std::int64_t spacing_ns_ = kFirstSpacingNs;
  bool changed_ = false;
};

struct SessionDevice {
  std::string name;  // told apart where several have one name: "Arc A770 #2"
  Clock clock;
  DeviceClock brackets;
  ClockMap map;                 // of `clock`
  std::int64_t updated_ns = 0;  // when the viewer was last told of `clock`
  TrackNumber memory = kNone;
  // What the times of its commands are held against: each other, and when they were asked for.
  sources::tracks::TimeSketch times, queued;
  sources::tracks::TimeBounds bounds;
};

class OpenclSession {
 public:
  static constexpr std::int64_t kClockIntervalNs = 100'000'000;  // every new version travels whole

  OpenclSession(SessionWriter& writer, bool with_calls);

  // The `nth` device of that name in a process, from 0. Lives as long as the session.
  [[nodiscard]] SessionDevice& device(const std::string& name, std::size_t nth, std::uint64_t memory_bytes);
  // Gives the viewer what is newly known of the devices' clocks.
  void update_clocks(std::int64_t now_ns);
  // Path under which the text is shown: the same for the same text.
  [[nodiscard]] std::string add_source(const std::string& text);
  [[nodiscard]] std::uint64_t new_process() { return process_count_++; }

  SessionWriter& writer;
  bool keeps_calls;
  Tables<OpenclTable> tables;

 private:
  std::vector<std::unique_ptr<SessionDevice>> devices_;
  std::map<std::string, std::string> sources_;  // path by text
  std::uint64_t process_count_ = 0;
};

// Arguments of a kernel as people read them: "n=1024, alpha=2.5, a=buffer 3, tile=local 256 B".

struct ArgumentName {
  std::string type;  // "float*", "int"; "": the driver does not say
  std::string name;  // "": not said
};

// `memories`: names of memory by number.
[[nodiscard]] std::string argument_text(std::span<const probe::opencl::ArgumentRecord> arguments,
                                        std::span<const ArgumentName> names,
                                        const std::map<std::uint64_t, std::string>& memories);

class OpenclProcess final : public probes::ProcessReader {
 public:
  OpenclProcess(const probes::ProbeProcess& process, OpenclSession& session);

  void thread(const probes::ProbeThread& thread) override;
  void define(std::uint32_t type, std::string_view body) override;
  void record(const probes::ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words) override;
  void thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) override;
  void ended(const probes::ProbeEnd& end) override;
  void read_until(std::int64_t now_ns) override;

 private:
  struct Queue {
    std::string name;
    StringId name_id = 0;
    SessionDevice* device = nullptr;
    bool in_order = true;
    bool has_times = true;
    struct Rows {
      TrackNumber track = kNone;
      TrackNumber doubtful = kNone;  // of commands whose times cannot be true
    };
    Rows kernels, transfers, maps, syncs;
    std::int64_t last_end_ticks = 0;
    sources::tracks::TimeSketch times;
  };
  // What a kernel was launched with.
  struct Launch {
    StringId global_id = 0, local_id = 0, offset_id = 0, arguments_id = 0;
    std::int64_t work_items = 0, work_groups = 0;
  };
  struct Kernel {
    std::string name;
    StringId name_id = 0;
    StringId program_id = 0;
    StringId source_id = 0;  // 0: not known
    std::vector<ArgumentName> arguments;
    std::vector<const SessionDevice*> launched_on;
    Launch last;  // most are like the one before
    std::vector<std::uint64_t> last_sizes, last_arguments;
  };
  struct Program {
    std::string name;
    std::string path;  // of its source; "": there is none
    std::string source;
  };
  // A command whose call has come.
  struct Command {
    probe::opencl::CommandRecord record{};
    probe::opencl::TransferRecord transfer{};
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    Launch launch;
    StringId source_id = 0, target_id = 0;  // of transfers: memory, which may be gone when they are written
    bool first_launch = false;
    bool waits = false;    // for other commands
    bool is_done = false;  // its times have come, and it is written with those of this turn
  };
  struct Done {
    const Command* command = nullptr;  // in open_
    probe::opencl::CompletionRecord times{};
    std::int64_t start = 0, end = 0;  // ticks
    bool doubtful = false;            // its times cannot be true
  };
  struct MemoryEvent {
    std::int64_t ns = 0;
    std::uint64_t memory = 0;
    bool is_release = false;
  };
  struct Allocation {
    std::string name;
    std::int64_t bytes = 0;
    std::string flags;
    std::string parent;
    const char* pool = "";
    std::uint64_t address = 0;
    SessionDevice* device = nullptr;
  };
  struct ThreadTrack {
    std::string name;
    TrackNumber track = kNone;
  };

  void define_device(probe::BodyReader& body);
  void define_queue(probe::BodyReader& body);
  void define_program(probe::BodyReader& body);
  void define_kernel(probe::BodyReader& body);
  void define_build(probe::BodyReader& body);
  void write_messages(const Program& program, const std::string& log, std::int64_t ns, std::int64_t& errors,
                      std::int64_t& warnings);

  void add_call(const probes::ProbeThread& thread, const probe::opencl::CallRecord& record);
  void add_command(const probes::ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words);
  void read_sizes(Kernel& kernel, std::span<const std::uint64_t> sizes);
  void read_arguments(Kernel& kernel, std::span<const std::uint64_t> words);
  void add_waits(const Command& command, std::span<const std::uint64_t> waits);
  void write_command_call(const probes::ProbeThread& thread, std::uint32_t function, const Command& command);
  void finish_command(Command& command, const probe::opencl::CompletionRecord& times);
  void add_completion(const probe::opencl::CompletionRecord& record);
  void add_allocation(const probe::opencl::AllocationRecord& record);

  void forget_early();
  void write_done();
  void judge_times();
  void judge_lengths(std::uint32_t number, const Queue& queue);
  void write_command(const Done& done);
  void write_kernel(const Done& done, Queue& queue);
  void write_transfer(const Done& done, Queue& queue);
  void write_sync(const Done& done, Queue& queue);
  void write_waits(Row& row, std::size_t queued_column, const Done& done);
  void write_first_launch(const Done& done, const Queue& queue, const Kernel& kernel);
  void write_memory();
  void write_flow(std::uint64_t source, std::uint64_t target, StringId reason, std::int64_t ns);

  [[nodiscard]] StringId call_name(std::uint32_t function);
  [[nodiscard]] TrackNumber call_track(const probes::ProbeThread& thread);
  [[nodiscard]] TrackNumber queue_track(Queue& queue, Queue::Rows& rows, bool doubtful, const char* suffix,
                                        const char* kind, SchemaNumber schema, std::int64_t order);
  [[nodiscard]] TrackNumber host_track(TrackNumber& track, const char* name, const char* kind, SchemaNumber schema);
  [[nodiscard]] std::string memory_name(std::uint64_t memory) const;
  [[nodiscard]] StringId memory_id(std::uint64_t memory);  // 0: not known
  // Numbers of commands and calls, told apart from those of other processes.
  [[nodiscard]] std::uint64_t command_key(std::uint64_t command) const noexcept { return key_base_ | command << 1U; }
  [[nodiscard]] std::uint64_t call_key(std::uint64_t command) const noexcept { return command_key(command) | 1U; }
  [[nodiscard]] std::uint64_t memory_key(std::uint64_t memory) const noexcept;
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const { return process_.clock->to_ns(ticks); }

  const probes::ProbeProcess& process_;
  OpenclSession& session_;
  SessionWriter& writer_;
  std::uint64_t process_index_;
  std::uint64_t key_base_;
  std::string title_;

  std::map<std::uint32_t, SessionDevice*> devices_;
  std::map<std::string, std::size_t> devices_of_name_;
  std::map<std::uint32_t, Queue> queues_;
  std::map<std::uint32_t, Program> programs_;
  std::map<std::uint32_t, Kernel> kernels_;
  std::map<std::uint64_t, Allocation> allocations_;
  std::map<std::uint64_t, std::string> memory_names_;
  std::map<std::uint32_t, ThreadTrack> threads_;
  TrackNumber builds_ = kNone, errors_ = kNone, warnings_ = kNone, flows_ = kNone;
  TrackNumber shared_memory_ = kNone;  // of contexts with several devices

  std::pmr::unsynchronized_pool_resource pool_;                   // commands come and go by the hundred thousand
  std::pmr::unordered_map<std::uint64_t, Command> open_{&pool_};  // by number
  std::unordered_map<std::uint64_t, probe::opencl::CompletionRecord> early_;  // whose call has not come yet
  // Those that stay so for a whole turn are of calls that found no room.
  std::unordered_map<std::uint64_t, probe::opencl::CompletionRecord> early_before_;
  std::uint64_t without_calls_ = 0;
  std::vector<Done> done_;
  std::vector<MemoryEvent> memory_events_;
  std::array<StringId, probe::opencl::kCallNames.size()> call_names_{};  // 0: not used yet
  StringId launch_ = 0, wait_list_ = 0;
  std::int64_t last_flow_ns_ = 0;
  std::uint64_t without_times_ = 0;
  std::uint64_t doubtful_times_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t cut_ = 0;
};

}  // namespace accelscope::capture::kinds::opencl
