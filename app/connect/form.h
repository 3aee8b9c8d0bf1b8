// The form "Connect and record": where, what and how to capture, tested while it is typed; the same as a command; the
// user's configurations. Shown on the start page or as a dialog, never both. What is typed is a CaptureForm; here it is
// drawn.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "app/connect/file_dialog.h"
#include "app/plan/configurations.h"
#include "app/plan/form_model.h"
#include "app/workspace/workspace.h"
#include "capture/client/capture_session.h"
#include "core/base/result.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::connect {

// The rows of a form from top to bottom: sections, labelled fields, explanations, banners. Where there is little
// width, labels stand above their fields.

class FormLayout {
 public:
  static constexpr float kLabel = 124, kGap = 8, kNarrow = 430;  // units
  static constexpr float kBeyond = 19;                           // how far lines go beyond the fields

  // The area's height does not matter: used() says what was needed.
  FormLayout(render::Ui& ui, const render::Rect& area) : ui_(ui), rest_(area), top_(area.y0) {}

  [[nodiscard]] render::Ui& ui() const noexcept { return ui_; }
  [[nodiscard]] float used() const noexcept { return rest_.y0 - top_; }
  [[nodiscard]] bool narrow() const noexcept { return rest_.width() < ui_.px(kNarrow); }
  [[nodiscard]] float field_width() const;

  void section(std::string_view title, std::string_view hint, bool line_above = true);
  // The place of a field, under or right of its label; height in pixels, 0: that of a control.
  [[nodiscard]] render::Rect field(std::string_view label, float height = 0);
  [[nodiscard]] render::Rect strip(float height);  // the whole width, no gap
  void line();
  void space(float units) { rest_.y0 += ui_.px(units); }
  // Under the field above: small, text3.
  void hint(std::string_view text, render::Colour colour = render::Colour::text3);
  // least_height: that is kept for it, in units, so that what lies below stays where it is while the text changes.
  void banner(render::BannerKind kind, std::string_view text, float least_height = 0);

 private:
  render::Ui& ui_;
  render::Rect rest_;
  float top_;
};

// Tries the agents that are being typed, off the UI thread: a little after the last key, again while one cannot be
// reached, and never one that is not wanted any more.
//
//   probe.update(places, token_file, ui.time());    // once per frame while the form is shown
//   for (const PlaceVerdict& verdict : probe.verdicts()) ...

struct PlaceVerdict {
  enum class State : std::uint8_t {
    unknown,  // not asked yet
    malformed,
    unasked,  // well formed; it is reached only when the capture starts (local, ssh)
    asking,   // for the first time
    reached,
    failed,
  };
  std::string place;
  State state = State::unknown;
  std::string text;  // a sentence for the user
  std::optional<capture::client::Reached> reached;
};

class PlaceProbe {
 public:
  using Reach = std::function<Result<capture::client::Reached>(const std::string& place, const std::string& token_file,
                                                               const std::function<bool()>& cancelled)>;
  static constexpr double kPause = 0.35;  // seconds without a key before a place is tried
  static constexpr double kAgain = 3;     // seconds after which a failed place is tried again

  // reach may wait; it runs on threads of the probe. wake is called from them when there is something new.
  PlaceProbe(Reach reach, std::function<void()> wake);
  ~PlaceProbe();
  PlaceProbe(const PlaceProbe&) = delete;
  PlaceProbe& operator=(const PlaceProbe&) = delete;

  void update(const std::vector<std::string>& places, const std::string& token_file, double now_s);
  [[nodiscard]] const std::vector<PlaceVerdict>& verdicts() const noexcept { return verdicts_; }
  // Seconds until update() has something to do; nothing when only a thread or the user can change anything.
  [[nodiscard]] std::optional<double> due_in(double now_s) const;
  [[nodiscard]] const PlaceVerdict* first_reached() const noexcept;

 private:
  struct Shared;
  struct Run {
    std::string place;
    std::shared_ptr<Shared> shared;
    std::thread thread;
  };
  void begin_runs(double now_s);
  void take_answers(double now_s);
  void drop_runs();
  void reap();

  Reach reach_;
  std::function<void()> wake_;
  std::vector<std::string> places_;
  std::string token_file_;
  std::vector<PlaceVerdict> verdicts_;
  std::vector<Run> runs_;
  std::vector<Run> dropped_;  // cancelled; joined once they have ended
  std::optional<double> ask_at_s_;
};

// "Reached in 41 ms. accelscope-agent 0.1.0 on trn1-07, Linux x86_64; program, simulate, replay"
[[nodiscard]] std::string describe_reached(const capture::client::Reached& reached);

// What Test has found out about the hosts of the form, on a worker.
struct HostTest {
  std::vector<std::string> places;
  capture::client::HostCheckOptions options;
  struct Shared {
    std::atomic<bool> cancelled = false, finished = false;
    std::mutex mutex;
    std::string step;  // what is being done
    std::vector<capture::client::HostFinding> findings;
    std::optional<capture::wire::Welcome> welcome;  // of the first that was reached
  };
  std::shared_ptr<Shared> shared;  // null: it was not asked for

  [[nodiscard]] bool is_of(const HostTest& other) const {
    return places == other.places && options.token_file == other.options.token_file &&
           options.ssh_config_file == other.options.ssh_config_file &&
           options.ssh_identity_file == other.options.ssh_identity_file;
  }
  void cancel() {
    if (shared) shared->cancelled = true;
    shared.reset();
  }
};

class ConnectForm {
 public:
  explicit ConnectForm(workspace::Workspace& workspace);

  // Fills the area, scrolling when it must; the configurations are in the head. True when the user has asked to start
  // (the workspace is connecting).
  bool draw(render::Ui& ui, const render::Rect& head, render::Rect area,
            const std::function<void(std::string)>& inform);

  void focus() noexcept { focus_now_ = true; }
  void show_place(const std::string& places);  // as typed on the command line: "local", "ssh://box", "A:1,B:1"
  [[nodiscard]] const plan::CaptureForm& form() const noexcept { return form_; }
  [[nodiscard]] const PlaceProbe& probe() const noexcept { return probe_; }
  // As tall as it wants to be, in pixels; known after the first frame.
  [[nodiscard]] float wanted_height() const noexcept { return content_height_ + foot_height_; }

 private:
  enum class Naming : std::uint8_t { none, save, rename };
  enum class Intent : std::uint8_t { none, start, start_paused, add };

  void prepare(render::Ui& ui);
  void show(const plan::Configuration& configuration);
  void draw_configurations(render::Ui& ui, const render::Rect& area);
  void run_configuration_item(const std::string& item);
  void ask_for_name(Naming why, plan::ConfigurationName suggestion);
  void draw_naming(render::Ui& ui);
  [[nodiscard]] bool finish_naming();

  void draw_where(FormLayout& layout);
  void draw_host(FormLayout& layout, std::string& hosts, std::string_view placeholder);
  void draw_verdicts(FormLayout& layout);
  void draw_key_file(FormLayout& layout);
  void draw_test(FormLayout& layout);
  void start_test(HostTest test);
  void draw_captures(FormLayout& layout);

  void draw_what(FormLayout& layout);
  void draw_program(FormLayout& layout);
  void draw_environment(FormLayout& layout);

  void draw_how(FormLayout& layout);
  void draw_kind(FormLayout& layout, std::size_t index);
  void draw_options(FormLayout& layout, std::size_t index, const capture::request::KindFacts& kind);
  void draw_option(FormLayout& layout, std::size_t index, const capture::request::KindOption& option);
  void draw_checks(FormLayout& layout, const capture::request::KindFacts& kind);
  void draw_limits(FormLayout& layout);

  [[nodiscard]] std::vector<std::string> command_words() const;
  [[nodiscard]] std::vector<std::string> command_lines(render::Ui& ui, const render::Rect& area) const;
  void draw_command(render::Ui& ui, const render::Rect& area, const std::vector<std::string>& lines,
                    const std::function<void(std::string)>& inform);
  void draw_foot(render::Ui& ui, render::Rect foot);
  [[nodiscard]] bool fulfil();  // the wish of this frame; true when the form has done its work
  // A field in a line of its own, with what is wrong under it.
  render::TextInputResult text_field(FormLayout& layout, std::string_view label, std::string_view id,
                                     std::string& value, plan::FormField field, render::TextInputOptions options = {});
  [[nodiscard]] const plan::FormProblem* problem(plan::FormField field, std::size_t index = 0,
                                                 std::string_view option = {}) const;
  [[nodiscard]] bool shows_problem(const plan::FormProblem* problem, const std::string& value) const;
  [[nodiscard]] static std::string id(std::string_view name) { return "connect." + std::string(name); }

  workspace::Workspace& workspace_;
  plan::CaptureForm form_;
  PlaceProbe probe_;
  HostTest test_;
  FileDialog key_dialog_{workspace_.pool()};
  plan::FormFacts facts_;
  std::vector<plan::FormProblem> problems_;  // of this frame
  plan::ConfigurationName configuration_;    // that the form shows, perhaps changed since
  bool kinds_chosen_ = false;                // by the user or a configuration; else the first that fits
  bool focus_now_ = false;
  bool nags_ = false;     // a start was tried: what is missing is marked too
  bool touched_ = false;  // by a click or a letter since it was shown
  bool brings_results_ = false;
  Intent intent_ = Intent::none;
  render::TextCaret script_caret_;
  float content_height_ = 0;
  float foot_height_ = 0;
  Naming naming_ = Naming::none;
  bool naming_opens_ = false;
  plan::ConfigurationName new_name_;
  std::string naming_problem_;
};

}  // namespace accelscope::app::connect
