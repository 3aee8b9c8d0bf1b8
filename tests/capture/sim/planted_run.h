// Advice of sessions with a planted defect, and a count of how often it was right.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/analysis/advice/advice.h"
#include "core/analysis/time/session_activity.h"

namespace accelscope::test {

struct JudgedSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  std::int64_t total_ns = 0;
  std::shared_ptr<const analysis::Advice> advice;

  explicit JudgedSession(const std::function<Result<void>(EventSink&)>& simulate) {
    StoreSink sink(*store);
    REQUIRE(simulate(sink).ok());
    WorkerPool pool(1);
    TaskControl control;
    const QueryContext query{*store, store->snapshot(), pool, control};
    const auto active = analysis::find_active_stretch(query);
    REQUIRE(active.ok());
    REQUIRE(active->has_value());
    total_ns = (*active)->length_ns();
    const auto dependencies = analysis::Dependencies::build(query);
    REQUIRE(dependencies.ok());
    auto found = analysis::find_advice(query, {}, dependencies->get());
    REQUIRE(found.ok());
    advice = std::move(found).value();
  }
  void print(std::string_view title) const {
    fmt::print("{}: total {}\n", title, total_ns);
    for (const analysis::Finding& each : advice->findings) {
      fmt::print("    {} {:.1f} % {} '{}'\n", each.rule->name,
                 100.0 * static_cast<double>(each.saving_ns) / static_cast<double>(total_ns), each.source,
                 each.headline);
    }
  }
};

// Seeds from ACCELSCOPE_PLANTED_FIRST on, ACCELSCOPE_PLANTED_SEEDS of them; ACCELSCOPE_PLANTED_VERBOSE=1 tells of each.
struct PlantedSeeds {
  std::uint64_t first = 1;
  int count = 0;
  bool verbose = std::getenv("ACCELSCOPE_PLANTED_VERBOSE") != nullptr;

  explicit PlantedSeeds(int usual) {
    const char* const begin = std::getenv("ACCELSCOPE_PLANTED_FIRST");
    const char* const asked = std::getenv("ACCELSCOPE_PLANTED_SEEDS");
    if (begin != nullptr) first = static_cast<std::uint64_t>(std::atoll(begin));
    count = asked != nullptr ? std::atoi(asked) : usual;
  }
};

// How often the first finding was right, of one defect.
struct PlantedScore {
  std::string_view defect;
  int all = 0, cause = 0, close = 0, quiet = 0;  // quiet: nothing is found of the twin
  double worst = 0, share = 0;

  void add(const JudgedSession& slow, const JudgedSession& repaired,
           const std::function<bool(const analysis::Finding&)>& names_cause) {
    const auto truth = static_cast<double>(slow.total_ns - repaired.total_ns);
    ++all;
    quiet += repaired.advice->findings.empty() ? 1 : 0;
    share += truth / static_cast<double>(slow.total_ns);
    const auto& findings = slow.advice->findings;
    if (findings.empty() || !names_cause(findings.front())) return;
    ++cause;
    const double off = static_cast<double>(findings.front().saving_ns) / truth - 1;
    if (std::abs(off) <= 0.05) ++close;
    if (std::abs(off) > std::abs(worst)) worst = off;
  }
  void add(const PlantedScore& other) {
    all += other.all;
    cause += other.cause;
    close += other.close;
    quiet += other.quiet;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format(
        "{:18} {:3} of {} cause, {:3} saving within 5 % (worst {:+.1f} %), true saving {:.0f} %, {:3} twins quiet\n",
        defect, cause, all, close, 100 * worst, 100 * share / std::max(1, all), quiet);
  }
};

}  // namespace accelscope::test
