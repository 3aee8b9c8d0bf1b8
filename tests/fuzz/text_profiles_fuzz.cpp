// Any bytes as text that profilers print: of VTune, unitrace, perf script, Proton, collapsed stacks: an error or a
// session, never a crash, and every chunk valid.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  using Import = Result<void> (*)(std::unique_ptr<json::ByteSource>, const std::string&, const sources::ImportOptions&,
                                  EventSink&);
  constexpr std::array<Import, 6> kImports = {sources::vtune::import_intervals,   sources::vtune::import_report,
                                              sources::unitrace::import_unitrace, sources::stacks::import_perf_script,
                                              sources::stacks::import_collapsed,  sources::proton::import_hatchet};
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const std::string_view head(text.data(), text.size());
  (void)(sources::vtune::probe_report(head, "") + sources::unitrace::probe_unitrace(head, "") +
         sources::stacks::probe_perf_script(head, "") + sources::stacks::probe_collapsed(head, ""));
  for (const Import import : kImports) {
    fuzz::CheckingSink sink;
    const Result<void> done = import(json::ByteSource::from_memory(text), "fuzz.txt", {}, sink);
    if (!done && done.message().empty()) std::abort();
  }
  return 0;
}
