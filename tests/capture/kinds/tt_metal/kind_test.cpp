// The kind `tt-metal` on files that grow, are cut, written anew and replaced while it follows them.
#include <fstream>
#include <random>

#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/sources/tt_metal/followed_log.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

// Before each turn of the kind one step of what happens to the file; once there are no more, the capture is stopped.
class StepSink final : public ForwardingSink {
 public:
  StepSink(EventSink& retained, std::vector<std::function<void()>> steps)
      : ForwardingSink(retained), steps_(std::move(steps)) {}
  [[nodiscard]] bool cancelled() const override {
    if (at_ == steps_.size()) return true;
    steps_[at_++]();
    return false;
  }
  [[nodiscard]] bool paused() const override { return is_paused; }
  bool is_paused = false;

 private:
  std::vector<std::function<void()>> steps_;
  mutable std::size_t at_ = 0;
};

using LogSteps = std::vector<std::function<void()>>;

request::CaptureRequest request_for(const std::string& log, std::vector<request::OptionSetting> more = {}) {
  request::CaptureRequest request{.kinds = {{"tt-metal", {{"log", log}}}}};
  for (request::OptionSetting& setting : more) request.kinds[0].options.push_back(std::move(setting));
  return request;
}

Result<void> run_steps(const request::CaptureRequest& request, EventSink& sink, LogSteps steps) {
  StepSink stepped(sink, std::move(steps));
  return run_kind_into(request, stepped).result;
}

Imported follow(const request::CaptureRequest& request, LogSteps steps) {
  return Imported::by([&](EventSink& sink) { return run_steps(request, sink, std::move(steps)); });
}

std::string failure_of(const request::CaptureRequest& request, LogSteps steps) {
  RecordingSink sink;
  const Result<void> done = run_steps(request, sink, std::move(steps));
  return done.ok() ? "" : done.message();
}

void append(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}
void rewrite(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::trunc | std::ios::binary) << text;
}

void write_long_ago(const std::string& path, std::string_view text) {
  rewrite(path, text);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

test::TtLogOptions options_of(std::uint64_t seed) {
  test::TtLogOptions options;
  options.programs = 6;
  options.totals = options.counters = true;
  options.seed = seed;
  return options;
}

}  // namespace

TEST_CASE("a log that appears, grows, is cut and replaced at any byte gives the events of its import") {
  std::mt19937_64 random(21);
  for (int round = 0; round < 15; ++round) {
    CAPTURE(round);
    const ScratchFolder scratch;
    const std::string path = scratch.file("profile_log_device.csv");
    const std::string text = test::tt_log_text(options_of(1 + static_cast<std::uint64_t>(round % 5)));
    LogSteps steps = {[] {}};
    const auto grow = [&](std::size_t from, std::size_t to) {
      while (from < to) {
        const std::size_t count = std::min<std::size_t>(to - from, 1 + random() % 9000);
        steps.emplace_back([=] { append(path, text.substr(from, count)); });
        from += count;
      }
    };
    for (std::uint64_t i = random() % 3; i > 0; --i) {
      grow(0, random() % text.size());
      const std::uint64_t way = random() % 3;
      if (way == 0) steps.emplace_back([=] { rewrite(path, ""); });
      if (way == 1) steps.emplace_back([=] { fs::remove(path); });
      if (way == 2) {  // longer or shorter than before, between two looks
        const std::size_t size = random() % text.size();
        steps.emplace_back([=] {
          fs::remove(path);
          rewrite(path, text.substr(0, size));
        });
        grow(size, text.size());
        steps.emplace_back([=] { rewrite(path, ""); });
      }
    }
    grow(0, text.size());
    const Imported followed = follow(request_for(path), steps);
    const Imported imported = import_log(text);
    CHECK(log_events(followed) == log_events(imported));
    CHECK(quality_count(followed, "duplicate_rows") == 0);
    CHECK(quality_count(followed, "rows_lost") == 0);
    CHECK(quality_count(followed, "rows_late") == 0);
  }
}

TEST_CASE("what a replaced log still held is read before the one that replaced it") {
  const ScratchFolder scratch;
  const std::string path = scratch.file("profile_log_device.csv");
  test::TtLogOptions options = options_of(1);
  const std::string whole = test::tt_log_text(options);
  options.programs = 2;
  const std::string first = test::tt_log_text(options);
  const Imported followed =
      follow(request_for(path), {
                                    [&] { append(path, first.substr(0, 1000)); },
                                    [&] {
                                      append(path, first.substr(1000));
                                      fs::rename(path, scratch.file("old.csv"));
                                      rewrite(path, test::tt_log_header(options) + whole.substr(first.size()));
                                    },
                                });
  CHECK(log_events(followed) == log_events(import_log(whole)));
  CHECK(quality_count(followed, "log_written_anew") == 1);
}

TEST_CASE("a log that is cut in place tells of the bytes that could not be read") {
  const ScratchFolder scratch;
  const std::string path = scratch.file("profile_log_device.csv");
  const std::string text = test::tt_log_text(options_of(1));
  const std::size_t row = text.find("TRISC-KERNEL");
  const Imported followed = follow(request_for(path), {
                                                          [&] { rewrite(path, text.substr(0, row)); },
                                                          [&] { rewrite(path, test::tt_log_header(options_of(1))); },
                                                      });
  CHECK(quality_count(followed, "rows_lost") == 1);
  CHECK(quality_count(followed, "bytes_lost") == 0);
}

TEST_CASE("a log is found in the folder of the profiler, as the request's environment names it") {
  const ScratchFolder scratch;
  const std::string text = test::tt_log_text(options_of(2));
  const std::size_t zones = import_log(text).count("zone");
  const auto zones_with = [&](const std::string& setting, const std::string& file) {
    fs::create_directories(fs::path(scratch.file(file)).parent_path());
    request::CaptureRequest request{.kinds = {{"tt-metal", {}}}};
    request.environment = {"TT_METAL_PROFILER_DIR=", "TT_METAL_HOME=", setting};
    return follow(request, {[] {}, [&] { rewrite(scratch.file(file), text); }}).count("zone");
  };
  CHECK(zones_with("TT_METAL_PROFILER_DIR=" + scratch.file("a"), "a/.logs/profile_log_device.csv") == zones);
  CHECK(zones_with("TT_METAL_PROFILER_DIR=" + scratch.file("b"), "b/profile_log_device.csv") == zones);
  CHECK(zones_with("TT_METAL_HOME=" + scratch.file("c"), "c/generated/profiler/.logs/profile_log_device.csv") == zones);
}

TEST_CASE("rows of before the capture and of its pauses are left out where that is wanted") {
  const ScratchFolder scratch;
  const std::string path = scratch.file("log.csv");
  test::TtLogOptions options = options_of(3);
  const std::string whole = test::tt_log_text(options);
  options.programs = 2;
  const std::string old = test::tt_log_text(options);
  write_long_ago(path, old);
  const Imported with = follow(request_for(path), {[] {}, [&] { append(path, whole.substr(old.size())); }});
  CHECK(log_events(with) == log_events(import_log(whole)));
  write_long_ago(path, old);
  const Imported without =
      follow(request_for(path, {{"old-rows", "off"}}), {[] {}, [&] { append(path, whole.substr(old.size())); }});
  CHECK(without.count("zone") == import_log(whole).count("zone") - import_log(old).count("zone"));
  CHECK(quality_count(without, "rows_left_out") ==
        static_cast<std::uint64_t>(std::count(old.begin(), old.end(), '\n')) - 2);

  rewrite(path, "");
  const Imported paused = Imported::by([&](EventSink& sink) {
    StepSink* steered = nullptr;
    StepSink stepped(sink, {[&] {
                              steered->is_paused = true;
                              append(path, old);
                            },
                            [&] {
                              steered->is_paused = false;
                              append(path, whole.substr(old.size()));
                            }});
    steered = &stepped;
    return run_kind_into(request_for(path), stepped).result;
  });
  CHECK(paused.count("zone") == without.count("zone"));
}

TEST_CASE("a log that a quick program has written before the first look is not taken for an old one") {
  const ScratchFolder scratch;
  const std::string path = scratch.file("log.csv");
  const std::string text = test::tt_log_text(options_of(1));
  rewrite(path, text);
  fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::hours(1));  // behind the capture's begin
  CHECK(log_events(follow(request_for(path, {{"old-rows", "off"}}), {[] {}})) == log_events(import_log(text)));
}

TEST_CASE("a log that never appears, or is none, fails with what to do") {
  const ScratchFolder scratch;
  const std::string path = scratch.file("profile_log_device.csv");
  const std::string missing = failure_of(request_for(path), {[] {}});
  CHECK(contains(missing, "profile_log_device.csv: no device log has appeared"));
  CHECK(contains(missing, "--enable-profiler"));
  const std::string other = failure_of(request_for(path), {[&] { rewrite(path, "a text\n"); }});
  CHECK(contains(other, "line 1 is neither the header nor a row of a device log"));
  // Only what another run had left.
  write_long_ago(path, test::tt_log_text(options_of(1)));
  CHECK(contains(failure_of(request_for(path, {{"old-rows", "off"}}), {[] {}}), "no device log has appeared"));

  request::CaptureRequest request{.kinds = {{"tt-metal", {}}}};
  request.environment = {"TT_METAL_PROFILER_DIR=", "TT_METAL_HOME="};
  CHECK(contains(request::describe_request(request, "").message(), "neither TT_METAL_PROFILER_DIR nor TT_METAL_HOME"));
  request = request_for(path, {{"perf-counters", "fpu,gpu"}});
  CHECK(contains(request::describe_request(request, "").message(), "there is no group 'gpu'; there are fpu, pack"));
  request = request_for(path, {{"mid-run-dump", "on"}, {"trace-runs", "on"}});
  CHECK(contains(request::describe_request(request, "").message(),
                 "--mid-run-dump: cannot be combined with --trace-runs"));
  CHECK(*request::describe_request(request_for(path), "") == "device log " + path);
}

}  // namespace accelscope::capture
