// Chunks against a naive model: what was appended is what is read, whatever the columns hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
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

  std::vector<ModelEvent> later_events(std::size_t count, int flavour) {
    std::vector<ModelEvent> later = events(count, flavour);
    for (ModelEvent& event : later) {
      event.begin += std::int64_t{1} << 50;
      event.end += std::int64_t{1} << 50;
    }
    return later;
  }
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
      if (flavour >= 4) repeat(event, i, flavour == 5);
      events.push_back(std::move(event));
    }
    return events;
  }

 private:
  // What dictionaries are for: few wide values, ids that come twice, a loop of texts, two columns that are the same.
  void repeat(ModelEvent& event, std::size_t i, bool with_nulls) {
    event.integer = (std::int64_t{1} << 40) * static_cast<std::int64_t>(random_() % 17) - 5;
    event.id = (i / 2 + 1) * 0x9e3779b97f4a7c15ULL;
    event.required = *event.id;
    event.real = 0.1 * static_cast<double>(random_() % 50);
    event.text = "dst=bfloat16@0x" + std::to_string(random_() % 40 * 977) + "[1,512]";
    if (random_() % 7 == 0) event.text = "";
    if (!with_nulls) return;
    if (chance(3)) event.integer.reset();
    if (chance(3)) event.real.reset();
    if (chance(3)) event.text.reset();
  }
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
  for (int flavour = 0; flavour < 6; ++flavour) {
    for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 128U, 1000U, 16384U}) {
      ModelMaker maker(static_cast<std::uint32_t>(count * 7 + static_cast<std::size_t>(flavour)));
      const std::vector<ModelEvent> events = maker.events(count, flavour);
      ChunkBuilder builder(schema, 9);
      const SealedChunk chunk = seal(builder, events);
      CHECK(chunk.count() == count);
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
  CHECK(second.first_ordinal() == 100);
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

namespace {

ColumnEntry entry_at(const SealedChunk& chunk, std::size_t index) {
  ColumnEntry entry;
  std::memcpy(&entry, chunk.bytes.data() + sizeof(ChunkHeader) + index * sizeof entry, sizeof entry);
  return entry;
}

void put_entry(SealedChunk& chunk, std::size_t index, const ColumnEntry& entry) {
  std::memcpy(chunk.bytes.data() + sizeof(ChunkHeader) + index * sizeof entry, &entry, sizeof entry);
}

void put_version(SealedChunk& chunk, std::uint16_t version) {
  std::memcpy(chunk.bytes.data() + offsetof(ChunkHeader, version), &version, sizeof version);
}

std::string refusal(const SealedChunk& chunk) {
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  return view ? "" : view.message();
}

}  // namespace

TEST_CASE("what comes often is kept once, and its least and greatest value are those of the events") {
  ModelMaker maker(21);
  const std::vector<ModelEvent> events = maker.events(4096, 4);
  ChunkBuilder builder(test_schema(), 3);
  const SealedChunk chunk = seal(builder, events);
  CHECK(entry_at(chunk, 3).encoding == Encoding::dictionary);
  CHECK(entry_at(chunk, 4).encoding == Encoding::dictionary);
  CHECK(entry_at(chunk, 5).encoding == Encoding::dictionary);
  CHECK(entry_at(chunk, 6).encoding == Encoding::text_dictionary);
  CHECK(entry_at(chunk, 7).encoding == Encoding::same);
  CHECK(entry_at(chunk, 7).base == 4);
  CHECK(chunk.bytes.size() < events.size() * 12);
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  REQUIRE(view.ok());
  CHECK(view->header().version == kChunkVersion);
  const auto by = [](auto member) {
    return [member](const ModelEvent& a, const ModelEvent& b) { return *(a.*member) < *(b.*member); };
  };
  const auto [least, most] = std::minmax_element(events.begin(), events.end(), by(&ModelEvent::integer));
  CHECK(static_cast<std::int64_t>(view->entry(0).min ^ kSignBit) == *least->integer);
  CHECK(static_cast<std::int64_t>(view->entry(0).max ^ kSignBit) == *most->integer);
  const auto [small, large] = std::minmax_element(events.begin(), events.end(), by(&ModelEvent::real));
  CHECK(same_bits(std::bit_cast<double>(view->entry(2).min), *small->real));
  CHECK(same_bits(std::bit_cast<double>(view->entry(2).max), *large->real));
  const auto [first, last] = std::minmax_element(events.begin(), events.end(), by(&ModelEvent::id));
  CHECK(view->entry(4).min == *first->id);
  CHECK(view->entry(4).max == *last->id);
}

TEST_CASE("a chunk without dictionaries is one that older programs read, and a newer one is refused as that") {
  ModelMaker maker(22);
  ChunkBuilder builder(test_schema(), 3);
  SealedChunk plain = seal(builder, maker.events(100, 1));
  const Result<ChunkView> view = ChunkView::parse(plain.bytes);
  REQUIRE(view.ok());
  CHECK(view->header().version == kPlainChunkVersion);
  for (std::size_t column = 0; column < 9; ++column) CHECK(entry_at(plain, column).encoding <= Encoding::text);
  put_version(plain, kChunkVersion + 1);
  CHECK(refusal(plain).find("version 3 is newer than this program knows (2); update it") != std::string::npos);
  put_version(plain, 0);
  CHECK(refusal(plain).find("damaged") != std::string::npos);
}

TEST_CASE("columns that are said to be the same as none, as times or as themselves are refused") {
  ModelMaker maker(23);
  ChunkBuilder builder(test_schema(), 3);
  const SealedChunk chunk = seal(builder, maker.events(1000, 4));
  REQUIRE(refusal(chunk).empty());
  SealedChunk older = chunk;
  put_version(older, kPlainChunkVersion);
  CHECK(refusal(older).find("unknown encoding") != std::string::npos);
  const std::size_t never = 8;  // a column without values
  for (const std::uint64_t target : {0ULL, 2ULL, 7ULL, 8ULL, 9ULL, ~0ULL}) {
    SealedChunk other = chunk;
    ColumnEntry entry = entry_at(other, 7);
    entry.base = target;
    put_entry(other, 7, entry);
    CHECK_MESSAGE(refusal(other).find("cannot be it") != std::string::npos, "target ", target);
  }
  SealedChunk other = chunk;
  put_entry(other, 4, entry_at(chunk, never));
  CHECK(refusal(other).find("cannot be it") != std::string::npos);
  other = chunk;
  for (const Encoding encoding : {Encoding::dictionary, Encoding::text_dictionary, Encoding::same}) {
    ColumnEntry entry = entry_at(chunk, 2);
    entry.encoding = encoding;
    put_entry(other, 2, entry);
    CHECK(refusal(other).find("damaged") != std::string::npos);
  }
}

TEST_CASE("numbers beyond a dictionary are read within it") {
  ModelMaker maker(24);
  ChunkBuilder builder(test_schema(), 3);
  const SealedChunk chunk = seal(builder, maker.events(1000, 4));
  for (const std::size_t column : {3U, 4U, 5U, 6U}) {
    for (const std::uint64_t base : {std::uint64_t{1} << 20, ~std::uint64_t{0}, std::uint64_t{39}}) {
      SealedChunk other = chunk;
      ColumnEntry entry = entry_at(other, column);
      entry.base = base;
      put_entry(other, column, entry);
      const Result<ChunkView> view = ChunkView::parse(other.bytes);
      REQUIRE(view.ok());
      std::array<std::uint64_t, kBlockEvents> values;
      std::size_t longest = 0;
      std::size_t wrong = 0;
      for (std::uint32_t row = 0; row < view->count(); ++row) {
        if (row % kBlockEvents == 0) view->values(column - 3, row / kBlockEvents, values.data());
        wrong += view->stored(column - 3, row) != values[row % kBlockEvents];
        longest = std::max(longest, view->text(3, row).size());
      }
      CHECK(wrong == 0);
      CHECK(longest < 64);
    }
  }
}

TEST_CASE("a damaged chunk is refused or read without leaving its bytes") {
  ModelMaker maker(11);
  ChunkBuilder builder(test_schema(), 1);
  const SealedChunk chunks[] = {seal(builder, maker.events(500, 1)), seal(builder, maker.later_events(500, 5))};
  std::mt19937_64 random(3);
  std::size_t accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    Bytes bytes = chunks[round % 2].bytes;
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
