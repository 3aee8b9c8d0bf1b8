// What the form says of a host before a start: its test, the key file, tools that are missing there.
#include <doctest/doctest.h>

#include <optional>

#include "tests/gui/viewer.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct HostForm {
  HostForm() {
    fake.kinds = two_kinds();
    fake.hosts["trn1-07:7420"] = reached_host("trn1-07");
  }
  void open() {
    viewer.emplace(frame::AppOptions{.services = fake.services()});
    shell().resize(1600, 1300, 1);
    shell().key(Key::k, {.ctrl = true});
    shell().frame(4);
    REQUIRE(shell().find("connect.start") != nullptr);
  }
  void reach_by(int way, const std::string& host) {
    REQUIRE(shell().click("connect.where." + std::to_string(way)));
    shell().frame(2);
    REQUIRE(shell().click("connect.address"));
    shell().key(Key::a, {.ctrl = true});
    shell().type(host);
    shell().frame(2);
  }
  render::NullShell& shell() { return viewer->shell; }
  template <typename Condition>
  [[nodiscard]] bool until(Condition condition) {
    return viewer->frames_until(condition);
  }
  FakeCapture fake;
  std::optional<Viewer> viewer;
};

}  // namespace

TEST_CASE("test of a host: each thing that was looked at has a line, with what to try and how long it took") {
  HostForm form;
  form.fake.findings = {{"reach", true, "trn1-07:7420", "", 41},
                        {"versions", false, "0.2.0 here, 0.1.0 there", "update the older one"},
                        {"neuron", false, "neuron-profile is missing", "install aws-neuronx-tools"}};
  form.open();
  form.reach_by(1, "trn1-07:7420");
  REQUIRE(form.shell().click("connect.test"));
  REQUIRE(form.until([&] { return form.shell().shows("neuron-profile is missing"); }));
  form.shell().frame(3);
  CHECK(form.shell().shows("41 ms"));
  CHECK(form.shell().shows("0.2.0 here, 0.1.0 there"));
  CHECK(form.shell().shows("Try: install aws-neuronx-tools"));
  CHECK(form.fake.seen().checked.front().first == "trn1-07:7420");
  CHECK(form.fake.seen().plans.empty());  // nothing was started
  form.reach_by(1, "trn1-08:7420");       // what was found is of another host
  CHECK_FALSE(form.shell().shows("neuron-profile is missing"));
}

TEST_CASE("test of a host: it is cancelled by the same button, and by typing another host, without waiting for it") {
  HostForm form;
  form.fake.holds_checks = true;
  form.open();
  form.reach_by(1, "trn1-07:7420");
  REQUIRE(form.shell().click("connect.test"));
  REQUIRE(form.until([&] { return form.fake.seen().checked.size() == 1; }));
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.test"));
  REQUIRE(form.until([&] { return form.fake.seen().cancelled_checks == 1; }));
  REQUIRE(form.shell().click("connect.test"));
  REQUIRE(form.until([&] { return form.fake.seen().checked.size() == 2; }));
  form.reach_by(1, "trn1-09:7420");
  CHECK(form.until([&] { return form.fake.seen().cancelled_checks == 2; }));
}

TEST_CASE("key file: what is chosen with Browse goes to ssh, to the test and into the command") {
  const TemporaryFolder folder;
  write_file(folder.file("trn key"), "not a key");
  HostForm form;
  form.open();
  form.reach_by(2, "ubuntu@trn1-07");
  REQUIRE(form.shell().click("connect.ssh_identity.browse"));
  form.shell().frame(3);
  REQUIRE(form.shell().find("file_dialog.name") != nullptr);
  form.shell().type(folder.file("trn key"));
  form.shell().key(Key::enter);
  form.shell().frame(3);
  REQUIRE(form.shell().find("connect.start") != nullptr);  // the form is still there
  CHECK(form.shell().shows("--ssh-identity"));
  REQUIRE(form.shell().click("connect.test"));
  REQUIRE(form.until([&] { return !form.fake.seen().checked.empty(); }));
  CHECK(form.fake.seen().checked.front().second == folder.file("trn key"));
}

TEST_CASE("a kind that misses its tool says so in the list and beside Start, with what to install") {
  HostForm form;
  form.fake.kinds[1].checks = {{false, "neuron-profile is not on PATH; install aws-neuronx-tools"}};
  form.open();
  CHECK_FALSE(form.shell().shows("neuron-profile"));
  REQUIRE(form.shell().click("connect.kind"));
  form.shell().frame(3);
  CHECK(form.shell().shows("Simulated accelerator – neuron-profile is not on PATH"));
  REQUIRE(form.shell().click("connect.kind.1"));
  form.shell().frame(3);
  REQUIRE(form.shell().find("connect.missing") != nullptr);
  CHECK(form.shell().shows_in(*form.shell().find("connect.missing"), "install aws-neuronx-tools"));
}

TEST_CASE("test of this machine: the form then knows what each kind misses here") {
  HostForm form;
  capture::client::Reached here = reached_host("desk");
  here.welcome.kinds[0].checks = {{false, "no /proc here; mount it"}};
  form.fake.findings = {{"reach", true, "local", "", 300}};
  form.fake.welcome_of_check = here.welcome;
  form.open();
  REQUIRE(form.shell().click("connect.program"));
  form.shell().type("true");
  form.shell().frame(2);
  REQUIRE(form.shell().click("connect.option.resources"));  // this kind is meant
  form.shell().frame(2);
  CHECK(form.shell().find("connect.missing") == nullptr);
  REQUIRE(form.shell().click("connect.test"));
  REQUIRE(form.until([&] { return form.shell().find("connect.missing") != nullptr; }));
  form.shell().frame(2);
  CHECK(form.shell().shows_in(*form.shell().find("connect.missing"), "program: no /proc here; mount it"));
}
