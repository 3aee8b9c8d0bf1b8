#include "core/analysis/compilation/compilations.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "core/search/filter_mask.h"
#include "core/store/store.h"
#include "tests/core/analysis/compilation/compiling_program.h"

using namespace accelscope;
using namespace accelscope::analysis;
using accelscope::test::CompilingProgram;

namespace {

constexpr std::int64_t kMs = 1'000'000;

struct CompiledSession {
  std::unique_ptr<Store> store = Store::create().value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;

  std::shared_ptr<const Compilations> found(const EventFilter& filter = {}) {
    REQUIRE(writer.finish().ok());
    QueryContext query{*store, store->snapshot(), pool, control};
    if (filter.needs_mask()) {
      auto mask = search::filter_mask(query, filter, nullptr);
      REQUIRE(mask.ok());
      query.mask = *mask;
    }
    auto all = find_compilations(query);
    REQUIRE(all.ok());
    return *all;
  }
};

std::vector<const CompileEvent*> of_kind(const Compilations& all, CompileKind kind) {
  std::vector<const CompileEvent*> events;
  for (const CompileEvent& each : all.events) {
    if (each.kind == kind) events.push_back(&each);
  }
  return events;
}

// Calls of `name` one after another, each launching once at its end.
void recur(CompilingProgram& program, const std::string& name, const std::vector<std::int64_t>& lengths_ms) {
  std::int64_t at = 0;
  for (const std::int64_t ms : lengths_ms) {
    program.call(at, ms * kMs, name);
    program.launch(at + ms * kMs - 5'000, 4'000, at + ms * kMs, 2'000);
    at += (ms + 1) * kMs;
  }
}

}  // namespace

TEST_CASE(
    "compilations: a long first call compiled, those after it found it compiled, one as long again compiled anew") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {400, 5, 6, 5, 300, 5, 5});
  const auto all = session.found();
  const auto compiled = of_kind(*all, CompileKind::compile), again = of_kind(*all, CompileKind::recompile);
  REQUIRE(compiled.size() == 1);
  CHECK(compiled[0]->begin_ns == 0);
  CHECK(compiled[0]->cost_ns == 395 * kMs);  // beyond the median
  CHECK(compiled[0]->what == "train_step");
  CHECK(basis_text(*compiled[0]) == "first call of 7");
  REQUIRE(again.size() == 1);
  CHECK(basis_text(*again[0]) == "call 5 of 7");
  CHECK(of_kind(*all, CompileKind::cache_hit).size() == 5);
  const CompileSummary sum = sum_compilations(*all, TimeRange{});
  CHECK(sum.compilations == 2);
  CHECK(sum.repeated == 1);
  CHECK(sum.by_length == 2);
  CHECK(sum.hits == 5);
  CHECK(sum.time_ns == (395 + 295) * kMs);
  const auto rows = call_rows(*all, TimeRange{});
  REQUIRE(rows.size() == 7);
  CHECK(rows[0].cost.compile_ns == 395 * kMs);
  CHECK(rows[0].cost.host_ns == 5 * kMs - 4'000);
  CHECK(rows[0].cost.dispatch_ns == 4'000);
  CHECK(rows[1].cost.compile_ns == 0);
}

TEST_CASE("compilations: a later call that is long, but not as long again, is neither compiled nor a cache hit") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {10'000, 1, 1, 1, 1, 1, 4'000, 1, 1, 1, 1, 1});
  const auto all = session.found();
  CHECK(of_kind(*all, CompileKind::compile).size() == 1);
  CHECK(of_kind(*all, CompileKind::recompile).empty());
  const auto hits = of_kind(*all, CompileKind::cache_hit);
  CHECK(hits.size() == 10);
  for (const CompileEvent* hit : hits) CHECK(hit->number != 7);
}

TEST_CASE("compilations: a session without compiling raises nothing") {
  const auto quiet = [](const std::string& name, const std::vector<std::int64_t>& lengths_ms) {
    CompiledSession session;
    CompilingProgram program(session.writer);
    recur(program, name, lengths_ms);
    program.line(5, "compiling statistics of the last epoch");
    CAPTURE(name);
    CHECK(session.found()->events.empty());
  };
  quiet("train_step", {5, 5, 5, 5, 5});
  quiet("train_step", {20, 5, 5, 5, 5});        // a cold first call
  quiet("train_step", {9, 0, 0, 0, 0});         // ten times, but of little
  quiet("train_step", {400, 5, 5});             // too few others to know what is usual
  quiet("train_step", {5, 5, 5, 300, 5, 5});    // a later one alone is a stall, not a compiler
  quiet("aten::conv2d", {400, 5, 5, 5, 5, 5});  // sets its library up: an operator comes compiled
  CompiledSession waiting;
  CompilingProgram program(waiting.writer);
  for (int i = 0; i < 6; ++i) {
    program.call(i * 500 * kMs, i == 0 ? 405 * kMs : 5 * kMs, "train_step");
    if (i == 0) program.wait(kMs, 400 * kMs);  // for the device
    program.launch(i * 500 * kMs + 10'000, 4'000, i * 500 * kMs + 20'000, 1'000);
  }
  CHECK(waiting.found()->events.empty());
  CompiledSession loading;  // what launches nothing is no call of a program: the first batch takes long
  CompilingProgram loader(loading.writer, "python3 (7)", 2);
  for (int i = 0; i < 6; ++i) {
    loader.call(i * 500 * kMs, i == 0 ? 400 * kMs : 5 * kMs, "next_batch", 1);
    loader.call(i * 500 * kMs, 5 * kMs, "train_step", 0);
    loader.launch(i * 500 * kMs + 10'000, 4'000, i * 500 * kMs + 20'000, 1'000, 0);
  }
  CHECK(loading.found()->events.empty());
  CompiledSession empty;
  CHECK(empty.found()->events.empty());
  CHECK(call_rows(*empty.found(), TimeRange{}).empty());
}

TEST_CASE("compilations: where a name tells what compiled in a long first call, it is told once, and hits follow") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {400, 5, 6, 5, 5});
  program.call(2 * kMs, 390 * kMs, "compile_fx.py: compile_fx");
  program.call(3 * kMs, 100 * kMs, "torch/_dynamo: _compile.compile_inner (dynamo_timed)");  // within it
  const auto all = session.found();
  const auto compiled = of_kind(*all, CompileKind::compile);
  REQUIRE(compiled.size() == 1);
  CHECK(compiled[0]->basis == CompileBasis::name);
  CHECK(compiled[0]->cost_ns == 390 * kMs);
  CHECK(of_kind(*all, CompileKind::cache_hit).size() == 4);
  const auto rows = call_rows(*all, TimeRange{});
  CHECK(rows[0].cost.compile_ns == 390 * kMs);
}

TEST_CASE("compilations: what is named within a call that compiled by its length counts with it") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {400, 5, 6, 5, 5});
  program.call(2 * kMs, 50 * kMs, "compile_fx.py: compile_fx");  // the lesser part
  const auto all = session.found();
  CHECK(of_kind(*all, CompileKind::compile).size() == 2);
  const CompileSummary sum = sum_compilations(*all, TimeRange{});
  CHECK(sum.compilations == 1);
  CHECK(sum.by_length == 1);
  CHECK(sum.time_ns == 395 * kMs);
  CHECK(call_rows(*all, TimeRange{})[0].cost.compile_ns == 395 * kMs);
}

TEST_CASE("compilations: a lookup is a hit unless something is compiled after it") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  for (int i = 0; i < 3; ++i) {
    program.call(i * 100'000, 1'000, "TorchDynamo Cache Lookup");
    if (i == 1) program.call(i * 100'000 + 2'000, 50'000, "compile_fx");
  }
  const auto all = session.found();
  CHECK(of_kind(*all, CompileKind::cache_hit).size() == 2);
  CHECK(of_kind(*all, CompileKind::compile).size() == 1);
}

TEST_CASE("compilations: a lookup after which the program is called is a hit, whatever is compiled later") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  program.call(0, 1'000, "TorchDynamo Cache Lookup");
  program.call(100'000, 50'000, "Torch-Compiled Region: 0/0");
  program.call(60'000 * kMs, kMs, "nvrtcCompileProgram");
  program.call(70'000 * kMs, 1'000, "TorchDynamo Cache Lookup");  // a miss: its program is called when it is compiled
  program.call(70'001 * kMs, kMs, "compile_fx");
  program.call(70'003 * kMs, 50'000, "Torch-Compiled Region: 0/1");
  const auto all = session.found();
  const auto hits = of_kind(*all, CompileKind::cache_hit);
  REQUIRE(hits.size() == 1);
  CHECK(hits[0]->begin_ns == 0);
  CHECK(of_kind(*all, CompileKind::compile).size() == 2);
}

TEST_CASE("compilations: of the launches those are kept that lie in a call") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {60, 50, 50, 50});
  program.launch(500 * kMs, 4'000, 501 * kMs, 1'000, 0, false, "cudaGraphLaunch");  // in none, and it does not recur
  const auto all = session.found();
  std::size_t retained = 0;
  for (const auto& launches : all->calls.launches) retained += launches.size();
  CHECK(retained == 4);
  CHECK(call_rows(*all, TimeRange{}).size() == 4);
}

TEST_CASE("compilations: lines of output compile, say what, and the same module once more is a recompilation") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {60, 50, 50, 50});
  const std::string begin = "INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc model.MODULE_a.hlo";
  program.line(10 * kMs, begin);
  program.line(30 * kMs, "Compiler status PASS", true);  // on its other stream
  program.line(70 * kMs, begin);
  program.line(90 * kMs, "Compiler status PASS", true);
  program.line(95 * kMs, "INFO ||NEURON_CC_WRAPPER||: Using a cached neff at /c/MODULE_a/model.neff.");
  const auto all = session.found();
  REQUIRE(all->events.size() == 3);
  CHECK(all->events[0].kind == CompileKind::compile);
  CHECK(all->events[0].end_ns == 30 * kMs);
  CHECK(all->events[1].kind == CompileKind::recompile);
  CHECK(all->events[1].number == 2);
  CHECK(all->events[1].of == 2);
  CHECK(all->events[2].kind == CompileKind::cache_hit);
  const auto rows = call_rows(*all, TimeRange{});
  CHECK(rows[0].cost.compile_ns == 20 * kMs);
  CHECK(rows[1].cost.compile_ns == 20 * kMs);
  CHECK(call_rows(*all, {80 * kMs, 100 * kMs})[0].cost.compile_ns == 10 * kMs);  // within the range
}

TEST_CASE("compilations: calls are the outermost that recur and launch, and steps count all threads of their process") {
  CompiledSession session;
  CompilingProgram program(session.writer, "python3 (7)", 2);
  program.call(0, 100'000, "main");  // once
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = 1'000 + i * 40'000;
    program.step(at, 35'000, "ProfilerStep#" + std::to_string(i + 3));
    program.call(at + 1'000, 20'000, "forward");
    program.call(at + 2'000, 10'000, "linear");  // within it
    program.launch(at + 3'000, 500, at + 4'000, 3'000);
    program.call(at + 23'000, 2'000, "log");  // launches nothing
    program.call(at + 26'000, 5'000, "backward", 1);
    program.launch(at + 27'000, 700, at + 30'000, 2'000, 1);
  }
  const auto all = session.found();
  std::map<std::string, std::vector<CallRow>> rows;
  for (const CallRow& row : call_rows(*all, TimeRange{}))
    rows[all->calls.functions[all->calls.list[row.call].function]].push_back(row);
  CHECK(rows.size() == 3);
  REQUIRE(rows["forward"].size() == 2);
  REQUIRE(rows["backward"].size() == 2);
  REQUIRE(rows["ProfilerStep"].size() == 2);
  CHECK(rows["forward"][0].cost.launches == 1);
  CHECK(rows["forward"][0].cost.dispatch_ns == 500);
  CHECK(rows["forward"][0].cost.kernel_ns == 3'000);
  CHECK(rows["ProfilerStep"][0].cost.launches == 2);
  CHECK(rows["ProfilerStep"][0].cost.dispatch_ns == 1'200);
  CHECK(rows["ProfilerStep"][0].cost.kernel_ns == 5'000);
  const auto functions = call_functions(*all, call_rows(*all, TimeRange{}));
  REQUIRE(functions.size() == 3);
  CHECK(all->calls.functions[functions[0].function] == "ProfilerStep");
  CHECK(functions[0].first_ns == 35'000);
  CHECK(functions[0].median_ns == 35'000);
  CHECK(functions[0].rest_ns == 35'000);
}

TEST_CASE(
    "compilations: steps that an old profiler keeps among the operators are steps, and waiting launches nothing") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = i * 100'000;
    program.call(at, 90'000, "ProfilerStep#" + std::to_string(i));
    program.call(at + 1'000, 20'000, "forward");
    program.launch(at + 2'000, 500, at + 3'000, 4'000);
    program.launch(at + 30'000, 10'000, at + 30'000, 9'000, 0, true, "cudaStreamSynchronize");  // a flow to its marker
  }
  const auto all = session.found();
  const auto rows = call_rows(*all, TimeRange{});
  REQUIRE(rows.size() == 6);
  CHECK(all->calls.list[rows[0].call].level == CallLevel::step);
  CHECK(rows[0].cost.launches == 1);
  CHECK(rows[0].cost.dispatch_ns == 500);
  CHECK(rows[0].cost.wait_ns == 10'000);
  CHECK(rows[0].cost.kernel_ns == 4'000);
  CHECK(all->calls.functions[all->calls.list[rows[1].call].function] == "forward");
}

TEST_CASE("compilations: a filter leaves only what passes it") {
  CompiledSession session;
  CompilingProgram program(session.writer);
  recur(program, "train_step", {400, 5, 6, 5, 5});
  program.call(2'000 * kMs, kMs, "clBuildProgram");
  const auto all = session.found({.terms = {{"name=clBuildProgram", false}}});
  REQUIRE(all->events.size() == 1);
  CHECK(all->calls.list.empty());
}

namespace {

// What each moment of a call is, looked at one by one.
CallCost plain_cost(std::int64_t begin, std::int64_t end, const TimeRange& range,
                    const std::vector<TimeRange>& compiling, const std::vector<TimeRange>& launching,
                    const std::vector<TimeRange>& waiting, const std::vector<TimeRange>& work) {
  CallCost cost;
  const auto any = [](const std::vector<TimeRange>& list, std::int64_t ns) {
    return std::any_of(list.begin(), list.end(),
                       [ns](const TimeRange& each) { return each.begin_ns <= ns && ns < each.end_ns; });
  };
  for (std::int64_t ns = std::max(begin, range.begin_ns); ns < std::min(end, range.end_ns); ++ns) {
    ++cost.span_ns;
    if (any(compiling, ns)) {
      ++cost.compile_ns;
    } else if (any(launching, ns)) {
      ++cost.dispatch_ns;
    } else {
      ++cost.host_ns;
      if (any(waiting, ns)) ++cost.wait_ns;
    }
  }
  std::int64_t last = 0;
  for (const TimeRange& each : work) last = std::max(last, each.end_ns);
  for (std::int64_t ns = std::max<std::int64_t>(0, range.begin_ns); ns < std::min(last, range.end_ns); ++ns) {
    if (any(work, ns)) ++cost.kernel_ns;
  }
  return cost;
}

}  // namespace

TEST_CASE("compilations: what calls cost is what looking at every moment of them gives") {
  std::mt19937_64 random(11);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    CompiledSession session;
    CompilingProgram program(session.writer);
    struct Plain {
      std::int64_t begin, end;
      std::vector<TimeRange> compiling, launching, waiting, work;
    };
    std::vector<Plain> plain;
    std::int64_t at = 10, work_at = 20;
    for (int i = 0; i < 8; ++i) {
      Plain call{at, at + 200 + below(300), {}, {}, {}, {}};
      program.call(call.begin, call.end - call.begin, "step");
      std::int64_t inner = call.begin + 1;
      while (true) {
        const std::int64_t length = 1 + below(25);
        if (inner + length >= call.end) break;
        const std::int64_t what = call.launching.empty() ? 0 : below(4);
        if (what == 0) {
          work_at = std::max(work_at + below(20), inner);
          const std::int64_t work = 1 + below(90);
          const bool other = below(3) == 0;  // work of two streams overlaps
          program.launch(inner, length, work_at, work, 0, other);
          call.launching.push_back({inner, inner + length});
          call.work.push_back({work_at, work_at + work});
          work_at += other ? 0 : work;
        } else if (what == 1) {
          program.call(inner, length, "clBuildProgram");
          call.compiling.push_back({inner, inner + length});
        } else if (what == 2) {
          program.wait(inner, length);
          call.waiting.push_back({inner, inner + length});
        }
        inner += length + below(20);
      }
      at = call.end + below(50);
      plain.push_back(std::move(call));
    }
    const auto all = session.found();
    for (const TimeRange& range : {TimeRange{}, TimeRange{300, 1'500}, TimeRange{701, 702}, TimeRange{-50, 333}}) {
      const auto rows = call_rows(*all, range);
      std::size_t row = 0;
      for (const Plain& each : plain) {
        if (!range.holds(each.begin, each.end)) continue;
        REQUIRE(row < rows.size());
        const CallCost got = rows[row++].cost;
        const CallCost want =
            plain_cost(each.begin, each.end, range, each.compiling, each.launching, each.waiting, each.work);
        CHECK(got.span_ns == want.span_ns);
        CHECK(got.host_ns == want.host_ns);
        CHECK(got.compile_ns == want.compile_ns);
        CHECK(got.dispatch_ns == want.dispatch_ns);
        CHECK(got.wait_ns == want.wait_ns);
        CHECK(got.kernel_ns == want.kernel_ns);
        CHECK(got.host_ns + got.compile_ns + got.dispatch_ns == got.span_ns);
      }
      CHECK(row == rows.size());
    }
  }
}

TEST_CASE("compilations: ranks compile each for themselves") {
  CompiledSession session;
  CompilingProgram first(session.writer, "rank 0");
  CompilingProgram second(session.writer, "rank 1", 1, 1'000);
  for (CompilingProgram* program : {&first, &second}) recur(*program, "train_step", {400, 5, 6, 5, 5});
  const auto all = session.found();
  CHECK(of_kind(*all, CompileKind::compile).size() == 2);
  CHECK(of_kind(*all, CompileKind::recompile).empty());
}

TEST_CASE("compilations: a program's lines charge its own calls, not those of another program") {
  CompiledSession session;
  StoreSink other_sink(*session.store);
  SessionWriter other_writer(other_sink);
  CompilingProgram program(session.writer, "python3 (7)");
  CompilingProgram other(other_writer, "python3 (8)", 1, 1'000);
  for (CompilingProgram* each : {&program, &other}) recur(*each, "train_step", {60, 50, 50, 50});
  program.line(10 * kMs, "CC_WRAPPER||: Call compiler with cmd: neuronx-cc model.MODULE_a.hlo");
  program.line(30 * kMs, "Compiler status PASS");
  REQUIRE(other_writer.finish().ok());
  const auto all = session.found();
  const auto rows = call_rows(*all, TimeRange{});
  REQUIRE(rows.size() == 8);
  std::int64_t own_ns = 0, others_ns = 0;
  for (const CallRow& row : rows) {
    const bool own = scope_of(lane_of(all->calls.list[row.call].event)) == session.sink.scope();
    (own ? own_ns : others_ns) += row.cost.compile_ns;
  }
  CHECK(own_ns == 20 * kMs);
  CHECK(others_ns == 0);
}
