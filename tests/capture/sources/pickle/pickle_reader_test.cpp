// Pickles of plain data, as Python writes them, and those that would do harm.
#include "capture/sources/pickle/pickle_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <random>

#include "tests/support/files.h"
#include "tests/support/torch/pickle_writer.h"

namespace accelscope::capture {
namespace {

using namespace std::string_literals;
using sources::pickle::PickleData;
using sources::pickle::PickleKind;
using sources::pickle::PickleValue;
using sources::pickle::ReadPickle;

Result<ReadPickle> read(std::string_view bytes) {
  const auto source = json::ByteSource::from_memory(bytes);
  return sources::pickle::read_pickle(*source, {.name = "x.pickle", .kind_of_file = "plain data", .go_on = {}});
}

std::string as_text(const PickleData& data, PickleValue value) {
  switch (PickleData::kind(value)) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return data.to_int64(value) == 1 ? "True" : "False";
    case PickleKind::integer:
      if (const auto number = data.to_int64(value)) return std::to_string(*number);
      return std::to_string(data.to_uint64(value).value());
    case PickleKind::real:
      return fmt::format("{}", data.to_double(value).value());
    case PickleKind::text:
      return "'" + std::string(data.text(value)) + "'";
    case PickleKind::list: {
      std::string text;
      for (const PickleValue item : data.list(value)) text += (text.empty() ? "" : ", ") + as_text(data, item);
      return "[" + text + "]";
    }
    case PickleKind::dict: {
      std::string text;
      const auto keys = data.keys(data.shape(value));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        text += (text.empty() ? "" : ", ") + as_text(data, keys[i]) + ": " + as_text(data, data.values(value)[i]);
      }
      return "{" + text + "}";
    }
  }
  return "?";
}

std::string text_of(std::string_view bytes) {
  const auto done = read(bytes);
  if (!done) return done.message();
  return as_text(done->data, done->data.root());
}

}  // namespace

TEST_CASE("pickle: values of every opcode that Python writes for plain data come out as they went in") {
  CHECK(text_of("\x80\x04]\x94(K\x01M\x02\x01J\xff\xff\xff\xff\x88\x89Ne."s) == "[1, 258, -1, True, False, None]");
  CHECK(text_of("\x80\x04\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00."s) == "9223372036854775808");
  CHECK(text_of("\x80\x04\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."s) == "18446744073709551615");
  CHECK(text_of("\x80\x04\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."s) == "-9223372036854775808");
  CHECK(text_of("\x80\x04\x8a\x05\xfe\xff\xff\xff\xff."s) == "-2");
  CHECK(text_of("\x80\x04\x8b\x02\x00\x00\x00\x00\x01."s) == "256");
  CHECK(text_of("\x80\x04\x8a\x00."s) == "0");
  CHECK(text_of("\x80\x04G\x3f\xf8\x00\x00\x00\x00\x00\x00."s) == "1.5");
  CHECK(text_of("\x80\x02}q\x00(X\x01\x00\x00\x00"
                "aq\x01K\x01X\x01\x00\x00\x00"
                "bq\x02h\x01u."s) == "{'a': 1, 'b': 'a'}");
  CHECK(text_of("\x80\x05\x95\x03\x00\x00\x00\x00\x00\x00\x00]\x94."s) == "[]");
  CHECK(text_of("\x80\x04)."s) == "[]");
  CHECK(text_of("\x80\x04K\x01K\x02\x86K\x03\x85\x86."s) == "[[1, 2], [3]]");
  CHECK(text_of("\x80\x04(K\x01K\x02t."s) == "[1, 2]");
  CHECK(text_of("\x80\x04\x8f\x94(K\x01\x90."s) == "[1]");
  CHECK(text_of("\x80\x04"
                "C\x02ok."s) == "'ok'");
  CHECK(text_of("\x80\x04\x96\x02\x00\x00\x00\x00\x00\x00\x00ok."s) == "'ok'");
  CHECK(text_of("\x80\x04}\x94\x8c\x01k\x94]\x94K\x07"
                "as."s) == "{'k': [7]}");
  CHECK(text_of("\x80\x04]\x94K\x01"
                "0K\x02"
                "2\x86\x61."s) == "[[2, 2]]");
  const auto wide = read("\x80\x04\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00."s);
  REQUIRE(wide.ok());
  CHECK(wide->wide_numbers == 1);
}

TEST_CASE("pickle: an opcode that could run code ends the reading, with its name and place") {
  const auto refused = [](std::string_view bytes, std::string_view name, std::size_t place) {
    const auto done = read(bytes);
    REQUIRE_FALSE(done.ok());
    CAPTURE(done.message());
    CHECK(done.message().find(fmt::format("opcode {} ", name)) != std::string::npos);
    CHECK(done.message().find(fmt::format("byte {}:", place)) != std::string::npos);
  };
  refused(
      "\x80\x04"
      "cos\nsystem\n(X\x02\x00\x00\x00lstR."s,
      "GLOBAL", 2);
  refused("\x80\x04\x8c\x02os\x8c\x06system\x93."s, "STACK_GLOBAL", 14);
  // In the middle of data that could be read, too.
  refused("\x80\x04}\x94(\x8c\x08segments\x94]\x94K\x01\x85R."s, "REDUCE", 21);
  for (const auto& [code, name] : std::map<char, std::string>{{'i', "INST"},
                                                              {'o', "OBJ"},
                                                              {'b', "BUILD"},
                                                              {'\x81', "NEWOBJ"},
                                                              {'\x92', "NEWOBJ_EX"},
                                                              {'\x82', "EXT1"},
                                                              {'\x83', "EXT2"},
                                                              {'\x84', "EXT4"},
                                                              {'P', "PERSID"},
                                                              {'Q', "BINPERSID"},
                                                              {'\x97', "NEXT_BUFFER"},
                                                              {'\x98', "READONLY_BUFFER"}}) {
    refused("\x80\x04]\x94"s + code, name, 4);
  }
}

TEST_CASE("pickle: what is broken is told with its place, and a list that is damaged is read up to there") {
  CHECK(text_of("").find("holds nothing") != std::string::npos);
  CHECK(text_of("\x80\x06]."s).find("protocol 6 is newer") != std::string::npos);
  CHECK(text_of("hello").find("byte 0") != std::string::npos);
  CHECK(text_of("(dp0\n."s).find("protocol 0 or 1") != std::string::npos);
  const auto bad = read("\x80\x04]\x94(K\x01K\x02\xff."s);
  REQUIRE(bad.ok());
  CHECK(as_text(bad->data, bad->data.root()) == "[1, 2]");
  CHECK(bad->broken.find("byte 9: there is no such opcode") != std::string::npos);
  CHECK(text_of("\x80\x04"
                "a."s)
            .find("APPEND") != std::string::npos);
  // A length that lies takes no memory.
  const auto lies = read(
      "\x80\x04]\x94\x8d\xff\xff\xff\x0f\x00\x00\x00\x00"
      "abc"s);
  REQUIRE(lies.ok());
  CHECK_FALSE(lies->broken.empty());
  std::string deep = "\x80\x04";
  for (int i = 0; i < 20'000; ++i) deep += "]\x94(";
  const auto nested = read(deep);
  REQUIRE(nested.ok());
  CHECK(nested->broken.find("nested too deeply") != std::string::npos);
}

TEST_CASE("pickle: data that hold themselves are cut, and lists that go on growing do not take all time and memory") {
  const auto itself = read(
      "\x80\x04]\x94(K\x01h\x00K\x02"
      "e."s);
  REQUIRE(itself.ok());
  CHECK(as_text(itself->data, itself->data.root()) == "[1, [], 2]");
  std::string greedy = "\x80\x04]\x94("s;
  for (int i = 0; i < 1500; ++i) greedy += "K\x01";
  greedy += "e]\x94("s;
  for (int i = 0; i < 200'000; ++i) {
    greedy +=
        "h\x00\x85"
        "0h\x00K\x01"
        "a0"s;
  }
  greedy += "e.";
  const auto done = read(greedy);
  REQUIRE(done.ok());
  CHECK(done->broken.find("growing too often") != std::string::npos);
}

TEST_CASE("pickle: cut at any byte, a file yields a part of what it holds, and equal lists are kept once") {
  for (const int protocol : {2, 3, 4, 5}) {
    test::PickleWriter writer(protocol);
    writer.begin_dict();
    writer.mark();
    writer.text("rows");
    writer.begin_list();
    writer.mark();
    for (int i = 0; i < 20; ++i) {
      writer.begin_dict();
      writer.mark();
      writer.text("n");
      writer.integer(i * 1000);
      writer.text("stack");
      writer.begin_list();
      writer.mark();
      for (int frame = 0; frame < 5; ++frame) writer.integer(frame);
      writer.appends();
      writer.set_items();
    }
    writer.appends();
    writer.set_items();
    const std::string whole = writer.finish();
    const auto all = read(whole);
    REQUIRE(all.ok());
    const auto rows = all->data.list(all->data.find(all->data.root(), "rows"));
    REQUIRE(rows.size() == 20);
    CHECK(all->broken.empty());
    for (const PickleValue row : rows) CHECK(all->data.find(row, "stack") == all->data.find(rows[0], "stack"));
    std::size_t most = 0;
    for (std::size_t cut = 4; cut < whole.size(); ++cut) {
      const auto part = read(std::string_view(whole).substr(0, cut));
      REQUIRE(part.ok());
      CHECK_FALSE(part->broken.empty());
      const auto retained = part->data.list(part->data.find(part->data.root(), "rows"));
      CHECK(retained.size() >= most);
      most = retained.size();
      for (std::size_t i = 0; i + 1 < retained.size(); ++i) {
        CHECK(part->data.to_int64(part->data.find(retained[i], "n")) == static_cast<std::int64_t>(i) * 1000);
      }
    }
    CHECK(most == 20);
  }
}

TEST_CASE("pickle: bytes that are flipped never do more than end the reading") {
  std::mt19937_64 random(5);
  test::PickleWriter writer;
  writer.begin_list();
  writer.mark();
  for (int i = 0; i < 60; ++i) {
    writer.begin_dict();
    writer.mark();
    writer.text("key" + std::to_string(i % 7));
    writer.address(random());
    writer.set_items();
  }
  writer.appends();
  const std::string whole = writer.finish();
  int retained = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string broken = whole;
    for (std::size_t flips = 1 + random() % 4; flips > 0; --flips) {
      broken[random() % broken.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    const auto done = read(broken);
    if (!done.ok()) {
      CHECK_FALSE(done.message().empty());
    } else {
      retained += as_text(done->data, done->data.root()).size() > 2 ? 1 : 0;
    }
  }
  CHECK(retained > 2'700);  // of 3,000: most flips change a value, not the form
}

TEST_CASE("a pickle that skips places of its memo again and again is given up before it fills the memory") {
  std::string skipping = "\x80\x04]"s;
  for (std::uint32_t i = 1; i <= 2'000; ++i) {
    skipping += 'r';
    for (unsigned byte = 0; byte < 4; ++byte) skipping += static_cast<char>(i * 65'000 >> (8 * byte));
  }
  const auto done = read(skipping + ".");
  REQUIRE(done.ok());
  CHECK(done->broken.find("unpacks to more values") != std::string::npos);
  CHECK(text_of("\x80\x04]r\x00\xf0\x00\x00K\x01"
                "aj\x00\xf0\x00\x00."s) == "[1]");
}

TEST_CASE("a packed pickle of lists without end is given up before it fills the memory") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("lists.pickle.gz");
  gzFile file = gzopen(path.c_str(), "wb1");
  REQUIRE(file != nullptr);
  std::string lists;
  for (int i = 0; i < 1'000'000; ++i) lists += "]0";
  REQUIRE(gzwrite(file, "\x80\x04", 2) == 2);
  for (int i = 0; i < 25; ++i) {
    REQUIRE(gzwrite(file, lists.data(), static_cast<unsigned>(lists.size())) == static_cast<int>(lists.size()));
  }
  gzclose(file);
  const auto source = std::move(json::ByteSource::open(path).value());
  const auto done = sources::pickle::read_pickle(*source, {.name = path, .kind_of_file = "plain data", .go_on = {}});
  REQUIRE(done.ok());
  CHECK(done->broken.find("unpacks to more values") != std::string::npos);
  CHECK(done->bytes < 50'000'000);
}

}  // namespace accelscope::capture
