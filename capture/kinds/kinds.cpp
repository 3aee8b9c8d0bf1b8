#include <fmt/format.h>

#include <algorithm>

#include "capture/kinds/base/kind_list.h"
#include "capture/request/options.h"
#include "capture/request/request.h"

namespace accelscope::capture::request {

std::span<const CaptureKind> capture_kinds() {
  static const auto kAll = [] {
    std::vector<CaptureKind> all;
    for (const auto make : kinds::kKinds) all.push_back(make());
    return all;
  }();
  return kAll;
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
  const Result<const CaptureKind*> kind = find_kind(choice.name);
  return kind && (*kind)->warnings != nullptr ? (*kind)->warnings(choice) : std::vector<std::string>();
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
  const KindFacts* facts = TRY(find_facts(name, declared));
  return &capture_kinds()[static_cast<std::size_t>(facts - declared.data())];
}

Result<std::string> describe_request(const CaptureRequest& request, const std::string& work_folder) {
  std::string text;
  for (const KindChoice& choice : request.kinds) {
    const CaptureKind* kind = TRY(find_kind(choice.name));
    const OptionReader options = TRY(read_options(*kind, choice));
    const std::string part = TRY(kind->describe(request, options, work_folder));
    text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

std::vector<KindOption> joined_options(std::initializer_list<std::vector<KindOption>> parts) {
  std::vector<KindOption> all;
  for (const std::vector<KindOption>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Result<OptionReader> read_options(const CaptureKind& kind, const KindChoice& choice) {
  Result<OptionReader> options = OptionReader::read(kind.declare(), choice);
  if (!options || kind.accept == nullptr) return options;
  TRY(kind.accept(*options));
  return options;
}

Result<void> run_kind(KindRun run, EventSink& sink) {
  const CaptureKind* kind = TRY(find_kind(run.choice.name));
  const OptionReader options = TRY(read_options(*kind, run.choice));
  run.options = &options;
  return kind->run(run, sink);
}

bool repeats(const KindChoice& choice) {
  const Result<const CaptureKind*> kind = find_kind(choice.name);
  if (!kind || (*kind)->repeats == nullptr) return false;
  const Result<OptionReader> options = read_options(**kind, choice);
  return options && (*kind)->repeats(*options);
}

}  // namespace accelscope::capture::request
