// Files with far more rows, or rows of far longer names, than a window has room for, opened as users open them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/timeline/frame.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct OpenedFile : Viewer {
  OpenedFile(const std::string& name, const std::string& content) {
    write_file(folder.file(name), content);
    shell.resize(1600, 1000, 1);
    open(folder.file(name));
  }
  [[nodiscard]] const timeline::TimelineState& timeline() { return *tab().timeline; }
  // In sight at the beginning of the timeline, from the top.
  [[nodiscard]] std::vector<std::string> seen() {
    std::vector<std::string> labels;
    for (const timeline::DrawnRow& drawn : timeline().drawn_rows) {
      if (drawn.clip.contains(drawn.rect.centre())) labels.push_back(timeline().rows[drawn.row].label);
    }
    return labels;
  }
  // As it stands there, cut or whole.
  [[nodiscard]] std::string drawn_label(const std::string& key) {
    const render::Rect* const at = shell.find("timeline.label." + key);
    if (at == nullptr) return {};
    const render::VisibleText* first = nullptr;
    for (const render::VisibleText& text : shell.ui().texts()) {
      if (at->contains(text.rect.centre()) && (first == nullptr || text.rect.x0 < first->rect.x0)) first = &text;
    }
    return first == nullptr ? std::string() : first->text;
  }
  TemporaryFolder folder;
};

// A kernel or two on each of `idle` streams, then a step's work on one, and collectives on another.
std::string trace_of_streams(int idle, int kernels_of_idle, int kernels) {
  std::string events;
  const auto add = [&](const std::string& name, int stream, double at, double length) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"device":0,"stream":{}}}}})",
        events.empty() ? "" : ",\n", name, stream, at, length, stream);
  };
  double at = 0;
  for (int i = 0; i < idle * kernels_of_idle; ++i, at += 5) add("fill", 100 + i % idle, at, 2);
  for (int i = 0; i < kernels; ++i, at += 60) {
    add("gemm", 7, at, 50);
    if (i % 10 == 0) add("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 24, at, 100);
  }
  return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}";
}

std::string quasar_log() {
  std::string log =
      "ARCH: quasar, CHIP_FREQ[MHz]: 1000\n"
      "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,"
      "  zone name, type, source line, source file, meta data\n";
  for (int neo = 0; neo < 2; ++neo) {
    for (int trisc = 0; trisc < 4; ++trisc) {
      for (int i = 0; i < 5 + trisc; ++i) {
        const std::string row = fmt::format("0,1,1,QUASAR_NEO{}_TRISC{},1,", neo, trisc);
        log += fmt::format("{}{},0,1024,KERNEL,ZONE_START,1,k.cc,\n{}{},0,1024,KERNEL,ZONE_END,1,k.cc,\n", row,
                           1000 + i * 1000, row, 1300 + i * 1000 + trisc);
      }
    }
  }
  return log;
}

}  // namespace

TEST_CASE(
    "many rows: hundreds of idle streams are one row below the work and the collectives that a session opens on") {
  for (const int kernels_of_idle : {1, 3}) {
    CAPTURE(kernels_of_idle);
    OpenedFile viewer("trace.json", trace_of_streams(560, kernels_of_idle, 300));
    const std::vector<std::string> labels = viewer.seen();
    const auto place = [&](const std::string& label) { return std::find(labels.begin(), labels.end(), label); };
    CHECK(place("stream 7") != labels.end());
    CHECK(place("NCCL, stream 24") != labels.end());
    CHECK(place("560 quiet streams") != labels.end());
    CHECK(place("stream 7") < place("560 quiet streams"));
    CHECK(place("NCCL, stream 24") < place("560 quiet streams"));
    CHECK(place("stream 100") == labels.end());
  }
  // Streams that share the work are no idle ones.
  OpenedFile even("trace.json", trace_of_streams(40, 30, 30));
  CHECK(std::none_of(even.timeline().rows.begin(), even.timeline().rows.end(),
                     [](const rows::TimelineRow& row) { return row.label.find("quiet") != std::string::npos; }));
}

TEST_CASE("many rows: processors whose names share most of their letters are told apart by their labels") {
  OpenedFile viewer("profile_log_device.csv", quasar_log());
  viewer.tab().change([&](session::ViewChoices& choices) {
    for (const rows::TimelineRow& row : viewer.timeline().rows) choices.rows.open[row.key] = true;
  });
  REQUIRE(viewer.shell.settle());
  std::set<std::string> labels;
  std::size_t rows = 0;
  for (const rows::TimelineRow& row : viewer.timeline().rows) {
    if (row.track == nullptr || row.track->name.find("QUASAR_NEO") == std::string::npos) continue;
    const std::string label = viewer.drawn_label(row.key);
    CAPTURE(row.track->name);
    CHECK(!label.empty());
    labels.insert(label);
    ++rows;
  }
  CHECK(rows == 8);
  CHECK(labels.size() == rows);
}
