#include "capture/log/frame_log.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <random>

#include "core/base/file_system.h"
#include "tests/capture/wire/wire_support.h"

using namespace accelscope;
using namespace accelscope::capture;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path(temporary_path("", "accelscope-frames", ".log")) {}
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

std::vector<wire::Frame> some_frames(std::uint64_t events = 200'000) {
  return frames_of({.events = events, .lanes = 3});
}

std::unique_ptr<log::FrameLog> new_log(const fs::path& folder, std::uint64_t segment_bytes = 64ULL << 20) {
  Result<std::unique_ptr<log::FrameLog>> log = log::FrameLog::create(folder, {"c4p7", segment_bytes});
  REQUIRE(log.ok());
  return std::move(log).value();
}

std::unique_ptr<log::FrameLog> reopened(const fs::path& folder, log::FrameLogRecovery& found) {
  Result<std::unique_ptr<log::FrameLog>> log = log::FrameLog::open_existing(folder, {.capture_id = "c4p7"}, found);
  REQUIRE(log.ok());
  return std::move(log).value();
}

void append_all(log::FrameLog& log, const std::vector<wire::Frame>& frames) {
  for (const wire::Frame& frame : frames) REQUIRE(log.append(frame).ok());
}

std::vector<wire::Frame> read_all(log::FrameLogReader& reader) {
  std::vector<wire::Frame> frames;
  while (true) {
    Result<std::optional<wire::Frame>> frame = reader.next();
    REQUIRE(frame.ok());
    if (!frame.value()) return frames;
    frames.push_back(std::move(*frame.value()));
  }
}

std::vector<wire::Frame> read_all(const fs::path& folder, std::uint64_t after = 0) {
  log::FrameLogReader reader(folder, after);
  return read_all(reader);
}

bool same(const wire::Frame& a, const wire::Frame& b) {
  return std::memcmp(&a.header, &b.header, sizeof a.header) == 0 && a.body == b.body;
}

bool same(const std::vector<wire::Frame>& a, std::span<const wire::Frame> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const wire::Frame& x, const wire::Frame& y) { return same(x, y); });
}

void overwrite(const fs::path& path, std::uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
  REQUIRE(file.good());
}

std::uint64_t events_of(const std::vector<wire::Frame>& frames) {
  std::uint64_t events = 0;
  for (const wire::Frame& frame : frames) events += log::events_in(frame);
  return events;
}

unsigned mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 0777U;
}

}  // namespace

TEST_CASE("what is read from a log of frames is what was appended, whatever the size of its files") {
  const std::vector<wire::Frame> frames = some_frames();
  for (const std::uint64_t segment_bytes : {1ULL, 10'000ULL, 400'000ULL, 64ULL << 20}) {
    const Folder folder;
    const std::unique_ptr<log::FrameLog> log = new_log(folder.path, segment_bytes);
    append_all(*log, frames);
    CHECK(log->events() == 200'000);
    CHECK(log->first_sequence() == 1);
    CHECK(log->last_sequence() == frames.size());
    CHECK(same(read_all(folder.path), frames));
    std::uint64_t bytes = 0;
    for (const std::uint32_t number : log::list_segments(folder.path)) {
      bytes += fs::file_size(log::segment_path(folder.path, number));
    }
    CHECK(log->total_bytes() == bytes);
  }
}

TEST_CASE("a reader of a log begins after any number") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  append_all(*new_log(folder.path, 300'000), frames);
  REQUIRE(log::list_segments(folder.path).size() > 2);
  for (std::uint64_t after = 0; after <= frames.size(); ++after) {
    CAPTURE(after);
    CHECK(same(read_all(folder.path, after), std::span(frames).subspan(after)));
  }
}

TEST_CASE("a reader follows a log that is being written, through new files and announced gaps") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  const std::unique_ptr<log::FrameLog> log = new_log(folder.path, 200'000);
  log::FrameLogReader reader(folder.path, 0);
  std::mt19937 random(7);
  std::vector<wire::Frame> got;
  std::vector<wire::Frame> expected;
  for (std::size_t next = 0; next < frames.size();) {
    if (next == 20) {
      expected.push_back(wire::encode(wire::Gap{21, 23, 5, "no room"}));
      REQUIRE(log->append(expected.back()).ok());
      next = 23;
    }
    for (std::size_t burst = random() % 4; burst > 0 && next < frames.size(); --burst, ++next) {
      if (next == 20) break;
      expected.push_back(frames[next]);
      REQUIRE(log->append(frames[next]).ok());
    }
    for (wire::Frame& frame : read_all(reader)) got.push_back(std::move(frame));
    REQUIRE(got.size() == expected.size());
  }
  CHECK(same(got, expected));
  CHECK(reader.damaged_places() == 0);
}

TEST_CASE("definitions outlive the files of a log that were let go") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  const std::unique_ptr<log::FrameLog> log = new_log(folder.path, 200'000);
  append_all(*log, frames);
  const std::uint64_t before = log->total_bytes();
  REQUIRE(log->release(frames.size() / 2).ok());
  CHECK(log->total_bytes() < before);
  CHECK(log->first_sequence() > 1);
  CHECK(log->first_sequence() <= frames.size() / 2 + 1);
  std::vector<wire::Frame> expected;
  for (const wire::Frame& frame : frames) {
    if (frame.header.type == wire::FrameType::definition || frame.header.sequence >= log->first_sequence()) {
      expected.push_back(frame);
    }
  }
  CHECK(same(read_all(folder.path), expected));
  REQUIRE(log->release(~std::uint64_t{0}).ok());
  CHECK(log::list_segments(folder.path).size() == 1);
  CHECK(log->last_sequence() == frames.size());
  for (const wire::Frame& frame : read_all(folder.path)) {
    CHECK((frame.header.type == wire::FrameType::definition || frame.header.sequence >= log->first_sequence()));
  }
}

TEST_CASE("a log cut at any byte of its last frames keeps every whole frame and goes on") {
  const std::vector<wire::Frame> frames = frames_of({.events = 40, .lanes = 2});
  const Folder folder;
  append_all(*new_log(folder.path), frames);
  const fs::path file = log::segment_path(folder.path, 1);
  const std::uint64_t whole = fs::file_size(file);
  const std::uint64_t last = frames.back().wire_bytes();
  for (std::uint64_t cut = 1; cut < last; cut += 7) {
    CAPTURE(cut);
    const Folder copy;
    fs::copy(folder.path, copy.path);
    fs::resize_file(log::segment_path(copy.path, 1), whole - cut);
    log::FrameLogRecovery found;
    const std::unique_ptr<log::FrameLog> log = reopened(copy.path, found);
    CHECK(found.cut_bytes == last - cut);
    CHECK(found.unreadable_bytes == 0);
    CHECK(log->last_sequence() == frames.size() - 1);
    CHECK(log->events() == events_of(frames) - log::events_in(frames.back()));
    CHECK(fs::file_size(log::segment_path(copy.path, 1)) == whole - cut);  // not even half a frame is taken away
    REQUIRE(log->append(frames.back()).ok());
    log::FrameLogReader reader(copy.path, 0);
    CHECK(same(read_all(reader), frames));
    reader.end();
    CHECK(reader.damaged_places() == 0);
  }
}

TEST_CASE("damage inside a log costs what it hit, and is told") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  append_all(*new_log(folder.path, 300'000), frames);
  REQUIRE(log::list_segments(folder.path).size() > 3);
  const auto first_of = [&](std::uint32_t segment) {
    return log::SegmentReader::open(log::segment_path(folder.path, segment)).value().header().first_sequence;
  };
  const std::uint64_t first = first_of(1), second = first_of(2), third = first_of(3);
  const std::uint64_t in_body = log::kSegmentHeaderBytes + wire::kFrameHeaderBytes + 10;
  overwrite(log::segment_path(folder.path, 2), in_body, "\xff\xff\xff\xff");            // the body of one frame
  overwrite(log::segment_path(folder.path, 3), log::kSegmentHeaderBytes, "somewhere");  // the header of one
  overwrite(log::segment_path(folder.path, 1), 0, std::string(100, '\0'));  // the file's header, and one of a frame
  const std::uintmax_t size = fs::file_size(log::segment_path(folder.path, 3));
  log::FrameLogReader reader(folder.path, 0);
  const std::vector<wire::Frame> got = read_all(reader);
  reader.end();
  CHECK(reader.damaged_places() == 3);
  CHECK(contains(reader.damage(), "segment-000001"));
  std::vector<wire::Frame> expected;
  for (const wire::Frame& frame : frames) {
    const std::uint64_t number = frame.header.sequence;
    if (number != first && number != second && number != third) expected.push_back(frame);
  }
  CHECK(same(got, expected));
  log::FrameLogRecovery found;
  const std::unique_ptr<log::FrameLog> log = reopened(folder.path, found);
  CHECK(log->last_sequence() == frames.size());
  CHECK(log->damaged());
  CHECK(found.unreadable_bytes > 0);
  // Let go, the bytes stay.
  REQUIRE(log->append(wire::make_frame(wire::FrameType::definition, Bytes(8), frames.size() + 1)).ok());
  REQUIRE(log->release(frames.size()).ok());
  CHECK_FALSE(fs::exists(log::segment_path(folder.path, 2)));
  CHECK(fs::file_size(fs::path(log::segment_path(folder.path, 3)).replace_extension(".damaged")) == size);
}

TEST_CASE("a hole of zeros in a log costs the frames that it touches, wherever it lies") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  append_all(*new_log(folder.path, 300'000), frames);
  const std::uintmax_t size = fs::file_size(log::segment_path(folder.path, 2));
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t at = log::kSegmentHeaderBytes + random() % (size - log::kSegmentHeaderBytes - 4'096);
    CAPTURE(at);
    const Folder copy;
    fs::copy(folder.path, copy.path);
    overwrite(log::segment_path(copy.path, 2), at, std::string(4'096, '\0'));
    std::vector<std::uint64_t> hit;
    const log::SegmentReader file = log::SegmentReader::open(log::segment_path(folder.path, 2)).value();
    for (std::uint64_t offset = log::kSegmentHeaderBytes; offset < size;) {
      const log::FramePlace place = *file.find(offset).value();
      if (place.offset < at + 4'096 && place.end() > at) hit.push_back(place.header.sequence);
      offset = place.end();
    }
    std::vector<wire::Frame> expected;
    for (const wire::Frame& frame : frames) {
      if (std::find(hit.begin(), hit.end(), frame.header.sequence) == hit.end()) expected.push_back(frame);
    }
    log::FrameLogReader reader(copy.path, 0);
    const std::vector<wire::Frame> got = read_all(reader);
    CHECK(same(got, expected));
    CHECK(reader.damaged_places() == 1);
    // From the middle, over frames that are passed by their headers.
    const std::uint64_t after = hit.back();
    std::erase_if(expected, [&](const wire::Frame& frame) { return frame.header.sequence <= after; });
    CHECK(same(read_all(copy.path, after), expected));
    log::FrameLogRecovery found;
    const std::unique_ptr<log::FrameLog> log = reopened(copy.path, found);
    CHECK(log->last_sequence() == frames.size());
    CHECK(fs::file_size(log::segment_path(copy.path, 2)) == size);
  }
}

TEST_CASE("what counts as synced is on the disk, with the frames that another process wrote") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  {
    const std::unique_ptr<log::FrameLog> log = new_log(folder.path, 300'000);
    CHECK(log->synced_sequence() == 0);
    append_all(*log, frames);
    CHECK(log->synced_sequence() == 0);
    REQUIRE(log->sync().ok());
    CHECK(log->synced_sequence() == frames.size());
  }
  log::FrameLogRecovery found;
  const std::unique_ptr<log::FrameLog> log = reopened(folder.path, found);
  CHECK(log->synced_sequence() == 0);
  REQUIRE(log->sync().ok());
  CHECK(log->synced_sequence() == frames.size());
}

TEST_CASE("a log belongs to one living process, and to its user") {
  const Folder folder;
  std::unique_ptr<log::FrameLog> log = new_log(folder.path);
  REQUIRE(log->append(some_frames(10).front()).ok());
  REQUIRE(log->write_facts({}).ok());
  CHECK(log::FrameLog::in_use(folder.path));
  log::FrameLogRecovery found;
  const Result<std::unique_ptr<log::FrameLog>> second = log::FrameLog::open_existing(folder.path, {}, found);
  REQUIRE_FALSE(second.ok());
  CHECK(contains(second.message(), "another process"));
  CHECK(mode_of(folder.path) == 0700);
  for (const fs::directory_entry& file : fs::directory_iterator(folder.path)) CHECK(mode_of(file.path()) == 0600);
  log.reset();
  CHECK_FALSE(log::FrameLog::in_use(folder.path));
  CHECK_FALSE(log::FrameLog::create(folder.path, {}).ok());
}

TEST_CASE("the facts of a log come back whole, or not at all") {
  const Folder folder;
  const std::unique_ptr<log::FrameLog> log = new_log(folder.path);
  CHECK_FALSE(log::FrameLog::read_facts(folder.path).ok());
  log::FrameLogFacts facts{.capture_id = "c4p7", .place = "ssh://trn1-07", .name = "mlp", .description = "two kinds"};
  facts.begun_unix_ns = 1'800'000'000'123'456'789;
  facts.state = wire::CaptureState::paused;
  facts.durable = 77;
  REQUIRE(log->write_facts(facts).ok());
  CHECK(log::FrameLog::read_facts(folder.path).value() == facts);
  facts.end = wire::StreamEnd{wire::Outcome::stopped, 80, 1'000, 4, "by the user", {{scoped_number(1, 3), 1'000}}};
  facts.state = wire::CaptureState::ended;
  REQUIRE(log->write_facts(facts).ok());
  CHECK(log::FrameLog::read_facts(folder.path).value() == facts);
  overwrite(folder.path / "facts", 12, "x");
  const Result<log::FrameLogFacts> damaged = log::FrameLog::read_facts(folder.path);
  REQUIRE_FALSE(damaged.ok());
  CHECK(contains(damaged.message(), "damaged"));
}

TEST_CASE("frames that do not rise are refused by a log") {
  const std::vector<wire::Frame> frames = some_frames(10);
  const Folder folder;
  const std::unique_ptr<log::FrameLog> log = new_log(folder.path);
  REQUIRE(log->append(frames[1]).ok());
  CHECK_FALSE(log->append(frames[1]).ok());
  CHECK_FALSE(log->append(frames[0]).ok());
  CHECK(read_all(folder.path).size() == 1);
}

TEST_CASE("a log whose disk is full names the file, and goes on where it was once there is room") {
  const std::vector<wire::Frame> frames = some_frames();
  const Folder folder;
  const std::unique_ptr<log::FrameLog> log = new_log(folder.path);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{300'000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  Result<void> appended;
  std::size_t next = 0;
  while (next < frames.size() && (appended = log->append(frames[next]))) ++next;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(appended.ok());
  CHECK(contains(appended.message(), "segment-000001.frames"));
  CHECK(contains(appended.message(), "free some space"));
  CHECK(same(read_all(folder.path), std::span(frames).first(next)));
  for (; next < frames.size(); ++next) REQUIRE(log->append(frames[next]).ok());
  CHECK(same(read_all(folder.path), frames));
}
