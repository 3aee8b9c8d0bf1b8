// Any bytes as a Neuron profile: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/neuron/neuron_source.h"
#include "core/chunk/chunk_view.h"
#include "core/store/store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)probe_neuron_json(std::as_bytes(std::span(data, size)), "");
  Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) std::abort();
  StoreSink sink(*store.value());
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const Result<void> done = import_neuron_json(ByteSource::from_memory(text), "fuzz.json", {}, sink);
  if (!done && done.message().empty()) std::abort();
  // A lane or chunk that the store refuses would be a mistake of the import, whatever the input was.
  if (!done && done.message().find("fuzz.json") == std::string::npos) std::abort();
  return 0;
}
