#include "capture/log/frame_log.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/own_files.h"

namespace accelscope::capture::log {
namespace {

namespace fs = std::filesystem;

constexpr int kFoldersAbove = 2;  // that may have been made for the log

system::Descriptor open_folder(const fs::path& folder) {
  return system::Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// One that cannot be opened or synced at all, as on some network file systems, is as safe as it can be.
bool sync_folder(const system::Descriptor& folder) { return !folder || ::fsync(folder.get()) == 0 || errno == EINVAL; }

}  // namespace

DiskSync::DiskSync(const fs::path& folder) : folder_(open_folder(folder)) {
  fs::path above = fs::absolute(folder).lexically_normal();
  for (int i = 0; i < kFoldersAbove && above.has_relative_path(); ++i) {
    above = above.parent_path();
    above_.push_back(open_folder(above));
  }
  thread_ = std::thread([this] { run(); });
}

DiskSync::~DiskSync() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DiskSync::request(int descriptor, std::uint32_t segment, std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty() && waiting_.back().segment == segment) {
      waiting_.back().sequence = std::max(waiting_.back().sequence, sequence);
      return;
    }
    system::Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy) return fail();
    waiting_.push_back({std::move(copy), segment, sequence});
  }
  changed_.notify_all();
}

void DiskSync::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return (waiting_.empty() && !busy_) || !failure_.empty(); });
}

std::uint64_t DiskSync::synced() const {
  const std::lock_guard lock(mutex_);
  return synced_;
}

std::string DiskSync::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void DiskSync::fail() { failure_ = fmt::format("what is written cannot be put on the disk: {}", std::strerror(errno)); }

void DiskSync::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    bool done = ::fdatasync(request.file.get()) == 0 && sync_folder(folder_);
    for (const system::Descriptor& each : std::exchange(above_, {})) done = done && sync_folder(each);
    lock.lock();
    busy_ = false;
    if (!done) fail();  // and nothing after it counts either
    if (failure_.empty()) synced_ = std::max(synced_, request.sequence);
    changed_.notify_all();
  }
}

namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0600;
constexpr std::uint32_t kFactsMagic = 0x54434641;  // "AFCT"
constexpr std::uint16_t kFactsVersion = 2;

// All of both parts, one after the other.
bool write_all(int file, ByteView first, ByteView second) {
  while (!first.empty() || !second.empty()) {
    const std::array<iovec, 2> parts = {iovec{const_cast<std::byte*>(first.data()), first.size()},
                                        iovec{const_cast<std::byte*>(second.data()), second.size()}};
    const ssize_t written = ::writev(file, parts.data(), static_cast<int>(parts.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    const auto done = static_cast<std::size_t>(written);
    const std::size_t of_first = std::min(done, first.size());
    first = first.subspan(of_first);
    second = second.subspan(done - of_first);
  }
  return true;
}

ByteView header_bytes(const wire::Frame& frame) { return std::as_bytes(std::span(&frame.header, 1)); }

// Another process sees the old file or the whole new one.
Result<system::Descriptor> write_as_a_whole(const fs::path& path, ByteView bytes) {
  const fs::path draft = path.string() + ".new";
  system::Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file || !write_all(file.get(), bytes, {})) return file_error(draft, "written");
  if (::fdatasync(file.get()) != 0) return file_error(draft, "written");
  if (::rename(draft.c_str(), path.c_str()) != 0) return file_error(path, "written");
  return file;
}

fs::path facts_path(const fs::path& folder) { return folder / "facts"; }
fs::path frame_log_lock_path(const fs::path& folder) { return folder / "lock"; }

Result<system::Descriptor> frame_log_take_lock(const fs::path& folder) {
  std::optional<system::Descriptor> lock = TRY(system::try_lock(frame_log_lock_path(folder).string()));
  if (lock) return std::move(*lock);
  return Error{fmt::format("{}: is written by another process that still runs", folder.string())};
}

}  // namespace

FrameLog::FrameLog(fs::path folder, FrameLogOptions options, system::Descriptor lock)
    : folder_(std::move(folder)), options_(std::move(options)), lock_(std::move(lock)) {}
FrameLog::~FrameLog() = default;

Result<std::unique_ptr<FrameLog>> FrameLog::create(const fs::path& folder, const FrameLogOptions& options) {
  TRY(make_own_folder(folder.string(), Sharing::reading));
  system::Descriptor lock = TRY(frame_log_take_lock(folder));
  if (!list_segments(folder).empty()) {
    return Error{fmt::format("{}: holds frames of another capture; take another folder", folder.string())};
  }
  return std::unique_ptr<FrameLog>(new FrameLog(folder, options, std::move(lock)));
}

Result<std::unique_ptr<FrameLog>> FrameLog::open_existing(const fs::path& folder, const FrameLogOptions& options,
                                                          FrameLogRecovery& found) {
  TRY(check_own_folder(folder.string(), Sharing::reading));
  system::Descriptor lock = TRY(frame_log_take_lock(folder));
  std::unique_ptr<FrameLog> log(new FrameLog(folder, options, std::move(lock)));
  const Result<void> done = log->recover(found);
  log->options_.on_read = nullptr;
  if (!done) return done.error();
  return log;
}

Result<void> FrameLog::recover(FrameLogRecovery& found) {
  const std::vector<std::uint32_t> numbers = list_segments(folder_);
  const OnRead on_read = options_.on_read ? options_.on_read : [](std::uint64_t /*bytes*/) { return true; };
  for (const std::uint32_t number : numbers) {
    Segment segment = TRY(scan(segment_path(folder_, number), number == numbers.back(), on_read, found));
    last_number_ = number;
    segment.number = number;
    damaged_ = damaged_ || segment.damaged;
    last_sequence_ = std::max(last_sequence_, segment.last);
    if (segment.bytes > 0) segments_.push_back(segment);
  }
  std::error_code missing;
  if (!fs::exists(definitions_path(folder_), missing)) return {};
  const Segment definitions = TRY(scan(definitions_path(folder_), true, on_read, found));
  definitions_bytes_ = definitions.bytes;
  return {};
}

Result<FrameLog::Segment> FrameLog::scan(const fs::path& path, bool last, const OnRead& on_read,
                                         FrameLogRecovery& found) {
  const SegmentReader file = TRY(SegmentReader::open(path));
  const std::uint64_t size = TRY(file.size());
  Segment segment;
  segment.bytes = size;
  if (!file.check()) {
    found.unreadable_bytes += size;
    segment.damaged = true;
    return segment;
  }
  std::uint64_t offset = kSegmentHeaderBytes;
  while (offset < size) {
    const Result<std::optional<FramePlace>> next = file.find(offset);
    std::optional<FramePlace> place = next ? next.value() : std::nullopt;
    if (place && on_read) {
      if (!on_read(place->end() - offset)) return Error{path.string() + ": reading was given up"};
      if (!file.read(*place)) place.reset();
    }
    if (!place) {
      const std::optional<FramePlace> after = TRY(file.salvage(offset + 1));
      const std::uint64_t until = after ? after->offset : size;
      const bool cut = !after && last && next;
      (cut ? found.cut_bytes : found.unreadable_bytes) += until - offset;
      segment.damaged = segment.damaged || !cut;
      offset = until;
      continue;
    }
    offset = place->end();
    segment.events += file.events(*place);
    if (place->header.sequence == 0) continue;
    if (segment.first == 0) segment.first = place->header.sequence;
    segment.last = std::max(segment.last, place->header.sequence);
  }
  return segment;
}

Result<void> FrameLog::begin_segment(std::uint64_t first_sequence) {
  if (current_ && syncer_) request_sync();  // before the next file, or it would count as there
  const SegmentHeader header = make_segment_header(first_sequence, options_.capture_id);
  const fs::path path = segment_path(folder_, last_number_ + 1);
  system::Descriptor file = TRY(write_as_a_whole(path, std::as_bytes(std::span(&header, 1))));
  current_ = std::move(file);
  segments_.push_back({++last_number_, 0, 0, kSegmentHeaderBytes, 0});
  return {};
}

Result<void> FrameLog::append(const wire::Frame& frame) {
  const std::uint64_t sequence = frame.header.sequence;
  if (sequence != 0 && sequence <= last_sequence_) {
    return Error{fmt::format("{}: frame {} comes after frame {}", folder_.string(), sequence, last_sequence_)};
  }
  const bool full = current_ && segments_.back().bytes > kSegmentHeaderBytes &&
                    segments_.back().bytes + frame.wire_bytes() > options_.segment_bytes;
  if (!current_ || full) {
    TRY(begin_segment(sequence != 0 ? sequence : last_sequence_ + 1));
  }
  Segment& segment = segments_.back();
  if (!write_all(current_.get(), header_bytes(frame), frame.body)) {
    const Error failure = file_error(segment_path(folder_, segment.number), "written");
    // Half a frame must not stay before the next one.
    if (::ftruncate(current_.get(), static_cast<off_t>(segment.bytes)) != 0 ||
        ::lseek(current_.get(), static_cast<off_t>(segment.bytes), SEEK_SET) < 0) {
      current_ = system::Descriptor();
    }
    return Error{failure.message + "; free some space there, or choose another folder"};
  }
  segment.bytes += frame.wire_bytes();
  segment.events += events_in(frame);
  if (sequence == 0) return {};
  if (segment.first == 0) segment.first = sequence;
  segment.last = last_sequence_ = sequence;
  return {};
}

Result<void> FrameLog::release(std::uint64_t sequence) {
  while (segments_.size() > 1 && segments_.front().last <= sequence) {
    if (Result<void> retained = keep_definitions(segments_.front()); !retained) return retained;
    const fs::path path = segment_path(folder_, segments_.front().number);
    const bool gone = segments_.front().damaged
                          ? ::rename(path.c_str(), fs::path(path).replace_extension(".damaged").c_str()) == 0
                          : ::unlink(path.c_str()) == 0;
    if (!gone && errno != ENOENT) return file_error(path, "removed");
    segments_.erase(segments_.begin());
  }
  return {};
}

// Before the segment goes: a definition that is found twice does no harm, one that is missing would.
Result<void> FrameLog::keep_definitions(const Segment& segment) {
  const fs::path path = definitions_path(folder_);
  if (definitions_bytes_ == 0) {
    const SegmentHeader header = make_segment_header(1, options_.capture_id);
    TRY(write_as_a_whole(path, std::as_bytes(std::span(&header, 1))));
    definitions_bytes_ = kSegmentHeaderBytes;
  }
  const system::Descriptor retained(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!retained) return file_error(path, "written");
  const SegmentReader file = TRY(SegmentReader::open(segment_path(folder_, segment.number)));
  for (std::uint64_t offset = kSegmentHeaderBytes;;) {
    const Result<std::optional<FramePlace>> place = file.find(offset);
    if (!place || !place.value()) return {};
    offset = place.value()->end();
    if (place.value()->header.type != wire::FrameType::definition) continue;
    const Result<wire::Frame> frame = file.read(*place.value());
    if (!frame) continue;
    if (!write_all(retained.get(), header_bytes(frame.value()), frame.value().body)) {
      const Error failure = file_error(path, "written");
      if (::ftruncate(retained.get(), static_cast<off_t>(definitions_bytes_)) != 0) return file_error(path, "cut");
      return failure;
    }
    definitions_bytes_ += frame.value().wire_bytes();
  }
}

void FrameLog::request_sync() {
  if (!syncer_) {
    syncer_ = std::make_unique<DiskSync>(folder_);
    for (const Segment& segment : segments_) {  // that another process wrote
      if (current_ && segment.number == segments_.back().number) break;
      const system::Descriptor file(::open(segment_path(folder_, segment.number).c_str(), O_RDONLY | O_CLOEXEC));
      if (file) syncer_->request(file.get(), segment.number, segment.last);
    }
  }
  if (current_) syncer_->request(current_.get(), segments_.back().number, last_sequence_);
}

Result<void> FrameLog::sync() {
  request_sync();
  syncer_->wait();
  const std::string failure = syncer_->failure();
  return failure.empty() ? Result<void>() : Result<void>(Error{fmt::format("{}: {}", folder_.string(), failure)});
}

std::uint64_t FrameLog::synced_sequence() const { return syncer_ ? syncer_->synced() : 0; }
std::string FrameLog::sync_failure() const { return syncer_ ? syncer_->failure() : std::string(); }
bool FrameLog::damaged() const noexcept { return damaged_; }

std::uint64_t FrameLog::first_sequence() const noexcept {
  const auto found =
      std::find_if(segments_.begin(), segments_.end(), [](const Segment& segment) { return segment.first != 0; });
  return found == segments_.end() ? 0 : found->first;
}

std::uint64_t FrameLog::events() const noexcept {
  return std::accumulate(segments_.begin(), segments_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Segment& segment) { return sum + segment.events; });
}

std::uint64_t FrameLog::total_bytes() const noexcept {
  return std::accumulate(segments_.begin(), segments_.end(), definitions_bytes_,
                         [](std::uint64_t sum, const Segment& segment) { return sum + segment.bytes; });
}

Result<void> FrameLog::write_facts(const FrameLogFacts& facts) {
  FieldWriter walk(wire::kMessageLimits);
  walk(kFactsMagic, kFactsVersion, facts);
  Bytes bytes = walk.take();
  append_checksum(bytes);
  const Result<system::Descriptor> written = write_as_a_whole(facts_path(folder_), bytes);
  return written ? Result<void>() : written.error();
}

Result<FrameLogFacts> FrameLog::read_facts(const fs::path& folder) {
  const fs::path path = facts_path(folder);
  std::ifstream file(path, std::ios::binary);
  if (!file) return file_error(path, "read");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const ByteView bytes = std::as_bytes(std::span(text));
  const Error damaged{path.string() + ": is damaged, so that the capture cannot be named"};
  const std::optional<ByteView> content = checked_content(bytes);
  if (!content) return damaged;
  FieldReader walk(*content, wire::kMessageLimits);
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  FrameLogFacts facts;
  walk(magic, version, facts);
  if (!walk.ok() || magic != kFactsMagic || version != kFactsVersion) return damaged;
  return facts;
}

FrameLogContent FrameLog::survey(const fs::path& folder) {
  FrameLogContent content;
  FrameLogRecovery ignored;
  for (const std::uint32_t number : list_segments(folder)) {
    const Result<Segment> segment = scan(segment_path(folder, number), false, nullptr, ignored);
    if (!segment) continue;
    content.bytes += segment.value().bytes;
    content.events += segment.value().events;
    content.last_sequence = std::max(content.last_sequence, segment.value().last);
  }
  return content;
}

bool FrameLog::in_use(const fs::path& folder) { return system::is_locked(frame_log_lock_path(folder).string()); }

FrameLogReader::FrameLogReader(std::filesystem::path folder, std::uint64_t after_sequence)
    : folder_(std::move(folder)), after_(after_sequence) {}

Result<std::optional<wire::Frame>> FrameLogReader::next() {
  while (true) {
    if (std::optional<wire::Frame> frame = next_of_file()) return frame;
    const bool moved = TRY(advance());
    if (!moved) return std::optional<wire::Frame>();
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
  std::optional<SegmentReader> segment = TRY(open_file(segment_path(folder_, number)));
  if (file_) note_rest(segment ? segment->header().first_sequence : 0);
  file_.reset();
  number_ = number;
  if (!segment) return false;
  const Result<SegmentReader> next = SegmentReader::open(segment_path(folder_, number + 1));
  if (next && next.value().check() && next.value().header().first_sequence <= after_) return false;
  if (segment->header().first_sequence > after_ + 1) {
    std::optional<SegmentReader> definitions = TRY(open_file(definitions_path(folder_)));
    if (definitions) {
      waiting_ = std::move(*segment);
      enter(std::move(*definitions));
      return true;
    }
  }
  enter(std::move(*segment));
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
