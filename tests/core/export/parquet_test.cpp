// Parquet files, read back by a small reader of the format: Thrift's compact protocol, pages, dictionaries and levels.
#include <doctest/doctest.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <variant>

#include "core/export/base/writers.h"
#include "core/export/tables/parquet_file.h"
#include "tests/core/export/export_session.h"

using namespace accelscope;
using namespace accelscope::exporting;
using test::CollectedFiles;
using test::ExportedEvent;
using test::ExportSession;

namespace {

// A value of Thrift's compact protocol.
struct Thrift {
  std::int64_t number = 0;
  std::string text;
  std::vector<Thrift> list;
  std::map<int, Thrift> fields;
  [[nodiscard]] const Thrift& at(int field) const { return fields.at(field); }
};

class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  Thrift structure() {
    Thrift made;
    int field = 0;
    for (;;) {
      const auto head = static_cast<unsigned char>(take());
      if (head == 0) return made;
      field = head >> 4 != 0 ? field + (head >> 4) : static_cast<int>(zigzag());
      made.fields[field] = value(head & 15);
    }
  }
  [[nodiscard]] std::size_t used(std::string_view whole) const { return whole.size() - bytes_.size(); }

 private:
  Thrift value(int type) {
    Thrift made;
    if (type == 1 || type == 2) made.number = type == 1 ? 1 : 0;
    if (type == 3) made.number = take();
    if (type >= 4 && type <= 6) made.number = zigzag();
    if (type == 8) {
      const std::size_t size = varint();
      REQUIRE(size <= bytes_.size());
      made.text = bytes_.substr(0, size);
      bytes_.remove_prefix(size);
    }
    if (type == 9) {
      const auto head = static_cast<unsigned char>(take());
      const std::size_t size = head >> 4 == 15 ? varint() : head >> 4;
      for (std::size_t i = 0; i < size; ++i) made.list.push_back(value(head & 15));
    }
    if (type == 12) return structure();
    return made;
  }
  char take() {
    if (bytes_.empty()) FAIL("beyond the end");
    const char byte = bytes_.front();
    bytes_.remove_prefix(1);
    return byte;
  }
  std::uint64_t varint() {
    std::uint64_t made = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take());
      made |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return made;
    }
  }
  std::int64_t zigzag() {
    const std::uint64_t made = varint();
    return static_cast<std::int64_t>(made >> 1) ^ -static_cast<std::int64_t>(made & 1);
  }
  std::string_view bytes_;
};

template <typename T>
T little(std::string_view bytes, std::size_t at) {
  T value;
  if (at + sizeof value > bytes.size()) FAIL("beyond the end");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// A run of bits or numbers in the hybrid of run lengths and packed groups.
std::vector<std::uint32_t> hybrid(std::string_view bytes, unsigned width, std::size_t count) {
  std::vector<std::uint32_t> values;
  std::size_t at = 0;
  while (values.size() < count) {
    std::uint64_t head = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      head |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    if ((head & 1) == 0) {
      const std::size_t size = (width + 7) / 8;
      std::uint32_t value = 0;
      for (std::size_t i = 0; i < size; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
      at += size;
      values.insert(values.end(), head >> 1, value);
      continue;
    }
    const std::size_t numbers = (head >> 1) * 8;
    for (std::size_t n = 0; n < numbers; ++n) {
      std::uint32_t value = 0;
      for (unsigned bit = 0; bit < width; ++bit) {
        const std::size_t place = n * width + bit;
        value |= (std::uint32_t{static_cast<unsigned char>(bytes[at + place / 8])} >> place % 8 & 1U) << bit;
      }
      values.push_back(value);
    }
    at += (head >> 1) * width;
  }
  values.resize(count);
  return values;
}

using Cell = std::optional<std::string>;

class ParquetReader {
 public:
  explicit ParquetReader(std::string_view file) : file_(file) {
    REQUIRE(file.starts_with(kParquetMagic));
    REQUIRE(file.ends_with(kParquetMagic));
    const auto size = little<std::uint32_t>(file, file.size() - 8);
    meta_ = ThriftReader(file.substr(file.size() - 8 - size, size)).structure();
    const std::vector<Thrift>& schema = meta_.at(2).list;
    CHECK(schema[0].at(5).number + 1 == static_cast<std::int64_t>(schema.size()));
    for (std::size_t i = 1; i < schema.size(); ++i) names.push_back(schema[i].at(4).text);
    columns.resize(names.size());
    std::int64_t rows = 0;
    for (const Thrift& group : meta_.at(4).list) {
      rows += group.at(3).number;
      for (std::size_t i = 0; i < names.size(); ++i) {
        const Thrift& chunk = group.at(1).list[i].at(3);
        const std::size_t before = columns[i].size();
        read(chunk, schema[i + 1], columns[i]);
        check_bounds(names[i], chunk, schema[i + 1], std::span(columns[i]).subspan(before));
      }
    }
    CHECK(rows == meta_.at(3).number);
    CHECK(meta_.at(7).list.size() == names.size());  // without orders readers do not use bounds
    for (const auto& column : columns) CHECK(static_cast<std::int64_t>(column.size()) == rows);
  }
  [[nodiscard]] const std::vector<Cell>& column(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    REQUIRE(found != names.end());
    return columns[static_cast<std::size_t>(found - names.begin())];
  }
  [[nodiscard]] std::size_t groups() const { return meta_.at(4).list.size(); }

  std::vector<std::string> names;
  std::vector<std::vector<Cell>> columns;
  std::set<std::string> bounded;  // columns whose least and greatest value are told

 private:
  void check_bounds(const std::string& name, const Thrift& chunk, const Thrift& element, std::span<const Cell> cells) {
    CAPTURE(name);
    const Thrift& told = chunk.at(12);
    CHECK(told.at(3).number == std::ranges::count(cells, Cell()));
    if (!told.fields.contains(5)) return;
    bounded.insert(name);
    const bool is_text = chunk.at(1).number == 6;
    const bool is_unsigned = element.fields.contains(6) && element.at(6).number == 14;
    const auto shown = [&](int field) {
      const std::string& bytes = told.at(field).text;
      return is_text       ? bytes
             : is_unsigned ? std::to_string(little<std::uint64_t>(bytes, 0))
                           : std::to_string(little<std::int64_t>(bytes, 0));
    };
    const auto less = [&](const Cell& a, const Cell& b) {
      if (!a || !b) return a.has_value();  // missing ones last: there is one that is not
      return is_text ? *a < *b : is_unsigned ? std::stoull(*a) < std::stoull(*b) : std::stoll(*a) < std::stoll(*b);
    };
    CHECK(shown(6) == *std::ranges::min_element(cells, less));
    const auto greater = [&](const Cell& a, const Cell& b) { return !b ? a.has_value() : a && less(b, a); };
    CHECK(shown(5) == *std::ranges::min_element(cells, greater));
  }
  // The page's header, and what is in it.
  std::pair<Thrift, std::string> page(std::int64_t offset) {
    const std::string_view rest = file_.substr(static_cast<std::size_t>(offset));
    ThriftReader reader(rest);
    Thrift header = reader.structure();
    std::string plain(static_cast<std::size_t>(header.at(2).number), '\0');
    const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), rest.data() + reader.used(rest),
                                             static_cast<std::size_t>(header.at(3).number));
    REQUIRE(size == plain.size());
    return {std::move(header), std::move(plain)};
  }

  void read(const Thrift& chunk, const Thrift& element, std::vector<Cell>& cells) {
    const std::int64_t type = chunk.at(1).number;
    const bool unsigned_number = element.fields.contains(6) && element.at(6).number == 14;
    std::vector<std::string> dictionary;
    if (chunk.fields.contains(11)) {
      const auto [header, plain] = page(chunk.at(11).number);
      std::size_t at = 0;
      for (std::int64_t i = 0; i < header.at(7).at(1).number; ++i) {
        const auto size = little<std::uint32_t>(plain, at);
        dictionary.push_back(plain.substr(at + 4, size));
        at += 4 + size;
      }
    }
    const auto [header, plain] = page(chunk.at(9).number);
    const auto rows = static_cast<std::size_t>(header.at(5).at(1).number);
    std::string_view values = plain;
    std::vector<std::uint32_t> levels(rows, 1);
    if (element.at(3).number == 1) {
      const auto size = little<std::uint32_t>(plain, 0);
      levels = hybrid(values.substr(4, size), 1, rows);
      values.remove_prefix(4 + size);
    }
    const auto present = static_cast<std::size_t>(std::count(levels.begin(), levels.end(), 1U));
    std::vector<std::uint32_t> indices;
    if (!dictionary.empty() || (header.at(5).at(2).number == 8 && present > 0)) {
      indices = hybrid(values.substr(1), static_cast<unsigned>(values[0]), present);
    }
    std::size_t next = 0;
    std::size_t at = 0;
    for (const std::uint32_t level : levels) {
      if (level == 0) {
        cells.emplace_back();
        continue;
      }
      if (!indices.empty()) {
        cells.emplace_back(dictionary.at(indices[next]));
      } else if (type == 0) {
        const bool value = (static_cast<unsigned char>(values[next / 8]) >> next % 8 & 1) != 0;
        cells.emplace_back(value ? "true" : "false");
      } else if (type == 6) {
        const auto size = little<std::uint32_t>(values, at);
        cells.emplace_back(values.substr(at + 4, size));
        at += 4 + size;
      } else if (type == 5) {
        cells.emplace_back(std::to_string(little<double>(values, next * 8)));
      } else {
        const auto word = little<std::uint64_t>(values, next * 8);
        cells.emplace_back(unsigned_number ? std::to_string(word) : std::to_string(static_cast<std::int64_t>(word)));
      }
      ++next;
    }
  }

  std::string_view file_;
  Thrift meta_;
};

}  // namespace

TEST_CASE("Parquet files hold every value of every event, exact, and null where there is none") {
  ExportSession session(21, 80'000);
  CollectedFiles output;
  const auto report = write_parquet(session.request(), output);
  REQUIRE(report.ok());
  const ParquetReader calls(output.files["runtime_call.parquet"]);
  CHECK(calls.groups() > 1);
  for (const char* bounded : {"ts_ns", "dur_ns", "name", "track", "track_id"}) CHECK(calls.bounded.contains(bounded));
  std::vector<std::vector<Cell>> found, expected;
  const std::vector<std::string> keys = {"key", "size", "share", "sync", "file", "note"};
  for (std::size_t row = 0; row < calls.column("key").size(); ++row) {
    std::vector<Cell>& one = found.emplace_back();
    for (const char* own : {"ts_ns", "dur_ns", "name", "track", "host"}) one.push_back(calls.column(own)[row]);
    for (const std::string& key : keys) one.push_back(calls.column(key)[row]);
  }
  for (const ExportedEvent& event : session.events) {
    if (event.table != "runtime_call") continue;
    std::vector<Cell>& one = expected.emplace_back(std::vector<Cell>{
        std::to_string(event.begin), std::to_string(event.end - event.begin), event.name, "main; thread", "host"});
    for (const std::string& key : keys) {
      const auto value = event.args.find(key);
      one.push_back(value == event.args.end() ? Cell() : Cell(value->second));
    }
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  CHECK((found == expected));

  // As in SQL: ids, tracks, and what is no event; a column by which sessions are told apart in one data frame.
  const ParquetReader tracks(output.files["track.parquet"]);
  CHECK(tracks.column("name").size() == session.snapshot->tracks.size());
  std::map<Cell, Cell> name_of_track;
  for (std::size_t row = 0; row < tracks.column("id").size(); ++row)
    name_of_track[tracks.column("id")[row]] = tracks.column("name")[row];
  for (std::size_t row = 0; row < calls.column("id").size(); ++row)
    CHECK((name_of_track[calls.column("track_id")[row]] == calls.column("track")[row]));
  std::set<Cell> ids(calls.column("id").begin(), calls.column("id").end());
  CHECK(ids.size() == calls.column("id").size());
  for (const char* file : {"runtime_call.parquet", "track.parquet", "meta.parquet", "metric.parquet", "flow.parquet"}) {
    CAPTURE(file);
    const ParquetReader reader(output.files[file]);
    const std::vector<Cell> sessions = reader.column("session");
    CHECK(std::all_of(sessions.begin(), sessions.end(), [](const Cell& cell) { return cell && !cell->empty(); }));
  }

  const ParquetReader flows(output.files["flow.parquet"]);
  CHECK(flows.column("src_id").size() == session.arrows.size());
  const ParquetReader tensors(output.files["tensor.parquet"]);
  CHECK(tensors.column("name").size() == session.rows_without_time);
  CHECK(std::find(tensors.names.begin(), tensors.names.end(), "ts_ns") == tensors.names.end());
  const ParquetReader load(output.files["load.parquet"]);
  CHECK(load.column("value").front() == std::to_string(-10.0));
}

TEST_CASE("a Parquet column of nothing but nulls, and one of a single text, read back") {
  std::string group;
  ParquetColumn none(ParquetType::text, true, true);
  ParquetColumn one(ParquetType::text, true, true);
  for (int i = 0; i < 100; ++i) {
    none.add_null();
    one.add_known(7, [] { return std::string_view("only"); });
  }
  ParquetGroup made;
  made.rows = 100;
  made.columns = {none.finish(group), one.finish(group)};
  CollectedFiles output;
  const ParquetFile::Facts facts = {{"key", "value"}};
  ParquetFile file(output, {{"none", ParquetType::text, true}, {"one", ParquetType::text, true}}, facts);
  REQUIRE(file.begin("few"));
  REQUIRE(file.add(std::move(made), group));
  REQUIRE(file.finish());
  const ParquetReader reader(output.files["few.parquet"]);
  CHECK(std::none_of(reader.column("none").begin(), reader.column("none").end(), [](const Cell& c) { return c; }));
  CHECK(
      std::all_of(reader.column("one").begin(), reader.column("one").end(), [](const Cell& c) { return c == "only"; }));
}
