// One process that tells by ITT or by zones: reads its records and writes them as events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/kinds/itt/ordered.h"
#include "capture/probe/host/reader.h"

namespace accelscope::capture::kinds::itt {

// The words of a record, read once from memory that the program may still change.
class IttWords {
 public:
  explicit IttWords(std::span<const std::uint64_t> words) : words_(words) {}

  [[nodiscard]] bool has(std::size_t count) const noexcept { return words_.size() >= count; }
  // Both only after has().
  [[nodiscard]] std::uint64_t next() noexcept {
    const std::uint64_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  [[nodiscard]] probe::itt::Id id() noexcept {
    probe::itt::Id id;
    id.d1 = next();
    id.d2 = next();
    id.d3 = next();
    return id;
  }
  [[nodiscard]] bool bytes(std::size_t count, std::string& bytes) const {
    if (count > words_.size_bytes()) return false;
    bytes.assign(reinterpret_cast<const char*>(words_.data()), count);
    return true;
  }
  [[nodiscard]] bool text(std::size_t count, std::string& text) const {
    if (!bytes(count, text)) return false;
    text = json::mend_utf8(text);
    return true;
  }

 private:
  std::span<const std::uint64_t> words_;
};

class IttProcess final : public probes::ProcessReader {
 public:
  IttProcess(const probes::ProbeProcess& process, SessionWriter& writer, IttSchemas& schemas);

  void thread(const probes::ProbeThread& thread) override;
  void define(std::uint32_t type, std::string_view body) override;
  void record(const probes::ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words) override;
  void thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) override;
  void ended(const probes::ProbeEnd& end) override;
  void read_until(std::int64_t now_ns) override { ordered_.advance(now_ns); }

 private:
  struct Held {
    std::int64_t begin_ns = 0;
    bool shared = false;
  };
  // The tracks of a thread. Programs that start threads without end share them: one that has ended leaves its to
  // another.
  struct Rows {
    std::optional<probes::ProbeThread> shared_by;  // as whom they are named
    TrackNumber tasks = kNone, events = kNone, waits = kNone, holds = kNone;
  };
  struct Thread {
    probes::ProbeThread facts;
    TaskStack tasks;
    Rows rows;
    [[nodiscard]] const probes::ProbeThread& row() const noexcept { return rows.shared_by ? *rows.shared_by : facts; }
    std::uint32_t fiber = 0;                                    // site of the one it runs now
    std::int64_t fiber_ns = 0;                                  // of its last record in one
    OverlappingSpans<std::uint32_t, std::int64_t> events_open;  // by site, from when on
    OverlappingSpans<std::uint64_t, std::int64_t> waited;       // by lock, likewise
    OverlappingSpans<std::uint64_t, Held> held;
  };
  [[nodiscard]] Thread& of(const probes::ProbeThread& thread);
  void share_rows(Thread& thread);
  [[nodiscard]] TaskStack& tasks_of(Thread& thread);  // with its row
  [[nodiscard]] bool read(Thread& thread, probe::itt::RecordType type, std::uint32_t value, IttWords& words);
  [[nodiscard]] bool read_task(Thread& thread, probe::itt::RecordType type, std::uint32_t value, IttWords& words);
  [[nodiscard]] bool read_task_begin(Thread& thread, std::uint32_t site, IttWords& words);
  [[nodiscard]] bool read_metadata(Thread& thread, std::uint32_t key, IttWords& words);
  [[nodiscard]] bool read_relation(Thread& thread, std::uint32_t kind, IttWords& words);
  [[nodiscard]] bool read_event(Thread& thread, probe::itt::RecordType type, std::uint32_t site, IttWords& words);
  [[nodiscard]] bool read_lock(Thread& thread, probe::itt::RecordType type, bool shared, IttWords& words);
  [[nodiscard]] bool read_ordered(Thread& thread, probe::itt::RecordType type, std::uint32_t value, IttWords& words);
  void write_event(Thread& thread, std::uint32_t site, std::uint32_t lane, std::int64_t begin_ns, std::int64_t end_ns);
  void write_wait(Thread& thread, std::uint64_t lock, std::int64_t begin_ns, std::int64_t end_ns, bool shared);
  void write_hold(Thread& thread, std::uint64_t lock, std::uint32_t lane, const Held& held, std::int64_t end_ns);
  void write_lock(TrackNumber track, std::uint32_t lane, std::uint64_t lock, std::int64_t begin_ns, std::int64_t end_ns,
                  bool shared);
  void close(Thread& thread, std::int64_t ns);
  void report(const probes::ProbeEnd& end);
  void report_facts();
  // Programs give some times themselves: none lies before the capture, or after what was read last.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks);

  probes::ProbeProcess process_;
  SessionWriter& writer_;
  IttSchemas& schemas_;
  IttCounts counts_;
  IttNames names_;
  IttTracks tracks_;
  IttTasks tasks_;
  IttOrdered ordered_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Rows> free_rows_;
  std::uint32_t shared_rows_ = 0;
};

}  // namespace accelscope::capture::kinds::itt
