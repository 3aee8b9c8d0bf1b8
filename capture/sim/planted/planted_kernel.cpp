#include "capture/sim/planted/planted_kernel.h"

#include <array>
#include <utility>

#include "capture/sim/output/rank_run.h"
#include "capture/sim/output/session_run.h"
#include "capture/sim/planted/draw.h"
#include "capture/sim/planted/tiled_kernel.h"

namespace accelscope::capture::sim {
namespace {

struct DefectRow {
  std::string_view name;
  Site site;
};
constexpr std::array<DefectRow, kDefectCount> kDefects = {{{"none", Site::none},
                                                           {"reload", Site::load_w1},
                                                           {"small DMAs", Site::load_w1},
                                                           {"serial engines", Site::up_matmul},
                                                           {"single buffer", Site::load_w1},
                                                           {"narrow tile", Site::up_matmul},
                                                           {"spill", Site::reload_part},
                                                           {"throttle", Site::none},
                                                           {"transposes", Site::transpose_a},
                                                           {"late collective", Site::reduce_y},
                                                           {"straggling rank", Site::none},
                                                           {"launch gap", Site::none}}};

// Multiplications take longer than DMA, or the other way round.
void draw_shape(TiledShape& shape, Draw& draw, bool matrix_bound) {
  shape.blocks = draw(8, 14);
  shape.depth = draw(4, 6);
  shape.rows = matrix_bound ? draw(5, 7) : draw(1, 2);
  if (matrix_bound) shape.depth = draw(6, 8);
  shape.ring = 2 * shape.depth;
}

void draw_ranks(PlantedKernel& kernel, Draw& draw, bool mended) {
  SimulationOptions& options = kernel.options;
  options.detail = Detail::ranks;
  options.devices = static_cast<std::uint32_t>(draw(4, 8));
  options.kernels = static_cast<std::uint64_t>(draw(8, 20));
  options.faults.late_ns = draw(30'000, 120'000);
  const auto straggler = static_cast<std::uint32_t>(draw(0, static_cast<int>(options.devices) - 1));
  if (!mended) options.faults.straggler = straggler;
}

}  // namespace

std::string_view defect_name(Defect defect) noexcept { return kDefects[static_cast<std::size_t>(defect)].name; }

PlantedKernel plant_kernel(Defect defect, std::uint64_t seed, bool mended) {
  Draw draw(seed * kDefectCount + static_cast<std::uint64_t>(defect));
  PlantedKernel kernel;
  kernel.options.seed = seed;
  kernel.options.kernels = 1;
  if (defect == Defect::straggling_rank) {
    draw_ranks(kernel, draw, mended);
    return kernel;
  }
  TiledShape shape;
  const bool either = draw(0, 1) == 1;
  switch (defect) {
    case Defect::none:
    case Defect::launch_gap:
      draw_shape(shape, draw, either);
      if (defect == Defect::launch_gap) {
        kernel.options.kernels = static_cast<std::uint64_t>(draw(3, 5));
        const std::int64_t gap = draw(30'000, 90'000);
        if (!mended) kernel.plan.between_kernels_ns = gap;
      }
      break;
    case Defect::reload:
      draw_shape(shape, draw, false);
      shape.groups = draw(3, 6);
      shape.resident = mended;
      if (mended) shape.ring = shape.blocks * shape.depth;
      break;
    case Defect::small_dmas:
      draw_shape(shape, draw, false);
      shape.pieces = mended ? 2 : 16;  // packets of 512 bytes, and of 4 KiB
      break;
    case Defect::serial_engines:
      draw_shape(shape, draw, true);
      shape.depth = draw(4, 5);
      shape.ring = 2 * shape.depth;
      if (!mended) shape.banks = 1;
      break;
    case Defect::single_buffer:
      draw_shape(shape, draw, true);
      shape.rows = draw(4, 5);
      if (!mended) shape.ring = shape.depth;
      break;
    case Defect::narrow_tile:
      draw_shape(shape, draw, true);
      if (!mended) shape.columns = 64;
      break;
    case Defect::spill:
      draw_shape(shape, draw, false);
      shape.rows = 2;
      shape.depth = 4;
      shape.ring = 8;
      shape.spills = !mended;
      break;
    case Defect::throttle:
      draw_shape(shape, draw, true);
      if (!mended) {
        const std::int64_t length = draw(8'000, 14'000);
        kernel.plan.throttle = {.after_busy_ns = 2 * length, .length_ns = length, .k = 1, .n = 2};
      }
      break;
    case Defect::transposes:
      draw_shape(shape, draw, true);
      shape.transposes = !mended;
      break;
    case Defect::late_collective:
      draw_shape(shape, draw, true);
      kernel.options.devices = 2;
      shape.blocks = 2 * draw(5, 7);
      shape.collective = true;
      shape.collective_bytes = std::int64_t{draw(3, 6)} << 18;
      shape.late = !mended;
      break;
    case Defect::straggling_rank:
      break;
  }
  kernel.plan.program = build_tiled_kernel(shape);
  kernel.line =
      kernel.plan.program.sites[static_cast<std::size_t>(kDefects[static_cast<std::size_t>(defect)].site)].location;
  return kernel;
}

Result<void> simulate_planted(PlantedKernel kernel, EventSink& sink) {
  if (kernel.options.detail == Detail::ranks) return run_ranks(kernel.options, sink);
  return run_session(kernel.options, std::move(kernel.plan), sink);
}

}  // namespace accelscope::capture::sim
