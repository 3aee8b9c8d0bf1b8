#include <algorithm>
#include <array>

#include "core/analysis/neuron/facts/operands.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope::analysis {
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
    {{"dma_transfer", "dma", "packet_aggregation_id", "dma_engine"}, {"cc_instruction", "cc_op"}}};

constexpr MemoryBox kNeuronBoxes[] = {
    {"HBM", "HBM", MemoryBox::Kind::memory, 0, 0, "hbm"},
    {"DMA", "DMA engines", MemoryBox::Kind::mover, 0, 1, "dma"},
    {"SBUF", "SBUF", MemoryBox::Kind::memory, 0, 2, "sbuf"},
    {"Vector", "Vector, Scalar and GpSimd", MemoryBox::Kind::engine, 1, 0},
    {"PSUM", "PSUM", MemoryBox::Kind::memory, 1, 1, "psum"},
    {"Tensor", "Tensor", MemoryBox::Kind::engine, 1, 2},
};
using PathOf = MemoryPathWords::Of;
constexpr MemoryPathWords kNeuronPaths[] = {
    {"HBM", "SBUF", "hbm_read_bytes", PathOf::transfers, "hbm", "dma"},
    {"SBUF", "HBM", "hbm_write_bytes", PathOf::transfers, "hbm", "dma"},
    {"SBUF", "Tensor", "sbuf_read_bytes", PathOf::matrix, "sbuf"},
    {"Tensor", "PSUM", "psum_write_bytes", PathOf::matrix, "psum"},
    {"PSUM", "Vector", "psum_read_bytes", PathOf::others, "psum"},
    {"Vector", "PSUM", "psum_write_bytes", PathOf::others, "psum"},
    {"Vector", "SBUF", "sbuf_write_bytes", PathOf::others, "sbuf"},
    {"SBUF", "Vector", "sbuf_read_bytes", PathOf::others, "sbuf"},
};
// The vendor measured 259 GB/s with descriptors of 1 KiB and 354 GB/s with 4 KiB, of a peak of 435 GB/s (its DMA
// efficiency example): size / (size + cost) of the peak gives 244 and 364 with a cost of 800 B.
constexpr MemoryWords kNeuronMemory = {.boxes = kNeuronBoxes,
                                       .paths = kNeuronPaths,
                                       .mover = "DMA",
                                       .engine_column = "subgroup",
                                       .matrix_engine = "Tensor",
                                       .transfer_table = "dma",
                                       .transfer_word = "descriptors",
                                       .transfer_cost_bytes = 800};

constexpr std::string_view kNeuronTransferNames[] = {"DMA_TRIGGER", "DMA_DIRECT2D"};
constexpr SignalWords kNeuronSignals = {
    .visit = neuron::visit_semaphores,
    .number = neuron::semaphore_number,
    .semaphore_column = "semaphore_id",
    .unit_column = "dma_engine",
    .engine_column = "subgroup",
    .transfer_names = kNeuronTransferNames,
    .queue_column = "dma_queue",
    .queue = neuron::semaphore_queue,
    .signal = neuron::read_transfer_signal,
    .range = [](std::string_view operands, bool written, std::uint64_t& address, std::uint64_t& bytes) {
      const neuron::DeviceRange range = neuron::transfer_range(operands, written);
      address = range.address;
      bytes = range.bytes;
    }};

// Levels of the matrix engine's activity: at the lowest one all cycles are its own, the others ramp it up so that its
// current does not jump (Neuron Explorer's summary page). All other kinds are caps: power, temperature, software.
constexpr std::string_view kNeuronNoLimits[] = {"activity_0"};
constexpr std::string_view kNeuronWarmUp[] = {"activity_1", "activity_2", "activity_3"};

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
     .visit_operands = [](std::string_view operands,
                          const AddressVisitor& visitor) { neuron::visit_all_addresses(operands, visitor); },
     .operands_column = "operands",
     .weights_name = "LDWEIGHTS",
     .multiply_name = "MATMUL",
     .copy_name = "TENSOR_COPY",
     .columns_per_ns = 1.4,
     .widest_columns = 512,
     .column_flops = 2.0 * 128 * 128,
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
     .limit_column = "util_limit",
     .no_limits = kNeuronNoLimits,
     .warm_up_limits = kNeuronWarmUp,
     .memory = &kNeuronMemory,
     .signals = &kNeuronSignals},
}};

// tt-metal's device log.
constexpr std::array<ProgramTables, 1> kProgramTables = {{{.run_table = "run",
                                                           .kernel_suffix = "-KERNEL",
                                                           .total_table = "zone_total",
                                                           .total_column = "ns",
                                                           .data_wait = "CB-COMPUTE-WAIT-FRONT",
                                                           .room_wait = "CB-COMPUTE-RESERVE-BACK",
                                                           .network_table = "noc_transfer"}}};

constexpr StreamWaitWords kStreamWaits = {.stream_column = "wait_on_stream",
                                          .record_column = "wait_on_cuda_event_record_corr_id",
                                          .call_column = "correlation"};

// Formats of what runs a launch once for every set of counters.
constexpr std::array<std::string_view, 1> kReplayingFormats = {"ROCm Compute Profiler analysis"};

}  // namespace

std::span<const Vendor> vendors() { return kVendors; }
const StreamWaitWords& stream_wait_words() { return kStreamWaits; }
std::span<const ProgramTables> program_tables() { return kProgramTables; }

bool pauses_are_of_profiler(const Snapshot& snapshot) {
  const std::string_view format = snapshot.meta_value("source_format");
  return std::find(kReplayingFormats.begin(), kReplayingFormats.end(), format) != kReplayingFormats.end();
}

const Vendor* vendor_of_work(const LaneSnapshot& lane) {
  for (const Vendor& vendor : kVendors) {
    if (vendor.has_work(lane)) return &vendor;
  }
  return nullptr;
}

}  // namespace accelscope::analysis
