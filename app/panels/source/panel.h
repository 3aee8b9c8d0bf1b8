// The traced source beside the timeline: what every line cost in the margin, the line of the selected event lit, a
// clicked line's events lit on the timeline. Without the text, or on wish, the lines and files of the session as tables
// by cost, or what the devices executed as an instruction listing: beside the text where there is room. The text, its
// tokens and the costs come from app/content/source/text and app/content/source/costs.
#pragma once

#include "app/content/source/costs.h"
#include "app/panels/answer_table.h"
#include "app/panels/panel.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/dependencies/wait_causes.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::panels {

class SourcePanel final : public Panel {
 public:
  explicit SourcePanel(WorkerPool& pool) : pool_(pool) {}
  void draw(const PanelContext& context, const render::Rect& area) override;
  void keep_up(const PanelContext& context) override;
  [[nodiscard]] bool pending() const override { return storing_.valid() || causes_task_.valid(); }

 private:
  enum class Page : std::uint8_t { text, lines, files, instructions };
  struct PageName;
  static const std::array<PageName, 3> kTablePages;
  struct Place {  // a line, as the events name its file
    std::string path;
    std::uint32_t line = 0;  // 1 is the first
    bool operator==(const Place&) const = default;
  };
  struct Stored {  // what came of a folder that was searched for texts
    std::size_t found = 0;
    std::size_t missing = 0;
  };

  // source/panel.cpp: what is shown, and what the tab and the workers say
  void begin(const PanelContext& context);
  void follow_selection(const PanelContext& context);
  void refresh_costs(const PanelContext& context);
  void take_line_events(const PanelContext& context);
  void open_text(std::shared_ptr<const SourceFile> file);
  void show_page(const PanelContext& context, Page page, const std::string& path);
  void light_line(const PanelContext& context, const Place& place);
  [[nodiscard]] std::string recorded_path(std::uint32_t line) const;
  void draw_head(const PanelContext& context, render::Rect row);
  void draw_choice(const PanelContext& context, render::Rect& row);
  void draw_heat(const PanelContext& context, render::Rect& row);
  void choose_folder(const PanelContext& context) const;
  void store_texts(const PanelContext& context);
  void take_stored(const PanelContext& context);

  // source/text.cpp: one file with its margin
  void draw_find(const PanelContext& context, render::Rect row);
  void step_find(int step);
  void step_hot(const PanelContext& context, int step);
  void draw_code(const PanelContext& context, const render::Rect& area);
  void draw_line(const PanelContext& context, std::size_t index, render::Rect row);
  void draw_margin(const PanelContext& context, std::size_t index, render::Rect margin);
  void find_warnings(const PanelContext& context);
  void draw_warning(const PanelContext& context, std::size_t index, float left, const render::Rect& row) const;

  // source/tables.cpp: lines and files by cost
  void draw_narrow(const PanelContext& context, render::Rect row);
  void draw_lines(const PanelContext& context, const render::Rect& area);
  void draw_files(const PanelContext& context, const render::Rect& area);

  // source/listing.cpp: the instruction listing
  void draw_instructions(const PanelContext& context, render::Rect area, bool beside_text);

  // source/foot.cpp: the lit line
  void draw_foot(const PanelContext& context, render::Rect area);
  void draw_figures(const PanelContext& context, render::Rect area);
  void step_event(const PanelContext& context, int step);
  void find_causes(const PanelContext& context);
  [[nodiscard]] content::LineCost lit_cost() const;
  [[nodiscard]] std::string lit_text(const PanelContext& context) const;

  WorkerPool& pool_;
  Page page_ = Page::lines;
  bool begun_ = false;
  bool page_chosen_ = false;                // by the user or by an event; else the first text that there is
  std::shared_ptr<const SourceFile> file_;  // of the text page
  std::vector<content::CodeLine> lines_;
  std::shared_ptr<const analysis::SourceLines> all_;  // of the whole session; null until known
  std::vector<content::LineCost> costs_;              // one per line of lines_
  std::vector<std::uint32_t> hot_;                    // indices into lines_, the costliest first
  std::vector<content::FileCost> files_;
  std::size_t missing_texts_ = 0;
  content::Heat heat_ = content::Heat::busy;
  content::Heat costs_heat_ = content::Heat::busy;

  std::string followed_;      // the tab's selected_source that was scrolled to
  std::optional<Place> lit_;  // the path as the events name it
  std::optional<std::uint32_t> scroll_to_;
  std::shared_ptr<const analysis::Advice> advice_;                            // whose findings are in the lines below
  std::vector<std::pair<std::uint32_t, const analysis::Finding*>> warnings_;  // by line of the file that is shown
  float text_height_ = 0;            // of the last frame: the lit line stays in sight when it changes
  analysis::LineEvents lit_events_;  // of lit_, by time, once they were asked for
  std::optional<Place> lit_events_of_;
  std::optional<std::size_t> lit_at_;  // the event of lit_events_ that was stepped to
  bool fit_when_ready_ = false;
  int step_when_ready_ = 0;
  Task<Result<analysis::WaitCauses>> causes_task_;
  std::optional<analysis::WaitCauses> causes_;
  std::uint64_t causes_version_ = 0;  // of the dependencies that they were asked for with

  std::string find_;
  std::vector<std::uint32_t> found_;  // indices into lines_
  std::size_t found_at_ = 0;

  std::string narrow_;  // typed over the table of lines
  std::vector<std::uint32_t> order_;
  bool order_stale_ = true;
  bool show_lit_row_ = false;
  render::TableState lines_table_, files_table_;

  FilteredAnswer<listing::Listing, std::string> instructions_;  // of a line; "": of all
  AnswerTable instruction_rows_;
  bool instructions_of_line_ = true;

  std::shared_ptr<std::string> chosen_folder_ = std::make_shared<std::string>();  // the dialog may outlive the panel
  Task<Result<Stored>> storing_;
  std::string storing_from_;
};

}  // namespace accelscope::app::panels
