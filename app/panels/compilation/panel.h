// When programs were compiled, by what compilers printed, what calls are named and how long recurring calls took; and
// what every call of a recurring function cost. A sentence first, then three tables: by function, by call, and the
// compilations and cache hits; the calls of the chosen function beside them as bars.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/listings/compilations.h"
#include "app/panels/answer_table.h"
#include "app/panels/compilation/call_bars.h"
#include "app/panels/scope.h"

namespace accelscope::app {

class CompilationPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  // What is told stays untaken while there is nothing to tell of.
  [[nodiscard]] bool pending() const override {
    return found_.task.valid() || (told_.task.valid() && !(waits_ && told_.task.ready()));
  }

 private:
  enum class Page : std::uint8_t { functions, calls, compilations };
  // What is told of a range.
  struct RangeQuestion {
    std::shared_ptr<const Compilations> of;
    TimeRange range;
    EventFilter within;
    bool operator==(const RangeQuestion&) const = default;
  };
  struct Told {
    std::shared_ptr<const Compilations> of;
    std::vector<CallRow> rows;
    std::vector<CallFunctionRow> functions;
    std::shared_ptr<const Listing> by_function, by_call, compilations;
    CompileSummary summary;
    std::int64_t range_ns = 0;
  };

  void ask(const PanelContext& context);
  [[nodiscard]] std::string wrong(const PanelContext& context) const;
  void draw_head(const PanelContext& context, render::Rect head);
  void draw_sentence(const PanelContext& context, render::Rect row) const;
  void draw_table(const PanelContext& context, render::Rect area);
  void draw_calls_of(const PanelContext& context, render::Rect area);
  [[nodiscard]] const CallFunctionRow* chosen() const;
  [[nodiscard]] bool is_stale() const { return waits_ || found_.stale() || told_.stale(); }

  PanelScope scope_ = Scope::session;
  Page page_ = Page::functions;
  bool page_chosen_ = false;  // by the user
  SessionAnalysis::Kept<Compilations, SessionAnalysis::Filtered<SessionAnalysis::NoKey>> found_;
  SessionAnalysis::Kept<Told, RangeQuestion> told_;
  std::shared_ptr<const Told> shown_;
  bool waits_ = false;    // for what is to be told of
  std::string function_;  // whose calls are drawn; "": of the first row
  AnswerTable functions_, calls_, compilations_;
  CallBars bars_;
};

}  // namespace accelscope::app
