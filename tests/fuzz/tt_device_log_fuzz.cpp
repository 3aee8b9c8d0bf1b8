// Any bytes as a device log: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)sources::tt_metal::probe_device_log({reinterpret_cast<const char*>(data), size}, "");
  fuzz::CheckingSink sink;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const Result<void> done =
      sources::tt_metal::import_device_log(json::ByteSource::from_memory(text), "fuzz.csv", {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
