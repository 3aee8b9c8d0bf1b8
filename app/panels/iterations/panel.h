// What repeats on engines, streams and threads, found by itself or by name or marker: the loops in a table, the
// iterations of the chosen one as bars and its body folded over them beside it; or regions by name with the spread of
// their lengths, of which those clicked last stand beside each other. A click on a bar or on the row of an iteration
// goes there.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/listings/iterations/iterations.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/panels/scope.h"
#include "core/analysis/iterations/iterations.h"

namespace accelscope::app {

// The iterations of a loop as bars in their order, as high as they are long: warm-up and outliers stand out, the median
// of the steady state is a line. Where there are more than there is room, of neighbours the farthest from the median
// stands for them. A click opens the iteration: it is selected and the timeline goes to it.

class IterationBars {
 public:
  void draw(const PanelContext& context, render::Rect area, const FoldedLoop& loop);

 private:
  // Which iterations stand where; made anew when the loop or the room changes.
  struct Slots {
    const FoldedLoop* of = nullptr;
    std::size_t count = 0;
    std::vector<std::size_t> shown;  // iterations
    std::int64_t most_ns = 1;
  };
  void place(const FoldedLoop& loop, std::size_t room);
  void draw_bars(const PanelContext& context, const render::Rect& plot, float slot, const FoldedLoop& loop) const;
  void touch(const PanelContext& context, const render::Rect& plot, float slot, const FoldedLoop& loop) const;

  Slots slots_;
};

class IterationsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return page_ == Page::regions ? regions_.task.valid() : loops_.task.valid();
  }

 private:
  enum class Page : std::uint8_t { body, iterations, regions };
  struct FoundLoops {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const IterationList> list;
    std::string note;
    Listing loops;
  };
  struct FoundRegions {
    std::shared_ptr<const RegionList> list;
    Listing listing;  // a row each
  };

  void ask(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect head);
  void draw_loops(const PanelContext& context, render::Rect area);
  void draw_chosen(const PanelContext& context, render::Rect area);
  void draw_regions(const PanelContext& context, render::Rect area);
  void choose(std::size_t loop);
  void compare(const std::string& region);

  PanelScope scope_ = Scope::session;
  Page page_ = Page::body;
  std::string text_, by_;  // what is typed, and what was asked for: see IterationQuestion
  int region_kind_ = 0;
  std::vector<std::string> compared_;  // names of regions, as they were clicked
  SessionAnalysis::Kept<FoundLoops, SessionAnalysis::Filtered<std::string>> loops_;
  SessionAnalysis::Kept<FoundRegions, SessionAnalysis::Filtered<std::string>> regions_;
  std::shared_ptr<const FoundLoops> shown_;
  std::shared_ptr<const FoundRegions> shown_regions_;
  std::size_t chosen_ = 0;                          // of the loops
  std::shared_ptr<const Listing> body_, each_one_;  // of the chosen loop
  AnswerTable loop_rows_, body_rows_, iteration_rows_, region_rows_;
  IterationBars bars_;
};

}  // namespace accelscope::app
