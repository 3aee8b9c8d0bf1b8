// Any bytes as a table of tracy-csvexport: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)sources::tracy_csv::probe_tracy_csv({reinterpret_cast<const char*>(data), size}, "");
  fuzz::CheckingSink sink;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const Result<void> done =
      sources::tracy_csv::import_tracy_csv(json::ByteSource::from_memory(text), "fuzz.csv", {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
