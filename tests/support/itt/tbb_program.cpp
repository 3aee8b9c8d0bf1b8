// Work by oneTBB, whose library is instrumented as it comes: loops, a flow graph, an event of the program's own.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/profiling.h>

#include <atomic>
#include <cstdio>

int main() {
  namespace tbb = oneapi::tbb;
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  std::atomic<int> done{0};
  for (int i = 0; i < 5; ++i) {
    tbb::profiling::event::emit("a step of the program");
    tbb::parallel_for(0, 1000, [&](int) { ++done; });
  }
  tbb::flow::graph graph;
  tbb::flow::function_node<int, int> load(graph, tbb::flow::unlimited, [&](int i) {
    ++done;
    return i;
  });
  tbb::flow::function_node<int, int> store(graph, 1, [&](int i) {
    ++done;
    return i;
  });
  tbb::flow::make_edge(load, store);
  for (int i = 0; i < 20; ++i) load.try_put(i);
  graph.wait_for_all();
  std::printf("%d\n", done.load());
  return 0;
}
