// Any bytes as a Neuron profile: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)sources::neuron::probe_neuron_json({reinterpret_cast<const char*>(data), size}, "");
  fuzz::CheckingSink sink;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const Result<void> done =
      sources::neuron::import_neuron_json(json::ByteSource::from_memory(text), "fuzz.json", {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
