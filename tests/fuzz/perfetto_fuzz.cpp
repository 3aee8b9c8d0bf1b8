// Any bytes as a Perfetto trace: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "capture/sources/perfetto/importer.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  (void)sources::perfetto::probe_perfetto({bytes.data(), bytes.size()}, "");
  fuzz::CheckingSink sink;
  const Result<void> done =
      sources::perfetto::PerfettoImporter("fuzz.pftrace", {}, sink)
          .run([&]() -> Result<std::unique_ptr<json::ByteSource>> { return json::ByteSource::from_memory(bytes); });
  if (!done && done.message().empty()) std::abort();
  return 0;
}
