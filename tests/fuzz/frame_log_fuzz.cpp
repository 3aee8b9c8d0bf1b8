// Any bytes as a segment of a log of frames: recovery never fails on them, everything that it kept is whole or counted
// as damaged, and the log takes further frames. The first byte chooses whether the header is made good.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "capture/log/frame_log.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

struct Count {
  std::uint64_t frames = 0;
  std::uint64_t last = 0;
};

Count read(const std::filesystem::path& folder) {
  Count count;
  log::FrameLogReader reader(folder, 0);
  while (true) {
    const Result<std::optional<wire::Frame>> frame = reader.next();
    if (!frame) std::abort();
    if (!frame.value()) return count;
    if (!wire::verify_frame(frame.value()->header, frame.value()->body)) std::abort();
    const std::uint64_t number = frame.value()->header.sequence;
    if (number != 0 && number <= count.last) std::abort();
    if (number != 0) count.last = number;
    ++count.frames;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("accelscope-frame-log-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  {
    std::ofstream file(log::segment_path(folder, 1), std::ios::binary);
    const log::SegmentHeader header = log::make_segment_header(1, "fuzz");
    if (data[0] % 2 == 0) file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  }
  log::FrameLogRecovery found;
  const Result<std::unique_ptr<log::FrameLog>> log =
      log::FrameLog::open_existing(folder, {.capture_id = "fuzz"}, found);
  if (!log) std::abort();
  const Count before = read(folder);
  if (log.value()->last_sequence() != ~std::uint64_t{0}) {
    const wire::Frame next = wire::make_frame(wire::FrameType::definition, Bytes(9), log.value()->last_sequence() + 1);
    if (!(*log)->append(next) || read(folder).frames != before.frames + 1) std::abort();
  }
  std::filesystem::remove_all(folder);
  return 0;
}
