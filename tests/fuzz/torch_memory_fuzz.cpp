// Any bytes as a memory snapshot: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)sources::torch_memory::probe_torch_memory({reinterpret_cast<const char*>(data), size}, "");
  fuzz::CheckingSink sink;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  const Result<void> done =
      sources::torch_memory::import_torch_memory(json::ByteSource::from_memory(bytes), "fuzz.pickle", {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
