// Sessions that several hosts share beside what each of them alone tells.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "capture/ingest/session_clock.h"
#include "capture/sim/output/simulator.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/memory/usage.h"
#include "core/analysis/time/session_activity.h"

using namespace accelscope;

namespace {

struct SimulatedHost {
  std::string name;  // "": it says none, as in a session of its own
  capture::sim::SimulationOptions options;
  std::int64_t begins_ns = 0;
};

// A session of what the hosts record, each with its own clock.
struct HostsSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  WorkerPool pool{1};
  TaskControl control;

  explicit HostsSession(const std::vector<SimulatedHost>& hosts) {
    const auto facts = std::make_shared<capture::ingest::HostFacts>();
    for (const SimulatedHost& host : hosts) {
      StoreSink sink(*store);
      if (host.name.empty()) {
        REQUIRE(capture::sim::simulate(host.options, sink).ok());
        continue;
      }
      constexpr std::int64_t kSecond = 1'000'000'000;
      capture::ingest::HostClockSink clocked(sink, host.name, false, facts);
      clocked.start_with({{0, host.begins_ns}, {kSecond, kSecond + host.begins_ns}}, 0);
      REQUIRE(capture::sim::simulate(host.options, clocked).ok());
    }
  }
  [[nodiscard]] QueryContext query() { return {*store, store->snapshot(), pool, control}; }
};

// What is found, by "rule device subject", with what it saves.
std::map<std::string, std::int64_t> savings(HostsSession& session) {
  const auto advice = analysis::find_advice(session.query(), {});
  REQUIRE(advice.ok());
  std::map<std::string, std::int64_t> found;
  for (const analysis::Finding& finding : (*advice)->findings) found[finding.key] = finding.saving_ns;
  return found;
}

// "reloaded_tensor trn1 nc0 w1" of "reloaded_tensor nc0 w1".
std::string on_host(const std::string& key, const std::string& host) {
  const std::size_t space = key.find(' ');
  return key.substr(0, space + 1) + host + " " + key.substr(space + 1);
}

double share_of(HostsSession& session, std::string_view name, const std::string& device) {
  const auto metrics = analysis::session_metrics(session.query());
  REQUIRE(metrics.ok());
  for (const analysis::SessionMetric& metric : *metrics) {
    if (metric.name == name && metric.device == device && metric.value) return *metric.value;
  }
  return -1;
}

constexpr std::int64_t kFarApart = 71'000'000;

std::vector<SimulatedHost> two_hosts() {
  return {{"alpha", {.seed = 1, .kernels = 1}, 0}, {"beta", {.seed = 2, .kernels = 1}, kFarApart}};
}

}  // namespace

TEST_CASE("hosts: what is found on a host alone is found in every session that it shares with others") {
  std::mt19937_64 random(20);
  std::size_t compared = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<SimulatedHost> hosts;
    const std::size_t count = 2 + random() % 2;
    for (std::size_t i = 0; i < count; ++i) {
      capture::sim::SimulationOptions options{.seed = random() % 1000, .kernels = 1 + random() % 2};
      options.devices = 1 + static_cast<std::uint32_t>(random() % 2);
      hosts.push_back({fmt::format("trn{}", i + 1), options, static_cast<std::int64_t>(random() % 100'000'000)});
    }
    HostsSession joined(hosts);
    const std::map<std::string, std::int64_t> together = savings(joined);
    for (const SimulatedHost& host : hosts) {
      HostsSession alone({{"", host.options, 0}});
      for (const auto& [key, saving] : savings(alone)) {
        CAPTURE(key);
        CAPTURE(host.name);
        const auto found = together.find(on_host(key, host.name));
        REQUIRE(found != together.end());
        CHECK(static_cast<double>(found->second) == doctest::Approx(static_cast<double>(saving)).epsilon(0.01));
        ++compared;
      }
    }
  }
  CHECK(compared >= 8);  // there was something to lose
}

TEST_CASE("hosts: two that did the very same have each its own findings") {
  HostsSession joined({{"alpha", {.seed = 5, .kernels = 1}, 0}, {"beta", {.seed = 5, .kernels = 1}, kFarApart}});
  HostsSession alone({{"", {.seed = 5, .kernels = 1}, 0}});
  const std::map<std::string, std::int64_t> together = savings(joined), own = savings(alone);
  REQUIRE(own.size() > 1);
  CHECK(together.size() == 2 * own.size());
  for (const auto& [key, saving] : own) {
    for (const char* host : {"alpha", "beta"}) {
      CAPTURE(on_host(key, host));
      REQUIRE(together.contains(on_host(key, host)));
      CHECK(together.at(on_host(key, host)) == saving);
    }
  }
}

TEST_CASE("hosts: cores of one name are told apart by their hosts, and each has its memory, figures and facts") {
  HostsSession joined(two_hosts());
  const auto snapshot = joined.store->snapshot();
  const analysis::TrackDevices devices(*snapshot);
  std::vector<std::string> labels;
  for (std::size_t device = 0; device < devices.count(); ++device) labels.push_back(devices.label(device));
  CHECK(std::count(labels.begin(), labels.end(), "alpha nc0") == 1);
  CHECK(std::count(labels.begin(), labels.end(), "beta nc0") == 1);
  CHECK(std::none_of(labels.begin(), labels.end(), [](const std::string& label) { return label.ends_with(")"); }));

  const auto usage = analysis::memory_usage(joined.query());
  REQUIRE(usage.ok());
  for (const SimulatedHost& host : two_hosts()) {
    HostsSession alone({{"", host.options, 0}});
    const auto own = analysis::memory_usage(alone.query());
    REQUIRE(own.ok());
    for (const analysis::PoolUsage& pool : (*own)->pools) {
      const auto found = (*usage)->find_pool(host.name + " nc0 " + pool.base_name);
      REQUIRE(found.has_value());
      const analysis::PoolUsage& here = (*usage)->pool(*found);
      CHECK(here.peak_bytes == pool.peak_bytes);
      CHECK(here.allocation_count == pool.allocation_count);
      CHECK(here.capacity_bytes == pool.capacity_bytes);
    }
    for (const std::string_view name : {"total_active_time_percent", "tensor_engine_active_time_percent",
                                        "dma_busy_share", "throttle_gpio_0_active_time_nc0_percent"}) {
      CAPTURE(name);
      const double alone_share = share_of(alone, name, "nc0");
      CHECK(alone_share > 0);
      CHECK(share_of(joined, name, host.name + " nc0") == doctest::Approx(alone_share).epsilon(0.01));
    }
    const auto stated = [&](HostsSession& session, const std::string& device) {
      std::size_t count = 0;
      const auto metrics = analysis::session_metrics(session.query());
      for (const analysis::SessionMetric& metric : *metrics)
        count += metric.device == device && metric.vendor ? 1U : 0U;
      return count;
    };
    CHECK(stated(joined, host.name + " nc0") == stated(alone, "nc0"));
  }
}

TEST_CASE(
    "hosts: the verdict is of the work of each, and neither it, the path nor the first view of the time between") {
  HostsSession joined(two_hosts());
  const auto work = analysis::find_first_look(joined.query());
  REQUIRE(work.ok());
  REQUIRE((work->active.has_value() && work->shown.has_value()));
  CHECK(work->active->length_ns() > kFarApart / 2);
  const auto load = analysis::session_load(joined.query(), *work->active);
  REQUIRE(load.ok());
  CHECK(load->kind == analysis::SessionLoad::Kind::engines);
  CHECK(load->device == "2 devices");
  double active = 0, longest = 0, busiest = 0, of_peak = 0;
  for (const SimulatedHost& host : two_hosts()) {
    HostsSession alone({{"", host.options, 0}});
    const auto stretch = analysis::find_active_stretch(alone.query());
    REQUIRE((stretch.ok() && stretch->has_value()));
    const auto own = analysis::session_load(alone.query(), **stretch);
    REQUIRE(own.ok());
    CHECK(load->idle_share() == doctest::Approx(own->idle_share()).epsilon(0.05));
    active += static_cast<double>(own->active_ns) / 2;
    busiest += own->busiest_share / 2;
    REQUIRE(own->of_peak.has_value());
    of_peak += *own->of_peak / 2;
    const auto look = analysis::find_first_look(alone.query());
    REQUIRE((look.ok() && look->shown));
    longest = std::max(longest, static_cast<double>(look->shown->length_ns()));
  }
  CHECK(static_cast<double>(load->active_ns) == doctest::Approx(active).epsilon(0.01));
  CHECK(load->busiest_share == doctest::Approx(busiest).epsilon(0.01));
  REQUIRE(load->of_peak.has_value());
  CHECK(*load->of_peak == doctest::Approx(of_peak).epsilon(0.01));
  CHECK(static_cast<double>(work->shown->length_ns()) == doctest::Approx(longest).epsilon(0.01));
  CHECK(work->shown->end_ns < kFarApart);  // of the host whose lanes are on top
  const auto path = analysis::session_path(joined.query(), std::nullopt);
  REQUIRE(path.ok());
  CHECK(static_cast<double>(path->path.range.length_ns()) == doctest::Approx(longest).epsilon(0.01));
}

TEST_CASE("hosts: what two hosts state otherwise is kept of both, and what the first states again replaces it") {
  capture::ingest::HostFacts facts;
  CHECK(facts.place({"driver", "2.1"}, "alpha").key == "driver");
  CHECK(facts.place({"driver", "2.1"}, "beta").key.empty());
  CHECK(facts.place({"driver", "2.2"}, "beta").key == "beta.driver");
  CHECK(facts.place({"driver", "2.3"}, "alpha").key == "driver");
}

TEST_CASE("hosts: ranks of one job on several hosts stay one session, named by their ranks") {
  capture::sim::SimulationOptions options{.seed = 3, .kernels = 4, .devices = 16};
  options.detail = capture::sim::Detail::ranks;
  HostsSession session({{"", options, 0}});
  CHECK(analysis::session_parts(session.store->snapshot()).size() == 1);
  const analysis::TrackDevices devices(*session.store->snapshot());
  for (std::size_t device = 0; device < devices.count(); ++device) {
    CAPTURE(devices.label(device));
    CHECK(devices.label(device).starts_with("rank "));
  }
}
