#include "core/analysis/compilation/compile_events.h"

#include <doctest/doctest.h>

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

std::vector<CompileStretch> stretches_of(const std::vector<std::pair<std::int64_t, std::string>>& lines) {
  std::vector<CompileLineAt> read;
  EventId event = 0;
  for (const auto& [ns, text] : lines) {
    const CompileLine line = read_compile_line(text);
    ++event;
    if (line.role != CompileLineRole::none)
      read.push_back({ns, event, line.role, std::string(line.what), line.took_ns});
  }
  return pair_compile_lines(read);
}

}  // namespace

TEST_CASE("compile lines: what compilers and caches print is known, with the program that it names") {
  const auto is = [](std::string_view text, CompileLineRole role, std::string_view what, std::int64_t took_ns = -1) {
    const CompileLine line = read_compile_line(text);
    CAPTURE(text);
    CHECK(line.role == role);
    CHECK(line.what == what);
    CHECK(line.took_ns == took_ns);
  };
  is("2024-04-12 07:13:06.000297:  271334  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile "
     "--target=trn1 /tmp/w/model.MODULE_16518+d41d8cd9.hlo_module.pb --output /tmp/w/model.MODULE_16518+d41d8cd9.neff",
     CompileLineRole::begins, "MODULE_16518+d41d8cd9");
  is(".Compiler status PASS", CompileLineRole::ends, "");
  is("Compiler status ERROR", CompileLineRole::ends, "");
  is("2024-05-07 23:40:45.000207:  187  INFO ||NEURON_CC_WRAPPER||: Using a cached neff at "
     "/var/tmp/neuron-compile-cache/neuronxcc-2.13/MODULE_fefb+ede6/model.neff. Exiting with a successfully compiled "
     "graph.",
     CompileLineRole::hits, "MODULE_fefb+ede6");
  is("2024-05-07 INFO ||NEURON_CACHE||: No candidate found under /var/tmp/c/neuronxcc-2.13/MODULE_fefb+ede6.",
     CompileLineRole::begins, "MODULE_fefb+ede6");
  is("Finished XLA compilation of jit(step) in 1.25 sec", CompileLineRole::whole, "jit(step)", 1'250'000'000);
  is("Persistent compilation cache hit for 'jit_step' with key 'jit_step-fa47'", CompileLineRole::hits, "jit_step");
  is("V0703 10:34:13 140 torch/_dynamo/guards.py:2590] [0/1] [__recompiles] Recompiling function f in b.py:3",
     CompileLineRole::recompiles, "f");
  is("[0/0] torch._inductor.compile_fx: [INFO] Step 3: torchinductor compiling FORWARDS graph 0",
     CompileLineRole::begins, "FORWARDS graph 0");
  is("[0/0] torch._inductor.compile_fx: [INFO] Step 3: torchinductor done compiling FORWARDS graph 0",
     CompileLineRole::ends, "FORWARDS graph 0");
  is("Triton autotuning for function matmul_kernel finished after 2.39s; best config selected: BLOCK_M: 64;",
     CompileLineRole::whole, "matmul_kernel", 2'390'000'000);
}

TEST_CASE("compile lines: a line of a program that merely speaks of compiling is none") {
  for (const char* const text :
       {"compile", "Compiling shaders ...", "please compile with -O2", "loss 0.3 (compiled)", "cache hit ratio 0.97",
        "Compiling module main", "The compiler status PASSed to the next team", "epoch 3: no candidate found",
        "Finished compilation of the report in 3 minutes", "Recompiling function tables", "", "MODULE_12 loaded",
        "Using a cached dataset at /data", "my Compiler status PASS"}) {
    CAPTURE(text);
    CHECK(read_compile_line(text).role == CompileLineRole::none);
  }
}

TEST_CASE(
    "compile lines: a begin and its end become one stretch, by name or in order, and what has no partner is an "
    "instant") {
  const std::string begin_a = "INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc model.MODULE_a.hlo",
                    begin_b = "INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc model.MODULE_b.hlo",
                    end_b = "Compilation Successfully Completed for model.MODULE_b.hlo";
  const auto found = stretches_of({{50, "INFO ||NEURON_CACHE||: No candidate found under /c/MODULE_a."},
                                   {100, begin_a},  // the same compilation is told of again
                                   {200, begin_b},
                                   {500, end_b},
                                   {900, "....Compiler status PASS"},
                                   {1'000, begin_b},
                                   {1'200, "Finished XLA compilation of f in 0.0000001 sec"}});
  REQUIRE(found.size() == 4);
  CHECK(found[0].what == "MODULE_a");
  CHECK(found[0].begin_ns == 50);
  CHECK(found[0].end_ns == 900);
  CHECK(found[0].event == 1);
  CHECK(found[1].what == "MODULE_b");
  CHECK(found[1].begin_ns == 200);
  CHECK(found[1].end_ns == 500);
  CHECK(found[2].begin_ns == 1'000);
  CHECK(found[2].end_ns == 1'000);  // nothing says when it ended
  CHECK(found[3].begin_ns == 1'100);
  CHECK(found[3].end_ns == 1'200);
}

TEST_CASE("compile lines: two lines about one end are one end, and begins without ends stay bounded") {
  const auto twice = stretches_of({{10, "CC_WRAPPER||: Call compiler with cmd: model.MODULE_a.hlo"},
                                   {90, "Compiler status PASS"},
                                   {91, "Compilation Successfully Completed for model.MODULE_a.hlo"}});
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].end_ns == 90);
  std::vector<std::pair<std::int64_t, std::string>> lines;
  for (int i = 0; i < 2'000; ++i)
    lines.emplace_back(i, "CC_WRAPPER||: Call compiler with cmd: model.MODULE_" + std::to_string(i) + ".hlo");
  CHECK(stretches_of(lines).size() == 2'000);
}

TEST_CASE("compile lines: of compilations at once the name tells which has ended") {
  const auto begin = [](const std::string& name) {
    return "CC_WRAPPER||: Call compiler with cmd: model.MODULE_" + name;
  };
  const auto end = [](const std::string& name) {
    return "Compilation Successfully Completed for model.MODULE_" + name;
  };
  const std::string pass = "Compiler status PASS";
  const auto is = [](const CompileStretch& found, const char* what, std::int64_t begin_ns, std::int64_t end_ns) {
    CHECK(found.what == what);
    CHECK(found.begin_ns == begin_ns);
    CHECK(found.end_ns == end_ns);
  };
  const auto crossing =
      stretches_of({{0, begin("A")}, {1, begin("B")}, {60, pass}, {61, end("B")}, {600, pass}, {601, end("A")}});
  REQUIRE(crossing.size() == 2);
  is(crossing[0], "MODULE_A", 0, 600);
  is(crossing[1], "MODULE_B", 1, 60);
  // Their names come later, each after another one's end.
  const auto late = stretches_of({{0, begin("A")},
                                  {1, begin("B")},
                                  {2, begin("C")},
                                  {60, pass},
                                  {61, end("B")},
                                  {70, pass},
                                  {71, end("A")},
                                  {90, pass},
                                  {91, end("A")},
                                  {92, end("C")}});
  REQUIRE(late.size() == 3);
  is(late[0], "MODULE_A", 0, 70);
  is(late[1], "MODULE_B", 1, 60);
  is(late[2], "MODULE_C", 2, 90);
  const auto unnamed = stretches_of({{0, begin("A")}, {1, begin("B")}, {60, pass}, {600, pass}});
  REQUIRE(unnamed.size() == 2);
  is(unnamed[0], "MODULE_A", 0, 60);
  is(unnamed[1], "MODULE_B", 1, 600);
  // An end of which nothing tells another's name keeps its place.
  const auto one_silent = stretches_of({{0, begin("A")}, {1, begin("B")}, {60, pass}, {500, pass}, {501, end("B")}});
  REQUIRE(one_silent.size() == 2);
  is(one_silent[0], "MODULE_A", 0, 60);
  is(one_silent[1], "MODULE_B", 1, 500);
}

TEST_CASE("compile words: calls that compile, look up or are compiled are known by name, others are not") {
  CHECK(compile_word_of("clBuildProgram") == CompileWord::compiles);
  CHECK(compile_word_of("torch/_inductor/compile_fx.py(1): compile_fx") == CompileWord::compiles);
  CHECK(compile_word_of("TorchDynamo Cache Lookup") == CompileWord::looks_up);
  CHECK(compile_word_of("Torch-Compiled Region: 0/0") == CompileWord::program_call);
  CHECK(compile_word_of("re.compile") == CompileWord::none);
  CHECK(compile_word_of("torch/compiler/__init__.py(367): is_compiling") == CompileWord::none);
  CHECK(without_call_number("ProfilerStep#12") == "ProfilerStep");
  CHECK(without_call_number("aten::conv2d") == "aten::conv2d");
  CHECK(without_call_number("Torch-Compiled Region: 0/0") == "Torch-Compiled Region: 0/0");
  CHECK(without_call_number("#12") == "#12");
}
