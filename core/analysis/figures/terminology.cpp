#include "core/analysis/figures/terminology.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/analysis/figures/session_terms.h"
#include "core/base/text.h"

namespace accelscope::analysis {
namespace {

constexpr std::string_view kOverall = "overall_stats";
constexpr std::string_view kData = "data_movement";
constexpr std::string_view kSoftware = "software_data_movement";
constexpr std::string_view kHardware = "hardware_data_movement";
constexpr std::string_view kTensor = "tensor_engine";
constexpr std::string_view kScalar = "scalar_engine";
constexpr std::string_view kEngine = "<engine>_engine";
constexpr std::string_view kCollectives = "cc_engine";
constexpr std::string_view kSystem = "system";
constexpr std::string_view kThrottling = "throttling_nc<core>";
constexpr std::string_view kQueue = "dma_queue";
constexpr std::string_view kGeneral = "general";

constexpr std::string_view kColumnSum = "Sum of the column of this name over the instructions.";
constexpr std::string_view kOfDmaTime = "Active time of these packets over the time in which any DMA is active.";
constexpr std::string_view kOfPackets = "Number of these packets over the number of all packets.";
constexpr std::string_view kOfBytes = "Bytes of these packets over the bytes of all packets.";
constexpr std::string_view kOfTotal = "The active time over the total time.";

constexpr FigureTerm kTerms[] = {
    // overall
    {"total_time", kOverall, "s", "How long the profiled run took, from its first event to the end of its last.",
     "End of the last event less the start of the run, or the length of the range."},
    {"total_exec_time", kOverall, "s",
     "From the first to the last instruction that works for the model; loading, ordering and waiting do not count.",
     "From the first begin to the last end over the instructions that neither wait nor only set up."},
    {"total_active_time", kOverall, "s", "Time in which at least one engine, DMA packet or collective was at work.",
     "Length of the union of all instructions but semaphore waits, all DMA packets and all collectives, and half a ns "
     "for each gapless stretch where the file cuts times to whole ns."},
    {"total_active_time_percent", kOverall, "share", "Share of the run in which anything was at work.", kOfTotal},
    {"neuroncore_cycle_count", kOverall, "cycles", "Length of the run in cycles of the core's clock.",
     "Total time times the clock of the engines other than the systolic array."},
    {"event_count", kOverall, "", "Events that the hardware reported besides executed instructions and DMA packets.",
     "Cannot be recomputed: the profile has no rows for the start and stop notices that are counted with the semaphore "
     "updates.",
     false},
    {"trace_count", kOverall, "", "All records that the hardware wrote while it was profiled.",
     "Cannot be recomputed: start and stop notices, which are counted with instructions, DMA packets and semaphore "
     "updates, are not in the profile.",
     false},
    {"total_row_count", kOverall, "", "Rows of all tables of the profile.", ""},
    {"model_flops", kOverall, "flop",
     "Floating point operations that the model itself asks for: moving data through the systolic array to transpose it "
     "is not among them.",
     "hardware_flops less transpose_flops."},
    {"hardware_flops", kOverall, "flop",
     "Floating point operations that the systolic array carried out, useful or not; a multiply-accumulate is two.",
     "Sum of 2 x elements over the MATMUL instructions."},
    {"transpose_flops", kOverall, "flop",
     "Part of hardware_flops that only transposed data. Above 10 % of it, layouts deserve a look.",
     "Sum of 2 x elements over the MATMUL instructions of type TRANSPOSE."},
    {"adjusted_hardware_flops", kOverall, "flop",
     "hardware_flops weighted by data type, so that slow types count for the time they take: fp32 four times bf16.",
     "Sum of the column adjusted_flops over the instructions."},
    {"adjusted_transpose_flops", kOverall, "flop", "transpose_flops weighted by data type.",
     "Sum of the column adjusted_flops_transpose over the instructions."},
    {"mm_arithmetic_intensity", kOverall, "flop/B",
     "Useful floating point operations per byte moved from or to HBM. Below peak_flops_bandwidth_ratio the run is "
     "limited by memory, above it by computation.",
     "(hardware_flops - transpose_flops) / (hbm_read_bytes + hbm_write_bytes)."},
    {"peak_flops_bandwidth_ratio", kOverall, "flop/B",
     "How many operations the systolic array can do in the time in which HBM delivers a byte: the knee of the "
     "roofline.",
     "2 x rows x columns x clock / HBM bandwidth, from the profile's metadata; of one physical core, as the vendor has "
     "it, also where a logical core is made of several."},

    // data movement
    {"dma_active_time", kData, "s", "Time in which at least one DMA packet was under way.",
     "Length of the union of all DMA packets."},
    {"dma_active_time_percent", kData, "share", "Share of the run in which DMA was under way.", kOfTotal},
    {"dma_active_cycles", kData, "cycles", "dma_active_time in cycles of the core's clock.",
     "dma_active_time times the clock of the engines other than the systolic array."},
    {"dma_packet_time", kData, "s", "Time of all DMA packets added up, so parallel packets count each.",
     "Sum of the durations of all packets."},
    {"dma_queue_count", kData, "",
     "DMA rings that carried packets: one per queue and DMA engine; a queue that fetches instructions is one as a "
     "whole.",
     "Number of different pairs of dma_queue and dma_engine among the packets that move data, and of the queues in "
     "dma_queues_info that fetched instructions."},
    {"dma_transfer_count", kData, "",
     "DMA transfers, each of one or more packets. Without DGE notifications only those laid out by the compiler are "
     "seen.",
     "Number of rows that gather the packets of a transfer."},
    {"dma_transfer_time", kData, "s", "Time of all DMA transfers added up, from first packet to last.",
     "Sum of the durations of all transfers."},
    {"dma_transfer_total_bytes", kData, "B", "Bytes that the transfers moved.", "Sum of the sizes of all transfers."},
    {"dma_transfer_average_bytes", kData, "B",
     "Bytes of a transfer on average. DMA is efficient from some kilobytes on; many small transfers are slow.",
     "dma_transfer_total_bytes / dma_transfer_count."},
    {"static_dma_active_time", kData, "s", "Time in which a packet laid out by the compiler was under way.",
     "Length of the union of the packets that are neither software nor hardware dynamic."},
    {"static_dma_active_time_percent", kData, "share", "Part of the DMA time with a static packet under way.",
     kOfDmaTime},
    {"static_dma_packet_count", kData, "", "Packets laid out by the compiler before the run.",
     "Number of packets that are neither software nor hardware dynamic."},
    {"static_dma_packet_percent", kData, "share", "Share of the packets that are static.", kOfPackets},
    {"static_dma_size", kData, "B", "Bytes of static packets.",
     "Sum of transfer_size over the packets that are neither software nor hardware dynamic."},
    {"static_dma_size_percent", kData, "share", "Share of the bytes that static packets moved.", kOfBytes},
    {"dynamic_dma_active_time_percent", kData, "share",
     "Part of the DMA time with packets under way that were described while the run went on.",
     "software_dynamic_dma_active_time and hardware_dynamic_dma_active_time together over dma_active_time; moments "
     "with "
     "packets of both count twice, as the vendor has it."},
    {"dynamic_dma_packet_percent", kData, "share", "Share of the packets that were described during the run.",
     kOfPackets},
    {"dynamic_dma_size_percent", kData, "share", "Share of the bytes that such packets moved.", kOfBytes},
    {"mbu_estimated_percent", kData, "share",
     "Memory bandwidth utilisation: bytes from and to HBM over what HBM could have moved in the time.",
     "(hbm_read_bytes + hbm_write_bytes) / (total_time x HBM bandwidth)."},
    {"mbu_min_read_util_percent", kData, "share",
     "What mbu_estimated_percent would be if inputs and weights were read once and nothing else.",
     "inputs_and_weights_size_bytes / (total_time x HBM bandwidth)."},
    {"hbm_read_bytes", kData, "B", "Bytes read from the device's memory.", kColumnSum},
    {"hbm_write_bytes", kData, "B", "Bytes written to the device's memory.", kColumnSum},
    {"sbuf_read_bytes", kData, "B", "Bytes read from the state buffer, the core's main on-chip memory.", kColumnSum},
    {"sbuf_write_bytes", kData, "B", "Bytes written to the state buffer.", kColumnSum},
    {"psum_read_bytes", kData, "B", "Bytes read from the memory in which the systolic array accumulates.", kColumnSum},
    {"psum_write_bytes", kData, "B", "Bytes written to that memory.", kColumnSum},
    {"psum_read_sbuf_write_bytes", kData, "B", "Bytes that instructions moved from accumulators to the state buffer.",
     kColumnSum},
    {"psum_read_sbuf_write_count", kData, "", "Instructions that moved accumulators to the state buffer.",
     "Number of instructions marked is_psum_read_sbuf_write."},
    {"spill_save_bytes", kData, "B", "Bytes put aside in HBM because the state buffer was full.", kColumnSum},
    {"spill_reload_bytes", kData, "B",
     "Bytes fetched back that had been put aside. Above 25 % of the HBM reads, the kernel wants a smaller working set.",
     kColumnSum},
    {"input_queue_bytes", kData, "B", "Bytes that came through the queues of the model's inputs.", kColumnSum},
    {"output_queue_bytes", kData, "B", "Bytes that left through the queues of the model's outputs.", kColumnSum},
    {"weight_queue_bytes", kData, "B", "Bytes that came through the queues of the model's weights.", kColumnSum},
    {"weight_size_bytes", kData, "B", "Size of the model's weights.", "Sum of the sizes of the WEIGHT tensors."},
    {"inputs_and_weights_size_bytes", kData, "B", "Size of the model's inputs and weights: what must be read at least.",
     "Sum of the sizes of the IN and WEIGHT tensors."},
    {"inputs_outputs_weights_size_bytes", kData, "B", "Size of the model's inputs, outputs and weights.",
     "Sum of the sizes of the IN, OUT and WEIGHT tensors."},

    // dynamic data movement
    {"software_dynamic_dma_active_time", kSoftware, "s",
     "Time in which a packet was under way that an instruction of the core described during the run.",
     "Length of the union of the packets of queue type software_dynamic."},
    {"software_dynamic_dma_active_time_percent", kSoftware, "share",
     "Part of the DMA time with such a packet under way.", kOfDmaTime},
    {"software_dynamic_dma_packet_count", kSoftware, "", "Packets that instructions described during the run.",
     "Number of packets of queue type software_dynamic."},
    {"software_dynamic_dma_packet_percent", kSoftware, "share", "Share of the packets.", kOfPackets},
    {"software_dynamic_dma_size", kSoftware, "B", "Bytes of those packets.",
     "Sum of transfer_size over the packets of queue type software_dynamic."},
    {"software_dynamic_dma_size_percent", kSoftware, "share", "Share of the bytes.", kOfBytes},
    {"hardware_dynamic_dma_active_time", kHardware, "s",
     "Time in which a packet was under way that the descriptor hardware made during the run.",
     "Length of the union of the packets of queue type hardware_dynamic."},
    {"hardware_dynamic_dma_active_time_percent", kHardware, "share",
     "Part of the DMA time with such a packet under way.", kOfDmaTime},
    {"hardware_dynamic_dma_packet_count", kHardware, "", "Packets that the descriptor hardware made during the run.",
     "Number of packets of queue type hardware_dynamic."},
    {"hardware_dynamic_dma_packet_percent", kHardware, "share", "Share of the packets.", kOfPackets},
    {"hardware_dynamic_dma_size", kHardware, "B", "Bytes of those packets.",
     "Sum of transfer_size over the packets of queue type hardware_dynamic."},
    {"hardware_dynamic_dma_size_percent", kHardware, "share", "Share of the bytes.", kOfBytes},

    // engines
    {"mfu_estimated_percent", kTensor, "share",
     "Model FLOPs utilisation: the model's operations over what the systolic array could have done in the time.",
     "model_flops / (total_time x peak), peak = 2 x rows x columns x clock x physical cores; model_flops as the file "
     "states it for the whole run, or hardware_flops - transpose_flops where it states none."},
    {"mfu_max_achievable_estimated_percent", kTensor, "share",
     "The most that MFU can reach with this much HBM traffic; at 100 % memory is not the limit.",
     "model_flops / (hbm_read_bytes + hbm_write_bytes) / (peak / HBM bandwidth), at most 1."},
    {"mfu_hlo_estimated_percent", kTensor, "share",
     "MFU with the operations counted in the graph given to the compiler.",
     "As mfu_estimated_percent, from the model_flops that the file states."},
    {"mfu_hlo_max_achievable_estimated_percent", kTensor, "share", "Achievable MFU with the graph's operations.",
     "As mfu_max_achievable_estimated_percent, from the model_flops that the file states."},
    {"mfu_inst_estimated_percent", kTensor, "share", "MFU with the operations counted over the executed instructions.",
     "(hardware_flops - transpose_flops) / (total_time x peak)."},
    {"mfu_inst_max_achievable_estimated_percent", kTensor, "share", "Achievable MFU with the executed operations.",
     "(hardware_flops - transpose_flops) / (hbm_read_bytes + hbm_write_bytes) / (peak / HBM bandwidth), at most 1."},
    {"hfu_estimated_percent", kTensor, "share",
     "Hardware FLOPs utilisation: all operations of the systolic array, transposes too, over what it could have done.",
     "hardware_flops / (total_time x peak)."},
    {"matmul_instruction_count", kTensor, "", "Matrix multiplications that ran.", "Number of MATMUL instructions."},
    {"activate_instruction_count", kScalar, "", "Activation functions that the Scalar engine applied.",
     "Number of ACTIVATE instructions."},
    {"activate_instruction_time", kScalar, "s", "Time of those instructions added up.",
     "Sum of the durations of the ACTIVATE instructions."},
    {"<engine>_engine_active_time", kEngine, "s",
     "Time in which the engine worked; waiting for a semaphore is not work.",
     "Length of the union of the engine's instructions except EVENT_SEMAPHORE, and half a ns for each gapless stretch "
     "where the file cuts times to whole ns."},
    {"<engine>_engine_active_time_percent", kEngine, "share", "Share of the run in which the engine worked.", kOfTotal},
    {"<engine>_engine_instruction_count", kEngine, "", "Instructions that the engine ran.",
     "Number of the engine's instructions."},
    {"<engine>_engine_instruction_time", kEngine, "s",
     "Time of the engine's instructions added up, so overlapping ones count each.",
     "Sum of the durations of the engine's instructions except EVENT_SEMAPHORE, and half a ns for each where the file "
     "cuts times to whole ns."},

    // collectives
    {"cc_op_count", kCollectives, "", "Collective operations that ran, such as all-reduce.", "Number of collectives."},
    {"cc_op_time", kCollectives, "s", "Time of the collectives added up.", "Sum of the durations of the collectives."},
    {"cc_op_active_time", kCollectives, "s", "Time in which at least one collective was under way.",
     "Length of the union of the collectives."},
    {"cc_op_active_time_percent", kCollectives, "share", "Share of the run with a collective under way.", kOfTotal},
    {"cc_cores_instruction_count", kCollectives, "", "Steps that the cores for collectives ran.",
     "Number of steps of all cores for collectives."},
    {"cc_cores_instruction_time", kCollectives, "s", "Time of those steps added up.",
     "Sum of the durations of the steps."},
    {"cc_cores_instruction_active_time", kCollectives, "s", "Time in which a core for collectives ran a step.",
     "Length of the union of the steps."},
    {"cc_cores_instruction_active_time_percent", kCollectives, "share", "Share of the run with such a step under way.",
     kOfTotal},

    // system
    {"instance_type", kSystem, "", "Type of the machine that was profiled.", ""},
    {"nd_idx", kSystem, "", "Number of the Neuron device in its machine.", ""},
    {"nc_idx", kSystem, "", "Number of the NeuronCore that was profiled.", ""},
    {"compiler_version", kSystem, "", "Version of the compiler that made the program.", ""},
    {"runtime_version", kSystem, "", "Version of the runtime that ran it.", ""},
    {"driver_version", kSystem, "", "Version of the device driver.", ""},
    {"collectives_version", kSystem, "", "Version of the library for collective operations.", ""},
    {"profiler_version", kSystem, "", "Version of the tool that wrote the profile.", ""},
    {"explorer_version", kSystem, "", "Version of the vendor's viewer that wrote the profile.", ""},
    {"ultraserver_<property>", kSystem, "", "Which server of a group of connected servers was profiled, and its kind.",
     ""},
    {"s3_bucket_path", "server_upload", "", "Where the vendor's tool put a copy of the profile.", ""},

    // throttling
    {"throttle_active_nc<core>_time_ns", kThrottling, "ns", "Time in which the core was not allowed all its cycles.",
     "Sum of the durations of the throttling stretches with k below n."},
    {"throttle_avg_util_limit_nc<core>_percent", kThrottling, "share",
     "Share of the cycles that the core was allowed, over the time of which the hardware tells. Time without a record "
     "counts as if none were allowed, so it is near 0 for a run that was hardly slowed, and no measure of how much it "
     "was.",
     "Sum of k / n times the duration over all throttling records, over the total time."},
    {"throttle_<kind>_active_time_nc<core>_percent", kThrottling, "share",
     "Share of the run with throttling of this cause: activity (power), gpio (pins), sw (software), periodic, unknown.",
     "Sum of the durations of the stretches of this cause over the total time."},
    {"throttle_<kind>_avg_util_limit_nc<core>_percent", kThrottling, "share",
     "Share of the cycles that the core was allowed on average while throttled for this cause.",
     "Mean of k / n over the stretches of this cause, by duration."},

    // queues
    {"q<engine>spillreload<ring>", kQueue, "",
     "Queue in which an engine asks for spilled data to be saved and reloaded.", ""},
    {"q<engine>ioparam<ring>", kQueue, "", "Queue through which an engine reaches the model's inputs and outputs.", ""},
    {"q<engine>pio<ring>", kQueue, "", "Queue of an engine's own small moves, described instruction by instruction.",
     ""},

    // any source
    {"session_time", kGeneral, "s", "From the first event of the session to the end of its last.",
     "Length of the session or of the range."},
    {"work_time", kGeneral, "s",
     "From the first to the last work of the devices; loading, setting up and waiting before and after do not count. "
     "Of "
     "a session without a device that of its host.",
     "Begin of the first to the end of the last event of engines, streams and collectives, or of DMA where there is "
     "nothing else, that neither waits nor only sets up."},
    {"span_time", kGeneral, "s",
     "What shares of a session are of: its work with the copies of its devices, and where a host fed them for more "
     "than "
     "twice as long, the host's time too.",
     "Length of the work, or of all that devices and host recorded."},
    {"active_time", kGeneral, "s",
     "Time in which at least one device worked, each moment once; of a session without a device, a thread of its host. "
     "Verdict and findings tell shares of the part of it that lies in the work.",
     "Length of the union of the events of device work that do not wait."},
    {"idle_time", kGeneral, "s", "Time of the session in which no device worked.", "session_time less active_time."},
    {"stated_total_time", kGeneral, "s", "Time of the run as the maker's own tool states it in the file.", ""},
    {"session_event_count", kGeneral, "", "Events of all tracks; rows of tables without times are not among them.",
     "Number of events, those cut by the edges of the range included."},
    {"wait", kGeneral, "s",
     "Time in which an event is under way and only waits for something else: it is neither busy nor active. Waits of "
     "units that wait side by side add up.",
     ""},
    {"of peak", kGeneral, "share",
     "The floating point operations of the session, of what its devices could do at their peak while they are active: "
     "in the verdict as in a roofline of the whole session.",
     ""},
    {"devices", kGeneral, "",
     "Those of the session that work; a logical core that is made of physical ones counts in their place.", ""},
    {"bound", kGeneral, "",
     "What holds the session back most, as its verdict says; critical path and roofline say what they are mostly made "
     "of.",
     ""},
    {"<table>_busy_time", kGeneral, "s",
     "Time in which at least one event of the table was under way on the device, such as a kernel or a copy.",
     "Length of the union of its events, waits left out."},
    {"<table>_busy_share", kGeneral, "share", "Share of the session's span in which that was so.",
     "The busy time, of the span only, over span_time; in a range over its length."},
    {"<table>_event_count", kGeneral, "", "Events of the table on the device.", "Number of its events."},
    {"<table>_moved_bytes", kGeneral, "B", "Bytes that these events moved.",
     "Sum of the columns that hold moved bytes; an event cut by the range gives its share."},
    {"<table>_work_flops", kGeneral, "flop", "Floating point operations of these events.",
     "Sum of the columns that hold operations; an event cut by the range gives its share."},
    {"<pool>_peak_bytes", kGeneral, "B", "The most memory that was in use at once in a pool.",
     "The most that the source states as in use, where it does; else the highest sum of the allocations that are alive "
     "at the same time."},
};

}  // namespace

std::span<const FigureTerm> figure_terms() { return kTerms; }

namespace {

// As the vendor's own viewer shows them; other groups come between the last two.
constexpr std::array<std::string_view, 14> kGroups = {"overall_stats",
                                                      "summary",
                                                      "data_movement",
                                                      "software_data_movement",
                                                      "hardware_data_movement",
                                                      "tensor_engine",
                                                      "vector_engine",
                                                      "scalar_engine",
                                                      "sync_engine",
                                                      "gpsimd_engine",
                                                      "cc_engine",
                                                      "system",
                                                      "throttling_nc0",
                                                      "throttling_nc1"};

bool same_letters(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

// What the placeholders of a family stand for, in order of their places.
using Words = std::vector<std::pair<std::string_view, std::string_view>>;  // "<engine>" -> "tensor"

bool match(std::string_view pattern, std::string_view name, Words* words) {
  const std::size_t open = pattern.find('<');
  if (open == std::string_view::npos) return same_letters(pattern, name);
  if (name.size() <= open || !same_letters(pattern.substr(0, open), name.substr(0, open))) return false;
  const std::size_t close = pattern.find('>', open);
  const std::string_view rest = pattern.substr(close + 1);
  for (std::size_t length = 1; open + length <= name.size(); ++length) {
    if (!match(rest, name.substr(open + length), words)) continue;
    if (words != nullptr) words->emplace_back(pattern.substr(open, close + 1 - open), name.substr(open, length));
    return true;
  }
  return false;
}

}  // namespace

const FigureTerm* find_term(std::string_view metric) {
  const FigureTerm* family = nullptr;
  for (const FigureTerm& term : figure_terms()) {
    if (!match(term.name, metric, nullptr)) continue;
    if (term.name.find('<') == std::string_view::npos) return &term;
    if (family == nullptr) family = &term;
  }
  return family;
}

const FigureTerm* find_word(std::string_view word) {
  using Meaning = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Meaning, 7> kMeanings = {Meaning{"total", terms::kTotal},  Meaning{"work", terms::kWork},
                                                Meaning{"span", terms::kSpan},    Meaning{"active", terms::kActive},
                                                Meaning{"idle", terms::kIdle},    Meaning{"events", terms::kEvents},
                                                Meaning{"stated", terms::kStated}};
  if (const FigureTerm* term = find_term(word)) return term;
  const auto known =
      std::ranges::find_if(kMeanings, [&](const Meaning& each) { return same_letters(each.first, word); });
  return known == kMeanings.end() ? nullptr : find_term(known->second);
}

std::string metric_group(std::string_view metric) {
  const FigureTerm* term = find_term(metric);
  if (term == nullptr) return "overall_stats";
  std::string group(term->group);
  const std::size_t open = group.find('<');
  if (open == std::string::npos) return group;
  const std::string placeholder = group.substr(open, group.find('>', open) + 1 - open);
  Words words;
  if (!match(term->name, metric, &words)) return group;
  for (const auto& [name, word] : words) {
    if (name == placeholder) return group.replace(open, placeholder.size(), word);
  }
  return group;
}

std::size_t rank_of_group(std::string_view group) noexcept {
  const auto place = std::find(kGroups.begin(), kGroups.end(), group);
  const auto rank = static_cast<std::size_t>(place - kGroups.begin());
  return group == "general" ? rank + 1 : rank;
}

}  // namespace accelscope::analysis
