#include "core/names/table_titles.h"

#include <algorithm>
#include <array>

namespace accelscope {
namespace {

struct Title {
  std::string_view table;
  std::string_view title;
};
constexpr std::array<Title, 56> kTitles = {{{"instruction", "Instruction"},
                                            {"dma", "DMA packet"},
                                            {"dma_transfer", "DMA transfer"},
                                            {"semaphore_update", "Semaphore"},
                                            {"cc_op", "Collective operation"},
                                            {"cc_instruction", "Collective step"},
                                            {"cc_stream", "Collective stream"},
                                            {"pending_dma", "Pending DMA"},
                                            {"dma_throughput", "DMA throughput"},
                                            {"hbm_throughput", "HBM throughput"},
                                            {"sbuf_usage", "SBUF usage"},
                                            {"psum_usage", "PSUM usage"},
                                            {"pe_utilization", "PE utilisation"},
                                            {"throttle", "Throttling"},
                                            {"active_time", "Active time"},
                                            {"layer_summary", "Layer"},
                                            {"neff_node", "Tensor of the program"},
                                            {"dma_queues_info", "DMA queue"},
                                            {"nc_mem_usage", "Device memory"},
                                            {"neff_header", "Program"},
                                            {"model_info", "Model"},
                                            {"memory_event", "Memory block"},
                                            {"core_barrier", "Barrier between cores"},
                                            {"trace_event", "Host call"},
                                            {"host_memory", "Host memory"},
                                            {"cpu_util", "CPU utilisation"},
                                            {"kernel", "GPU kernel"},
                                            {"memcpy", "Copy"},
                                            {"memset", "Memory fill"},
                                            {"runtime_call", "Driver call"},
                                            {"cpu_op", "Operator"},
                                            {"user_annotation", "Annotation"},
                                            {"gpu_user_annotation", "Annotation on the GPU"},
                                            {"python_function", "Python function"},
                                            {"overhead", "Profiler overhead"},
                                            {"cuda_sync", "Synchronisation"},
                                            {"cuda_graph", "CUDA graph"},
                                            {"cuda_event", "CUDA event"},
                                            {"nvtx", "Range of the program"},
                                            {"osrt_call", "System call"},
                                            {"thread_state", "Thread state"},
                                            {"cpu_sample", "CPU sample"},
                                            {"page_fault", "Page fault"},
                                            {"memory_pool", "Memory pool"},
                                            {"diagnostic", "Profiler message"},
                                            {"memory", "Allocation"},
                                            {"collective_comm", "Collective operation"},
                                            {"mtia_ccp_events", "MTIA event"},
                                            {"hpu_op", "HPU operator"},
                                            {"cuda_profiler_range", "Profiler range"},
                                            {"zone", "Zone"},
                                            {"zone_total", "Zone total"},
                                            {"ts_data", "Data marker"},
                                            {"ts_event", "Event marker"},
                                            {"perf_counter", "Performance counter"},
                                            {"run", "Run"}}};

}  // namespace

std::string table_title(std::string_view table) {
  const auto known =
      std::find_if(kTitles.begin(), kTitles.end(), [table](const Title& each) { return each.table == table; });
  if (known != kTitles.end()) return std::string(known->title);
  std::string title(table);
  std::replace(title.begin(), title.end(), '_', ' ');
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

}  // namespace accelscope
