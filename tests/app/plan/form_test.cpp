// The form's text turned into a plan and back, and what is said of mistakes; configurations that keep plans.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/content/capture/text.h"
#include "app/plan/configurations.h"
#include "app/plan/form_model.h"
#include "tests/support/fake_capture.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app::plan;
using namespace accelscope::app;

namespace {

const FormFacts kFacts{test::two_kinds(), std::nullopt};

CaptureForm whole_form() {
  CaptureForm form;
  form.where = Where::ssh;
  form.ssh_hosts = "ubuntu@trn1-07, ssh://trn1-08";
  form.ssh_config_file = "/home/a/.ssh/other";
  form.ssh_identity_file = "/home/a/.ssh/trn_key";
  form.program = "python3 'my bench.py' --m 512";
  form.directory = "/home/ubuntu/kernels";
  form.environment = {"A=1", "", "B=x y"};
  form.send = "bench.py 'data dir'";
  form.results = "out/*.neff";
  form.results_folder = "results";
  form.kinds = {{"program", {{"sample-interval", "10ms"}}}, {"simulate", {}}};
  form.name = "mlp";
  form.stop_after = "2 min";
  return form;
}

std::string first_problem(const CaptureForm& form, const FormFacts& facts = kFacts) {
  const auto problems = check_form(form, facts);
  return problems.empty() ? "" : problems.front().text;
}

}  // namespace

TEST_CASE("form: becomes the plan that it shows") {
  const capture::client::CapturePlan plan = plan_of(whole_form(), kFacts, true);
  CHECK(plan.places == std::vector<std::string>{"ssh://ubuntu@trn1-07", "ssh://trn1-08"});
  CHECK(plan.ssh_config_file == "/home/a/.ssh/other");
  CHECK(plan.ssh_identity_file == "/home/a/.ssh/trn_key");
  CHECK(plan.request.program == "python3");
  CHECK(plan.request.arguments == std::vector<std::string>{"my bench.py", "--m", "512"});
  CHECK(plan.request.environment == std::vector<std::string>{"A=1", "B=x y"});
  CHECK(plan.send == std::vector<std::string>{"bench.py", "data dir"});
  CHECK(plan.request.results == std::vector<std::string>{"out/*.neff"});
  CHECK(plan.request.kinds.size() == 2);
  CHECK(plan.request.duration_seconds == 120);
  CHECK(plan.request.paused);
  CHECK(first_problem(whole_form()).empty());
  CHECK(title_of_plan(plan) == "mlp");
}

TEST_CASE("form: a plan shows as a form that makes the same plan") {
  const capture::client::CapturePlan plan = plan_of(whole_form(), kFacts);
  const capture::client::CapturePlan again = plan_of(form_of(plan, kFacts), kFacts);
  CHECK(again.places == plan.places);
  CHECK(again.request == plan.request);
  CHECK(again.send == plan.send);
  CHECK(again.results_folder == plan.results_folder);
  CHECK(again.ssh_config_file == plan.ssh_config_file);
  CHECK(again.ssh_identity_file == plan.ssh_identity_file);
}

TEST_CASE("form: what a kind does not need is not in the plan") {
  CaptureForm form = whole_form();
  form.kinds = {{"simulate", {}}};
  const capture::client::CapturePlan plan = plan_of(form, kFacts);
  CHECK(plan.request.program.empty());
  CHECK(plan.request.environment.empty());
  CHECK(plan.send.empty());
  form.program.clear();  // and nothing misses it
  CHECK(first_problem(form).empty());
}

TEST_CASE("form: an option that is given several times is typed as words") {
  FormFacts facts = kFacts;
  facts.kinds[1].options = {{.name = "file",
                             .type = capture::request::OptionType::file,
                             .default_value = "",
                             .explanation = "",
                             .choices = {},
                             .required = true,
                             .repeats = true}};
  CaptureForm form;
  form.kinds = {{"simulate", {}}};
  CHECK(first_problem(form, facts).find("--file") != std::string::npos);
  set_option(form.kinds[0], facts.kinds[1].options[0], "'a b.json' c.json");
  CHECK(first_problem(form, facts).empty());
  const capture::client::CapturePlan plan = plan_of(form, facts);
  REQUIRE(plan.request.kinds[0].options.size() == 2);
  CHECK(plan.request.kinds[0].options[0].value == "a b.json");
  CHECK(plan_of(form_of(plan, facts), facts).request == plan.request);
}

TEST_CASE("form: what is typed for an option waits while it does not apply, and is in no plan") {
  using capture::request::OptionType;
  FormFacts facts = kFacts;
  facts.kinds[1].options = {
      {.name = "by", .type = OptionType::choice, .default_value = "tool", .choices = {"tool", "server"}},
      {.name = "port", .type = OptionType::count, .required = true, .conditions = {{"by", {"server"}}}}};
  CaptureForm form;
  form.kinds = {{"simulate", {}}};
  CHECK(first_problem(form, facts).empty());
  set_option(form.kinds[0], facts.kinds[1].options[0], "server");
  CHECK(first_problem(form, facts).find("--port") != std::string::npos);
  set_option(form.kinds[0], facts.kinds[1].options[1], "9000");
  CHECK(plan_of(form, facts).request.kinds[0].options.size() == 2);
  set_option(form.kinds[0], facts.kinds[1].options[0], "tool");
  CHECK(plan_of(form, facts).request.kinds[0].options.empty());
  set_option(form.kinds[0], facts.kinds[1].options[0], "server");
  CHECK(plan_of(form, facts).request.kinds[0].options.size() == 2);
}

TEST_CASE("form: every mistake is named where it is made") {
  CaptureForm form = whole_form();
  form.ssh_hosts.clear();
  CHECK(first_problem(form).find("ubuntu@trn1-07") != std::string::npos);
  form.ssh_hosts = "-oProxyCommand=evil";
  CHECK_FALSE(first_problem(form).empty());
  form = whole_form();
  form.where = Where::agent;
  form.agent_hosts = "trn1-07:0";
  CHECK(check_form(form, kFacts).front().field == FormField::host);
  form = whole_form();
  form.program = "python3 'x";
  CHECK(check_form(form, kFacts).front().field == FormField::program);
  form.program = "  ";
  CHECK(first_problem(form).find("Type the program") != std::string::npos);
  form = whole_form();
  form.environment = {"A=1", "nonsense", "1X=2"};
  const auto environment = check_form(form, kFacts);
  REQUIRE(environment.size() == 2);
  CHECK(environment[0].index == 1);
  CHECK(environment[1].index == 2);
  form = whole_form();
  form.stop_after = "soon";
  CHECK(first_problem(form).find("60 s") != std::string::npos);
  form = whole_form();
  form.kinds[0].options = {{"sample-interval", "often"}};
  const auto option = check_form(form, kFacts);
  REQUIRE(option.size() == 1);
  CHECK(option[0].option == "sample-interval");
  CHECK(option[0].text.find("100ms") != std::string::npos);
}

TEST_CASE("form: an agent that starts no programs is named before a start fails there") {
  FormFacts facts = kFacts;
  facts.welcome = test::reached_host("trn1-07").welcome;
  facts.welcome->may_run = false;
  const auto problems = check_form(whole_form(), facts);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text.find("--allow-run") != std::string::npos);
  CaptureForm form = whole_form();
  form.kinds = {{"simulate", {}}};
  CHECK(check_form(form, facts).empty());
}

TEST_CASE("form: watching needs a host and nothing else") {
  CaptureForm form;
  form.mode = capture::wire::StartMode::watch;
  form.capture_id = "c1";
  form.program = "'";
  CHECK(check_form(form, kFacts).empty());
  const capture::client::CapturePlan plan = plan_of(form, kFacts);
  CHECK(plan.mode == capture::wire::StartMode::watch);
  CHECK(plan.capture_id == "c1");
  CHECK(plan.request.kinds.empty());
}

TEST_CASE("form: times are read as they are written") {
  CHECK(*parse_seconds("60") == 60);
  CHECK(*parse_seconds(" 1.5 min ") == 90);
  CHECK(*parse_seconds("500 ms") == doctest::Approx(0.5));
  CHECK(*parse_seconds("2h") == 7200);
  for (const char* wrong : {"", "s", "-3 s", "3 days", "0", "inf", "nan"}) CHECK_FALSE(parse_seconds(wrong).ok());
}

TEST_CASE("form: the name of the session says what ran") {
  capture::client::CapturePlan plan;
  plan.places = {"a:1", "b:1"};
  CHECK(title_of_plan(plan) == "a:1, b:1");
  plan.request.program = "/usr/bin/python3";
  CHECK(title_of_plan(plan) == "python3");
  plan.request.arguments = {"-u", "runs/bench_mlp.py"};
  CHECK(title_of_plan(plan) == "bench_mlp");
}

TEST_CASE("configurations: are there again after a restart, whatever is in them, for their owner only") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("state/configurations.txt");
  CaptureForm form = whole_form();
  form.environment = {"TABS=a\tb", "LINES=a\\nb"};
  form.uses_script = true;
  form.script = "#!/bin/bash\nset -e\n./run \"$1\"\n";
  const capture::client::CapturePlan plan = plan_of(form, kFacts);
  {
    Configurations first(path);
    REQUIRE(first.load().ok());
    REQUIRE(first.save({{"mlp", "on trn1-07"}, plan}).ok());
    REQUIRE(first.save({{"", "loose"}, plan_of(whole_form(), kFacts)}).ok());
    REQUIRE(first.use({"mlp", "on trn1-07"}).ok());
  }
  Configurations second(path);
  REQUIRE(second.load().ok());
  REQUIRE(second.list().size() == 2);
  CHECK(second.last_used() == ConfigurationName{"mlp", "on trn1-07"});
  const Configuration* found = second.find({"mlp", "on trn1-07"});
  REQUIRE(found != nullptr);
  CHECK(found->plan.request == plan.request);
  CHECK(found->plan.places == plan.places);
  CHECK(found->plan.send == plan.send);
  CHECK(second.projects() == std::vector<std::string>{"mlp"});
  const auto permissions = std::filesystem::status(path).permissions();
  CHECK((permissions & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
}

TEST_CASE("configurations: are copied, renamed and deleted, and no name is taken twice") {
  Configurations book("");
  capture::client::CapturePlan plan;
  plan.places = {"local"};
  REQUIRE(book.save({{"p", "a"}, plan}).ok());
  REQUIRE(book.duplicate({"p", "a"}, book.free_name({"p", "a"})).ok());
  CHECK(book.find({"p", "a copy"}) != nullptr);
  CHECK(book.free_name({"p", "a"}).name == "a copy 2");
  CHECK_FALSE(book.rename({"p", "a"}, {"p", "a copy"}).ok());
  CHECK_FALSE(book.duplicate({"p", "none"}, {"p", "b"}).ok());
  CHECK_FALSE(book.save({{"p", ""}, plan}).ok());
  REQUIRE(book.use({"p", "a"}).ok());
  REQUIRE(book.rename({"p", "a"}, {"q", "b"}).ok());
  CHECK(book.last_used() == ConfigurationName{"q", "b"});
  CHECK(book.find({"p", "a"}) == nullptr);
  REQUIRE(book.remove({"q", "b"}).ok());
  CHECK(book.last_used().empty());
  CHECK(book.list().size() == 1);
}

TEST_CASE("configurations: a file of another version loses nothing but what is not known") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("c.txt"))
      << "configuration\tp\ta\tplace=local\tcolour=red\tkind=x\toption=y=1=2\nfuture\tz\n"
      << "configuration\tbroken\n";
  Configurations book(folder.file("c.txt"));
  REQUIRE(book.load().ok());
  REQUIRE(book.list().size() == 1);
  CHECK(book.list()[0].plan.places == std::vector<std::string>{"local"});
  REQUIRE(book.list()[0].plan.request.kinds.size() == 1);
  CHECK(book.list()[0].plan.request.kinds[0].options[0].value == "1=2");
}

TEST_CASE("capture text: what an agent's card says first is what went wrong") {
  capture::client::AgentStatus agent;
  agent.place = "trn1-07:7420";
  agent.phase = capture::client::CapturePhase::reconnecting;
  agent.message = "connection reset";
  agent.dropped_events = 12;
  agent.controls = false;
  agent.controller = "anna@desk";
  const auto lines = content::agent_lines(agent);
  CHECK(lines[0].bad);
  CHECK(lines[1].value == "connection reset");
  std::string all;
  for (const content::AgentLine& line : lines) all += line.label + "=" + line.value + ";";
  CHECK(all.find("Controlled by=anna@desk") != std::string::npos);
  CHECK(all.find("Dropped by the agent=12") != std::string::npos);
  CHECK(all.find("Clock") == std::string::npos);  // not known yet
  CHECK(content::elapsed_text(42.9) == "0:42");
  CHECK(content::elapsed_text(3723) == "1:02:03");
}
