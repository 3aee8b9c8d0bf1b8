// Any bytes as a Chrome JSON trace: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <set>

#include "capture/sources/base/importers.h"
#include "capture/sources/chrome/importer.h"
#include "core/chunk/chunk_view.h"

namespace {

// What a store would refuse is a mistake of the import, whatever the input was.
class CheckingSink final : public accelscope::EventSink {
 public:
  accelscope::Result<void> define(const accelscope::Definition& definition) override {
    if (!accelscope::decode_definition(accelscope::encode(definition))) std::abort();
    if (const auto* track = std::get_if<accelscope::Track>(&definition)) tracks_.insert(track->number);
    if (const auto* lane = std::get_if<accelscope::Lane>(&definition)) {
      if (!tracks_.contains(lane->track) || !lanes_.insert(lane->number).second) std::abort();
    }
    return {};
  }
  accelscope::Result<void> append(accelscope::SealedChunk chunk) override {
    const accelscope::Result<accelscope::ChunkView> view = accelscope::ChunkView::parse(chunk.bytes);
    if (!view || !view.value().verify_checksums() || !lanes_.contains(chunk.lane())) std::abort();
    return {};
  }

 private:
  std::set<accelscope::TrackNumber> tracks_;
  std::set<accelscope::LaneNumber> lanes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  (void)sources::chrome::probe_chrome_json({reinterpret_cast<const char*>(data), size}, "");
  CheckingSink sink;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  sources::chrome::ChromeReading reading;
  reading.window_bytes = 4096;
  reading.threads = 1;
  const Result<void> done =
      sources::chrome::import_chrome_json(json::ByteSource::from_memory(text), "fuzz.json", {}, sink, reading);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
