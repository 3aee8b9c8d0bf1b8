// What panels show, computed without drawing: details, operands, source lines, stacks, memory, axes, progress.
#include <doctest/doctest.h>

#include "app/content/axes/axes.h"
#include "app/content/event_details.h"
#include "app/content/memory/model.h"
#include "app/content/source/text.h"
#include "app/panels/quality/panel.h"
#include "app/session/background_job.h"
#include "core/analysis/neuron/facts/operands.h"
#include "core/model/palette.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

namespace {

const DetailField* find_field(const EventDetails& details, const std::string& label) {
  for (const DetailGroup& group : details.groups) {
    for (const DetailField& field : group.fields) {
      if (field.label == label) return &field;
    }
  }
  return nullptr;
}

std::string kinds_of(const std::vector<CodeToken>& tokens) {
  std::string kinds;
  for (const CodeToken& token : tokens) kinds += "tksnco"[static_cast<int>(token.kind)];
  return kinds;
}

}  // namespace

TEST_CASE("details: all fields that have a value, grouped by the schema, exact, each with its explanation") {
  const auto session = test::make_small_session();
  EventReader reader(*session.store, session.store->snapshot());
  const auto record = reader.read(session.first_matmul);
  REQUIRE(record.ok());
  const EventDetails details = describe_event(*record, reader.snapshot());
  CHECK(details.name == "MATMUL");
  CHECK(details.track == "Tensor");
  REQUIRE(details.groups.front().title == "Timing");
  CHECK(find_field(details, "Start")->value == "1,000 ns");
  CHECK(find_field(details, "Duration")->value == "100 ns");
  CHECK(find_field(details, "Waited before")->look == FieldLook::warning);
  CHECK(find_field(details, "Waited before")->explanation == "How long it waited for its semaphore.");
  CHECK(find_field(details, "Opcode")->value == "MATMUL");
  CHECK(find_field(details, "Source")->look == FieldLook::source_link);
  CHECK(details.source == "kernel.py:3");
  CHECK(details.stack.size() == 2);
  CHECK(find_field(details, "Stack") == nullptr);  // has its own panel
  CHECK(details.operands.size() == 4);
  const std::string text = details_text(details);
  CHECK(text.find("Start\t1,000 ns") != std::string::npos);
  CHECK(text.find("Operation") != std::string::npos);
}

TEST_CASE("details: an event without a value in a column does not show the column") {
  const auto session = test::make_small_session();
  EventReader reader(*session.store, session.store->snapshot());
  const auto record = reader.read(session.activate);
  REQUIRE(record.ok());
  const EventDetails details = describe_event(*record, reader.snapshot());
  CHECK(find_field(details, "Operands") == nullptr);
  CHECK(details.empty_fields >= 2);
  CHECK(details.source == "kernel.py:4");
}

TEST_CASE("operands: semaphores, memory, tiles and unknown words are told apart") {
  const auto operands = analysis::neuron::parse_operands(
      " S[24] (qGpSimdDynamic)>=16 $S[2]++@complete src=fp16@0x2fffe[-1,0,-32][32,1,4] dst=fp32@0x2000800[1][512] "
      "128*64 acc_flags=3 GELU");
  REQUIRE(operands.size() == 7);
  CHECK(operands[0].title == "semaphore");
  CHECK(operands[0].text == "S[24] (qGpSimdDynamic)>=16");
  CHECK(operands[0].parts[1].value == "qGpSimdDynamic");
  CHECK(operands[1].meaning.find("signals") != std::string::npos);
  CHECK(operands[2].parts[0].value == "fp16");
  CHECK(operands[2].parts[2].value == "SBUF");
  CHECK(operands[2].parts[4].value == "[32,1,4]");
  CHECK(operands[3].parts[2].value == "PSUM");
  CHECK(operands[4].title == "tile");
  CHECK(operands[5].parts[0].value == "3");
  CHECK(operands[6].title == "GELU");
}

TEST_CASE("operands: broken text is kept as text and crashes nothing") {
  for (const char* text : {"", " ", "(", "S[", "S[5", "S[5] (", "src=", "src=@", "src=fp16@0xZZ", "*", "1*", "=x",
                           "a=b=c", "src=fp16@0x10[1,2", "]]]", "(((", "S[1]@"}) {
    for (const auto& operand : analysis::neuron::parse_operands(text)) CHECK_FALSE(operand.text.empty());
  }
}

TEST_CASE("python: keywords, strings over lines, numbers and comments get their colours") {
  PythonTokenizer tokenizer;
  const auto tokens = tokenizer.line("x = 1e-3 # y");
  REQUIRE(tokens.size() >= 4);
  CHECK(tokens.back().kind == TokenKind::comment);
  CHECK(kinds_of(tokenizer.line("\"\"\"doc begins")) == "s");
  CHECK(kinds_of(tokenizer.line("for is text here")) == "s");
  CHECK(kinds_of(tokenizer.line("ends\"\"\" for")).back() == 'k');
  CHECK(kinds_of(tokenizer.line("'it\\'s'")) == "s");
  CHECK(kinds_of(tokenizer.line("rb'x'")) == "s");
}

TEST_CASE("python: tokens cover every byte of any line once") {
  PythonTokenizer tokenizer;
  for (const char* line :
       {"", "    ", "x=f'{a}'", "\"open", "'''", "0x1F + 1_000.5e+3", "\xc3\xa4 = 1", "@decorator(a)\\"}) {
    std::uint32_t at = 0;
    for (const CodeToken& token : tokenizer.line(line)) {
      CHECK(token.begin == at);
      CHECK(token.end > token.begin);
      at = token.end;
    }
    CHECK(at == std::string_view(line).size());
  }
}

TEST_CASE("source: a short location means the stored file whose path ends with it, at a folder's edge only") {
  CHECK(same_source("/kernels/mlp.py", "mlp.py"));
  CHECK(same_source("mlp.py", "/kernels/mlp.py"));
  CHECK(same_source("a/mlp.py", "/x/a/mlp.py"));
  CHECK_FALSE(same_source("/kernels/old_mlp.py", "mlp.py"));
  CHECK_FALSE(same_source("/kernels/mlp.py", ""));
}

TEST_CASE("source: costs land on their lines, whatever the path's length, and nothing lies beyond the file") {
  analysis::SourceLines lines;
  lines.lines = {{.path = "k.py", .line = 2, .event_count = 3, .busy_ns = 500, .wait_ns = 40, .bytes = 64},
                 {.path = "/src/k.py", .line = 2, .event_count = 1, .busy_ns = 100, .wait_ns = 0, .bytes = 0},
                 {.path = "k.py", .line = 99, .event_count = 1, .busy_ns = 1, .wait_ns = 0, .bytes = 0},
                 {.path = "other.py", .line = 1, .event_count = 1, .busy_ns = 1, .wait_ns = 0, .bytes = 0}};
  const auto costs = line_costs(lines, "/src/k.py", 3);
  REQUIRE(costs.size() == 3);
  CHECK(costs[1].busy_ns == 600);
  CHECK(costs[1].event_count == 4);
  CHECK(costs[0].event_count == 0);
  CHECK(heat_text(costs[1], Heat::busy) == "600 ns");
  CHECK(heat_text(costs[0], Heat::busy).empty());
}

TEST_CASE("source: Windows line ends, tabs and a missing last line end are shown right") {
  const auto lines = code_lines({"k.py", "a\r\n\tb\nlast"});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text == "a");
  CHECK(lines[1].text == "    b");
  CHECK(lines[2].text == "last");
}

TEST_CASE("stack: frames of every spelling name function and line") {
  CHECK(parse_stack_frame("mlp.py:33 in gelu").function == "gelu");
  CHECK(parse_stack_frame("mlp.py:33 in gelu").line == 33);
  CHECK(parse_stack_frame("gelu (mlp.py:33)").function == "gelu");
  CHECK(parse_stack_frame("gelu (mlp.py:33)").path == "mlp.py");
  CHECK(parse_stack_frame("mlp.py(33): gelu").function == "gelu");
  CHECK(parse_stack_frame("mlp.py(33): gelu").path == "mlp.py");
  CHECK(parse_stack_frame("mlp.py(33): gelu").line == 33);
  CHECK(parse_stack_frame("mlp.py(x): gelu").line == 0);
  CHECK(parse_stack_frame("mlp.py:33").line == 33);
  CHECK(parse_stack_frame("gelu mlp.py:33").function == "gelu");
  CHECK(parse_stack_frame("just words").line == 0);
  CHECK(parse_stack_frame("just words").text == "just words");
}

TEST_CASE("memory: what is alive is grouped by tensor, largest first, small ones left out on request") {
  analysis::MemoryUsage usage;
  usage.tensors = {"w1", "x"};
  usage.pools = {{.name = "SBUF"}};
  usage.allocations = {{.pool = 0, .tensor = 0, .address = {}, .bytes = 40, .begin_ns = 0, .end_ns = 10},
                       {.pool = 0, .tensor = 1, .address = {}, .bytes = 60, .begin_ns = 1, .end_ns = 20},
                       {.pool = 0, .tensor = 0, .address = {}, .bytes = 30, .begin_ns = 2, .end_ns = {}}};
  usage.index();
  const auto alive = alive_by_tensor(usage, 0, 5, 0);
  REQUIRE(alive.size() == 2);
  CHECK(usage.tensors[alive[0].tensor] == "w1");
  CHECK(alive[0].bytes == 70);
  CHECK(alive[0].begin_ns == 0);
  CHECK(alive[0].allocations.size() == 2);
  CHECK(alive_by_tensor(usage, 0, 5, 50).size() == 1);
  CHECK(alive_by_tensor(usage, 0, 15, 0)[0].bytes == 60);
}

TEST_CASE("memory: the address map shows every allocation, and a million of them as no more than can be seen") {
  analysis::MemoryUsage usage;
  usage.tensors = {"w1", "x"};
  usage.pools = {{.name = "SBUF"}};
  usage.allocations.push_back({.pool = 0, .tensor = 1, .address = {}, .bytes = 8, .begin_ns = 0, .end_ns = {}});
  for (std::int64_t i = 0; i < 100'000; ++i) {
    usage.allocations.push_back(
        {.pool = 0, .tensor = 0, .address = 0x1000, .bytes = 64, .begin_ns = i * 10, .end_ns = i * 10 + 10});
  }
  usage.allocations.push_back(
      {.pool = 0, .tensor = 1, .address = 0x2000, .bytes = 256, .begin_ns = 999'995, .end_ns = {}});
  usage.index();
  const AddressScale scale(usage.pools[0]);
  const AddressMapIntent intent{
      .pool = 0, .range = {0, 1'000'000}, .pixels = 1'000, .rows = 400, .session_end_ns = 1'000'000};
  const std::vector<AddressBlock> map = address_map(usage, scale, intent);
  CHECK(allocation_at(usage, 0, 995, 0x1010) == 100U);
  CHECK(allocation_at(usage, 0, 999'997, 0x2000 + 255) == 100'001U);
  CHECK_FALSE(allocation_at(usage, 0, 999'997, 0x2000 + 256).has_value());
  CHECK_FALSE(allocation_at(usage, 0, 995, 0x2000).has_value());
  CHECK(map.size() <= 1'001);
  float reach = 0;
  for (const AddressBlock& block : map) {
    if (block.group == 0) reach = std::max(reach, block.x1);
  }
  CHECK(reach >= 999);
  CHECK(map.back().group == 1);
  CHECK(map.back().x0 == doctest::Approx(999.995));
  AddressMapIntent large = intent;
  large.min_bytes = 100;
  CHECK(address_map(usage, scale, large).size() == 1);
  large.range.end_ns = 900'000;
  CHECK(address_map(usage, scale, large).empty());
}

TEST_CASE("memory: a map of scattered allocations has no more blocks than a frame can draw") {
  analysis::MemoryUsage usage;
  usage.tensors = {"w"};
  usage.pools.resize(1);
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    usage.allocations.push_back(
        {.tensor = 0, .address = (i * 7919ULL % 4'000) << 12, .bytes = 4096, .begin_ns = i, .end_ns = i + 2});
  }
  usage.index();
  const AddressMapIntent intent{.range = {0, 200'000}, .pixels = 1'500, .rows = 600, .session_end_ns = 200'000};
  const auto map = address_map(usage, AddressScale(usage.pools[0]), intent);
  CHECK(map.size() <= kMostBlocks);
  CHECK_FALSE(map.empty());
}

TEST_CASE("memory: tensors that alternate everywhere are drawn as several, and as no more blocks than else") {
  analysis::MemoryUsage usage;
  usage.pools.resize(1);
  for (std::uint32_t i = 0; i < 500; ++i) usage.tensors.push_back("t" + std::to_string(i));
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    usage.allocations.push_back({.tensor = i * 31 % 500,
                                 .address = (i * 7919ULL % 4'000) << 12,
                                 .bytes = 1 + i * 101ULL % 60'000,
                                 .begin_ns = i,
                                 .end_ns = i + 50});
  }
  usage.index();
  const AddressMapIntent intent{.range = {0, 200'000}, .pixels = 1'500, .rows = 600, .session_end_ns = 200'000};
  const auto map = address_map(usage, AddressScale(usage.pools[0]), intent);
  CHECK(map.size() <= kMostBlocks);
  CHECK(std::any_of(map.begin(), map.end(),
                    [](const AddressBlock& block) { return block.slot == AddressBlock::kSeveralGroups; }));
  AddressMapIntent near = intent;  // near enough, every one has its colour again
  near.range = {1'000, 1'100};
  for (const AddressBlock& block : address_map(usage, AddressScale(usage.pools[0]), near)) {
    CHECK(block.slot == palette_slot(usage.tensors[block.group]));
  }
}

TEST_CASE("memory: the address scale keeps the used large, names what was never used, and goes both ways") {
  analysis::PoolUsage pool;
  pool.touched = {{0x1000, 0x2000}, {0x2010, 0x3000}, {0x800000, 0x801000}};
  AddressScale scale(pool);
  REQUIRE(scale.parts().size() == 3);
  CHECK(scale.parts()[0].span == analysis::AddressSpan{0x1000, 0x3000});  // a short gap is no gap
  CHECK_FALSE(scale.parts()[1].used);
  CHECK(scale.parts()[1].span == analysis::AddressSpan{0x3000, 0x800000});
  CHECK(scale.parts()[1].end - scale.parts()[1].begin < 0.3);
  for (const std::uint64_t address : {0x1000ULL, 0x1800ULL, 0x2FFFULL, 0x800000ULL, 0x800FFFULL}) {
    const std::uint64_t back = scale.address_at(scale.share_of(address) + 1e-9);
    CHECK(back >= address);
    CHECK(back - address <= 1);
  }
  pool.capacity_bytes = 0x1000000;  // with a capacity the plot runs from 0 to it
  scale = AddressScale(pool);
  CHECK(scale.parts().front().span == analysis::AddressSpan{0, 0x1000});
  CHECK(scale.parts().back().span.end == 0x1000000);
  CHECK(scale.parts().back().end == doctest::Approx(1));
}

TEST_CASE("memory: what is alive is sorted by any column, rows without a value last") {
  analysis::MemoryUsage usage;
  usage.tensors = {"b", "a"};
  usage.pools.resize(1);
  usage.allocations = {{.tensor = 0, .address = 0x20, .bytes = 10, .begin_ns = 0, .end_ns = 50},
                       {.tensor = 1, .address = {}, .bytes = 30, .begin_ns = 1, .end_ns = {}},
                       {.tensor = 0, .address = 0x10, .bytes = 15, .begin_ns = 2, .end_ns = 90}};
  usage.index();
  auto alive = alive_by_tensor(usage, 0, 5, 0);
  const auto first = [&](AliveColumn column, bool descending) {
    sort_alive(usage, column, descending, alive);
    return usage.tensors[alive.front().tensor];
  };
  CHECK(first(AliveColumn::bytes, true) == "a");
  CHECK(first(AliveColumn::bytes, false) == "b");
  CHECK(first(AliveColumn::tensor, false) == "a");
  CHECK(first(AliveColumn::tiles, true) == "b");
  CHECK(first(AliveColumn::address, true) == "b");
  CHECK(first(AliveColumn::address, false) == "b");
  CHECK(alive.front().allocations.front() == 2);  // 0x10 before 0x20
  CHECK(first(AliveColumn::since, true) == "a");
  CHECK(first(AliveColumn::lives, false) == "b");
  CHECK(alive.front().allocations.front() == 0);
}

TEST_CASE("memory: the slider runs from everything to 16 MiB and back") {
  CHECK(slider_to_bytes(0) == 0);
  CHECK(slider_to_bytes(1) == 16U << 20);
  for (std::uint64_t bytes = 256; bytes <= 16U << 20; bytes *= 2) {
    CHECK(slider_to_bytes(bytes_to_slider(bytes)) == bytes);
  }
}

TEST_CASE("axes: ticks of sizes are round and few enough") {
  const auto bytes = byte_ticks(24U << 20, 6);
  CHECK(bytes.size() <= 6);
  CHECK(bytes.front() == 4U << 20);
  CHECK(byte_ticks(0, 6).empty());
}

TEST_CASE("axes: the visible range shows as many decimals as tell a thousandth of it") {
  CHECK(format_range(1'983'435, 1'989'435) == "1,983.435 – 1,989.435 µs");
  CHECK(format_range(1'861'200, 2'156'300) == "1,861.2 – 2,156.3 µs");
  CHECK(format_range(0, 393'200'000) == "0.0 – 393.2 ms");
  CHECK(format_range(10, 20) == "10 – 20 ns");
  CHECK(format_range(-0.02, 1) == "0 – 1 ns");
}

TEST_CASE("progress: share, rate and time left appear when they mean something") {
  const session::JobProgress begin = session::describe_progress(0, 0, 0.01);
  CHECK(begin.share_text.empty());
  CHECK(begin.rate_text.empty());
  const session::JobProgress half = session::describe_progress(500'000'000, 1'000'000'000, 2);
  CHECK(half.share == doctest::Approx(0.5));
  CHECK(half.share_text == "50 %");
  CHECK(half.rate_text == "250 MB/s");
  CHECK(half.left_text == "2 s left");
  CHECK(session::progress_text(half) == "50 %  476.8 MiB of 953.7 MiB  250 MB/s  2 s left");
  CHECK(session::progress_text(session::describe_progress(1 << 20, 0, 2)) == "1 MiB  524.3 kB/s");
  CHECK(session::progress_text(session::describe_progress(2'000, 4'000, 2, session::JobUnit::events)) ==
        "50 %  2,000 of 4,000 events  1,000/s  2 s left");
  CHECK(session::progress_text(begin).empty());
  CHECK(session::describe_progress(10, 5, 1).share == 1);
  CHECK(session::describe_progress(1'000, 1'000'000'000, 1).left_text.ends_with(" min left"));
}

TEST_CASE("jobs: a cancelled job stops, and its result comes to the one who asked") {
  session::BackgroundJob job("waits", [](session::JobControl& control) -> Result<void> {
    while (control.report(1, 2)) std::this_thread::yield();
    return Error{"cancelled"};
  });
  job.cancel();
  const auto done = job.finish();
  CHECK(job.cancelled());
  CHECK(done.message() == "cancelled");
}

TEST_CASE("quality: one sentence says the worst") {
  Snapshot snapshot;
  CHECK(panels::quality_text(panels::summarise_quality(snapshot)) == "Data complete");
  snapshot.quality.push_back({"clock_residual", 1, ""});
  CHECK(panels::quality_text(panels::summarise_quality(snapshot)) == "1 note on data quality");
  snapshot.quality.push_back({"rows_lost", 1, ""});
  snapshot.quality.push_back({"stray_bytes", 1, ""});
  CHECK(panels::quality_text(panels::summarise_quality(snapshot)) == "2 warnings on data quality");
  CHECK_FALSE(panels::summarise_quality(snapshot).complete());
  snapshot.quality.push_back({"truncated", 1, ""});
  CHECK(panels::quality_text(panels::summarise_quality(snapshot)) == "1 error in the data");
}
