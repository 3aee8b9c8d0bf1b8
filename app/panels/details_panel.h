// Details of the selected event: its groups of fields in columns, operands taken apart, what it depends on and what
// depends on it. The content comes from app/event_details; this file only draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/event_details.h"
#include "app/panels/panel_context.h"

namespace accelscope::app {

class DetailsPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  struct Neighbour {
    EventId event = kNoEvent;
    bool comes_first = false;  // a predecessor
    std::string name, track;
    std::uint8_t palette_slot = 0;
    std::int64_t distance_ns = 0;  // from its end to our start, or from our end to its start
  };
  void refresh(const PanelContext& context);
  void read_neighbours(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect row);
  void draw_body(const PanelContext& context, const render::Rect& area);
  void draw_group(const PanelContext& context, const DetailGroup& group, render::Rect area);
  void draw_field(const PanelContext& context, const DetailField& field, const render::Rect& row, float label_width,
                  const std::string& name);
  void draw_neighbours(const PanelContext& context, render::Rect area);
  void explain(const PanelContext& context, const DetailField& field, const render::Rect& row) const;

  std::optional<EventId> shown_;
  std::optional<EventDetails> details_;
  std::string problem_;
  std::vector<Neighbour> neighbours_;
  std::uint64_t hidden_neighbours_ = 0;
  std::optional<std::uint64_t> neighbours_version_;
};

}  // namespace accelscope::app
