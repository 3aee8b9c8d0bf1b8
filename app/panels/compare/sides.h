// Two sessions set against each other by a worker: for the panel, and for the verdict above both timelines.
#pragma once

#include <memory>
#include <tuple>

#include "app/session/analysis.h"
#include "app/session/tab.h"
#include "core/analysis/comparison/comparison.h"
#include "core/analysis/comparison/divergence.h"
#include "render/base/ui.h"

namespace accelscope::app {

struct CompareQuestion {
  std::shared_ptr<const Store> other;  // than the analysis' own session
  bool other_grows = false;
  bool other_is_base = false;           // A, what the analysis' own session, B, is set against
  std::string base_title, other_title;  // of A and B
  std::string kind;                     // "metric", "line" ...
  bool operator==(const CompareQuestion& b) const {
    return std::tie(other, other_is_base, base_title, other_title, kind) ==
           std::tie(b.other, b.other_is_base, b.base_title, b.other_title, b.kind);
  }
  [[nodiscard]] SessionAnalysis::Renewal renewal() const {
    return {.beside = {other->version(), other_grows}, .tells_itself = true};
  }
};
struct ComparedSides {
  Comparison comparison;
  Listing listing;
};
using CompareRetained = RetainedAnswer<ComparedSides, CompareQuestion>;

// A and B as they are asked, of the analysis' own session and the other.
struct AskedSides {
  QueryContext base, other;
};
[[nodiscard]] AskedSides asked_sides(const QueryContext& own, const CompareQuestion& question);

// What checksums say of the results of both.
using ResultsRetained = RetainedAnswer<Divergence, CompareQuestion>;
// Null until it is known; where not both have checksums it compares nothing.
[[nodiscard]] std::shared_ptr<const Divergence> ask_results(SessionAnalysis& own, ResultsRetained& retained,
                                                            CompareQuestion question);
[[nodiscard]] render::Colour colour_of_results(const Divergence& divergence);

// Null until it is known.
[[nodiscard]] std::shared_ptr<const ComparedSides> ask_compared(SessionAnalysis& own, CompareRetained& retained,
                                                                const CompareQuestion& question);
// Selects an event of A and one of B, each where its session is; kNoEvent: it has none.
void select_on_both(SessionTab& tab, const CompareQuestion& question, EventId base, EventId other);
// "1.33× faster   393.2 µs to 295.1 µs": what is left of the line comes back.
void draw_compared_verdict(render::Ui& ui, render::Rect& line, const Comparison& comparison);
// What goes with it: "HBM read: 65.0 MiB to 17.0 MiB (0.26×)", as many as given.
[[nodiscard]] std::string compared_reasons(const Comparison& comparison, std::size_t most);

}  // namespace accelscope::app
