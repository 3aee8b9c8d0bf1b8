// Details of the selected event: its groups of fields in columns, operands taken apart, what it depends on and what
// depends on it. The content comes from app/content/event_details; this file only draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/event_details.h"
#include "app/panels/context.h"
#include "app/panels/details/dependency_column.h"

namespace accelscope::app {

class DetailsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  void explain_operands() noexcept { open_operands_ = true; }  // pins the card that takes them apart, if there are any

 private:
  void refresh(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect row);
  void draw_body(const PanelContext& context, const render::Rect& area);
  void draw_group(const PanelContext& context, const DetailGroup& group, render::Rect area);
  void draw_field(const PanelContext& context, const DetailField& field, const render::Rect& row, float label_width,
                  const std::string& name);
  void follow(const PanelContext& context, const DetailField& field);
  void draw_operands(const PanelContext& context, const render::Rect& anchor);
  void explain(const PanelContext& context, const DetailField& field, const render::Rect& row) const;

  std::optional<EventId> wanted_;  // selected, and since when
  double wanted_since_s_ = 0;
  std::optional<EventId> shown_;
  std::optional<EventDetails> details_;
  std::string problem_;
  DependencyColumn neighbours_;
  bool open_operands_ = false;
};

}  // namespace accelscope::app
