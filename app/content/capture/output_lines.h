// What programs printed, as lines in the order of time: gathered from the tracks of kind "output" on a worker while
// they come in, filtered a little per frame. Drawn by the output panel; no drawing here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/model/ids.h"
#include "core/store/store.h"

namespace accelscope::app::content {

struct OutputLine {
  std::int64_t ns = 0;
  EventId id = kNoEvent;
  std::string_view text;      // in a block of the lines
  std::uint16_t program = 0;  // index into OutputLines::programs()
  bool err = false;           // of its error stream
};

class OutputLines {
 public:
  explicit OutputLines(WorkerPool& pool) : pool_(pool) {}

  // Once per frame: takes what was read, and asks for what is new. True when the lines have changed.
  bool update(const std::shared_ptr<Store>& store, const std::shared_ptr<const Snapshot>& snapshot);
  [[nodiscard]] bool pending() const noexcept { return task_.valid() || filtered_ < lines_.size(); }
  [[nodiscard]] bool any_tracks() const noexcept { return !lanes_.empty(); }
  [[nodiscard]] const std::vector<OutputLine>& lines() const noexcept { return lines_; }
  [[nodiscard]] const std::vector<std::string>& programs() const noexcept { return programs_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }  // of lines that cannot be read

  // Shown are the lines that hold every word of the text, whatever the case.
  void set_filter(std::string text);
  [[nodiscard]] std::size_t shown_count() const noexcept { return filter_.empty() ? lines_.size() : shown_.size(); }
  [[nodiscard]] const OutputLine& shown(std::size_t index) const noexcept {
    return lines_[filter_.empty() ? index : shown_[index]];
  }
  [[nodiscard]] std::string text(std::size_t most_bytes) const;  // of the shown lines, for the clipboard

 private:
  struct Lane {
    std::uint32_t index = 0;  // into Snapshot::lanes
    std::uint32_t chunks_read = 0;
    std::uint16_t program = 0;
    bool err = false;
  };
  struct Batch {
    std::vector<OutputLine> lines;
    std::string text;
    std::vector<std::uint32_t> chunks_read;  // by lane
    std::string problem;
  };
  void find_lanes(const Snapshot& snapshot);
  [[nodiscard]] static std::shared_ptr<Batch> read(const Store& store, const Snapshot& snapshot,
                                                   const std::vector<Lane>& lanes, const TaskControl& control);
  void take(Batch& batch);
  void filter_some();

  WorkerPool& pool_;
  std::vector<Lane> lanes_;
  std::size_t tracks_seen_ = 0;
  std::size_t lanes_seen_ = 0;
  Task<std::shared_ptr<Batch>> task_;
  std::vector<OutputLine> lines_;
  std::vector<std::shared_ptr<const Batch>> blocks_;  // that the texts lie in
  std::vector<std::string> programs_;
  std::string problem_;
  std::string filter_;
  std::vector<std::uint32_t> shown_;  // of the lines below filtered_
  std::size_t filtered_ = 0;
};

}  // namespace accelscope::app::content
