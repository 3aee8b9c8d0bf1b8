// The threads of a profiled program as tracks: a group for each, called as the program or the system calls the thread,
// with a row for each sort of events.
//
//   HostThreads threads(process, writer);
//   threads.name(thread.id, "loader", true);
//   const TrackNumber row = threads.row(thread.id, "runtime", 2, schema);
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "capture/probe/host/reader.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds {

class HostThreads {
 public:
  HostThreads(const probes::ProbeProcess& process, SessionWriter& writer) : process_(process), writer_(writer) {}

  // Before the first row. What the program says goes before what the system does.
  void name(std::uint32_t id, const std::string& name, bool by_program) {
    Thread& thread = threads_[id];
    if (!by_program && (name.empty() || thread.by_program)) return;
    thread.name = name;
    thread.by_program = by_program && !name.empty();
  }
  [[nodiscard]] const std::string& name_of(std::uint32_t id) { return named(id).name; }
  // "NAME LABEL", at that place among the thread's rows.
  [[nodiscard]] TrackNumber row(std::uint32_t id, std::string_view label, std::int64_t place, SchemaNumber schema) {
    Thread& thread = named(id);
    const auto [row, is_new] = thread.rows.try_emplace(label, kNone);
    if (is_new) {
      row->second = writer_.add_track({.parent = thread.group,
                                       .name = fmt::format("{} {}", thread.name, label),
                                       .kind = "host_thread",
                                       .host = process_.title(),
                                       .schema = schema,
                                       .order = thread.order + place});
    }
    return row->second;
  }

 private:
  struct Thread {
    std::string name;  // "": not asked for yet
    bool by_program = false;
    TrackNumber group = kNone;
    std::int64_t order = 0;
    std::map<std::string_view, TrackNumber> rows;  // by their labels, which are literals
  };

  [[nodiscard]] Thread& named(std::uint32_t id) {
    Thread& thread = threads_[id];
    if (thread.group != kNone) return thread;
    const std::string title = process_.title();
    if (thread.name.empty()) {
      std::ifstream file(fmt::format("/proc/{}/task/{}/comm", process_.id, id));
      std::getline(file, thread.name);
    }
    // Threads that nobody has named are called like the program.
    if (!thread.by_program) {
      const bool is_named = !thread.name.empty() && !title.starts_with(thread.name);
      thread.name = id == process_.id ? "main"
                    : is_named        ? fmt::format("{} ({})", thread.name, id)
                                      : fmt::format("thread {}", id);
    }
    constexpr std::int64_t kRows = 8;
    thread.order = (id == process_.id ? 0 : static_cast<std::int64_t>(threads_.size())) * kRows;
    thread.group =
        writer_.add_track({.name = thread.name, .kind = "host_thread", .host = title, .order = thread.order});
    return thread;
  }

  const probes::ProbeProcess& process_;
  SessionWriter& writer_;
  std::map<std::uint32_t, Thread> threads_;  // by the system's number
};

}  // namespace accelscope::capture::kinds
