// Sessions written by hand for rules of advice: engines, DMA queues, streams, hosts and chips with what a rule looks
// for.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "core/analysis/advice/advice.h"
#include "core/chunk/session_writer.h"

namespace accelscope::test {

class PlantedSession {
 public:
  PlantedSession();

  TrackNumber engine(const char* name) { return track(name, "engine", instruction_); }
  TrackNumber queue(const char* name) { return track(name, "dma_queue", dma_); }
  TrackNumber throttle() { return track("Throttling", "throttle", throttle_); }
  TrackNumber stream(const char* name) { return track(name, "stream", kernel_, "gpu 0"); }
  TrackNumber copies(const char* name) { return track(name, "dma_queue", copy_, "gpu 0"); }
  TrackNumber thread(const char* name) { return track(name, "host_thread", call_, ""); }
  TrackNumber core(const char* name) { return track(name, "engine", zone_, "chip 0"); }
  TrackNumber totals(const char* name, TrackNumber above) {
    return writer.add_track({.parent = above, .name = name, .kind = "engine", .device = "chip 0", .schema = total_});
  }
  TrackNumber runs() { return track("Runs", "layer", run_, "chip 0"); }

  void work(TrackNumber on, std::int64_t begin, std::int64_t length, const char* name = "ACTIVATE") {
    writer.begin_event(on, begin, length, writer.intern(name));
  }
  // What a core's computing waited at a buffer in a run.
  void waited(TrackNumber on, std::int64_t at, const char* name, std::int64_t ns) {
    writer.begin_event(on, at, 0, writer.intern(name)).integer(0, ns);
  }
  // A multiplication of so many elements, or a transpose.
  void multiply(TrackNumber on, std::int64_t begin, std::int64_t length, std::int64_t elements, bool transpose,
                const char* line = "mlp.py:7");
  // Work that reads and writes so many bytes of device memory.
  void access(TrackNumber on, std::int64_t begin, std::int64_t length, std::int64_t read, std::int64_t written);
  struct Transfer {
    const char* tensor = "w1";
    std::int64_t bytes = 4096;
    const char* from = "WEIGHT";
    const char* to = "SB";
    const char* purpose = "data";
    const char* line = "mlp.py:33";
  };
  void move(TrackNumber on, std::int64_t begin, std::int64_t length, const Transfer& transfer);
  // A copy of a stream, such as "Memcpy HtoD (Pageable -> Device)".
  void copy(TrackNumber on, std::int64_t begin, std::int64_t length, const char* name, std::int64_t bytes) {
    writer.begin_event(on, begin, length, writer.intern(name)).integer(0, bytes);
  }
  TrackNumber errors() { return track("Errors", "error", error_); }
  void limit(TrackNumber on, std::int64_t begin, std::int64_t length, double limit, const char* kind = "gpio_0");
  void tensor(const char* name, std::int64_t bytes);

  std::shared_ptr<const analysis::Advice> advice(const EventFilter& filter = {});
  // Null: the rule found nothing.
  const analysis::Finding* found(analysis::RuleId rule);

  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;

 private:
  TrackNumber track(const char* name, const char* kind, SchemaNumber schema, const char* device = "nc0") {
    return writer.add_track({.name = name, .kind = kind, .device = device, .schema = schema});
  }
  SchemaNumber instruction_, dma_, throttle_, kernel_, copy_, call_, zone_, total_, run_, tensor_, error_;
  std::optional<TrackNumber> tensors_;
  std::shared_ptr<const analysis::Advice> advice_;
};

// The cost that was planted, within a twentieth.
#define CHECK_PLANTED(finding, planted)                                               \
  do {                                                                                \
    REQUIRE((finding) != nullptr);                                                    \
    CHECK((finding)->saving_ns >= static_cast<std::int64_t>(0.95 * double(planted))); \
    CHECK((finding)->saving_ns <= static_cast<std::int64_t>(1.05 * double(planted))); \
  } while (false)

}  // namespace accelscope::test
