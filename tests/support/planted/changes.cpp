#include "tests/support/planted/changes.h"

#include <cmath>
#include <utility>

#include "capture/sim/kernel/program.h"
#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {
namespace {

bool takes_other_time(const KernelProgram& program, std::uint32_t index, const KernelChange& change) {
  const Operation& operation = program.operations[index];
  const bool transfer = operation.kind == OperationKind::transfer;
  switch (change.what) {
    case KernelChange::What::bandwidth:
      return transfer;
    case KernelChange::What::queue:
      return transfer && queue_text(operation.queue).name == change.name;
    case KernelChange::What::opcode:
      return !transfer && program.names[operation.name] == change.name;
    case KernelChange::What::layer:
      return operation.kind == OperationKind::instruction && program.layers[program.texts[index].layer] == change.name;
    case KernelChange::What::latency:
    case KernelChange::What::wait:
      return false;
  }
  return false;
}

void remove_waits(KernelProgram& program, const KernelChange& change) {
  for (Operation& operation : program.operations) {
    if (operation.kind == OperationKind::transfer || unit_name(operation.unit) != change.name) continue;
    for (std::uint32_t& need : operation.after) {
      const Operation& other = program.operations[need];
      const int semaphore =
          other.kind == OperationKind::transfer ? queue_text(other.queue).semaphore : unit_semaphore(other.unit);
      if (need != kNoOperation && semaphore == change.semaphore) need = kNoOperation;
    }
  }
}

void change_kernel(KernelProgram& program, const std::vector<KernelChange>& changes) {
  for (const KernelChange& change : changes) {
    if (change.what == KernelChange::What::wait) remove_waits(program, change);
    const double factor = change.what == KernelChange::What::bandwidth ? 1 / change.factor : change.factor;
    for (std::uint32_t index = 1; index < program.operations.size(); ++index) {
      if (!takes_other_time(program, index, change)) continue;
      std::uint32_t& duration = program.operations[index].duration_ns;
      duration = static_cast<std::uint32_t>(std::llround(duration * factor));
    }
  }
}

}  // namespace

void add_changes(SimulationOptions& options, const std::vector<KernelChange>& changes) {
  for (const KernelChange& change : changes) {
    if (change.what == KernelChange::What::latency) options.dma_latency_ns *= change.factor;
  }
  options.change = [earlier = std::move(options.change), changes](KernelProgram& program) {
    if (earlier) earlier(program);
    change_kernel(program, changes);
  };
}

}  // namespace accelscope::capture::sim
