// Chunks against a naive model: what was appended is what is read, whatever the columns hold.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "core/chunk/bit_pack.h"
#include "core/chunk/chunk_builder.h"
#include "core/chunk/chunk_view.h"

using namespace accelscope;

namespace {

struct ModelEvent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  StringId name = 0;
  std::optional<std::int64_t> integer;
  std::optional<std::uint64_t> id;
  std::optional<double> real;
  std::optional<std::string> text;
  std::uint64_t required = 0;
};

Schema test_schema() {
  Schema schema;
  schema.name = "model";
  schema.columns = {{.name = "integer", .type = ColumnType::int64},
                    {.name = "id", .type = ColumnType::uint64},
                    {.name = "real", .type = ColumnType::float64},
                    {.name = "text", .type = ColumnType::text},
                    {.name = "required", .type = ColumnType::uint64, .required = true},
                    {.name = "never", .type = ColumnType::int64}};
  return schema;
}

class ModelMaker {
 public:
  explicit ModelMaker(std::uint32_t seed) : random_(seed) {}

  std::vector<ModelEvent> events(std::size_t count, int flavour) {
    std::vector<ModelEvent> events;
    std::int64_t at = flavour == 3 ? -(std::int64_t{1} << 40) : 1'000'000;
    for (std::size_t i = 0; i < count; ++i) {
      ModelEvent event;
      at += chance(3) ? 0 : static_cast<std::int64_t>(random_() % 1000);
      if (flavour == 2 && chance(200)) at += std::int64_t{1} << 35;
      event.begin = at;
      at += chance(5) ? 0 : static_cast<std::int64_t>(random_() % 500);
      event.end = at;
      event.name = static_cast<StringId>(random_() % 20);
      if (flavour == 0 || !chance(4)) event.integer = integer(flavour);
      if (flavour == 0 || !chance(3)) event.id = flavour == 1 ? random_() : 7'000'000'000'000'000'000 + i * 3;
      if (flavour == 0 || !chance(3)) event.real = real(flavour);
      if (flavour == 0 || !chance(2)) event.text = std::string(random_() % 9, static_cast<char>('a' + random_() % 26));
      event.required = random_() % 3;
      events.push_back(std::move(event));
    }
    return events;
  }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  std::int64_t integer(int flavour) {
    if (flavour == 3)
      return chance(2) ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(random_() % 2000) - 1000;
  }
  double real(int flavour) {
    if (flavour == 0) return static_cast<double>(random_() % 100000);
    const double odd[] = {0.1, -0.0, std::numeric_limits<double>::infinity(), std::nan(""), 1e300, -4.5};
    return odd[random_() % 6];
  }
  std::mt19937_64 random_;
};

SealedChunk seal(ChunkBuilder& builder, const std::vector<ModelEvent>& events) {
  for (const ModelEvent& event : events) {
    const std::uint32_t row = builder.append(event.begin, event.end - event.begin, event.name);
    if (event.integer) builder.set_int64(0, row, *event.integer);
    if (event.id) builder.set_uint64(1, row, *event.id);
    if (event.real) builder.set_float64(2, row, *event.real);
    if (event.text) builder.set_text(3, row, *event.text);
    builder.set_uint64(4, row, event.required);
  }
  return builder.seal();
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Counts differences instead of asserting a million times.
std::size_t differences(const ChunkView& view, const std::vector<ModelEvent>& events) {
  std::size_t wrong = 0;
  BlockTimes times;
  for (std::uint32_t row = 0; row < events.size(); ++row) {
    const ModelEvent& event = events[row];
    if (row % kBlockEvents == 0) view.times(row / kBlockEvents, times);
    wrong += times.begins[row % kBlockEvents] != event.begin;
    wrong += times.ends[row % kBlockEvents] != event.end;
    wrong += view.name(row) != event.name;
    wrong += view.has_value(0, row) != event.integer.has_value();
    if (event.integer) wrong += view.int64(0, row) != *event.integer;
    wrong += view.has_value(1, row) != event.id.has_value();
    if (event.id) wrong += view.uint64(1, row) != *event.id;
    if (event.real) wrong += !same_bits(view.float64(2, row), *event.real);
    wrong += view.text(3, row) != event.text.value_or("");
    wrong += view.uint64(4, row) != event.required;
    wrong += view.has_value(5, row);
  }
  return wrong;
}

}  // namespace

TEST_CASE("packed blocks give back every value at every width") {
  std::mt19937_64 random(1);
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const unsigned width = packable_width(bits);
    std::array<std::uint64_t, 64> values;
    for (auto& value : values) value = bits == 0 ? 0 : random() >> (64 - bits);
    std::vector<std::byte> packed(packed_block_bytes(width) + 8);
    pack_block(values.data(), width, packed.data());
    std::array<std::uint64_t, 64> back;
    unpack_block(packed.data(), width, 5, back.data());
    std::size_t wrong = 0;
    for (unsigned i = 0; i < 64; ++i) {
      wrong += back[i] != values[i] + 5;
      wrong += unpack_one(packed.data(), width, i) != values[i];
    }
    CHECK_MESSAGE(wrong == 0, "width ", width);
  }
}

TEST_CASE("a chunk gives back every event and column exactly") {
  const Schema schema = test_schema();
  for (int flavour = 0; flavour < 4; ++flavour) {
    for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 128U, 1000U, 16384U}) {
      ModelMaker maker(static_cast<std::uint32_t>(count * 7 + static_cast<std::size_t>(flavour)));
      const std::vector<ModelEvent> events = maker.events(count, flavour);
      ChunkBuilder builder(schema, 9);
      const SealedChunk chunk = seal(builder, events);
      CHECK(chunk.count == count);
      const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
      REQUIRE_MESSAGE(view.ok(), (view.ok() ? "" : view.message()));
      CHECK(view->verify_checksums().ok());
      CHECK(view->header().begin_ticks == events.front().begin);
      CHECK(view->header().end_ticks == events.back().end);
      CHECK(differences(*view, events) == 0);
    }
  }
}

TEST_CASE("a builder used again numbers on and forgets the values of the chunk before") {
  const Schema schema = test_schema();
  ChunkBuilder builder(schema, 2);
  ModelMaker maker(5);
  const SealedChunk first = seal(builder, maker.events(100, 0));
  std::vector<ModelEvent> bare(70);
  for (std::size_t i = 0; i < bare.size(); ++i)
    bare[i].begin = bare[i].end = 1'000'000'000 + static_cast<std::int64_t>(i);
  const SealedChunk second = seal(builder, bare);
  CHECK(second.first_ordinal == 100);
  const Result<ChunkView> view = ChunkView::parse(second.bytes);
  REQUIRE(view.ok());
  CHECK(differences(*view, bare) == 0);
}

TEST_CASE("an exact 63-bit id survives") {
  Schema schema;
  schema.columns = {{.name = "id", .type = ColumnType::uint64}};
  ChunkBuilder builder(schema, 0);
  builder.set_uint64(0, builder.append(0, 0, 0), 7114758884519496064ULL);
  const SealedChunk chunk = builder.seal();
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  REQUIRE(view.ok());
  CHECK(view->uint64(0, 0) == 7114758884519496064ULL);
}

TEST_CASE("a damaged chunk is refused or read without leaving its bytes") {
  ModelMaker maker(11);
  ChunkBuilder builder(test_schema(), 1);
  const SealedChunk chunk = seal(builder, maker.events(500, 1));
  std::mt19937_64 random(3);
  std::size_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = chunk.bytes;
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    for (int i = 0; i < 4 && !bytes.empty(); ++i)
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
    const Result<ChunkView> view = ChunkView::parse(bytes);
    if (!view) continue;
    CHECK_FALSE(view->verify_checksums().ok());
    ++accepted;
    BlockTimes times;
    std::array<std::uint64_t, kBlockEvents> values;
    std::uint64_t sum = 0;
    for (std::uint32_t block = 0; block < view->block_count(); ++block) {
      view->times(block, times);
      view->names(block, values.data());
      for (std::size_t column = 0; column < view->column_count(); ++column) {
        view->values(column, block, values.data());
        sum += view->validity(column, block);
      }
    }
    for (std::uint32_t row = 0; row < view->count(); ++row)
      sum += view->column_count() > 3 ? view->text(3, row).size() : 0;
    CHECK(sum != 1);  // every byte was read without a fault; the value is of no interest
  }
  CHECK(accepted > 0);
}

TEST_CASE("common columns of a device trace take few bytes") {
  Schema schema;
  schema.columns = {{.name = "line", .type = ColumnType::string, .required = true},
                    {.name = "bytes", .type = ColumnType::uint64, .required = true},
                    {.name = "wait_ns", .type = ColumnType::int64, .required = true}};
  ChunkBuilder builder(schema, 0);
  std::mt19937_64 random(4);
  std::int64_t at = 0;
  while (!builder.full()) {
    at += static_cast<std::int64_t>(random() % 200);
    const auto duration = static_cast<std::int64_t>(64 + random() % 500);
    const std::uint32_t row = builder.append(at, duration, static_cast<StringId>(1 + random() % 20));
    at += duration;
    builder.set_uint64(0, row, 1 + random() % 60);
    builder.set_uint64(1, row, (1 + random() % 4) * 65536);
    builder.set_int64(2, row, static_cast<std::int64_t>(random() % 600));
  }
  CHECK(builder.seal().bytes.size() < kMaxChunkEvents * 17 / 2);
}
