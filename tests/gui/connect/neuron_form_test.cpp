// The form for a Neuron capture: every option can be reached, and what makes outputs meaningless is said while it is
// typed.
#include <thread>

#include "capture/kinds/neuron/settings.h"
#include "capture/request/options.h"
#include "tests/gui/viewer.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct NeuronForm {
  explicit NeuronForm(float scale) {
    fake.kinds = {capture::kinds::neuron::neuron_facts()};
    viewer.emplace(frame::AppOptions{.services = fake.services()});
    shell().resize(static_cast<int>(1600 * scale), static_cast<int>(2800 * scale), scale);  // all of it is in sight
    shell().frame(3);
  }
  render::NullShell& shell() { return viewer->shell; }
  void type_into(const std::string& name, const std::string& text) {
    REQUIRE(shell().click(name));
    shell().type(text);
    shell().frame(2);
  }
  FakeCapture fake;
  std::optional<Viewer> viewer;
};

}  // namespace

TEST_CASE("neuron form: options of a recorder come with it, and files can be sent and brought back, at 100 and 200 %") {
  for (const float scale : {1.0F, 2.0F}) {
    NeuronForm form(scale);
    const capture::request::KindFacts facts = capture::kinds::neuron::neuron_facts();
    for (const capture::request::KindOption& option : facts.options) {
      CAPTURE(option.name);
      CHECK(((form.shell().find("connect.option." + option.name) != nullptr) ==
             capture::request::applies(option, facts, {"neuron", {}})));
    }
    CHECK(form.shell().find("connect.option.vllm-port") == nullptr);
    CHECK(form.shell().shows("start ID"));  // a label in two lines
    CHECK(form.shell().find("connect.send") != nullptr);
    CHECK(form.shell().find("connect.results") != nullptr);
    CHECK(form.shell().find("connect.program") != nullptr);
  }
}

TEST_CASE("neuron form: the command is in sight without scrolling") {
  for (const auto& [width, height] : {std::pair(1600, 1000), std::pair(1280, 720)}) {
    for (const float scale : {1.0F, 2.0F}) {
      CAPTURE(width);
      CAPTURE(scale);
      NeuronForm form(scale);
      form.shell().resize(static_cast<int>(static_cast<float>(width) * scale),
                          static_cast<int>(static_cast<float>(height) * scale), scale);
      form.shell().frame(3);
      const auto* command = form.shell().find("connect.command");
      REQUIRE(command != nullptr);
      CHECK(command->y1 <= static_cast<float>(height) * scale);
      CHECK(form.shell().shows("accelscope record"));
    }
  }
}

TEST_CASE("neuron form: zero inputs and single io are warned of while it is typed") {
  NeuronForm form(1);
  CHECK(form.shell().shows("No inputs are given: the tool feeds zeros"));
  CHECK_FALSE(form.shell().shows("all tensors share one buffer"));
  form.type_into("connect.option.input", "x=x.npy w=w.bin");
  CHECK_FALSE(form.shell().shows("No inputs are given"));
  REQUIRE(form.shell().click("connect.option.single-io"));
  form.shell().frame(2);
  CHECK(form.shell().shows("all tensors share one buffer: outputs are wrong"));
  form.type_into("connect.option.neff", "mlp.neff");
  form.type_into("connect.send", "mlp.neff x.npy w.bin");
  CHECK(form.shell().shows("--neff=mlp.neff"));
  CHECK(form.shell().shows("--send x.npy"));
}
