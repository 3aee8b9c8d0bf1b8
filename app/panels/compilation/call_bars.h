// The calls of one function as stacked bars, in their order: host, compile and dispatch on top of each other, the
// kernels beside them. Where there are more calls than there is room, the longest of neighbours stands for them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "app/panels/context.h"
#include "core/analysis/compilation/compilations.h"

namespace accelscope::app {

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

}  // namespace accelscope::app
