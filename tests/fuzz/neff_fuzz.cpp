// Any bytes as a compiled program of a Neuron device: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  (void)sources::neuron::probe_neff({bytes.data(), bytes.size()}, "");
  fuzz::CheckingSink sink;
  const Result<void> done = sources::neuron::import_neff(json::ByteSource::from_memory(bytes), "fuzz.neff", {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
