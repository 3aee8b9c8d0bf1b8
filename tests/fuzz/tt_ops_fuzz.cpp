// Any bytes as an operations report of tt-metal: an error or a session, never a crash, and every chunk valid.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  (void)sources::tt_ops::probe_ops_report({text.data(), text.size()}, "");
  const int file = ::memfd_create("fuzz.csv", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  fuzz::CheckingSink sink;
  const Result<void> done = sources::tt_ops::import_ops_report("/proc/self/fd/" + std::to_string(file), {}, sink);
  ::close(file);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
