// Details of the selected event: its groups of fields in columns, operands taken apart, what it depends on and what
// depends on it. The content comes from app/content/event_details; this file only draws it.
#pragma once

#include "app/content/event_details.h"
#include "app/panels/panel.h"

namespace accelscope::app::panels {

// What the selected event depends on and what depends on it, listed with lane and distance: direct ones, or the whole
// chain that held it back. A part of the Details panel. The choice between the two is the tab's, which the timeline's
// arrows follow too.

class DependencyColumn {
 public:
  // Once per frame, for the selected event.
  void refresh(const PanelContext& context, EventId event, std::int64_t begin_ns, std::int64_t end_ns);
  void clear();
  [[nodiscard]] bool empty() const noexcept { return direct_total_ == 0; }
  [[nodiscard]] float height(const render::Ui& ui) const;
  void draw(const PanelContext& context, render::Rect area, const render::Rect& visible);

 private:
  struct Entry {
    EventId event = kNoEvent;
    bool comes_first = false;   // a predecessor
    EventId beside = kNoEvent;  // of a chain: its neighbour on the way to the event; none: the event itself
    bool is_read = false;       // the rest is known
    std::string name = {}, track = {};
    std::uint8_t palette_slot = 0;
    std::int64_t gap_ns = 0;       // between it and that neighbour
    std::int64_t distance_ns = 0;  // from its end to our start (below 0: it was over before), or our end to its start
  };
  void list_direct(const analysis::Dependencies& dependencies);
  void list_chain(const analysis::DependencyChain& chain);
  const Entry& read(const PanelContext& context, Entry& entry) const;
  void draw_entry(const PanelContext& context, std::size_t index, render::Rect row);

  EventId event_ = kNoEvent;
  std::int64_t begin_ns_ = 0, end_ns_ = 0;
  std::vector<Entry> entries_;
  std::uint64_t direct_total_ = 0;
  std::uint64_t total_ = 0;  // of what is listed
  bool chain_listed_ = false;
  std::optional<std::uint64_t> version_;  // of the snapshot that the entries are from
};

class DetailsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  void explain_operands() noexcept { open_operands_ = true; }  // pins the card that takes them apart, if there are any

 private:
  void refresh(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect row);
  void draw_body(const PanelContext& context, const render::Rect& area);
  void draw_group(const PanelContext& context, const content::DetailGroup& group, render::Rect area);
  void draw_field(const PanelContext& context, const content::DetailField& field, const render::Rect& row,
                  float label_width, const std::string& name);
  void follow(const PanelContext& context, const content::DetailField& field);
  void draw_operands(const PanelContext& context, const render::Rect& anchor);
  void explain(const PanelContext& context, const content::DetailField& field, const render::Rect& row) const;

  std::optional<EventId> wanted_;  // selected, and since when
  double wanted_since_s_ = 0;
  std::optional<EventId> shown_;
  std::optional<content::EventDetails> details_;
  std::string problem_;
  DependencyColumn neighbours_;
  bool open_operands_ = false;
};

}  // namespace accelscope::app::panels
