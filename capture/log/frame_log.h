// Frames on disk as they crossed the wire: the spool of an agent and the recovery file of a viewer. A folder holds
//
//   segment-000001.frames ...   the frames in order; a new file begins after segment_bytes
//   definitions.frames          the definitions of the segments that were let go, since later frames still need them
//   facts                       whose frames these are; replaced as a whole
//   lock                        held as long as the process that writes them lives
//
// Every frame is handed to the system by one call before append() returns: nothing is lost when the process dies. What
// synced_sequence() counts outlives a power cut too; request_sync() and sync() move it on. Numbered frames rise; frames
// without a number (gap, end) may stand between them. The folder is 0700, its files 0600. Nothing that is unreadable is
// ever cut or removed: a segment with damage keeps its bytes under the name segment-000001.damaged when it is let go.
//
//   auto log = FrameLog::create(folder, {.capture_id = id});      // or open_existing() after a crash
//   log->append(frame);  log->release(durable);  log->write_facts(facts);
//   FrameLogReader reader(folder, after);  while (auto frame = reader.next()) ...
//
// One thread at a time uses a log; its readers may be on other threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/log/frame_segment.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::log {

// Puts the files of a growing log on the disk while the log goes on: they are synced in the order in which they were
// begun, and their folder with each of them, so that what counts as synced has no hole.

class DiskSync {
 public:
  // The folders above may be new as well, and a file is only there if its folders are.
  explicit DiskSync(const std::filesystem::path& folder);
  ~DiskSync();
  DiskSync(const DiskSync&) = delete;
  DiskSync& operator=(const DiskSync&) = delete;

  // The file's frames up to `sequence`. A copy of the descriptor is kept until it is synced.
  void request(int descriptor, std::uint32_t segment, std::uint64_t sequence);
  void wait();                                 // until all that was requested is synced, or cannot be
  [[nodiscard]] std::uint64_t synced() const;  // frames up to this one are on the disk
  [[nodiscard]] std::string failure() const;   // "": none

 private:
  struct Request {
    system::Descriptor file;
    std::uint32_t segment = 0;
    std::uint64_t sequence = 0;
  };
  void run();
  void fail();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::uint64_t synced_ = 0;
  bool busy_ = false;
  std::string failure_;
  bool ending_ = false;
  system::Descriptor folder_;
  std::vector<system::Descriptor> above_;  // until they are synced
  std::thread thread_;                     // last: everything else is there when it begins
};

struct FrameLogOptions {
  std::string capture_id;
  std::uint64_t segment_bytes = 64ULL << 20;
  // Asked for every frame that open_existing() reads, with its bytes; false ends that with an error.
  std::function<bool(std::uint64_t bytes)> on_read = nullptr;
};

struct FrameLogFacts {
  std::string capture_id;
  std::string place;  // where the frames come from, as the user named it
  std::string name;
  std::string description;
  std::uint64_t begun_unix_ns = 0;
  wire::CaptureState state = wire::CaptureState::running;
  std::uint64_t durable = 0;           // highest number that is safe elsewhere
  std::optional<wire::StreamEnd> end;  // once it has come
  // Totals of what may have been let go: of all data frames up to released.last_sequence.
  wire::StreamEnd released;
  std::uint64_t released_of_first_scope = 0;  // frames of scope 0 among them
  bool operator==(const FrameLogFacts&) const = default;
  static void fields(auto& walk, auto& f) {
    walk(f.capture_id, f.place, f.name, f.description, f.begun_unix_ns);
    walk.choice(f.state, wire::CaptureState::running, wire::CaptureState::interrupted);
    walk(f.durable);
    walk.sized(f.released);
    walk(f.released_of_first_scope, f.end);
  }
};

// What open_existing() found.
struct FrameLogRecovery {
  std::uint64_t cut_bytes = 0;         // of a last frame that was not finished
  std::uint64_t unreadable_bytes = 0;  // of what is no frame, between and behind those that are; it is left alone
};

// What a log holds, by the headers of its frames.
struct FrameLogContent {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t last_sequence = 0;
};

class FrameLog {
 public:
  // Makes the folder, which must be new or empty.
  [[nodiscard]] static Result<std::unique_ptr<FrameLog>> create(const std::filesystem::path& folder,
                                                                const FrameLogOptions& options);
  // Later frames go to a new segment. Fails if a living process writes the log.
  [[nodiscard]] static Result<std::unique_ptr<FrameLog>> open_existing(const std::filesystem::path& folder,
                                                                       const FrameLogOptions& options,
                                                                       FrameLogRecovery& found);
  ~FrameLog();
  FrameLog(const FrameLog&) = delete;
  FrameLog& operator=(const FrameLog&) = delete;

  // After an error the log is as it was before the call. A number that is not higher than the last is refused.
  Result<void> append(const wire::Frame& frame);
  // Removes the segments of which every frame is numbered `sequence` or lower, except the one that is being written.
  // Their definitions are kept.
  Result<void> release(std::uint64_t sequence);
  Result<void> write_facts(const FrameLogFacts& facts);
  // Has what was appended until now put on the disk, by a thread of its own; sync() waits for it.
  void request_sync();
  Result<void> sync();
  [[nodiscard]] std::uint64_t synced_sequence() const;  // frames up to this one are on the disk
  [[nodiscard]] std::string sync_failure() const;       // "": none
  [[nodiscard]] bool damaged() const noexcept;          // found when it was opened: not all of it can be read

  [[nodiscard]] std::uint64_t first_sequence() const noexcept;  // of the segments that are there; 0: none
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_sequence_; }
  [[nodiscard]] std::uint64_t events() const noexcept;       // in those segments
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;  // of all files of frames
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  [[nodiscard]] static Result<FrameLogFacts> read_facts(const std::filesystem::path& folder);
  // Without taking or changing the log; also while another process writes it.
  [[nodiscard]] static FrameLogContent survey(const std::filesystem::path& folder);
  // Whether a living process, this one included, writes the log.
  [[nodiscard]] static bool in_use(const std::filesystem::path& folder);

 private:
  struct Segment {
    std::uint32_t number = 0;
    std::uint64_t first = 0;  // numbers of its data frames; 0: none
    std::uint64_t last = 0;
    std::uint64_t bytes = 0;  // of the file
    std::uint64_t events = 0;
    bool damaged = false;
  };

  FrameLog(std::filesystem::path folder, FrameLogOptions options, system::Descriptor lock);
  using OnRead = std::function<bool(std::uint64_t)>;
  // `on_read`: each frame is read, so that no header that only looks like one hides those behind it; null: by headers
  // alone.
  [[nodiscard]] static Result<Segment> scan(const std::filesystem::path& path, bool last, const OnRead& on_read,
                                            FrameLogRecovery& found);
  Result<void> recover(FrameLogRecovery& found);
  Result<void> begin_segment(std::uint64_t first_sequence);
  Result<void> keep_definitions(const Segment& segment);

  std::filesystem::path folder_;
  FrameLogOptions options_;
  system::Descriptor lock_;
  system::Descriptor current_;  // the last of segments_, if this process writes it
  std::vector<Segment> segments_;
  std::uint32_t last_number_ = 0;  // of a segment, those included that were let go or are unreadable
  std::uint64_t last_sequence_ = 0;
  std::uint64_t definitions_bytes_ = 0;
  bool damaged_ = false;
  std::unique_ptr<DiskSync> syncer_;
};

// Reads a log from the frame after a number on, also while it is written. Definitions of segments that were let go
// come first. What is damaged is left out and counted, and what follows it is read again; a reader sees it as a jump of
// the numbers.
class FrameLogReader {
 public:
  FrameLogReader(std::filesystem::path folder, std::uint64_t after_sequence);

  // Nothing if there is no more at the moment. An error is one of the system's.
  [[nodiscard]] Result<std::optional<wire::Frame>> next();
  // Nobody writes the log any more: what cannot be read at its end is damage too.
  void end();
  [[nodiscard]] std::uint64_t damaged_places() const noexcept { return damaged_places_; }
  [[nodiscard]] const std::string& damage() const noexcept { return damage_; }  // the first, in words

 private:
  [[nodiscard]] std::optional<wire::Frame> next_of_file();
  [[nodiscard]] Result<bool> advance();
  [[nodiscard]] Result<bool> open_segment(std::uint32_t number);
  [[nodiscard]] Result<std::optional<SegmentReader>> open_file(const std::filesystem::path& path);
  void enter(SegmentReader file);
  [[nodiscard]] bool has_more() const;
  void note_rest(std::uint64_t next_sequence);
  [[nodiscard]] bool pass_damage(const std::string& what);
  [[nodiscard]] std::string cut_frame() const;
  void note(const std::string& what);

  std::filesystem::path folder_;
  std::uint64_t after_;                   // numbers up to this one were returned or are not wanted
  std::uint64_t seen_ = 0;                // the last number met in the file, wanted or not
  std::optional<SegmentReader> file_;     // being read
  std::optional<SegmentReader> waiting_;  // the segment after the definitions that are being read
  std::uint64_t offset_ = kSegmentHeaderBytes;
  std::uint32_t number_ = 0;             // of the last segment that was opened
  std::optional<FramePlace> unchecked_;  // the last frame of the file, if only its header was looked at
  std::uint64_t damaged_places_ = 0;
  std::string damage_;
};

}  // namespace accelscope::capture::log
