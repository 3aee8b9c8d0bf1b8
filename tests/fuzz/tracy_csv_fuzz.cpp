// Any bytes as a table of tracy-csvexport: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/tracy_csv/tracy_csv_source.h"
#include "core/chunk/chunk_view.h"

namespace {

// What a store would refuse is a mistake of the import, whatever the input was.
class CheckingSink final : public accelscope::EventSink {
 public:
  accelscope::Result<void> define(const accelscope::Definition& definition) override {
    if (!accelscope::decode_definition(accelscope::encode(definition))) std::abort();
    return {};
  }
  accelscope::Result<void> append(accelscope::SealedChunk chunk) override {
    const accelscope::Result<accelscope::ChunkView> view = accelscope::ChunkView::parse(chunk.bytes);
    if (!view || !view.value().verify_checksums()) std::abort();
    return {};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)probe_tracy_csv(std::as_bytes(std::span(data, size)), "");
  CheckingSink sink;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const Result<void> done = import_tracy_csv(ByteSource::from_memory(text), "fuzz.csv", {}, sink);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
