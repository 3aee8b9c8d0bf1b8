// Any bytes as a database of rocpd or rpd: an error or a session, never a crash, and every chunk valid.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "capture/sources/rocm/source.h"
#include "tests/fuzz/checking_sink.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("rocm_database_fuzz_" + std::to_string(getpid()))).string();
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  for (const auto import : {sources::rocm::import_rocpd, sources::rocm::import_rpd}) {
    fuzz::CheckingSink sink;
    const Result<void> done = import(path, {}, sink);
    if (!done && done.message().empty()) std::abort();
  }
  return 0;
}
