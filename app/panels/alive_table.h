// The right part of the memory panel: what is alive at an instant, by tensor, as a bar and as a table whose tensors
// open to their allocations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/memory_model.h"
#include "app/panels/panel_context.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class AliveTable {
 public:
  struct Moment {
    std::shared_ptr<const MemoryUsage> usage;
    std::uint32_t pool = 0;
    std::int64_t ns = 0;
    std::uint64_t min_bytes = 0;
    bool operator==(const Moment&) const = default;
  };

  // The event of an allocation that was clicked; it is selected.
  std::optional<EventId> draw(const PanelContext& context, const Moment& moment, const char* title, render::Rect area);
  void fold_all() { expanded_.clear(); }

 private:
  struct Row {
    std::size_t tensor = 0;                   // index into tensors_
    std::optional<std::uint32_t> allocation;  // none: the tensor's own row
    std::size_t hidden = 0;                   // > 0: a row that says how many more there are
  };
  void refresh(const Moment& moment);
  void draw_head(render::Ui& ui, const char* title, render::Rect row);
  void draw_bar(render::Ui& ui, render::Rect bar);
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] render::TableCell cell(const render::Ui& ui, const Row& row, std::size_t column) const;
  [[nodiscard]] render::Pixel colour_of(const render::Ui& ui, std::uint32_t tensor) const;

  Moment moment_;  // what tensors_ was computed for
  std::vector<AliveTensor> tensors_;
  std::uint64_t bytes_ = 0;
  std::size_t allocations_ = 0;
  std::set<std::uint32_t> expanded_;
  render::TableState table_;
};

}  // namespace accelscope::app
