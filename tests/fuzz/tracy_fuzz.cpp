// Any bytes as a trace of Tracy, and any bytes as what a trace's blocks hold: an error or a session, never a crash, and
// every chunk valid.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "capture/sources/base/importers.h"
#include "tests/fuzz/base/checking_sink.h"

namespace {

void import_bytes(std::string_view bytes) {
  using namespace accelscope;
  using namespace accelscope::capture;
  fuzz::CheckingSink sink;
  const Result<void> done = sources::tracy::import_tracy(json::ByteSource::from_memory(bytes), "fuzz.tracy", {}, sink);
  if (!done && done.message().empty()) std::abort();
}

// As one block of literals, which is how LZ4 writes what it cannot pack: so that what is changed is the trace itself.
std::string packed_as_literals(std::string_view bytes) {
  constexpr std::size_t kMostBytes = 60'000;
  constexpr std::size_t kInToken = 15;
  constexpr std::size_t kInByte = 255;
  bytes = bytes.substr(0, kMostBytes);
  std::string block(1, static_cast<char>((bytes.size() < kInToken ? bytes.size() : kInToken) << 4));
  if (bytes.size() >= kInToken) {
    std::size_t left = bytes.size() - kInToken;
    for (; left >= kInByte; left -= kInByte) block += '\xff';
    block += static_cast<char>(left);
  }
  block += bytes;
  const auto size = static_cast<std::uint32_t>(block.size());
  return std::string("tlZ\x04") + std::string(reinterpret_cast<const char*>(&size), sizeof size) + block;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)accelscope::capture::sources::tracy::probe_tracy(bytes, "");
  if (bytes.starts_with("tracy")) {
    import_bytes(packed_as_literals(bytes));
  } else {
    import_bytes(bytes);
  }
  return 0;
}
