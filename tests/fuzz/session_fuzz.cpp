// A session file made of any bytes opens, is refused with a message, or is salvaged; and what opens can be read.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/fuzz/base/read_everything.h"

using namespace accelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("accelscope-fuzz-" + std::to_string(::getpid()) + ".accel")).string();
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (const Result<std::unique_ptr<Store>> store = Store::open(path); store) test::read_everything(**store);
  SalvageReport report;
  if (const Result<std::unique_ptr<Store>> store = salvage_session(path, report); store) test::read_everything(**store);
  std::filesystem::remove(path);
  return 0;
}
