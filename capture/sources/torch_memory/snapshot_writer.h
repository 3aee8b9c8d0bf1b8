// Writes the memory snapshots of one program into a session, one after the other: a file, or those that are taken while
// it runs, each of which has in its trace what is newer than the one before.
//
//   SnapshotWriter snapshots(writer, report);
//   TRY(snapshots.write(std::move(read)));   // for each
//   snapshots.end();                         // the last one is the state at the end
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "capture/sources/base/import_report.h"
#include "capture/sources/pickle/pickle_reader.h"
#include "capture/sources/torch_memory/device_writer.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {

class SnapshotWriter {
 public:
  using Progress = std::function<void(std::uint64_t entries, std::uint64_t of)>;
  // `zero_unix_ns`: what time 0 of the session is; nothing: it begins with the first entry.
  SnapshotWriter(SessionWriter& writer, ImportReport& report, std::optional<std::int64_t> zero_unix_ns = {})
      : writer_(writer), report_(report), zero_unix_ns_(zero_unix_ns) {}

  // Fails on what is no snapshot; nothing of it is written then.
  [[nodiscard]] Result<void> write(pickle::ReadPickle read, const Progress& progress = {});
  // The state at the end, and what only the last snapshot says.
  void end();

 private:
  struct Snapshot {
    explicit Snapshot(pickle::ReadPickle what) : read(std::move(what)) {}
    pickle::ReadPickle read;
    std::optional<OpenSnapshot> open;
  };
  void note_reading(const pickle::ReadPickle& read);
  [[nodiscard]] std::int64_t place_in_time(OpenSnapshot& snapshot);
  void begin(std::int64_t begin_ns);
  void write_annotations(const SnapshotFile& file);
  void write_facts(const SnapshotFile& file);
  void write_setting(const PickleData& data, const std::string& key, PickleValue value);

  SessionWriter& writer_;
  ImportReport& report_;
  std::optional<std::int64_t> zero_unix_ns_;
  std::unique_ptr<Snapshot> snapshot_;  // the last one
  std::map<std::int64_t, DeviceWriter> devices_;
  tracks::TimeBounds bounds_;
  std::optional<std::int64_t> begin_ns_;  // of the first trace: what is older lies there
  std::int64_t end_ns_ = 0;               // when the last snapshot was taken
  bool times_known_ = false;              // something says when it happened
  bool entry_times_known_ = false;
  std::uint64_t entries_ = 0;
  std::uint64_t frames_cut_ = 0;
  TorchTables tables_;
  ClockNumber clock_ = kNone;
  std::int64_t order_ = 0;  // of the next track
};

}  // namespace accelscope::capture::sources::torch_memory
