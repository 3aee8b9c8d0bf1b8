// Any bytes as what ROCm's profilers write - a database, a result in JSON or a table, by how they begin: an error or a
// session, never a crash, and every chunk valid.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

namespace {

using namespace accelscope;
using namespace accelscope::capture;

void must_be_reported(const Result<void>& done) {
  if (!done && done.message().empty()) std::abort();
}

const std::string& written(std::string_view bytes) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("rocm_fuzz_" + std::to_string(getpid()))).string();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

void read_databases(std::string_view bytes) {
  const std::string& path = written(bytes);
  for (const auto import :
       {sources::rocm::import_rocpd, sources::rocm::import_rpd, sources::rocm::import_rocprof_compute}) {
    fuzz::CheckingSink sink;
    must_be_reported(import(path, {}, sink));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> text(reinterpret_cast<const char*>(data), size);
  const std::string_view head(text.data(), text.size());
  if (head.starts_with("SQLite")) {
    read_databases(head);
    return 0;
  }
  fuzz::CheckingSink sink;
  (void)sources::rocm::probe_rocprofv3_json(head, "");
  (void)sources::rocm::probe_rocprofv3_csv(head, "");
  const bool is_json = head.starts_with('{');
  const std::string& path = written(head);
  must_be_reported(is_json ? sources::rocm::import_rocprofv3_json(path, {}, sink)
                           : sources::rocm::import_rocprofv3_csv(path, {}, sink));
  return 0;
}
