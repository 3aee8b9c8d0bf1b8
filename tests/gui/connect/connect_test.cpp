// The form "Connect and record", worked as a user does: typing, Tab, clicks, configurations, what a start asks for.
#include <imgui.h>

#include <algorithm>
#include <optional>

#include "tests/gui/viewer.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct FormViewer {
  explicit FormViewer(const std::string& state_directory = "") {
    fake.kinds = two_kinds();
    fake.hosts["trn1-07:7420"] = reached_host("trn1-07");
    viewer.emplace(frame::AppOptions{.state_directory = state_directory, .services = fake.services()});
    shell().resize(1600, 1300, 1);  // all of the form is in sight
    shell().frame(2);
  }
  Viewer* operator->() { return &*viewer; }
  render::NullShell& shell() { return viewer->shell; }
  void open_form() {
    shell().key(Key::k, {.ctrl = true});
    shell().frame(3);
    REQUIRE(shell().find("connect.start") != nullptr);
    REQUIRE(shell().click("connect.where.1"));  // an agent
    shell().frame(2);
  }
  void type_into(const std::string& name, const std::string& text) {
    REQUIRE(shell().click(name));
    shell().key(Key::a, {.ctrl = true});
    shell().key(Key::backspace);
    shell().type(text);
    shell().frame(2);
  }
  // Frames until it holds; a live capture never settles.
  template <typename Condition>
  [[nodiscard]] bool until(Condition condition) {
    return viewer->frames_until(condition);
  }
  void reach() {
    type_into("connect.address", "trn1-07:7420");
    shell().wait(0.5);
    REQUIRE(until([&] { return shell().shows("Reached in"); }));
  }
  [[nodiscard]] capture::client::CapturePlan started() {
    REQUIRE(until([&] { return fake.seen().plans.size() == 1 && viewer->app.workspace().jobs().empty(); }));
    return fake.seen().plans[0];
  }
  FakeCapture fake;
  std::optional<Viewer> viewer;
};

}  // namespace

TEST_CASE("form: the host is tried a little after the last key, and not for every key") {
  FormViewer form;
  form.open_form();
  form.reach();
  CHECK(form.shell().shows("Reached in 41 ms. accelscope-agent 0.1.0 on trn1-07, Linux x86_64; program, simulate"));
  const auto reached = form.fake.seen().reached;
  CHECK(std::count(reached.begin(), reached.end(), "trn1-07:7420") == 1);
  CHECK(std::none_of(reached.begin(), reached.end(), [](const auto& place) { return place == "trn1"; }));
}

TEST_CASE("form: it begins with this machine, and shows no mistake before anyone has made one") {
  FormViewer form;
  const auto is_red = [&] {
    const render::Pixel red = form.shell().ui().colour(render::Colour::error_bg);
    const ImDrawData* data = form.shell().draw_data();
    for (int list = 0; list < data->CmdListsCount; ++list) {
      for (const ImDrawVert& vertex : data->CmdLists[list]->VtxBuffer) {
        if (vertex.col == red) return true;
      }
    }
    return false;
  };
  form.shell().wait(2);
  CHECK(form.shell().shows("the agent beside this program"));
  CHECK_FALSE(is_red());
  REQUIRE(form.shell().click("connect.where.1"));  // an agent that is not there
  form.shell().wait(2);
  CHECK(form.until(is_red));
  CHECK(form.fake.seen().reached.size() > 0);
}

TEST_CASE("form: no field moves while one types into another") {
  FormViewer form;
  const auto tops = [&] {
    std::vector<float> found;
    for (const char* name : {"connect.program", "connect.directory", "connect.environment.add", "connect.send",
                             "connect.results", "connect.stop_after"}) {
      REQUIRE(form.shell().find(name) != nullptr);
      found.push_back(form.shell().find(name)->y0);
    }
    return found;
  };
  form.shell().frame(3);
  const std::vector<float> before = tops();
  for (const char* name : {"connect.program", "connect.send", "connect.results"}) {
    REQUIRE(form.shell().click(name));
    for (const char* typed :
         {"p", "ython3 'my bench", "' | tee out", " --and many more words that do not fit in one line "}) {
      form.shell().type(typed);
      form.shell().frame(2);
      CHECK(tops() == before);
    }
    form.shell().key(Key::a, {.ctrl = true});
    form.shell().key(Key::backspace);
    form.shell().frame(2);
  }
  REQUIRE(form.shell().click("connect.where.1"));
  REQUIRE(form.shell().click("connect.address"));
  form.shell().frame(3);
  const std::vector<float> with_host = tops();
  for (const char* typed : {":", "x", ":74:"}) {
    form.shell().type(typed);
    form.shell().wait(0.6);
    CHECK(tops() == with_host);
  }
}

TEST_CASE("form: a host that cannot be reached says so, and is tried again by itself") {
  FormViewer form;
  form.open_form();
  form.type_into("connect.address", "trn1-09:7420");
  form.shell().wait(0.5);
  REQUIRE(form.until([&] { return form.shell().shows("nobody listens there"); }));
  form.fake.hosts["trn1-09:7420"] = reached_host("trn1-09");
  form.shell().wait(3.5);
  CHECK(form.until([&] { return form.shell().shows("on trn1-09"); }));
}

TEST_CASE("form: ssh hosts are not reached before the start") {
  FormViewer form;
  form.open_form();
  REQUIRE(form.shell().click("connect.where.2"));
  form.shell().type("ubuntu@trn1-07");
  form.shell().wait(0.6);
  CHECK(form.shell().shows("Well formed"));
  const auto reached = form.fake.seen().reached;
  CHECK(std::none_of(reached.begin(), reached.end(), [](const auto& place) { return place.starts_with("ssh"); }));
  form.type_into("connect.program", "./run");
  CHECK(form.shell().shows("accelscope record ssh://ubuntu@trn1-07"));
}

TEST_CASE("form: this machine needs no host and starts what this program knows") {
  FormViewer form;
  form.open_form();
  REQUIRE(form.shell().click("connect.where.0"));
  form.shell().wait(0.6);
  CHECK(form.shell().shows("the agent beside this program is started"));
  CHECK_FALSE(form.shell().shows("--allow-run"));
  const auto reached = form.fake.seen().reached;
  CHECK(std::find(reached.begin(), reached.end(), "local") == reached.end());
  form.type_into("connect.program", "./run");
  REQUIRE(form.shell().click("connect.start"));
  form.shell().frame(2);
  CHECK(form.started().places == std::vector<std::string>{"local"});
  CHECK(form.started().request.program == "./run");
}

TEST_CASE("form: Start gives the plan that is shown, and the dialog is gone") {
  FormViewer form;
  form.shell().resize(1000, 1300, 1);  // no room for it on the start page
  form.shell().frame(2);
  form.open_form();
  form.reach();
  form.type_into("connect.program", "python3 'my bench.py' --m 512");
  CHECK(form.shell().shows("my bench.py"));  // shown back as one word
  form.type_into("connect.directory", "/home/ubuntu");
  REQUIRE(form.shell().click("connect.environment.add"));
  form.type_into("connect.environment.0", "A=1");
  form.type_into("connect.stop_after", "60 s");
  form.type_into("connect.option.sample-interval", "10ms");
  REQUIRE(form.shell().click("connect.option.resources"));
  CHECK(form.shell().shows("--env A=1"));
  CHECK(form.shell().shows("--duration 60"));
  REQUIRE(form.shell().click("connect.start"));
  form.shell().frame(3);
  const capture::client::CapturePlan plan = form.started();
  CHECK(plan.places == std::vector<std::string>{"trn1-07:7420"});
  CHECK(plan.request.program == "python3");
  CHECK(plan.request.arguments == std::vector<std::string>{"my bench.py", "--m", "512"});
  CHECK(plan.request.directory == "/home/ubuntu");
  CHECK(plan.request.environment == std::vector<std::string>{"A=1"});
  CHECK(plan.request.duration_seconds == 60);
  REQUIRE(plan.request.kinds.size() == 1);
  CHECK(plan.request.kinds[0].options.size() == 2);
  CHECK_FALSE(plan.request.paused);
  CHECK(form.shell().find("connect.start") == nullptr);
  CHECK(form->app.workspace().tab_count() == 1);
  CHECK(form->tab().title == "my bench");
}

TEST_CASE("form: nothing starts while something is missing, and Ctrl+Enter marks what") {
  FormViewer form;
  form.open_form();
  form.reach();
  REQUIRE(form.shell().click("connect.start"));
  form.shell().key(Key::enter, {.ctrl = true});
  form.shell().frame(2);
  CHECK(form.fake.seen().plans.empty());
  CHECK(form.shell().shows("Type the program to run"));
  form.type_into("connect.program", "./run");
  form.shell().key(Key::enter, {.ctrl = true});
  form.shell().frame(2);
  CHECK(form.started().request.program == "./run");
}

TEST_CASE("form: Start paused asks for a capture that waits for its resume") {
  FormViewer form;
  form.open_form();
  form.reach();
  form.type_into("connect.program", "./run");
  REQUIRE(form.shell().click("connect.start_paused"));
  form.shell().frame(2);
  CHECK(form.started().request.paused);
}

TEST_CASE("form: a kind that runs nothing hides the program, and a script takes its place") {
  FormViewer form;
  form.open_form();
  form.reach();
  REQUIRE(form.shell().click("connect.run.1"));
  REQUIRE(form.shell().click("connect.script"));
  form.shell().type("echo hi");
  form.shell().frame(2);
  CHECK(form.shell().find("connect.program") == nullptr);
  REQUIRE(form.shell().click("connect.kind"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.kind.1"));
  form.shell().frame(3);
  CHECK(form.shell().find("connect.script") == nullptr);
  CHECK(form.shell().shows("Nothing is run for this kind."));
  REQUIRE(form.shell().click("connect.start"));
  form.shell().frame(2);
  CHECK(form.started().request.kinds[0].name == "simulate");
  CHECK(form.started().request.script.empty());
}

TEST_CASE("form: a kind that can look into a program starts with one and without") {
  for (const std::string program : {"", "./run"}) {
    CAPTURE(program);
    FormViewer form;
    auto host = reached_host("looks");
    host.welcome.kinds[1].takes_program = true;
    form.fake.hosts["looks:7420"] = host;
    form.open_form();
    form.type_into("connect.address", "looks:7420");
    form.shell().wait(0.5);
    REQUIRE(form.until([&] { return form.shell().shows("Reached in"); }));
    REQUIRE(form.shell().click("connect.kind"));
    form.shell().frame(2);
    REQUIRE(form.shell().click("connect.kind.1"));
    form.shell().frame(3);
    if (!program.empty()) form.type_into("connect.program", program);
    REQUIRE(form.shell().click("connect.start"));
    form.shell().frame(2);
    CHECK(form.started().request.kinds[0].name == "simulate");
    CHECK(form.started().request.program == program);
  }
}

TEST_CASE("form: two kinds go into one capture") {
  FormViewer form;
  form.open_form();
  form.reach();
  form.type_into("connect.program", "./run");
  REQUIRE(form.shell().click("connect.kind.add"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.start"));
  form.shell().frame(2);
  REQUIRE(form.started().request.kinds.size() == 2);
  CHECK(form.started().request.kinds[1].name == "simulate");
}

TEST_CASE("form: what a kind lacks on the host is said with how to get it") {
  FormViewer form;
  auto host = reached_host("bare");
  host.welcome.kinds[0].checks = {{false, "neuron-profile is missing; install aws-neuronx-tools"}, {true, "perf 6.1"}};
  form.fake.hosts["bare:7420"] = host;
  form.open_form();
  form.type_into("connect.address", "bare:7420");
  form.shell().wait(0.5);
  REQUIRE(form.until([&] { return form.shell().shows("on bare"); }));
  CHECK(form.shell().shows("Nothing is run for this kind."));  // the other one works here, and is offered first
  REQUIRE(form.shell().click("connect.kind"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.kind.0"));
  form.shell().frame(2);
  CHECK(form.shell().shows("neuron-profile is missing; install aws-neuronx-tools"));
  CHECK(form.shell().shows("Found: perf 6.1"));
}

TEST_CASE("form: a running capture can be watched instead") {
  FormViewer form;
  auto host = reached_host("busy");
  host.welcome.captures = {{.id = "c1", .name = "mlp", .description = "", .events = 12, .controller = "anna@desk"}};
  form.fake.hosts["busy:7420"] = host;
  form.open_form();
  form.type_into("connect.address", "busy:7420");
  form.shell().wait(0.5);
  REQUIRE(form.until([&] { return form.shell().find("connect.captures") != nullptr; }));
  REQUIRE(form.shell().click("connect.captures"));
  form.shell().frame(2);
  CHECK(form.shell().shows("Watch mlp, 12 events, controlled by anna@desk"));
  REQUIRE(form.shell().click("connect.captures.1"));
  form.shell().frame(2);
  CHECK(form.shell().shows("Watch"));
  REQUIRE(form.shell().click("connect.start"));
  form.shell().frame(2);
  CHECK(form.started().mode == capture::wire::StartMode::watch);
  CHECK(form.started().capture_id == "c1");
}

TEST_CASE("form: everything is reached and pressed with the keyboard alone") {
  FormViewer form;
  form.open_form();
  form.reach();
  form.type_into("connect.program", "./run");
  // Round the whole form once: every stop comes, and the last leads to the first.
  std::vector<std::string> stops;
  for (int i = 0; i < 60; ++i) {
    form.shell().key(Key::tab);
    form.shell().frame(2);
    const std::string at = form.shell().ui().front_focus().at;
    if (!stops.empty() && at == stops.front()) break;
    stops.push_back(at);
  }
  for (const char* name :
       {"connect.address", "connect.token", "connect.program", "connect.directory", "connect.environment.add",
        "connect.send", "connect.results", "connect.kind", "connect.option.resources", "connect.option.detail",
        "connect.stop_after", "connect.name", "connect.copy", "connect.save", "connect.start_paused", "connect.start",
        "connect.configuration"}) {
    INFO(name);
    CHECK(std::find(stops.begin(), stops.end(), name) != stops.end());
  }
  // Of several that are one choice Tab comes to one, and arrows go on.
  CHECK(std::ranges::count_if(stops, [](const std::string& at) { return at.starts_with("connect.where."); }) == 1);
  CHECK(stops.size() < 60);
  const auto go_to = [&](const std::string& name, bool back = false) {
    for (int i = 0; i < 60 && form.shell().ui().front_focus().at != name; ++i) {
      form.shell().key(Key::tab, {.shift = back});
      form.shell().frame(2);
    }
    REQUIRE(form.shell().ui().front_focus().at == name);
  };
  go_to("connect.option.resources");
  form.shell().key(Key::space);
  form.shell().frame(2);
  CHECK(form.shell().shows("--resources=off"));
  go_to("connect.directory", true);
  form.shell().type("/w");
  form.shell().frame(2);
  CHECK(form.shell().shows("--cwd /w"));
  go_to("connect.start");
  form.shell().key(Key::enter);
  form.shell().frame(2);
  CHECK(form.started().request.directory == "/w");
}

TEST_CASE("form: the command is copied as it is shown") {
  FormViewer form;
  form.open_form();
  form.type_into("connect.address", "trn1-07:7420");
  form.type_into("connect.program", "./run");
  REQUIRE(form.shell().click("connect.copy"));
  CHECK(form.shell().clipboard().starts_with("accelscope record trn1-07:7420 -o run.accel --kind program"));
  CHECK(form.shell().clipboard().find("-- ./run") != std::string::npos);
}

TEST_CASE("form: a configuration is saved, is there after a restart, and fills the form") {
  const TemporaryFolder state;
  {
    FormViewer form(state.path());
    form.open_form();
    form.reach();
    form.type_into("connect.program", "./bench --m 512");
    REQUIRE(form.shell().click("connect.save"));
    form.shell().frame(3);
    form.type_into("connect.naming.name", "mlp on trn1");
    form.type_into("connect.naming.project", "mlp");
    REQUIRE(form.shell().click("connect.naming.save"));
    form.shell().frame(3);
    CHECK(form.shell().find("connect.naming.save") == nullptr);
    CHECK(form.shell().find("connect.start") != nullptr);
    CHECK(form.shell().shows("mlp / mlp on trn1"));
  }
  FormViewer form(state.path());
  form.open_form();
  CHECK(form.shell().shows("mlp / mlp on trn1"));
  CHECK(form.shell().shows("./bench --m 512"));
  REQUIRE(form.shell().click("connect.configuration"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.configurations.duplicate"));
  form.shell().frame(2);
  CHECK(form.shell().shows("mlp / mlp on trn1 copy"));
  REQUIRE(form.shell().click("connect.configuration"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.configurations.delete"));
  form.shell().frame(2);
  CHECK(form->app.workspace().configurations().list().size() == 1);
  form.shell().wait(0.6);
  REQUIRE(form.until([&] { return form.shell().shows("Reached in"); }));
  REQUIRE(form.shell().click("connect.configuration"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.configurations.use.0"));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.start"));
  REQUIRE(form.until([&] { return form->app.workspace().tab_count() == 1; }));
  CHECK(form->tab().project == "mlp");
}

TEST_CASE("form: Esc in the naming dialog closes it alone") {
  FormViewer form;
  form.open_form();
  REQUIRE(form.shell().click("connect.save"));
  form.shell().frame(3);
  REQUIRE(form.shell().find("connect.naming.save") != nullptr);
  form.shell().key(Key::escape);  // out of the field
  form.shell().frame(2);
  form.shell().key(Key::escape);
  form.shell().frame(3);
  CHECK(form.shell().find("connect.naming.save") == nullptr);
  CHECK(form.shell().find("connect.start") != nullptr);
}

TEST_CASE("form: a further agent joins the live session in front") {
  FormViewer form;
  form->app.workspace().connect("a:1");
  REQUIRE(form.shell().rest_until([&] { return form->app.workspace().tab_count() == 1; }));
  form.fake.set_phase(capture::client::CapturePhase::streaming);
  form.fake.make_events(10);
  form.shell().frame(3);
  form.open_form();
  form.reach();
  form.type_into("connect.program", "./run");
  REQUIRE(form.shell().click("connect.add"));
  form.shell().frame(2);
  CHECK(form.fake.was("add trn1-07:7420"));
  CHECK(form->app.workspace().tab_count() == 1);
}

TEST_CASE("form: it fits or scrolls in any window, with its buttons always in sight") {
  FormViewer form;
  form.shell().resize(640, 400, 1);
  form.shell().frame(2);
  form.open_form();
  form.reach();
  for (const auto& [width, height, scale] :
       {std::tuple{640, 400, 1.0F}, {480, 700, 1.0F}, {1600, 900, 2.0F}, {800, 600, 1.5F}, {2400, 1400, 1.0F}}) {
    form.shell().resize(width, height, scale);
    form.shell().frame(4);
    const render::Rect* start = form.shell().find("connect.start");
    REQUIRE(start != nullptr);
    CHECK(start->y1 <= static_cast<float>(height));
    CHECK(start->x1 <= static_cast<float>(width));
    // Tab brings what lies outside into sight.
    for (int i = 0; i < 40; ++i) {
      form.shell().key(Key::tab);
      form.shell().frame(2);
      if (form.shell().ui().front_focus().at == "connect.stop_after") break;
    }
    form.shell().frame(3);
    INFO(width << " x " << height << " at " << scale << ": " << form.shell().ui().front_focus().at);
    const render::Rect* field = form.shell().find("connect.stop_after");
    const render::Rect* seen = form.shell().find("connect.scroll");
    REQUIRE(field != nullptr);
    CHECK(field->y0 >= seen->y0 - 1);
    CHECK(field->y1 <= seen->y1 + 1);
  }
}

TEST_CASE("command line: places that need to be told what to capture open the form") {
  FormViewer form;
  CHECK(frame::names_agents("127.0.0.1:7420,trn1-07:7420"));
  CHECK(frame::names_agents("local"));
  CHECK(frame::names_agents("ssh://ubuntu@trn1-07"));
  CHECK_FALSE(frame::names_agents("run.accel"));
  CHECK_FALSE(frame::names_agents("runs/a:b.json"));
  form->app.open("ssh://ubuntu@trn1-07");
  form.shell().frame(4);
  CHECK(form.shell().shows("ssh://ubuntu@trn1-07"));
  CHECK(form.shell().find("connect.ssh_config") != nullptr);
  CHECK(form.fake.seen().plans.empty());
}
