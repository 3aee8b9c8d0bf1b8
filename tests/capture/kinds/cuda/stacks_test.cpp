// From where a program launches, copies and allocates, when the user asks for it: --stacks.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

#include "capture/kinds/base/symbols.h"
#include "core/analysis/memory/usage.h"
#include "core/base/worker_pool.h"
#include "tests/capture/kinds/cuda/cuda_run.h"
#include "tests/support/files.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

constexpr int kSteps = 5;

[[nodiscard]] const CudaRun& with_stacks() {
  static const CudaRun run = run_cuda({"stacks", std::to_string(kSteps)}, {.options = {{"stacks", "on"}}});
  return run;
}

// The functions of the program in a stack up to main, without their namespace and arguments.
[[nodiscard]] std::vector<std::string> functions_of(const std::string& stack) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < stack.size();) {
    const std::size_t end = std::min(stack.find('\n', begin), stack.size());
    std::string line = stack.substr(begin, end - begin);
    begin = end + 1;
    if (!line.ends_with("(cuda_for_tests)")) continue;
    const std::size_t scope = line.starts_with("(anonymous namespace)::") ? 23 : 0;
    names.push_back(line.substr(scope, line.find('(', scope) - scope));
    names.back().erase(names.back().find_last_not_of(' ') + 1);
    if (names.back() == "main") break;
  }
  return names;
}

[[nodiscard]] bool is_above(const std::vector<std::string>& functions, std::initializer_list<const char*> innermost) {
  return functions.size() >= innermost.size() && std::equal(innermost.begin(), innermost.end(), functions.begin());
}

}  // namespace

TEST_CASE("with --stacks an allocation, a release and a launch each say from which functions they were called") {
  const CudaRun& run = with_stacks();
  CHECK(run.end.exit_code == 0);
  std::map<std::string, std::size_t> sites;
  for (const RecordedEvent& event : run.table("memory")) {
    const std::vector<std::string> functions = functions_of(run.text(event, "stack"));
    REQUIRE(functions.size() >= 3);
    CHECK(functions[0] == "call_allocate");
    CHECK(functions.back() == "main");
    ++sites[event.name + " in " + functions[1]];
  }
  CHECK(sites == std::map<std::string, std::size_t>{{"call_allocate in allocate_weights", 1},
                                                    {"call_allocate in allocate_activations", kSteps + 1},
                                                    {"release in play_stacks", kSteps}});
  std::set<std::string> stacks;
  for (const RecordedEvent& kernel : run.table("kernel")) {
    if (kernel.name == "of_the_driver") {
      CHECK(is_above(functions_of(run.text(kernel, "stack")), {"run_layer_of_driver", "play_stacks", "main"}));
    } else {
      CHECK(is_above(functions_of(run.text(kernel, "stack")), {"run_layer", "play_stacks", "main"}));
      stacks.insert(run.text(kernel, "stack"));
    }
  }
  CHECK(stacks.size() == 1);
  for (const RecordedEvent& call : run.table("runtime_call")) CHECK_FALSE(run.text(call, "stack").empty());
}

TEST_CASE("the profiler's own frames stand in no stack, and a call of the driver within one of the runtime has none") {
  const CudaRun& run = with_stacks();
  std::size_t launches = 0;
  for (const RecordedEvent& call : run.table("runtime_call")) {
    CHECK(run.text(call, "stack").find("libaccelscope_cuda") == std::string::npos);
    launches += call.name == "cudaLaunchKernel" ? 1U : 0U;
  }
  CHECK(launches == kSteps);
  CHECK(run.quality("bad_records") == nullptr);
}

TEST_CASE("memory in use is grouped by the stack that asked for it, as of a memory snapshot of PyTorch") {
  const CudaRun& run = with_stacks();
  const std::unique_ptr<Store> store = run.store();
  WorkerPool pool(1);
  TaskControl control;
  const auto usage = analysis::memory_usage({*store, store->snapshot(), pool, control});
  REQUIRE_MESSAGE(usage.ok(), usage.message());
  std::map<std::string, std::uint64_t> bytes;  // that are never released
  for (const analysis::Allocation& allocation : (*usage)->allocations) {
    if (allocation.end_ns) continue;
    bytes[functions_of((*usage)->stacks[allocation.stack]).at(1)] += allocation.bytes;
  }
  CHECK(bytes == std::map<std::string, std::uint64_t>{{"allocate_weights", std::uint64_t{3} << 30U},
                                                      {"allocate_activations", std::uint64_t{128} << 20U}});
}

TEST_CASE("without --stacks no table but that of calls has a stack, no call has one, and CUPTI stays free for others") {
  const CudaRun run = run_cuda({"stacks", "2"});
  REQUIRE_FALSE(run.table("kernel").empty());
  CHECK_FALSE(run.sink.schema_of(run.table("kernel").front()).find("stack").has_value());
  CHECK_FALSE(run.sink.schema_of(run.table("memory").front()).find("stack").has_value());
  for (const RecordedEvent& call : run.table("runtime_call")) CHECK(run.text(call, "stack").empty());
  CHECK(run.printed.find("place for callbacks is free") != std::string::npos);
  CHECK(with_stacks().printed.find("place for callbacks is taken") != std::string::npos);
}

TEST_CASE("functions are found in a program's own table of symbols, and a file that is none harms nobody") {
  const std::string program = accelscope::test::programs_folder() + "/cuda_for_tests";
  const kinds::ModuleSymbols symbols = kinds::ModuleSymbols::read(program);
  CHECK(symbols.at(0).empty());
  CHECK(kinds::ModuleSymbols::read("/nowhere").at(4096).empty());
  const test::TemporaryFolder folder;
  std::string bytes = test::read_file(program);
  for (const std::size_t place : {0U, 40U, 60U, 61U}) {  // the mark, where sections begin, how many there are
    std::string broken = bytes;
    broken[place] = static_cast<char>(broken[place] ^ 0x7F);
    test::write_file(folder.file("broken"), broken);
    CHECK(kinds::ModuleSymbols::read(folder.file("broken")).at(0).empty());
  }
  bytes.resize(bytes.size() / 2);
  test::write_file(folder.file("cut"), bytes);
  CHECK(kinds::ModuleSymbols::read(folder.file("cut")).at(4096).empty());
  CHECK(kinds::SymbolBook().function("/nowhere/libgone.so", 0x1235).empty());
}

}  // namespace accelscope::capture
