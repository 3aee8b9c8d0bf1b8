// Two sessions set against each other by a worker: for the panel, and for the verdict above both timelines.
#pragma once

#include <memory>
#include <string>
#include <tuple>

#include "app/content/listings/base/listing.h"
#include "app/session/analysis.h"
#include "core/analysis/comparison/comparison.h"
#include "render/base/geometry.h"
#include "render/base/ui.h"

namespace accelscope::app {

struct CompareQuestion {
  std::shared_ptr<const Store> other;
  bool other_grows = false;
  std::string base_title, other_title;
  std::string kind;  // "metric", "line" ...
  bool operator==(const CompareQuestion& b) const {
    return std::tie(other, base_title, other_title, kind) == std::tie(b.other, b.base_title, b.other_title, b.kind);
  }
  [[nodiscard]] SessionAnalysis::Renewal renewal() const {
    return {.beside = {other->version(), other_grows}, .tells_itself = true};
  }
};
struct ComparedSides {
  Comparison comparison;
  Listing listing;
};
using CompareKept = SessionAnalysis::Kept<ComparedSides, CompareQuestion>;

// Null until it is known; the base is the analysis' own session.
[[nodiscard]] std::shared_ptr<const ComparedSides> ask_compared(SessionAnalysis& base, CompareKept& kept,
                                                                const CompareQuestion& question);
// "1.33× faster   393.2 µs to 295.1 µs": what is left of the line comes back.
void draw_compared_verdict(render::Ui& ui, render::Rect& line, const Comparison& comparison);
// What goes with it: "HBM read: 65.0 MiB to 17.0 MiB (0.26×)", as many as given.
[[nodiscard]] std::string compared_reasons(const Comparison& comparison, std::size_t most);

}  // namespace accelscope::app
