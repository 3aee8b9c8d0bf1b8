#include <algorithm>
#include <utility>

#include "capture/log/frame_log.h"

namespace accelscope::capture::log {

FrameLogReader::FrameLogReader(std::filesystem::path folder, std::uint64_t after_sequence)
    : folder_(std::move(folder)), after_(after_sequence) {}

Result<std::optional<wire::Frame>> FrameLogReader::next() {
  while (true) {
    if (std::optional<wire::Frame> frame = next_of_file()) return frame;
    const Result<bool> moved = advance();
    if (!moved) return moved.error();
    if (!moved.value()) return std::optional<wire::Frame>();
  }
}

std::optional<wire::Frame> FrameLogReader::next_of_file() {
  while (file_) {
    const Result<std::optional<FramePlace>> place = file_->find(offset_);
    if (!place || !place.value()) {
      if (!pass_damage(place ? cut_frame() : place.message())) break;
      continue;
    }
    const std::uint64_t sequence = place.value()->header.sequence;
    // Definitions of segments that are gone end where the segments that are there begin.
    if (waiting_ && sequence >= waiting_->header().first_sequence) break;
    if (sequence != 0 ? sequence <= after_ : seen_ < after_) {
      unchecked_ = place.value();
      offset_ = place.value()->end();
      if (sequence != 0) seen_ = sequence;
      continue;
    }
    Result<wire::Frame> frame = file_->read(*place.value());
    if (!frame) {
      if (pass_damage(frame.message())) continue;
      note(frame.message());
      const Result<std::uint64_t> size = file_->size();  // nothing can be read up to there
      offset_ = size ? size.value() : place.value()->end();
      continue;
    }
    unchecked_.reset();
    offset_ = place.value()->end();
    if (sequence != 0) seen_ = sequence;
    if (sequence != 0) after_ = sequence;
    return std::move(frame).value();
  }
  return {};
}

std::string FrameLogReader::cut_frame() const { return file_->path().string() + ": ends in the middle of a frame"; }

// Goes on with what can be read behind the damage at offset_. False if there is nothing: then this may also be the end
// of a file that is still being written, and what comes there later is read.
bool FrameLogReader::pass_damage(const std::string& what) {
  const Result<std::uint64_t> size = file_->size();
  if (!size || size.value() <= offset_) return false;
  // A frame that was passed over by its header alone may be where the damage begins.
  const bool began_before = unchecked_ && !file_->read(*unchecked_);
  const Result<std::optional<FramePlace>> next = file_->salvage((began_before ? unchecked_->offset : offset_) + 1);
  if (!next || !next.value()) return false;
  note(what);
  unchecked_.reset();
  offset_ = next.value()->offset;
  return true;
}

void FrameLogReader::end() {
  if (file_) note_rest(seen_ + 1);
}

// To the next file; false if there is none yet.
Result<bool> FrameLogReader::advance() {
  if (waiting_) {
    enter(*std::exchange(waiting_, {}));
    return true;
  }
  const std::vector<std::uint32_t> numbers = list_segments(folder_);
  for (auto next = std::upper_bound(numbers.begin(), numbers.end(), number_); next != numbers.end(); ++next) {
    // The file was complete before the next one was begun, but perhaps not yet when its end was met.
    if (has_more()) return true;
    Result<bool> opened = open_segment(*next);
    if (!opened || opened.value()) return opened;
  }
  return false;
}

bool FrameLogReader::has_more() const {
  if (!file_) return false;
  const Result<std::optional<FramePlace>> more = file_->find(offset_);
  return more && more.value();
}

// False if the segment holds nothing that is wanted, is unreadable, or was let go meanwhile.
Result<bool> FrameLogReader::open_segment(std::uint32_t number) {
  Result<std::optional<SegmentReader>> segment = open_file(segment_path(folder_, number));
  if (!segment) return segment.error();
  if (file_) note_rest(segment.value() ? segment.value()->header().first_sequence : 0);
  file_.reset();
  number_ = number;
  if (!segment.value()) return false;
  const Result<SegmentReader> next = SegmentReader::open(segment_path(folder_, number + 1));
  if (next && next.value().check() && next.value().header().first_sequence <= after_) return false;
  if (segment.value()->header().first_sequence > after_ + 1) {
    Result<std::optional<SegmentReader>> definitions = open_file(definitions_path(folder_));
    if (!definitions) return definitions.error();
    if (definitions.value()) {
      waiting_ = std::move(*segment.value());
      enter(std::move(*definitions.value()));
      return true;
    }
  }
  enter(std::move(*segment.value()));
  return true;
}

// What is left of a file that is complete. A frame may have been cut when a process died: if the next file goes on with
// its number, nothing is missing.
void FrameLogReader::note_rest(std::uint64_t next_sequence) {
  const Result<std::uint64_t> size = file_->size();
  if (!size || size.value() <= offset_) return;
  const Result<std::optional<FramePlace>> rest = file_->find(offset_);
  if (!rest) return note(rest.message());
  if (next_sequence > seen_ + 1) note(cut_frame());
}

// Nothing if there is no such file, or if it cannot be understood, which is noted.
Result<std::optional<SegmentReader>> FrameLogReader::open_file(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return std::optional<SegmentReader>();
  Result<SegmentReader> file = SegmentReader::open(path);
  if (!file)
    return std::filesystem::exists(path, failure) ? Result<std::optional<SegmentReader>>(file.error())
                                                  : Result<std::optional<SegmentReader>>(std::nullopt);
  if (const Result<void> known = file.value().check(); !known) {
    note(known.message());
    return std::optional<SegmentReader>();
  }
  return std::optional<SegmentReader>(std::move(file).value());
}

void FrameLogReader::enter(SegmentReader file) {
  seen_ = file.header().first_sequence - 1;
  file_.emplace(std::move(file));
  offset_ = kSegmentHeaderBytes;
  unchecked_.reset();
}

void FrameLogReader::note(const std::string& what) {
  ++damaged_places_;
  if (damage_.empty()) damage_ = what;
}

}  // namespace accelscope::capture::log
