// Programs that stand in for tools, laid down in a folder of a test, and what a kind made of the traces that they
// write.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/sources/base/importers.h"
#include "tests/capture/kinds/kind_run_support.h"

namespace accelscope::capture {

inline void lay_down(const std::string& path, std::string_view text, bool program = false) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  if (program) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every event in the order of its lane, in the trace's own time.
inline std::vector<std::string> trace_events(const RecordingSink& sink) {
  std::vector<std::string> all;
  for (const RecordedEvent& event : sink.events()) {
    all.push_back(fmt::format("{} {} {} {} [{}, {})", sink.tracks.at(event.track).device,
                              sink.tracks.at(event.track).name, sink.lanes.at(event.lane).depth, event.name,
                              event.start, event.end));
  }
  return all;
}

inline std::vector<std::string> imported_trace(const std::string& path) {
  RecordingSink sink;
  const Result<void> done = sources::import_file(sources::chrome::import_chrome_json, path, {}, sink);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
  return trace_events(sink);
}

// Where in the session the trace's first event lies, by the newest clock.
inline std::int64_t trace_begin_ns(const RecordingSink& sink) {
  std::int64_t begin = -1;
  for (const Bytes& bytes : sink.definition_bytes) {
    const auto definition = decode_definition(bytes);
    REQUIRE(definition.ok());
    if (const auto* clock = std::get_if<Clock>(&definition.value().value());
        clock != nullptr && !clock->anchors.empty())
      begin = clock->anchors.front().ns;
  }
  return begin;
}

}  // namespace accelscope::capture
