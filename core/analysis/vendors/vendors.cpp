#include <array>

#include "core/analysis/neuron/facts/matmul_work.h"
#include "core/analysis/neuron/facts/memory_operands.h"
#include "core/analysis/neuron/facts/setup_names.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope {
namespace {

class NeuronWork final : public EventWork {
 public:
  NeuronWork(const LaneSnapshot& lane, const StringPool& pool) : work_(lane, pool) {}
  void read(BlockReader& reader) override { work_.read(reader); }
  [[nodiscard]] double at(std::uint32_t index) const override { return work_[index]; }
  [[nodiscard]] bool transposes(std::uint32_t index) const override { return work_.transposes(index); }

 private:
  neuron::MatmulWork work_;
};

// A transfer's time lies in its packets, the steps of CC-cores in their operations: the vendor's active times are made
// of these.
constexpr std::array<Vendor::DetailedTable, 2> kNeuronDetails = {
    {{"dma_transfer", "dma"}, {"cc_instruction", "cc_op"}}};

constexpr std::array<Vendor, 1> kVendors = {{
    {.setup_names = neuron::kSetupOpcodes,
     .place_column = neuron::kPlaceColumn,
     .load_name = neuron::kTableLoadOpcode,
     .detailed_tables = kNeuronDetails,
     .has_work = neuron::MatmulWork::has_work,
     .event_work = [](const LaneSnapshot& lane, const StringPool& pool) -> std::unique_ptr<EventWork> {
       return std::make_unique<NeuronWork>(lane, pool);
     },
     .on_chip_pool = neuron::kStateBuffer,
     .on_chip_place = neuron::kStateBufferEnd,
     .reload_column = neuron::kRepeatFactorColumn,
     .visit_addresses = [](std::string_view operands,
                           const AddressVisitor& visitor) { neuron::visit_addresses(operands, visitor); },
     .size_column = "size",
     .from_column = "source",
     .to_column = "dest",
     .spill_place = neuron::kSpillPlace,
     .packet_table = "dma",
     .no_payload_bytes = neuron::kSemaphoreBytes,
     .purpose_column = "queue_type",
     .program_purpose = "instruction",
     .packet_rate = neuron::kDmaEngineRate,
     .transpose_term = "instruction_type=TRANSPOSE",
     .multiply_term = "name=MATMUL",
     .limit_column = "util_limit"},
}};

// tt-metal's device log.
constexpr std::array<ProgramTables, 1> kProgramTables = {{{.run_table = "run", .kernel_suffix = "-KERNEL"}}};

}  // namespace

std::span<const Vendor> vendors() { return kVendors; }
std::span<const ProgramTables> program_tables() { return kProgramTables; }

const Vendor* vendor_of_work(const LaneSnapshot& lane) {
  for (const Vendor& vendor : kVendors) {
    if (vendor.has_work(lane)) return &vendor;
  }
  return nullptr;
}

}  // namespace accelscope
