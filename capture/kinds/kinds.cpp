#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/kinds/itt/kind.h"
#include "capture/kinds/neuron/kind.h"
#include "capture/kinds/neuron/settings.h"
#include "capture/kinds/opencl/kind.h"
#include "capture/kinds/program/kind.h"
#include "capture/kinds/python/kind.h"
#include "capture/kinds/replay/kind.h"
#include "capture/kinds/simulate/kind.h"
#include "capture/kinds/torch/kind.h"
#include "capture/kinds/tt_metal/kind.h"
#include "capture/kinds/tt_metal/profile_kind.h"
#include "capture/kinds/unitrace/kind.h"
#include "capture/request/kind.h"
#include "capture/request/options.h"
#include "capture/request/warnings.h"

namespace accelscope::capture::request {

std::span<const CaptureKind> capture_kinds() {
  // A line each, so that changes do not meet.
  // clang-format off
  static const std::array kKinds = {
      kinds::program::program_kind(),
      kinds::itt::itt_kind(),
      kinds::python::python_kind(),
      kinds::simulate::simulate_kind(),
      kinds::replay::replay_kind(),
      kinds::neuron::neuron_kind(),
      kinds::tt_metal::tt_metal_kind(),
      kinds::tt_metal::tt_profile_kind(),
      kinds::unitrace::unitrace_kind(),
      kinds::torch::torch_kind(),
      kinds::opencl::opencl_kind(),
  };
  // clang-format on
  return kKinds;
}

CaptureRequest complete_request(CaptureRequest request) {
  if (request.program.empty() && request.script.empty()) return request;
  bool looked_into = false;
  for (const KindChoice& choice : request.kinds) {
    const Result<const CaptureKind*> kind = find_kind(choice.name);
    if (!kind) return request;  // check_request() says so
    if ((*kind)->declare().needs_program) return request;
    looked_into = looked_into || (*kind)->environment != nullptr;
  }
  if (looked_into) request.kinds.push_back({"program", {}});
  return request;
}

std::vector<std::string> kind_warnings(const KindChoice& choice) {
  if (choice.name == "neuron") return kinds::neuron::neuron_warnings(choice);
  return {};
}

std::vector<KindFacts> declared_kinds() {
  std::vector<KindFacts> all;
  for (const CaptureKind& kind : capture_kinds()) all.push_back(kind.declare());
  return all;
}

std::vector<KindFacts> checked_kinds() {
  std::vector<KindFacts> all;
  for (const CaptureKind& kind : capture_kinds()) {
    all.push_back(kind.declare());
    all.back().checks = kind.check();
  }
  return all;
}

std::vector<KindFacts> checked_kinds(std::span<const KindChoice> chosen) {
  std::vector<KindFacts> all = declared_kinds();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_chosen =
        std::any_of(chosen.begin(), chosen.end(), [&](const KindChoice& choice) { return choice.name == all[i].name; });
    if (is_chosen) all[i].checks = capture_kinds()[i].check();
  }
  return all;
}

Result<const CaptureKind*> find_kind(std::string_view name) {
  const std::vector<KindFacts> declared = declared_kinds();
  const Result<const KindFacts*> facts = find_facts(name, declared);
  if (!facts) return facts.error();
  return &capture_kinds()[static_cast<std::size_t>(*facts - declared.data())];
}

Result<std::string> describe_request(const CaptureRequest& request, const std::string& work_folder) {
  std::string text;
  for (const KindChoice& choice : request.kinds) {
    const Result<const CaptureKind*> kind = find_kind(choice.name);
    if (!kind) return kind.error();
    const Result<std::string> part = (*kind)->describe(request, choice, work_folder);
    if (!part) return part.error();
    text += (text.empty() ? "" : "; ") + *part;
  }
  return text;
}

Result<void> run_kind(const KindRun& run, EventSink& sink) {
  const Result<const CaptureKind*> kind = find_kind(run.choice.name);
  if (!kind) return kind.error();
  return (*kind)->run(run, sink);
}

}  // namespace accelscope::capture::request
