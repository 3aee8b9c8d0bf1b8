#include "core/analysis/figures/metrics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "tests/core/analysis/figures/metrics_session.h"

namespace accelscope::analysis {
namespace {

using Accept = std::function<bool(const PlainRow&)>;

// The figures of one device and range, row by row.
class Model {
 public:
  Model(const std::vector<PlainRow>& rows, std::string device, const TimeRange& range)
      : device_(std::move(device)), range_(range) {
    for (const PlainRow& row : rows) {
      if (row.device != device_) continue;
      if (row.table == "neff_node" || range.holds(row.begin, row.end)) held_.push_back(&row);
    }
  }

  [[nodiscard]] double count(const Accept& accept) const {
    return static_cast<double>(std::count_if(held_.begin(), held_.end(), [&](auto* row) { return accept(*row); }));
  }
  [[nodiscard]] std::int64_t inside(const PlainRow& row) const {
    return std::max<std::int64_t>(0, std::min(range_.end_ns, row.end) - std::max(range_.begin_ns, row.begin));
  }
  [[nodiscard]] double seconds(const Accept& accept) const {
    std::int64_t ns = 0;
    for (const PlainRow* row : held_) ns += accept(*row) ? inside(*row) : 0;
    return static_cast<double>(ns) * 1e-9;
  }
  // Length of the union: every begin opens, every end closes.
  [[nodiscard]] double covered(const Accept& accept) const {
    std::map<std::int64_t, int> edges;
    for (const PlainRow* row : held_) {
      if (!accept(*row) || inside(*row) == 0) continue;
      ++edges[std::max(range_.begin_ns, row->begin)];
      --edges[std::min(range_.end_ns, row->end)];
    }
    std::int64_t ns = 0;
    std::int64_t opened = 0;
    int open = 0;
    for (const auto& [at, change] : edges) {
      if (open == 0) opened = at;
      open += change;
      if (open == 0) ns += at - opened;
    }
    return static_cast<double>(ns) * 1e-9;
  }
  [[nodiscard]] double sum(const Accept& accept, const std::string& column) const {
    double sum = 0;
    for (const PlainRow* row : held_) {
      if (!accept(*row)) continue;
      const double share =
          row->end > row->begin ? static_cast<double>(inside(*row)) / static_cast<double>(row->end - row->begin) : 1;
      sum += share * static_cast<double>(row->number(column));
    }
    return sum;
  }
  [[nodiscard]] const std::vector<const PlainRow*>& held() const { return held_; }

 private:
  std::string device_;
  TimeRange range_;
  std::vector<const PlainRow*> held_;
};

Accept table(const std::string& name) {
  return [name](const PlainRow& row) { return row.table == name; };
}

const SessionMetric* find(const std::vector<SessionMetric>& metrics, const std::string& device,
                          const std::string& name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const SessionMetric& metric) {
    return metric.device == device && metric.name == name;
  });
  return found == metrics.end() ? nullptr : &*found;
}

struct Expectation {
  const std::vector<SessionMetric>& metrics;
  std::string device;

  void check(const std::string& name, double value) const {
    CAPTURE(device);
    CAPTURE(name);
    const SessionMetric* metric = find(metrics, device, name);
    REQUIRE(metric != nullptr);
    REQUIRE(metric->value.has_value());
    CHECK(*metric->value == doctest::Approx(value).epsilon(1e-9));
  }
};

void check_instructions(const Model& model, const Expectation& expect) {
  const auto working = [](const PlainRow& row) { return row.table == "instruction" && row.name != "EVENT_SEMAPHORE"; };
  for (const char* engine : {"Tensor", "Vector"}) {
    const std::string prefix = engine == std::string("Tensor") ? "tensor_engine_" : "vector_engine_";
    const auto of_engine = [&](const PlainRow& row) { return working(row) && row.text("subgroup") == engine; };
    const double count =
        model.count([&](const PlainRow& row) { return row.table == "instruction" && row.text("subgroup") == engine; });
    if (count == 0) continue;  // an engine without any instruction in the range has no figures
    expect.check(prefix + "instruction_count", count);
    expect.check(prefix + "instruction_time", model.seconds(of_engine));
    expect.check(prefix + "active_time", model.covered(of_engine));
  }
  const auto named = [](const char* name) {
    return [name](const PlainRow& row) { return row.table == "instruction" && row.name == name; };
  };
  const auto transposes = [](const PlainRow& row) {
    return row.name == "MATMUL" && row.text("instruction_type") == "TRANSPOSE";
  };
  expect.check("matmul_instruction_count", model.count(named("MATMUL")));
  expect.check("hardware_flops", 2 * model.sum(named("MATMUL"), "elements"));
  expect.check("transpose_flops", 2 * model.sum(transposes, "elements"));
  expect.check("activate_instruction_count", model.count(named("ACTIVATE")));
  expect.check("activate_instruction_time", model.seconds(named("ACTIVATE")));
  expect.check("hbm_read_bytes", model.sum(table("instruction"), "hbm_read_bytes"));
  expect.check("sbuf_write_bytes", model.sum(table("instruction"), "sbuf_write_bytes"));
  expect.check("psum_read_sbuf_write_count",
               model.count([](const PlainRow& row) { return row.number("is_psum_read_sbuf_write") != 0; }));
  expect.check("total_active_time", model.covered([&](const PlainRow& row) {
    return working(row) || row.table == "dma" || row.table == "cc_op";
  }));
}

void check_moves(const Model& model, const Expectation& expect) {
  const auto of_type = [](const std::string& type) -> Accept {
    return [type](const PlainRow& row) {
      if (row.table != "dma") return false;
      const bool dynamic = row.text("queue_type").ends_with("_dynamic");
      return type == "static" ? !dynamic : row.text("queue_type") == type;
    };
  };
  for (const char* kind : {"static", "software_dynamic", "hardware_dynamic"}) {
    const std::string prefix = std::string(kind) + "_dma_";
    expect.check(prefix + "active_time", model.covered(of_type(kind)));
    expect.check(prefix + "packet_count", model.count(of_type(kind)));
    expect.check(prefix + "size", model.sum(of_type(kind), "transfer_size"));
  }
  expect.check("dma_active_time", model.covered(table("dma")));
  expect.check("dma_packet_time", model.seconds(table("dma")));
  expect.check("dma_transfer_count", model.count(table("dma_transfer")));
  expect.check("dma_transfer_time", model.seconds(table("dma_transfer")));
  expect.check("dma_transfer_total_bytes", model.sum(table("dma_transfer"), "transfer_size"));
  std::set<std::pair<std::int64_t, std::int64_t>> rings;
  for (const PlainRow* row : model.held()) {
    if (row->table == "dma") rings.emplace(row->number("dma_queue"), row->number("dma_engine"));
  }
  expect.check("dma_queue_count", static_cast<double>(rings.size()));
  expect.check("cc_op_count", model.count(table("cc_op")));
  expect.check("cc_op_active_time", model.covered(table("cc_op")));
}

void check_throttling(const Model& model, const Expectation& expect, double total_s) {
  for (const char* core : {"0", "1"}) {
    double allowed = 0;
    std::int64_t throttled = 0;
    std::int64_t of_activity = 0;
    bool any = false;
    for (const PlainRow* row : model.held()) {
      if (row->table != "throttle" || !row->track.ends_with(std::string("(nc") + core + ")")) continue;
      any = true;
      const std::int64_t time = model.inside(*row);
      const double limit = std::min(1.0, static_cast<double>(row->number("k")) / 8);
      allowed += limit * static_cast<double>(time);
      throttled += limit < 1 ? time : 0;
      of_activity += row->name == "activity_0" ? time : 0;
    }
    if (!any) continue;
    expect.check(std::string("throttle_active_nc") + core + "_time_ns", static_cast<double>(throttled));
    expect.check(std::string("throttle_avg_util_limit_nc") + core + "_percent", allowed * 1e-9 / total_s);
    if (of_activity == 0) continue;
    expect.check(std::string("throttle_activity_0_active_time_nc") + core + "_percent",
                 static_cast<double>(of_activity) * 1e-9 / total_s);
  }
}

}  // namespace

TEST_CASE("figures of any range and device are those of its events, row by row") {
  MetricsSession session(7);
  for (int round = 0; round < 25; ++round) {
    const TimeRange range = round == 0 ? TimeRange{} : session.random_range();
    if (range.empty()) continue;
    CAPTURE(range.begin_ns);
    CAPTURE(range.end_ns);
    const auto metrics = session_metrics(session.context(), range);
    REQUIRE(metrics.ok());
    for (const std::string device : {"nc0", "nc1"}) {
      const Model model(session.rows, device, range);
      const Expectation expect{*metrics, device};
      std::int64_t end = 0;
      for (const PlainRow& row : session.rows) {
        if (row.device == device && row.table != "throttle") end = std::max(end, row.end);
      }
      const double total_s =
          static_cast<double>(std::min(range.end_ns, end) - std::max<std::int64_t>(range.begin_ns, 0)) * 1e-9;
      if (total_s <= 0) continue;
      expect.check("total_time", total_s);
      check_instructions(model, expect);
      check_moves(model, expect);
      check_throttling(model, expect, total_s);
      // Two physical cores can do twice as much; the operations are those of the range.
      const double peak = 2.0 * 128 * 128 * 2.8e9 * 2;
      expect.check(
          "hfu_estimated_percent",
          2 * model.sum([](const PlainRow& row) { return row.name == "MATMUL"; }, "elements") / (total_s * peak));
      expect.check("mbu_estimated_percent", model.sum(table("instruction"), "hbm_read_bytes") / total_s / 410e9);
      // The model's tensors are the same whatever the range.
      expect.check("inputs_and_weights_size_bytes", device == "nc0" ? 9'000 : 18'000);
    }
  }
}

TEST_CASE("general figures of any range are those of its events, whatever the source") {
  MetricsSession session(11, 500);
  for (int round = 0; round < 25; ++round) {
    const TimeRange range = round == 0 ? TimeRange{} : session.random_range();
    if (range.empty()) continue;
    CAPTURE(range.begin_ns);
    CAPTURE(range.end_ns);
    const auto metrics = session_metrics(session.context(), range);
    REQUIRE(metrics.ok());
    double all = 0;
    for (const std::string device : {"nc0", "nc1"}) {
      const Model model(session.rows, device, range);
      const Expectation expect{*metrics, device};
      all += model.count([](const PlainRow& row) { return row.table != "neff_node"; });
      for (const char* name : {"instruction", "dma", "dma_transfer", "cc_op"}) {
        const std::string prefix = name;
        expect.check(prefix + "_event_count", model.count(table(name)));
        expect.check(prefix + "_busy_time", model.covered([&](const PlainRow& row) {
          return row.table == name && row.name != "EVENT_SEMAPHORE";
        }));
      }
      expect.check("dma_moved_bytes", model.sum(table("dma"), "transfer_size"));
      expect.check("dma_transfer_moved_bytes", model.sum(table("dma_transfer"), "transfer_size"));
      CHECK(find(*metrics, device, "throttle_busy_time") == nullptr);
    }
    const Expectation of_session{*metrics, ""};
    of_session.check("session_event_count", all);
  }
}

TEST_CASE("a difference beyond the margin is told from one within it, and above 1 % it is marked") {
  SessionMetric metric;
  CHECK(check(metric) == MetricCheck::only_vendor);
  metric.exact = false;
  CHECK(name_of(check(metric)) == "cannot be recomputed");
  metric.exact = true;
  metric.value = 100.5;
  CHECK(check(metric) == MetricCheck::only_ours);
  CHECK_FALSE(is_flagged(metric));
  metric.vendor = 100;
  CHECK(*relative_difference(metric) == doctest::Approx(0.005));
  CHECK(check(metric) == MetricCheck::differs);
  CHECK_FALSE(is_flagged(metric));
  metric.margin = 0.01;
  CHECK(check(metric) == MetricCheck::agrees);
  metric.value = 103;
  metric.margin = 0.05;
  CHECK(check(metric) == MetricCheck::agrees);
  CHECK(is_flagged(metric));  // whatever the margin: it deserves a look
  metric.vendor = 0;
  CHECK(check(metric) == MetricCheck::differs);
  CHECK(is_flagged(metric));
  metric.value = 0;
  CHECK(check(metric) == MetricCheck::agrees);
}

TEST_CASE("the vendor's figures stand beside ours for the whole session only, each at its device") {
  MetricsSession session(3, 60);
  StoreSink sink(*session.store);
  SessionWriter writer(sink);
  writer.add_metric({.name = "matmul_instruction_count", .group = "tensor_engine", .value = 5, .device = "nc1"});
  writer.add_metric({.name = "instance_type", .group = "system", .text = "trn9"});
  writer.add_metric({.name = "throttle_unknown_active_time_nc0_percent", .group = "summary", .value = 0.5});
  REQUIRE(writer.finish().ok());
  session.snapshot = session.store->snapshot();
  const auto whole = session_metrics(session.context());
  REQUIRE(whole.ok());
  REQUIRE(find(*whole, "nc1", "matmul_instruction_count") != nullptr);
  CHECK(find(*whole, "nc1", "matmul_instruction_count")->vendor == 5);
  CHECK_FALSE(find(*whole, "nc0", "matmul_instruction_count")->vendor.has_value());
  REQUIRE(find(*whole, "nc0", "instance_type") != nullptr);  // names no device: of the first
  CHECK(find(*whole, "nc0", "instance_type")->vendor_text == "trn9");
  CHECK(find(*whole, "nc0", "throttle_unknown_active_time_nc0_percent")->group == "throttling_nc0");
  CHECK_FALSE(find(*whole, "nc1", "matmul_instruction_count")->how.empty());
  const auto part = session_metrics(session.context(), {0, session.snapshot->end_ns / 2});
  REQUIRE(part.ok());
  for (const SessionMetric& metric : *part) {
    CAPTURE(metric.name);
    CHECK_FALSE(metric.vendor.has_value());
    CHECK(metric.vendor_text.empty());
    CHECK(metric.value.has_value());
  }
}

}  // namespace accelscope::analysis
