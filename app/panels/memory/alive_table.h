// The right part of the memory panel: what is alive at an instant, by tensor, as a bar and as a table whose tensors
// open to their allocations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/content/memory/model.h"
#include "app/panels/context.h"
#include "core/base/worker_pool.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class AliveTable {
 public:
  explicit AliveTable(WorkerPool& pool) : pool_(pool) {}
  struct Moment {
    std::shared_ptr<const MemoryUsage> usage;
    std::uint32_t pool = 0;
    std::int64_t ns = 0;
    std::uint64_t min_bytes = 0;
    PassingEvents passing;
    bool operator==(const Moment&) const = default;
  };

  // The event of an allocation that was clicked; it is selected. Where there is little height, the head and the bar are
  // left to the table.
  std::optional<EventId> draw(const PanelContext& context, const Moment& moment, const char* title, render::Rect area);
  void fold_all() {
    expanded_.clear();
    unfolded_.clear();
  }
  void take_answer();  // also while it is out of sight
  [[nodiscard]] bool pending() const noexcept { return task_.valid(); }

 private:
  struct Row {
    std::size_t tensor = 0;                   // index into Content::tensors
    std::optional<std::uint32_t> allocation;  // none: the tensor's own row
    std::size_t hidden = 0;                   // > 0: a row that says how many more there are
  };
  struct Wish {
    Moment moment;
    AliveColumn column = AliveColumn::bytes;
    bool descending = true;
    std::set<std::uint32_t> expanded;  // tensors that show their allocations
    std::set<std::uint32_t> unfolded;  // tensors that show all of them
    bool operator==(const Wish&) const = default;
  };
  struct Content {
    Wish wish;  // what it was computed for
    std::vector<AliveTensor> tensors;
    std::vector<Row> rows;
    std::uint64_t bytes = 0;
    std::size_t allocations = 0;
  };
  static std::vector<Row> collect_rows(const Wish& wish, const std::vector<AliveTensor>& tensors);
  void refresh(const Moment& moment);
  void draw_head(render::Ui& ui, const char* title, render::Rect row) const;
  void draw_bar(render::Ui& ui, render::Rect bar) const;
  void choose_columns(const render::Ui& ui, float width);
  void toggle(const Row& row);
  [[nodiscard]] render::TableCell cell(const render::Ui& ui, const Row& row, std::size_t column) const;
  [[nodiscard]] render::Pixel colour_of(const render::Ui& ui, std::uint32_t tensor) const;
  [[nodiscard]] const MemoryUsage& usage() const noexcept { return *content_->wish.moment.usage; }

  WorkerPool& pool_;
  std::shared_ptr<const Content> content_;  // null before the first answer
  std::shared_ptr<const Content> retired_;  // the one before it
  Task<std::shared_ptr<const Content>> task_;
  std::set<std::uint32_t> expanded_, unfolded_;  // as wanted
  render::TableState table_{.sort_column = 2};
  std::vector<bool> narrow_hidden_;  // columns that this table hid by itself
};

}  // namespace accelscope::app
