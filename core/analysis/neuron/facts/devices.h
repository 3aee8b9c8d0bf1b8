// What Trainium chips can do, by the maker's public documents: one table, a row for each figure with where it is
// stated. Profiles state some of it of their own device, and that goes first; peaks, rooflines and the simulator read
// the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace accelscope::analysis::neuron {

enum class Chip : std::uint8_t { trn1, trn2, trn3 };  // inf2 has the cores of trn1

enum class ChipFigure : std::uint8_t {
  // FLOP/s of a core, dense; `sparse` at the highest ratio of types of two bytes or one
  bf16,
  fp16,
  tf32,
  fp8,
  mxfp8,
  fp32,
  sparse,
  // Hz; a core counts its cycles by core_clock
  tensor_clock,
  vector_clock,
  scalar_clock,
  gpsimd_clock,
  core_clock,
  // bytes of a core
  sbuf_bytes,
  psum_bytes,
  // of a chip: physical cores, bytes, B/s, and B/s of one DMA engine
  cores,
  hbm_bytes,
  hbm_rate,
  dma_engines,
  dma_engine_rate,
  dma_rate,
  link_rate,
  cc_cores,
};

struct ChipFigureRow {
  Chip chip;
  ChipFigure figure;
  double value;
  std::string_view source;
};

namespace facts {

inline constexpr double kTera = 1e12, kGiga = 1e9, kMiB = 1 << 20, kGiB = 1 << 30;

inline constexpr std::string_view kTrn1 = "Trainium Architecture", kTrn2 = "Trainium2 Architecture",
                                  kTrn3 = "Trainium3 Architecture", kCore2 = "NeuronCore-v2 Architecture",
                                  kCore3 = "NeuronCore-v3 Architecture", kCore4 = "NeuronCore-v4 Architecture",
                                  kNki1 = "Trainium/Inferentia2 Architecture Guide for NKI",
                                  kNki2 = "Trainium2 Architecture Guide for NKI",
                                  kNki3 = "Trainium3 Architecture Guide for NKI", kDma = "NKI DMA Overview",
                                  kProfiles = "metadata of profiles";

// FLOP/s of a core: its share of the chip's peak in TFLOP/s, which is stated with more digits than a core's own.
[[nodiscard]] constexpr double share(double chip_teraflops, int cores) { return chip_teraflops * kTera / cores; }

inline constexpr std::array kRows = std::to_array<ChipFigureRow>({
    {Chip::trn1, ChipFigure::cores, 2, kTrn1},
    {Chip::trn1, ChipFigure::bf16, share(190, 2), kTrn1},
    {Chip::trn1, ChipFigure::fp16, share(190, 2), kTrn1},
    {Chip::trn1, ChipFigure::tf32, share(190, 2), kTrn1},
    {Chip::trn1, ChipFigure::fp8, share(190, 2), kTrn1},
    {Chip::trn1, ChipFigure::fp32, share(47.5, 2), kTrn1},
    {Chip::trn1, ChipFigure::tensor_clock, 2.8 * kGiga, kNki1},
    {Chip::trn1, ChipFigure::vector_clock, 1.12 * kGiga, kNki1},
    {Chip::trn1, ChipFigure::scalar_clock, 1.4 * kGiga, kNki1},
    {Chip::trn1, ChipFigure::gpsimd_clock, 1.4 * kGiga, kNki1},
    {Chip::trn1, ChipFigure::core_clock, 1.4 * kGiga, kProfiles},
    {Chip::trn1, ChipFigure::hbm_bytes, 32 * kGiB, kTrn1},
    {Chip::trn1, ChipFigure::hbm_rate, 820 * kGiga, kTrn1},
    {Chip::trn1, ChipFigure::dma_engines, 32, kNki1},
    {Chip::trn1, ChipFigure::dma_engine_rate, 27.2 * kGiga, kDma},
    {Chip::trn1, ChipFigure::dma_rate, 1 * kTera, kTrn1},
    {Chip::trn1, ChipFigure::link_rate, 384 * kGiga, kTrn2},
    {Chip::trn1, ChipFigure::sbuf_bytes, 24 * kMiB, kCore2},
    {Chip::trn1, ChipFigure::psum_bytes, 2 * kMiB, kCore2},
    {Chip::trn1, ChipFigure::cc_cores, 6, kTrn2},

    {Chip::trn2, ChipFigure::cores, 8, kTrn2},
    {Chip::trn2, ChipFigure::bf16, share(667, 8), kTrn2},
    {Chip::trn2, ChipFigure::fp16, share(667, 8), kTrn2},
    {Chip::trn2, ChipFigure::tf32, share(667, 8), kTrn2},
    {Chip::trn2, ChipFigure::fp8, share(1299, 8), kTrn2},
    {Chip::trn2, ChipFigure::fp32, share(181, 8), kTrn2},
    {Chip::trn2, ChipFigure::sparse, share(2563, 8), kTrn2},
    {Chip::trn2, ChipFigure::tensor_clock, 2.4 * kGiga, kNki2},
    {Chip::trn2, ChipFigure::vector_clock, 0.96 * kGiga, kNki2},
    {Chip::trn2, ChipFigure::scalar_clock, 1.2 * kGiga, kNki2},
    {Chip::trn2, ChipFigure::gpsimd_clock, 1.2 * kGiga, kNki2},
    {Chip::trn2, ChipFigure::core_clock, 1.2 * kGiga, kProfiles},
    {Chip::trn2, ChipFigure::hbm_bytes, 96 * kGiB, kTrn2},
    {Chip::trn2, ChipFigure::hbm_rate, 2.9 * kTera, kTrn2},
    {Chip::trn2, ChipFigure::dma_engines, 128, kNki2},
    {Chip::trn2, ChipFigure::dma_engine_rate, 27.2 * kGiga, kDma},
    {Chip::trn2, ChipFigure::dma_rate, 3.5 * kTera, kTrn2},
    {Chip::trn2, ChipFigure::link_rate, 1.28 * kTera, kTrn2},
    {Chip::trn2, ChipFigure::sbuf_bytes, 28 * kMiB, kCore3},
    {Chip::trn2, ChipFigure::psum_bytes, 2 * kMiB, kNki2},
    {Chip::trn2, ChipFigure::cc_cores, 20, kTrn2},

    {Chip::trn3, ChipFigure::cores, 8, kTrn3},
    {Chip::trn3, ChipFigure::bf16, share(671, 8), kTrn3},
    {Chip::trn3, ChipFigure::fp16, share(671, 8), kTrn3},
    {Chip::trn3, ChipFigure::tf32, share(671, 8), kTrn3},
    {Chip::trn3, ChipFigure::mxfp8, share(2517, 8), kTrn3},
    {Chip::trn3, ChipFigure::fp32, share(183, 8), kTrn3},
    {Chip::trn3, ChipFigure::sparse, share(2517, 8), kTrn3},
    {Chip::trn3, ChipFigure::tensor_clock, 2.4 * kGiga, kNki3},
    {Chip::trn3, ChipFigure::vector_clock, 1.2 * kGiga, kNki3},
    {Chip::trn3, ChipFigure::scalar_clock, 1.2 * kGiga, kNki3},
    {Chip::trn3, ChipFigure::gpsimd_clock, 1.2 * kGiga, kNki3},
    {Chip::trn3, ChipFigure::core_clock, 1.2 * kGiga, kNki3},
    {Chip::trn3, ChipFigure::hbm_bytes, 144 * kGiB, kTrn3},
    {Chip::trn3, ChipFigure::hbm_rate, 4.9 * kTera, kTrn3},  // 4.7 in the guide for NKI
    {Chip::trn3, ChipFigure::dma_engines, 128, kNki3},
    {Chip::trn3, ChipFigure::dma_engine_rate, 38.4 * kGiga, kDma},
    {Chip::trn3, ChipFigure::dma_rate, 4.9 * kTera, kTrn3},
    {Chip::trn3, ChipFigure::link_rate, 2.56 * kTera, kTrn3},
    {Chip::trn3, ChipFigure::sbuf_bytes, 32 * kMiB, kCore4},
    {Chip::trn3, ChipFigure::psum_bytes, 2 * kMiB, kNki3},
    {Chip::trn3, ChipFigure::cc_cores, 16, kTrn3},  // 20 in the guide for NKI
});

}  // namespace facts

[[nodiscard]] inline std::span<const ChipFigureRow> chip_figures() noexcept { return facts::kRows; }

// Null: the documents do not state it.
[[nodiscard]] inline const ChipFigureRow* find_chip_figure(Chip chip, ChipFigure figure) noexcept {
  const auto* const found = std::ranges::find_if(
      facts::kRows, [&](const ChipFigureRow& row) { return row.chip == chip && row.figure == figure; });
  return found == facts::kRows.end() ? nullptr : found;
}

// 0 where the documents do not state it.
[[nodiscard]] inline double chip_figure(Chip chip, ChipFigure figure) noexcept {
  const ChipFigureRow* row = find_chip_figure(chip, figure);
  return row == nullptr ? 0 : row->value;
}

[[nodiscard]] inline std::string_view chip_name(Chip chip) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"trn1", "trn2", "trn3"};
  return kNames[static_cast<std::size_t>(chip)];
}

// Of an instance's type, "trn2.48xlarge", "trn2u.48xlarge", "inf2.xlarge", or a chip's name.
[[nodiscard]] inline std::optional<Chip> chip_of_instance(std::string_view instance_type) noexcept {
  constexpr std::array kFamilies = {
      std::pair(std::string_view("trn1"), Chip::trn1), std::pair(std::string_view("inf2"), Chip::trn1),
      std::pair(std::string_view("trn2"), Chip::trn2), std::pair(std::string_view("trn3"), Chip::trn3)};
  for (const auto& [family, chip] : kFamilies) {
    if (!instance_type.starts_with(family)) continue;
    const std::string_view rest = instance_type.substr(family.size());
    if (rest.empty() || rest.front() < '0' || rest.front() > '9') return chip;
  }
  return std::nullopt;
}

// How many physical cores can be one logical core. SDK 2.33 offers 1 and 2; profiles that state 4 are read as such.
[[nodiscard]] inline std::span<const int> logical_core_sizes(Chip chip) noexcept {
  static constexpr std::array kSizes = {1, 2, 4};
  return std::span(kSizes).first(chip == Chip::trn1 ? 1 : kSizes.size());
}

}  // namespace accelscope::analysis::neuron
