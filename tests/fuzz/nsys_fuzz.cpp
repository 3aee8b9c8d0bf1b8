// Any bytes as an export of Nsight Systems: an error or a session, never a crash, and every chunk valid.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  const int file = ::memfd_create("fuzz.sqlite", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  (void)sources::recognise(path);
  fuzz::CheckingSink sink;
  const Result<void> done = sources::nsys::import_nsys(path, {}, sink);
  if (!done && done.message().empty()) std::abort();
  ::close(file);
  return 0;
}
