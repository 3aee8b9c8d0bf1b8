// What a source writes beyond what a session can hold goes nowhere and harms nothing.
#include "core/chunk/session_writer.h"

#include <doctest/doctest.h>

namespace accelscope {
namespace {

class DiscardingSink final : public EventSink {
 public:
  Result<void> define(const Definition& /*definition*/) override { return {}; }
  Result<void> append(SealedChunk /*chunk*/) override { return {}; }
};

Schema schema_of(std::size_t columns) {
  Schema schema;
  schema.name = "of " + std::to_string(columns);
  for (std::size_t i = 0; i < columns; ++i) schema.columns.push_back({.name = "c" + std::to_string(i)});
  return schema;
}

}  // namespace

TEST_CASE("more tracks than a session holds fail by name, and rows of them have their own columns all the same") {
  DiscardingSink sink;
  SessionWriter writer(sink);
  const SchemaNumber narrow = writer.add_schema(schema_of(1)), wide = writer.add_schema(schema_of(40));
  for (std::uint32_t i = 0; i < kMaxLocalNumber; ++i) writer.begin_event(writer.add_track({.schema = narrow}), 1, 1, 0);
  CHECK(writer.status().ok());
  for (int i = 0; i < 3; ++i) {
    const TrackNumber track = writer.add_track({.schema = wide});
    for (int event = 0; event < 3; ++event) {
      Row row = writer.begin_event(track, 5 - event, 10, 0);
      for (std::size_t column = 0; column < 40; ++column) row.integer(column, 7);
    }
    writer.flush(track);
    writer.begin_event(writer.add_track({.schema = narrow}), 1, 1, 0).integer(0, 1);
  }
  REQUIRE_FALSE(writer.finish().ok());
  CHECK(writer.status().message().find("tracks; import fewer") != std::string::npos);
}

}  // namespace accelscope
