#include "tests/capture/kinds/cuda/cuda_run.h"

#include <doctest/doctest.h>

#include <atomic>

#include "tests/capture/kinds/kind_run_support.h"
#include "tests/support/files.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

constexpr const char* kCudaProgram = "cuda_for_tests";

constexpr std::int64_t kBeforePauseNs = 200'000'000;
constexpr std::int64_t kQuietNs = 1'000'000'000;  // nothing came for so long: the program's side has noticed

// Cancelled from outside, when the program has ended; pauses once, until no kernel has come for a while.
class SteeredEnd final : public ForwardingSink {
 public:
  SteeredEnd(CudaRun& run, const CudaSetup& setup) : ForwardingSink(run.sink), run_(run), setup_(setup) {}
  [[nodiscard]] bool cancelled() const override { return over; }
  [[nodiscard]] bool paused() const override {
    if (!setup_.pauses || run_.first_kernel_came_ns == 0 || run_.resumed_ns != 0) return false;
    const std::int64_t now = now_ns();
    if (run_.paused_ns == 0 && now - run_.first_kernel_came_ns < kBeforePauseNs) return false;
    if (run_.paused_ns == 0) run_.paused_ns = run_.quiet_ns = now;
    if (now - run_.quiet_ns >= kQuietNs) run_.resumed_ns = now;
    return run_.resumed_ns == 0;
  }
  Result<void> append(SealedChunk chunk) override {
    Result<void> done = ForwardingSink::append(std::move(chunk));
    const ChunkView newest = ChunkView::parse(run_.sink.chunks.back().bytes).value();
    if (run_.sink.schema_of({.track = run_.sink.lanes.at(newest.header().lane).track}).name != "kernel") return done;
    if (run_.first_kernel_came_ns == 0) run_.first_kernel_came_ns = now_ns();
    if (run_.paused_ns != 0 && run_.resumed_ns == 0) run_.quiet_ns = now_ns();
    const std::int64_t since_ns = setup_.pauses ? run_.resumed_ns : run_.first_kernel_came_ns;
    const bool is_over = since_ns != 0 && newest.header().end_ticks > since_ns;  // it was at work then
    if (!setup_.until.empty() && is_over) test::write_file(setup_.until, "");
    return done;
  }
  std::atomic<bool> over{false};

 private:
  [[nodiscard]] std::int64_t now_ns() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count() - run_.origin_ns;
  }
  CudaRun& run_;
  const CudaSetup& setup_;
};

}  // namespace

std::string stand_in_cupti() { return accelscope::test::programs_folder() + "/../lib/libcupti_stand_in.so"; }

CudaRun run_cuda_plain(const std::vector<std::string>& arguments) {
  CudaRun run;
  run_to_end(run, {.name = kCudaProgram, .arguments = arguments, .environment = {"STAND_IN_PATH=" + stand_in_cupti()}});
  return run;
}

CudaRun run_cuda(const std::vector<std::string>& arguments, const CudaSetup& setup) {
  CudaRun run;
  request::KindChoice choice{setup.kind, {}};
  std::map<std::string, std::string> usual;
  if (setup.kind == "cuda") usual = {{"gpu-counters", "off"}, {"pm-sampling", "off"}};
  for (const auto& [name, value] : setup.options) {
    choice.options.push_back({name, value});
    usual.erase(name);
  }
  for (const auto& [name, value] : usual) choice.options.push_back({name, value});
  ProbedProgram program{.name = setup.program, .arguments = arguments, .environment = setup.environment};
  program.environment.push_back("STAND_IN_PATH=" + stand_in_cupti());
  if (setup.names_library) program.environment.push_back("ACCELSCOPE_CUPTI=" + stand_in_cupti());
  program.is_started_by_capture = setup.ends_at.empty();
  program.origin = std::chrono::steady_clock::now();
  run.origin_ns = std::chrono::nanoseconds(program.origin.time_since_epoch()).count();
  SteeredEnd sink(run, setup);
  program.after_print = [&] {
    if (!setup.ends_at.empty() && run.printed.find(setup.ends_at) != std::string::npos) sink.over = true;
  };
  run_probed(run, choice, program, sink, [&sink] { sink.over = true; });
  return run;
}

std::int64_t CudaRun::printed_number(const std::string& word) const {
  const std::size_t at = printed.find(word + " ");
  REQUIRE_MESSAGE(at != std::string::npos, printed);
  return std::stoll(printed.substr(at + word.size() + 1));
}

std::set<TrackNumber> CudaRun::tracks_of(const std::string& schema) const {
  std::set<TrackNumber> tracks;
  for (const RecordedEvent& event : table(schema)) tracks.insert(event.track);
  return tracks;
}

void CudaRun::check_times(const RecordedEvent& event, std::int64_t begin_ns, std::int64_t end_ns) const {
  CAPTURE(event.name);
  CHECK(event.start - base() == begin_ns);
  CHECK(event.end - base() == end_ns);
}

void CudaRun::check_pause(const std::string& launch) const {
  REQUIRE(paused_ns != 0);
  REQUIRE(resumed_ns != 0);
  std::size_t before = 0, within = 0, after = 0;
  for (const RecordedEvent& call : table("runtime_call")) {
    if (call.name != launch) continue;
    before += call.start < paused_ns ? 1U : 0U;
    within += call.start > quiet_ns && call.start < resumed_ns ? 1U : 0U;
    after += call.start > resumed_ns ? 1U : 0U;
  }
  CHECK(before > 0);
  CHECK(within == 0);
  CHECK(after > 0);
  std::int64_t in_use = 0;
  for (const RecordedEvent& event : table("memory")) in_use += number(event, "Bytes").value();
  CHECK(in_use == std::int64_t{3} << 30U);
}

std::map<std::string, std::size_t> CudaRun::flows() const {
  std::map<EventId, std::string> names;
  std::map<std::string, std::size_t> counts;
  for (const RecordedEvent& event : sink.events()) {
    names[make_event_id(event.lane, sink.view(event).header().first_ordinal + event.row)] = event.name;
  }
  for (const RecordedEvent& flow : table("dependency")) {
    const auto event_at = [&](const char* column) {
      return names.at(static_cast<EventId>(number(flow, column).value()));
    };
    ++counts[event_at("source_event") + " -> " + event_at("target_event")];
  }
  return counts;
}

}  // namespace accelscope::capture
