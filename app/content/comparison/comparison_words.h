// A comparison in words: the verdict of one configuration against the base, what goes with it, and how rows were
// matched; the same on the command line, in the viewer and in reports.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/comparison/comparison.h"
#include "core/analysis/comparison/divergence.h"

namespace accelscope::app::content {

// What a difference is to the user, for its colour and sign.
enum class Judgement : std::uint8_t { unknown, same, better, worse, other };

struct ComparisonVerdict {
  Judgement judgement = Judgement::unknown;
  std::string headline;  // "1.33× faster", "no difference beyond noise"
  std::string detail;    // "393.2 µs to 295.1 µs"
  std::string beside;    // which time that is, and the others: "total time as stated; first to last work 1.98× faster"
  std::string basis;     // "5 captures each, ratio 0.74 to 0.76 at 95 %"; why nothing can be said

  [[nodiscard]] std::string text() const;  // all of it in one line
};

// `other`: of Comparison::configurations, from 1 on.
[[nodiscard]] ComparisonVerdict comparison_verdict(const analysis::Comparison& comparison, std::size_t other);

// What the checksums of a capture of each side say of the results.
struct CheckedResults {
  std::size_t pair = 0, configuration = 1;  // of Comparison
  analysis::Divergence found;
};
// Said before anything else: "The results differ: 3 of 960 events with checksums; first MATMUL on Tensor ...".
[[nodiscard]] std::string results_text(const analysis::Divergence& divergence);
[[nodiscard]] std::string_view results_headline(const analysis::Divergence& divergence) noexcept;  // "Results differ"
[[nodiscard]] Judgement results_judgement(const analysis::Divergence& divergence) noexcept;
// "fused against base, b=1, s=128: The results ..."; the sides only where there are several.
[[nodiscard]] std::string results_text(const analysis::Comparison& comparison, const CheckedResults& results);

// What of it is judged how, and by what: pairs, noise of each side, tests, versions; a line each.
[[nodiscard]] std::vector<std::string> method_lines(const analysis::Comparison& comparison,
                                                    const std::vector<CheckedResults>& results,
                                                    std::string_view program_version);

// What changed most of the figures that are better or worse: "HBM read: 65.0 MiB to 17.0 MiB (0.26×)". Those
// that are told; without a sample those that differ by 5 % and more.
struct ComparisonReason {
  const analysis::ComparedFigure* figure = nullptr;
  Judgement judgement = Judgement::unknown;
  std::string text;
};
[[nodiscard]] std::vector<ComparisonReason> comparison_reasons(const analysis::Comparison& comparison,
                                                               std::size_t other, std::size_t most = 6);

[[nodiscard]] Judgement judgement_of(analysis::Better better, const analysis::Change& change) noexcept;

// What the figure of a comparison is called: "HBM read (nc1)".
[[nodiscard]] std::string compared_title(std::string_view name);
// "0.75×", "0.998×"; "new" and "gone" where one side has none.
[[nodiscard]] std::string ratio_text(const analysis::Change& change);
// "0.74 to 0.76"; "" without an interval
[[nodiscard]] std::string interval_text(const analysis::Change& change);
// "faster", "slower", "less", "more", "same", "noise unknown" where one capture a side does not tell
[[nodiscard]] std::string_view reported_text(const analysis::Change& change, analysis::Better better,
                                             bool is_time) noexcept;
// "-98.1 µs", "+7.9 pp"
[[nodiscard]] std::string signed_figure(double value, std::string_view unit);
// "b=1, s=128" of CapturePairs::names; of their number "all 3 configs".
[[nodiscard]] std::string pair_title(const analysis::Comparison& comparison, std::size_t pair);
// "fused" of "kernel=fused", where all are of that tag.
[[nodiscard]] std::string side_title(const analysis::Comparison& comparison, std::size_t configuration);
[[nodiscard]] std::string configuration_text(const analysis::Comparison& comparison,
                                             std::size_t g);  // "mlp v2 (3 captures)"
// "Side against side", "Kernel against kernel, by config": the table of what is set against what.
[[nodiscard]] std::string paired_title(const analysis::Comparison& comparison);

// Figures of that table that have short names; any other may be a column too.
struct PairedColumn {
  std::string_view figure;  // "": the headline, which comes first anyway
  std::string_view alias;   // as it may be typed
  std::string_view title;
  bool usual = false;  // where none are asked for
};
inline constexpr PairedColumn kPairedColumns[] = {{"", "total", "Total"},
                                                  {"tensor_engine_active_time", "tensor", "Tensor", true},
                                                  {"vector_engine_active_time", "vector", "Vector"},
                                                  {"scalar_engine_active_time", "scalar", "Scalar"},
                                                  {"gpsimd_engine_active_time", "gpsimd", "GpSimd"},
                                                  {"dma_active_time", "dma", "DMA", true},
                                                  {"mfu_estimated_percent", "mfu", "MFU"},
                                                  {"kernel_busy_time", "kernels", "Kernels", true},
                                                  {"memcpy_busy_time", "copies", "Copies", true}};
// "Total", "Tensor", "DMA"; others as everywhere.
[[nodiscard]] std::string column_title(const analysis::Comparison& comparison, std::string_view name);
// "12 rows by name, 3 by names without their numbers; base alone has 2 (1.2 µs), resident 1 (300 ns)"
[[nodiscard]] std::string matching_text(const analysis::Comparison& comparison, const analysis::ComparedCosts& costs);

}  // namespace accelscope::app::content
