// When programs were compiled, by what compilers printed, what calls are named and how long recurring calls took; and
// what every call of a recurring function cost. A sentence first, then three tables: by function, by call, and the
// compilations and cache hits; the calls of the chosen function beside them as bars.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/listings/compilations.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/panels/scope.h"
#include "core/analysis/compilation/compilations.h"

namespace accelscope::app {

// The calls of one function as stacked bars, in their order: host, compile and dispatch on top of each other, the
// kernels beside them. Where there are more calls than there is room, the longest of neighbours stands for them.

class CallBars {
 public:
  // `rows` are of call_rows(), of one function and in order. A click selects the call, a double click goes there.
  void draw(const PanelContext& context, render::Rect area, const Compilations& all, const std::vector<CallRow>& rows,
            const CallFunctionRow& function);

 private:
  // Which calls stand where; made anew when the calls or the room change.
  struct Slots {
    const std::vector<CallRow>* of = nullptr;
    std::size_t first_row = 0, count = 0;
    std::vector<std::size_t> shown;  // rows
    std::int64_t most_ns = 1;
  };
  void place(const std::vector<CallRow>& rows, const CallFunctionRow& function, std::size_t room);
  void touch(const PanelContext& context, const render::Rect& plot, float slot, const Compilations& all,
             const std::vector<CallRow>& rows) const;

  Slots slots_;
};

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
