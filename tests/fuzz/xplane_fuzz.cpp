// Any bytes as an XSpace: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "capture/sources/xplane/importer.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  (void)sources::xplane::probe_xplane({bytes.data(), bytes.size()}, "fuzz.xplane.pb");
  fuzz::CheckingSink sink;
  const Result<void> done =
      sources::xplane::XPlaneImporter("fuzz.xplane.pb", {}, sink).run(*sources::xplane::SpaceBytes::from_memory(bytes));
  if (!done && done.message().empty()) std::abort();
  return 0;
}
