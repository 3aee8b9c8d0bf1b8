// Any bytes as a table of Parquet: an error or rows, never a crash, and as a table of a Neuron profile a session whose
// every chunk is valid. The first byte chooses the table.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "capture/sources/neuron/importer.h"
#include "capture/sources/parquet/table_reader.h"
#include "tests/fuzz/base/checking_sink.h"

namespace {

// A few bytes may stand for many rows: enough of them are looked at.
class ShortSink final : public accelscope::EventSink {
 public:
  accelscope::Result<void> define(const accelscope::Definition& definition) override {
    return sink_.define(definition);
  }
  accelscope::Result<void> append(accelscope::SealedChunk chunk) override {
    ++chunks_;
    return sink_.append(std::move(chunk));
  }
  [[nodiscard]] bool cancelled() const override { return chunks_ > 8; }

 private:
  accelscope::fuzz::CheckingSink sink_;
  std::size_t chunks_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace accelscope;
  namespace parquet = capture::sources::parquet;
  if (size == 0) return 0;
  constexpr std::array<const char*, 8> kTables = {"Instruction", "DmaPacketAggregated", "Summary",   "Throttle",
                                                  "Flow",        "HloInstruction",      "SbufUsage", "unknown"};
  const std::span<const char> bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::uint64_t kMostRows = 20'000;
  const auto table = parquet::TableReader::open(parquet::RandomBytes::from_memory(bytes));
  if (!table) {
    if (table.message().empty()) std::abort();
    return 0;
  }
  if ((*table)->rows() > kMostRows) return 0;
  ShortSink sink;
  const Result<void> done =
      capture::sources::neuron::NeuronImporter("fuzz", {}, sink).run(**table, kTables[data[0] % kTables.size()]);
  if (!done && done.message().empty()) std::abort();
  return 0;
}
