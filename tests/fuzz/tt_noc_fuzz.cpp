// Any bytes as a trace or a timeline of a chip's network: an error or a session, never a crash, and every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  for (const auto import :
       {static_cast<Result<void> (*)(std::unique_ptr<json::ByteSource>, const std::string&,
                                     const sources::ImportOptions&, EventSink&)>(sources::tt_noc::import_noc_trace),
        static_cast<Result<void> (*)(std::unique_ptr<json::ByteSource>, const std::string&,
                                     const sources::ImportOptions&, EventSink&)>(
            sources::tt_noc::import_npe_timeline)}) {
    fuzz::CheckingSink sink;
    const Result<void> done = import(json::ByteSource::from_memory(text), "fuzz.json", {}, sink);
    if (!done && done.message().empty()) std::abort();
  }
  return 0;
}
