// Sessions set against each other by a worker: for the panel, and for the verdicts above their timelines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/analysis.h"
#include "app/session/tab.h"
#include "core/analysis/comparison/comparison.h"
#include "core/analysis/comparison/divergence.h"
#include "core/listing/base/listing.h"
#include "render/base/ui.h"

namespace accelscope::app::panels {

struct ComparedSide {
  std::shared_ptr<const Store> store;
  std::string title;
  bool grows = false;
  bool operator==(const ComparedSide& b) const { return store == b.store && title == b.title; }
};
struct CompareQuestion {
  std::vector<ComparedSide> sides;  // A, the base, B, C ...; one of them is the session of the analysis that is asked
  std::string kind;                 // "metric", "line" ...
  bool operator==(const CompareQuestion& b) const { return sides == b.sides && kind == b.kind; }
  [[nodiscard]] session::SessionAnalysis::Renewal renewal(const Store& own) const;
  // The same of A and another one alone.
  [[nodiscard]] CompareQuestion pair(std::size_t other) const { return {{sides.front(), sides[other]}, kind}; }
};
// Of the sessions of a tab, A first; `grows` says of a store whether a capture goes on into it.
[[nodiscard]] CompareQuestion question_of(session::SessionTab& comparison, std::string kind,
                                          const std::function<bool(const Store&)>& grows);
// "A", "B", "C"
[[nodiscard]] inline std::string side_letter(std::size_t place) {
  return std::string(1, static_cast<char>('A' + static_cast<int>(place)));
}
[[nodiscard]] constexpr render::Colour side_colour(std::size_t place) noexcept {
  return place == 0 ? render::Colour::text3 : render::Colour::accent;
}
void draw_side_letter(render::Ui& ui, const render::Rect& box, std::size_t place);

struct ComparedSides {
  analysis::Comparison comparison;
  listing::Listing listing;
};
using CompareRetained = session::SessionAnalysis::Retained<ComparedSides, CompareQuestion>;

// The sides as they are asked, of the analysis' own session and the others.
[[nodiscard]] std::vector<QueryContext> asked_sides(const QueryContext& own, const CompareQuestion& question);

// What checksums say of the results of A and B.
using ResultsRetained = session::SessionAnalysis::Retained<analysis::Divergence, CompareQuestion>;
// Null until it is known; where not both have checksums it compares nothing. `question` is of two.
[[nodiscard]] std::shared_ptr<const analysis::Divergence> ask_results(session::SessionTab& own,
                                                                      ResultsRetained& retained,
                                                                      CompareQuestion question);
[[nodiscard]] render::Colour colour_of_results(const analysis::Divergence& divergence);

// Null until it is known.
[[nodiscard]] std::shared_ptr<const ComparedSides> ask_compared(session::SessionTab& own, CompareRetained& retained,
                                                                const CompareQuestion& question);
// Selects an event of A and one of B, each where its session is; kNoEvent: it has none.
void select_on_both(session::SessionTab& tab, const CompareQuestion& question, EventId base, EventId other);
// "1.33× faster   393.2 µs to 295.1 µs": what is left of the line comes back. `other`: its place, from 1 on.
void draw_compared_verdict(render::Ui& ui, render::Rect& line, const analysis::Comparison& comparison,
                           std::size_t other);
// What goes with it: "HBM read: 65.0 MiB to 17.0 MiB (0.26×)", as many as given.
[[nodiscard]] std::string compared_reasons(const analysis::Comparison& comparison, std::size_t other, std::size_t most);

}  // namespace accelscope::app::panels
