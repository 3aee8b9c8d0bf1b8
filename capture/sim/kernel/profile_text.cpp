#include "capture/sim/kernel/profile_text.h"

#include <charconv>
#include <cmath>

namespace accelscope::capture::sim {

std::string semaphore_name(int semaphore, std::string_view owner) {
  return "S[" + std::to_string(semaphore) + "] (" + std::string(owner) + ")";
}

std::string packet_queue_name(Queue queue, unsigned engine) {
  return std::string(queue_text(queue).name) + "-Q" + std::to_string(queue_text(queue).ring) + "-E" +
         std::to_string(engine);
}

std::string stack_text(const KernelProgram& program, Site site, Site caller) {
  std::string text;
  for (const Site frame : {site, caller}) {
    if (frame == Site::none) continue;
    const SitePlace& place = program.sites[static_cast<std::size_t>(frame)];
    if (!text.empty()) text += '\n';
    text += std::string(place.function) + " (" + place.location + ")";
  }
  return text;
}

std::int64_t frame_id(Site site, Site caller) noexcept {
  return static_cast<std::int64_t>(site) + 100 * static_cast<std::int64_t>(caller);
}

std::string bir_id(std::uint32_t operation) { return "sg0000:" + std::to_string(operation); }

std::string penguin_id(std::uint16_t tile) { return "sg0000:" + std::to_string(tile); }

std::string bir_instruction_name(const KernelProgram& program, std::uint32_t operation) {
  constexpr std::string_view kSuffix[] = {"", "-wait-0", "", ""};
  const Operation& what = program.operations[operation];
  const bool trigger = program.texts[operation].triggers != kNoOperation;
  return "I-" + std::to_string(program.texts[operation].tile) + "-0" +
         (trigger ? "-trig" : std::string(kSuffix[static_cast<std::size_t>(what.kind)]));
}

std::int64_t hlo_number(std::string_view hlo) noexcept {
  const std::size_t dot = hlo.find('.');
  std::int64_t number = 0;
  if (dot != std::string_view::npos) std::from_chars(hlo.data() + dot + 1, hlo.data() + hlo.size(), number);
  return number;
}

namespace {

bool diverges(const KernelTrace& trace, std::uint32_t operation, bool output) noexcept {
  const std::vector<KernelProgram::Diverging>& marked = trace.program->diverging;
  if (operation >= marked.size()) return false;
  return output ? marked[operation].output : marked[operation].input;
}

// 0 to 65534: never the number that stands for none.
std::int64_t checksum_of(std::uint64_t data, bool other) noexcept {
  const auto sum = static_cast<std::int64_t>((data * 0x9e3779b97f4a7c15ULL >> 40) % 65535);
  return other ? (sum + 1) % 65535 : sum;
}

}  // namespace

// Depends on what was computed, not on when: equal in every run of the same kernels.
std::int64_t data_crc(const KernelTrace& trace, std::uint32_t operation, bool output) noexcept {
  constexpr std::int64_t kNone = 65535;
  const OperationText& text = trace.program->texts[operation];
  const std::int64_t bytes = output ? text.sbuf_write + text.psum_write : text.sbuf_read + text.psum_read;
  if (bytes == 0) return kNone;
  return checksum_of(trace.pass * 65537 + operation * 2 + (output ? 1 : 0), diverges(trace, operation, output));
}

std::int64_t transfer_crc(const KernelTrace& trace, std::uint32_t operation, std::uint32_t packet) noexcept {
  return checksum_of((trace.pass * 65537 + operation) * 64 + packet, diverges(trace, operation, true));
}

std::int64_t rate_of(std::int64_t bytes, std::int64_t duration_ns) noexcept {
  return duration_ns == 0 ? 0 : std::llround(static_cast<double>(bytes) * 1e9 / static_cast<double>(duration_ns));
}

std::vector<MemoryUse> device_memory_use(const KernelProgram& program) {
  std::int64_t weights = 0, tensors = 0, scratch = 0;
  for (const Tensor& tensor : program.tensors) {
    (tensor.type == "WEIGHT" ? weights : (tensor.type.empty() ? scratch : tensors)) += tensor.bytes;
  }
  constexpr std::int64_t kInstructionBytes = 64;
  std::array<std::int64_t, kUnitCount> code = {};
  for (const Operation& operation : program.operations) {
    if (operation.kind != OperationKind::transfer) code[static_cast<std::size_t>(operation.unit)] += kInstructionBytes;
  }
  const auto of = [&](Unit unit) { return code[static_cast<std::size_t>(unit)]; };
  std::vector<MemoryUse> uses = {{"Generic", 25'600},
                                 {"Tensor Instructions", of(Unit::tensor) + of(Unit::tensor_matrix)},
                                 {"Scalar Instructions", of(Unit::scalar) + of(Unit::scalar_table)},
                                 {"GpSimd Instructions", of(Unit::gpsimd)},
                                 {"IO", 8},
                                 {"DRAM Spill", scratch},
                                 {"Weights", weights},
                                 {"Profiler Buffers", 2'415'919'104},
                                 {"Scalar Table", 83'968},
                                 {"Vector Instructions", of(Unit::vector)},
                                 {"Sync Instructions", of(Unit::sync)},
                                 {"Shared Scratchpad", 0},
                                 {"Tensors", tensors},
                                 {"Ucode lib", 102'760'448},
                                 {"GpSimd STDIO", 1'088},
                                 {"Collectives", 4'194'304},
                                 {"Scratchpad", 0},
                                 {"XT CC (unused)", 0},
                                 {"DMA Rings Runtime", 36'864},
                                 {"DMA Rings Spill", 32'768},
                                 {"DMA Rings IO", 65'536},
                                 {"DMA Rings Collectives", 131'072}};
  std::int64_t total = 0;
  for (const MemoryUse& use : uses) total += use.bytes;
  uses.push_back({"Total", total});
  return uses;
}

}  // namespace accelscope::capture::sim
