// Any bytes as a result of rocprofv3, in JSON or as a table: an error or a session, never a crash, and every chunk
// valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/rocm/source.h"
#include "tests/fuzz/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const std::string_view head(text.data(), text.size());
  fuzz::CheckingSink sink;
  const bool json = !head.empty() && head.front() == '{';
  const Result<void> done =
      json ? sources::rocm::import_rocprofv3_json(json::ByteSource::from_memory(text), "fuzz.json", {}, sink)
           : sources::rocm::import_rocprofv3_csv(json::ByteSource::from_memory(text), "fuzz.csv", {}, sink);
  (void)sources::rocm::probe_rocprofv3_json(head, "");
  (void)sources::rocm::probe_rocprofv3_csv(head, "");
  if (!done && done.message().empty()) std::abort();
  return 0;
}
