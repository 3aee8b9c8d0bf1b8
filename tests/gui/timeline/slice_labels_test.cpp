// What is written on slices, as a user reads it.
#include <doctest/doctest.h>

#include <future>
#include <thread>

#include "app/content/event_labels.h"
#include "app/session/analysis.h"
#include "app/view/colour_choices.h"
#include "core/chunk/session_writer.h"
#include "render/shell/null_shell.h"
#include "tests/gui/timeline/timeline_client.h"
#include "tests/support/wait.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr const char* kFill =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> "
    ">(int)";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 1> "
    ">(int)";
constexpr const char* kGemm = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn";

Column column_of(const char* name, ColumnType type, Role role) {
  Column column;
  column.name = name;
  column.type = type;
  column.role = role;
  return column;
}

// An engine that waits for another one, a queue whose tensors are partly unknown, a stream of kernels.
std::shared_ptr<Store> make_labelled_store() {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  Schema instruction{.name = "instruction", .wait_names = {"WAIT"}};
  instruction.columns = {column_of("id", ColumnType::uint64, Role::key)};
  const SchemaNumber instructions = writer.add_schema(instruction);
  Schema dma{.name = "dma"};
  dma.columns = {column_of("transfer_size", ColumnType::int64, Role::bytes),
                 column_of("source", ColumnType::string, Role::none), column_of("dest", ColumnType::string, Role::none),
                 column_of("queue_type", ColumnType::string, Role::none)};
  const SchemaNumber moves = writer.add_schema(dma);
  Schema dependency{.name = "dependency", .kind = EventKind::flow};
  dependency.columns = {column_of("source", ColumnType::uint64, Role::flow_source),
                        column_of("target", ColumnType::uint64, Role::flow_target)};
  const SchemaNumber flows = writer.add_schema(dependency);
  const SchemaNumber kernels = writer.add_schema({.name = "kernel"});

  const TrackNumber tensor =
      writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .schema = instructions});
  const TrackNumber vector =
      writer.add_track({.name = "Vector", .kind = "engine", .device = "nc0", .schema = instructions});
  writer.begin_event(tensor, 0, 400'000, writer.intern("MATMUL")).unsigned_integer(0, 1);
  writer.begin_event(vector, 0, 400'000, writer.intern("WAIT")).unsigned_integer(0, 2);
  const TrackNumber flow = writer.add_track({.name = "Dependencies", .kind = "flow", .schema = flows});
  Row edge = writer.begin_event(flow, 0, 0, writer.intern("semaphore"));
  edge.unsigned_integer(0, 1);
  edge.unsigned_integer(1, 2);

  const TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .device = "nc0", .schema = moves});
  const auto move = [&](std::int64_t at, const char* name, const char* from, const char* to) {
    Row row = writer.begin_event(queue, at, 290'000, writer.intern(name));
    row.integer(0, 4096);
    row.string(1, writer.intern(from));
    row.string(2, writer.intern(to));
    row.string(3, writer.intern("software_dynamic"));
  };
  move(0, "w1_3", "[['WEIGHT']]", "['SB']");
  move(300'000, "unknown", "[['unknown']]", "['unknown']");
  // Most moves of real profiles.
  const TrackNumber others = writer.add_track({.name = "q1", .kind = "dma_queue", .device = "nc0", .schema = moves});
  for (int i = 0; i < 4; ++i) {
    Row row = writer.begin_event(others, i * 10'000, 9'000, writer.intern("unknown"));
    row.integer(0, 64);
    row.string(3, writer.intern(i % 2 == 0 ? "software_dynamic" : "data"));
  }

  const TrackNumber stream =
      writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernels});
  writer.begin_event(stream, 0, 300'000, writer.intern(kFill));
  writer.begin_event(stream, 300'000, 300'000, writer.intern(kAdd));
  writer.begin_event(stream, 600'000, 200'000, writer.intern(kGemm));
  writer.begin_event(stream, 900'000, 45'000, writer.intern(kGemm));
  REQUIRE(writer.finish());
  return store;
}

// The timeline with its background work.
class LabelledTimeline final : public FrameClient {
 public:
  LabelledTimeline() : client(make_labelled_store()) {
    client.tab.analysis = std::make_shared<session::SessionAnalysis>(pool, client.tab.store);
  }
  void frame(Ui& ui) override {
    client.tab.analysis->begin_frame(client.tab.snapshot, ui.time());
    client.frame(ui);
    client.tab.analysis->timeline_drawn();
  }
  [[nodiscard]] bool settled() const override { return client.settled() && !client.tab.analysis->pending(); }

  WorkerPool pool{2};
  TimelineClient client;
};

// Some labels come with an answer of the background, which on a busy machine takes its time.
[[nodiscard]] bool reads(NullShell& shell, const std::string& line) {
  return test::step_until(
      [&] { return ("\n" + shell.visible_text() + "\n").find("\n" + line + "\n") != std::string::npos; },
      [&] { static_cast<void>(shell.settle()); });
}

}  // namespace

TEST_CASE("slices are named by what they are, and kernels that differ only in what was cut read differently") {
  LabelledTimeline timeline;
  NullShell shell(timeline, {.width = 1400, .height = 600});
  REQUIRE(shell.settle());
  CHECK(reads(shell, "vectorized_elementwise_kernel FillFunctor f32"));
  CHECK(reads(shell, "vectorized_elementwise_kernel AddFunctor f32"));
  CHECK(reads(shell, "gemm bf16 128x64"));
  CHECK(reads(shell, "gemm"));  // the short one of them
  CHECK(shell.visible_text().find("void ") == std::string::npos);
}

TEST_CASE("a slice that no form of its name fits has as much of the shortest as there is room for") {
  const std::shared_ptr<Store> store = make_labelled_store();
  const auto snapshot = store->snapshot();
  content::EventLabels labels;
  for (int i = 0; i < 3; ++i) labels.begin_frame(snapshot);
  const auto stream = std::ranges::find(snapshot->tracks, "stream", [](const auto& each) { return each.track->kind; });
  REQUIRE(stream != snapshot->tracks.end());
  const render::WideSlice fill{.id = make_event_id(snapshot->lanes[stream->lanes.front()].number(), 0),
                               .name = snapshot->strings->find(kFill)};
  const std::string whole(labels.label(fill, 200));
  REQUIRE(whole.size() > 12);
  const std::string cut(labels.label(fill, 8));
  CHECK(character_count(cut) <= 8);
  CHECK_FALSE(cut.empty());
  CHECK(cut.ends_with("…"));
  CHECK(labels.label(fill, 3).empty());
}

TEST_CASE("a wait says what it waits for, a transfer its direction and size") {
  LabelledTimeline timeline;
  NullShell shell(timeline, {.width = 1400, .height = 600});
  REQUIRE(shell.settle());
  shell.frame(3);
  REQUIRE(shell.settle());
  CHECK(reads(shell, "wait MATMUL"));
  CHECK(reads(shell, "w1_3 WEIGHT→SB 4 KiB"));
  CHECK(reads(shell, "software dynamic 4 KiB"));
  CHECK(shell.visible_text().find("unknown") == std::string::npos);
}

TEST_CASE("a wait whose values were read before the dependencies were known is read again with them") {
  const std::shared_ptr<Store> store = make_labelled_store();
  const auto snapshot = store->snapshot();
  WorkerPool pool(1);
  session::SessionAnalysis analysis(pool, store);
  analysis.begin_frame(snapshot, 0);
  analysis.timeline_drawn();
  while (!analysis.dependencies()) std::this_thread::yield();

  const render::WideSlice wait{.id = make_event_id(1, 0), .name = 2, .waits = true};
  content::EventLabels labels;
  const auto frame = [&](bool grows) {
    labels.begin_frame(snapshot);
    std::string text(labels.label(wait, 80));
    labels.end_frame(&analysis, grows);
    return text;
  };
  std::promise<void> let_go;
  const auto busy = pool.start([hold = let_go.get_future().share()](TaskControl&) { return hold.wait(), 0; });
  frame(true);   // asks without them, as while a session grows
  frame(false);  // they are known; what was asked for is not there yet
  let_go.set_value();
  while (labels.pending()) frame(false);
  CHECK(frame(false) == "wait MATMUL");
}

TEST_CASE("transfers of unknown tensors are coloured by their kind of queue, and by name when the user says so") {
  LabelledTimeline timeline;
  NullShell shell(timeline, {.width = 1400, .height = 600});
  REQUIRE(shell.settle());
  const session::SessionTab& tab = timeline.client.tab;
  CHECK(view::colour_column(*tab.snapshot, tab.choices, "dma") == "queue_type");
  CHECK(view::colour_column(*tab.snapshot, tab.choices, "kernel") == view::kByName);
  view::choose_colour(timeline.client.tab, "dma", std::string(view::kByName));
  CHECK(view::colour_column(*tab.snapshot, tab.choices, "dma") == view::kByName);
  view::choose_colour(timeline.client.tab, "dma", "queue_type");
  CHECK(tab.choices.colour_by.empty());
}

}  // namespace accelscope::app
