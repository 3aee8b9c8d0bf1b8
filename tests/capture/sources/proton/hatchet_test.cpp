#include <doctest/doctest.h>

#include <algorithm>

#include "capture/sources/base/importers.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture::sources::proton {
namespace {

constexpr const char* kTree = R"json([{"frame":{"name":"ROOT","type":"function"},"metrics":{"count":0,"time (ns)" : 0
}
, "children" : [
  {
    "frame" : {"name" : "layer", "type" : "function"},
    "metrics" : {},
    "children" : [
      {
        "frame" : {"name" : "matmul_kernel", "type" : "function"},
        "metrics" : {
          "time (ns)" : 2000,
          "count" : 3,
          "device_id" : "1",
          "device_type" : "CUDA",
          "flops16" : 4e6,
          "flops8" : 1e6,
          "bytes" : 4096
        },
        "children" : []
      },
      {
        "frame" : {"name" : "add", "type" : "function"},
        "metrics" : {"time (ns)" : 500, "count" : 1, "device_id" : "1"},
        "children" : []
      }
    ]
  },
  {"frame" : {"name" : "tail", "type" : "function"}, "metrics" : {"time (ns)" : 100}, "children" : []}
]
},
     {"CUDA":{"1":{"arch":"90","num_sms":132}}}])json";

std::vector<RecordedEvent> proton_events(const RecordingSink& sink, const std::string& table, const std::string& name) {
  std::vector<RecordedEvent> found = sink.events();
  std::erase_if(found,
                [&](const RecordedEvent& event) { return sink.schema_of(event).name != table || event.name != name; });
  return found;
}

TEST_CASE("a tree of Proton: scopes hold what lies in them, kernels have their launches, operations and bytes") {
  RecordingSink sink;
  const std::string tree = kTree;
  REQUIRE(import_hatchet(json::ByteSource::from_memory(tree), "p.hatchet", {}, sink).ok());
  const auto root = proton_events(sink, "scope", "ROOT");
  REQUIRE(root.size() == 1);
  CHECK(root[0].end - root[0].start == 2600);
  const auto layer = proton_events(sink, "scope", "layer");
  REQUIRE(layer.size() == 1);
  CHECK(layer[0].end - layer[0].start == 2500);
  CHECK(sink.lanes.at(layer[0].lane).depth == 1);
  const auto kernel = proton_events(sink, "kernel", "matmul_kernel");
  REQUIRE(kernel.size() == 1);
  CHECK(kernel[0].end - kernel[0].start == 2000);
  CHECK(sink.tracks.at(kernel[0].track).device == "GPU 1");
  const Schema& schema = sink.schema_of(kernel[0]);
  const ChunkView chunk = sink.view(kernel[0]);
  CHECK(chunk.int64(*schema.find("count"), kernel[0].row) == 3);
  CHECK(chunk.float64(*schema.find(Role::flops), kernel[0].row) == 5e6);
  CHECK(chunk.int64(*schema.find(Role::bytes), kernel[0].row) == 4096);
  CHECK(proton_events(sink, "kernel", "layer").empty());
  CHECK(sink.meta.at("CUDA.1.num_sms") == "132");
  CHECK(probe_hatchet(tree, "p.hatchet") > 0);
  CHECK(probe_hatchet(R"([{"ph":"X"}])", "p.json") == 0);
}

TEST_CASE("a tree of Proton that is cut anywhere, or nests without end, gives what it holds or an error by name") {
  const std::string tree = kTree;
  for (std::size_t size = 0; size < tree.size(); size += 5) {
    RecordingSink sink;
    const std::string cut = tree.substr(0, size);
    const Result<void> done = import_hatchet(json::ByteSource::from_memory(cut), "cut.hatchet", {}, sink);
    if (!done) CHECK(done.message().find("cut.hatchet") != std::string::npos);
  }
}

TEST_CASE(
    "kernels of Proton are shown however deep their scopes nest, and children may come before their scope's name") {
  constexpr int kDepth = 100'000;  // read once for each level, the text would take hours
  std::string deep = "[";
  for (int i = 0; i < kDepth; ++i) deep += R"json({"children":[)json";
  for (int i = 0; i < kDepth; ++i) deep += R"json(],"frame":{"name":"f"},"metrics":{"time (ns)":1}})json";
  deep += "]";
  CHECK(probe_hatchet(std::string_view(deep).substr(0, kProbeBytes), "deep.hatchet") > 0);
  RecordingSink sink;
  REQUIRE(import_hatchet(json::ByteSource::from_memory(deep), "deep.hatchet", {}, sink).ok());
  CHECK(proton_events(sink, "kernel", "f").size() == kDepth);
  const std::vector<RecordedEvent> scopes = proton_events(sink, "scope", "f");
  CHECK(std::any_of(scopes.begin(), scopes.end(),
                    [](const RecordedEvent& scope) { return scope.end - scope.start == kDepth; }));
  CHECK(std::any_of(sink.qualities.begin(), sink.qualities.end(),
                    [](const QualityEntry& entry) { return entry.kind == "rows_left_out"; }));
}

TEST_CASE("a tree of Proton whose times together are longer than any session has all its kernels") {
  constexpr std::size_t kKernels = 1'100;
  const auto node = [](const std::string& name, const std::string& ns, const std::string& children) {
    return "{\"frame\":{\"name\":\"" + name + "\",\"type\":\"function\"},\"metrics\":{\"time (ns)\":" + ns +
           "},\"children\":[" + children + "]}";
  };
  std::string kernels;
  for (std::size_t i = 0; i < kKernels; ++i) kernels += (i == 0 ? "" : ",") + node("k", "9007199254740992", "");
  RecordingSink sink;
  const std::string tree = "[" + node("ROOT", "0", kernels) + ",{\"CUDA\":{}}]";
  REQUIRE(import_hatchet(json::ByteSource::from_memory(tree), "p.hatchet", {}, sink).ok());
  CHECK(proton_events(sink, "kernel", "k").size() == kKernels);
}

}  // namespace
}  // namespace accelscope::capture::sources::proton
