// Understands a device log while it is written: zones are handed on as they end, in the way of the importer, whose
// parser and writer this shares, so that the finished file gives the same events. Rows of a processor are held back
// until its next run of the firmware begins, until as many wait as the importer sorts at once, or until settle().
//
// A file that is written anew may repeat rows, which count once; its other rows join those that are known. If it has
// another header, or if its cycles begin anew, it is another log, with tracks of its own.
//
//   DeviceLogFollower follower("profile_log_device.csv", writer, {});
//   follower.begin_anew(); follower.feed(bytes, now_ns); ... follower.settle(); ... follower.finish();
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sources/base/line_blocks.h"
#include "capture/sources/tt_metal/read/rows.h"
#include "capture/sources/tt_metal/write/writer.h"

namespace accelscope::capture::sources::tt_metal {

// Remembers which rows of a device log were there before, by a hash of what they say, with the number of the reading
// that saw them last: a log that is written anew may repeat rows. Some 13 to 27 bytes a row, up to a limit.

class SeenRows {
 public:
  static constexpr std::size_t kMostRows = 64U << 20;

  enum class Before : std::uint8_t { never, earlier_reading, this_reading };

  // Remembers the row for this reading. Hashes are never 0.
  [[nodiscard]] Before add(std::uint64_t hash, std::uint16_t reading) {
    if (4 * (count_ + 1) > 3 * hashes_.size()) grow();
    std::size_t place = hash & (hashes_.size() - 1);
    for (; hashes_[place] != 0; place = (place + 1) & (hashes_.size() - 1)) {
      if (hashes_[place] != hash) continue;
      const std::uint16_t before = readings_[place];
      readings_[place] = reading;
      return before == reading ? Before::this_reading : Before::earlier_reading;
    }
    if (count_ == kMostRows) {
      ++not_remembered_;
      return Before::never;
    }
    hashes_[place] = hash;
    readings_[place] = reading;
    ++count_;
    return Before::never;
  }
  [[nodiscard]] bool knows(std::uint64_t hash) const {
    if (hashes_.empty()) return false;
    std::size_t place = hash & (hashes_.size() - 1);
    while (hashes_[place] != 0 && hashes_[place] != hash) place = (place + 1) & (hashes_.size() - 1);
    return hashes_[place] == hash;
  }
  [[nodiscard]] std::uint64_t not_remembered() const noexcept { return not_remembered_; }

 private:
  void grow() {
    if (count_ == kMostRows) return;
    std::vector<std::uint64_t> hashes(hashes_.empty() ? 1024 : 2 * hashes_.size());
    std::vector<std::uint16_t> readings(hashes.size());
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      if (hashes_[i] == 0) continue;
      std::size_t place = hashes_[i] & (hashes.size() - 1);
      while (hashes[place] != 0) place = (place + 1) & (hashes.size() - 1);
      hashes[place] = hashes_[i];
      readings[place] = readings_[i];
    }
    hashes_ = std::move(hashes);
    readings_ = std::move(readings);
  }

  std::vector<std::uint64_t> hashes_;  // 0: free
  std::vector<std::uint16_t> readings_;
  std::size_t count_ = 0;
  std::uint64_t not_remembered_ = 0;
};

// Whole lines out of pieces that are cut anywhere, without copying those that lie in one piece. Lines beyond half a MiB
// are left out and counted, as the importer does.

class CutLines {
 public:
  // take(lines): one or more whole lines with their ends.
  template <typename Take>
  void feed(std::string_view bytes, Take take) {
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string_view::npos) {
      if (!in_long_line_) embedded_ += bytes;
    } else {
      std::size_t begin = 0;
      if (in_long_line_ || !embedded_.empty()) {
        begin = bytes.find('\n') + 1;
        const std::string line = std::exchange(embedded_, {}).append(bytes.substr(0, begin));
        if (!std::exchange(in_long_line_, false)) take(std::string_view(line));
      }
      if (begin <= end) take(bytes.substr(begin, end + 1 - begin));
      embedded_ = bytes.substr(end + 1);
    }
    if (embedded_.size() < LineBlocks::kBlockBytes) return;
    ++long_lines_;
    in_long_line_ = true;
    embedded_.clear();
  }
  // The begin of a line whose end has not come; forgets it.
  [[nodiscard]] std::string take_rest() {
    in_long_line_ = false;
    return std::exchange(embedded_, {});
  }
  [[nodiscard]] bool in_a_line() const noexcept { return !embedded_.empty(); }
  [[nodiscard]] std::uint64_t take_long_lines() noexcept { return std::exchange(long_lines_, 0); }

 private:
  std::string embedded_;
  bool in_long_line_ = false;
  std::uint64_t long_lines_ = 0;
};

class DeviceLogFollower {
 public:
  // `name` is what messages call the file.
  DeviceLogFollower(std::string name, SessionWriter& writer, std::vector<std::string> source_roots);
  ~DeviceLogFollower();
  DeviceLogFollower(const DeviceLogFollower&) = delete;
  DeviceLogFollower& operator=(const DeviceLogFollower&) = delete;

  // What comes next is a file from its first byte: it has appeared, or was written anew. `lost_bytes`: of the one
  // before that are known to have been there and were not fed.
  void begin_anew(std::uint64_t lost_bytes = 0);
  // The next bytes, cut anywhere; `now_ns` is the session's time at which they had been written. Without `keep` the
  // rows are understood and left out.
  void feed(std::string_view bytes, std::int64_t now_ns, bool keep = true);
  // Hands on what is held back: whoever writes the file has paused between two rows.
  void settle();
  [[nodiscard]] bool in_a_row() const noexcept { return cut_.in_a_line(); }
  // The file grows no more. Fails if there was none, or none that is a device log.
  Result<void> finish();

  [[nodiscard]] bool found_log() const noexcept { return log_ != nullptr; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }  // understood, of all readings

 private:
  struct Chip {
    Clock clock;
    std::int64_t least = 0, greatest = 0;  // of all times
    std::int64_t first = 0, last = 0;      // of those that can be true
    tracks::TimeBounds bounds;
    bool placed = false;
  };
  struct Log;

  void take_lines(std::string_view lines, bool complete);
  [[nodiscard]] bool read_head(std::string_view& lines);
  void take_rows(std::string_view lines);
  [[nodiscard]] bool is_another_log();
  void begin_log(DeviceLogLayout layout);
  void end_log();
  void count_lines();
  [[nodiscard]] std::vector<LogRow> new_rows();
  void place(Chip& chip, const DeviceLogLayout& layout) const;
  void judge_times(std::uint32_t number, Chip& chip);
  void place_chips(const std::vector<LogRow>& rows);
  void hold(const LogRow& row);
  void note_stretch(std::uint32_t processor);
  void forget_found_row(std::string_view lines);
  void report_following();

  std::string name_;
  SessionWriter& writer_;
  std::vector<std::string> source_roots_;
  std::unique_ptr<Log> log_;
  std::uint32_t log_count_ = 0;
  LiveLog used_;

  // Of the file as it is read now.
  std::string head_;  // lines before the layout is known
  CutLines cut_;
  bool has_layout_ = false;
  bool is_unknown_ = false;  // whether it goes on with the log that is known, or repeats it
  std::uint16_t reading_ = 0;
  std::uint64_t lines_ = 0;
  DeviceLogCounts counts_;
  std::int64_t now_ns_ = 0;
  bool keep_ = true;

  std::string failure_;  // why the file is no device log
  std::uint64_t rows_ = 0;
  std::uint64_t readings_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t lost_bytes_ = 0;
  std::vector<std::string> cut_rows_;  // that a file written anew has cut off
  LogRowBlock block_;
};

}  // namespace accelscope::capture::sources::tt_metal
