// Any bytes as an operations report of tt-metal: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/tt_ops/source.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  (void)sources::tt_ops::probe_ops_report({text.data(), text.size()}, "");
  fuzz::CheckingSink sink;
  const Result<void> done = sources::tt_ops::import_ops_report(
      [&]() -> Result<std::unique_ptr<json::ByteSource>> { return json::ByteSource::from_memory(text); }, "fuzz.csv",
      {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
