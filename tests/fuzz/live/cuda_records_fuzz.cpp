// Any bytes as what a collector of CUDA sends: definitions and records of its rings, in any order. Chunks are valid
// whatever came; no program inside which the collector sits can end the agent.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "capture/kinds/cuda/process.h"
#include "tests/fuzz/base/checking_sink.h"

namespace {

// Cuts the input into small numbers and stretches of bytes; zeros once it has ended.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool ended() const { return rest_.empty(); }
  std::uint8_t byte() {
    const std::string_view one = bytes(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
  }
  std::string_view bytes(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  using namespace accelscope::capture;
  using SteadyClock = std::chrono::steady_clock;
  constexpr std::int64_t kTurnNs = 20'000'000;
  Input input(data, size);
  fuzz::CheckingSink sink;
  SessionWriter writer(sink);
  kinds::cuda::CudaSession session(writer, SteadyClock::time_point(), false, true, 0);
  const probes::TickClock clock(probe::ClockKind::monotonic, SteadyClock::time_point());
  probes::ProbeProcess facts;
  facts.name = "fuzz";
  facts.clock = &clock;
  kinds::cuda::CudaProcess process(facts, session);
  std::int64_t now_ns = 0;
  while (!input.ended()) {
    const std::uint8_t what = input.byte();
    const std::uint8_t type = input.byte();
    const std::size_t length = input.byte();
    const probes::ProbeThread thread{type % 4U, 100U + type % 4U, type % 3U == 0 ? "named" : ""};
    if (what % 8 == 0) {
      process.define(type, input.bytes(length));
    } else if (what % 8 == 1) {
      process.thread(thread);
    } else if (what % 8 == 2) {
      process.read_until(now_ns += kTurnNs);
    } else if (what % 64 == 3) {
      process.thread_ended(thread, now_ns);
    } else {
      const std::string_view value = input.bytes(1);
      const std::string_view body = input.bytes(length);
      std::vector<std::uint64_t> words((body.size() + 7) / 8);
      if (!body.empty()) std::memcpy(words.data(), body.data(), body.size());
      const probe::RecordHead head{type, static_cast<std::uint16_t>(words.size() + 1),
                                   value.empty() ? 0U : static_cast<std::uint8_t>(value.front())};
      process.record(thread, head, words);
    }
  }
  process.ended({now_ns, 0, true});
  (void)writer.finish();
  return 0;
}
