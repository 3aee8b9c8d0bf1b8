#include "tests/support/parquet/parquet_writer.h"

#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>

namespace accelscope::test {
namespace {

using Value = ParquetColumn::Value;

template <typename Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

// Thrift's compact protocol. Fields of a struct must come in rising order.
class Thrift {
 public:
  std::string bytes;

  void number(int id, std::int64_t value, int type = 5) {
    head(id, type);
    put_varint(bytes, zigzag(value));
  }
  void truth(int id, bool value) { head(id, value ? 1 : 2); }
  void text(int id, const std::string& value) {
    head(id, 8);
    element(value);
  }
  void element(const std::string& value) {
    put_varint(bytes, value.size());
    bytes += value;
  }
  void list(int id, std::size_t size, int type) {
    head(id, 9);
    if (size < 15) {
      bytes += static_cast<char>(size << 4 | static_cast<unsigned>(type));
    } else {
      bytes += static_cast<char>(0xf0 | type);
      put_varint(bytes, size);
    }
  }
  void open(int id) {
    head(id, 12);
    open_element();
  }
  void open_element() { last_.push_back(0); }
  void close() {
    bytes += '\0';
    last_.pop_back();
  }

 private:
  void head(int id, int type) {
    const int step = id - last_.back();
    last_.back() = id;
    if (step > 0 && step < 16) {
      bytes += static_cast<char>(step << 4 | type);
    } else {
      bytes += static_cast<char>(type);
      put_varint(bytes, zigzag(id));
    }
  }
  std::vector<int> last_ = {0};
};

std::string packed_bits(const std::vector<std::uint64_t>& values, unsigned width) {
  std::string out((values.size() * width + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (unsigned bit = 0; bit < width; ++bit) {
      const std::size_t at = i * width + bit;
      if ((values[i] >> bit & 1) != 0) out[at / 8] = static_cast<char>(out[at / 8] | 1 << (at % 8));
    }
  }
  return out;
}

unsigned width_of(std::uint64_t most) {
  unsigned width = 0;
  for (; most > 0; most >>= 1) ++width;
  return width;
}

// Runs where eight or more are equal, else groups of eight.
std::string hybrid(const std::vector<std::uint64_t>& values, unsigned width) {
  std::string out;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t run = 1;
    while (i + run < values.size() && values[i + run] == values[i]) ++run;
    if (run >= 8 || i + run == values.size()) {
      put_varint(out, run << 1);
      std::uint64_t value = values[i];
      for (unsigned byte = 0; byte < (width + 7) / 8; ++byte, value >>= 8) out += static_cast<char>(value);
      i += run;
      continue;
    }
    std::vector<std::uint64_t> group(values.begin() + static_cast<std::ptrdiff_t>(i),
                                     values.begin() + static_cast<std::ptrdiff_t>(std::min(i + 8, values.size())));
    i += group.size();
    group.resize(8);
    put_varint(out, 1 << 1 | 1);
    out += packed_bits(group, width);
  }
  return out;
}

std::string delta(const std::vector<std::int64_t>& values) {
  constexpr std::size_t kBlock = 128;
  constexpr std::size_t kParts = 4;
  std::string out;
  put_varint(out, kBlock);
  put_varint(out, kParts);
  put_varint(out, values.size());
  put_varint(out, zigzag(values.empty() ? 0 : values.front()));
  for (std::size_t at = 1; at < values.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - at);
    std::vector<std::int64_t> steps;
    for (std::size_t i = 0; i < count; ++i) {
      steps.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(values[at + i]) -
                                                static_cast<std::uint64_t>(values[at + i - 1])));
    }
    const std::int64_t least = *std::min_element(steps.begin(), steps.end());
    put_varint(out, zigzag(least));
    std::string widths;
    std::string data;
    for (std::size_t part = 0; part < kParts; ++part) {
      std::vector<std::uint64_t> rests;
      const std::size_t first = part * kBlock / kParts;
      for (std::size_t i = first; i < std::min(first + kBlock / kParts, count); ++i) {
        rests.push_back(static_cast<std::uint64_t>(steps[i]) - static_cast<std::uint64_t>(least));
      }
      if (rests.empty()) {
        widths += '\7';  // of what is not needed any width may stand
        continue;
      }
      rests.resize(kBlock / kParts);
      const unsigned width = width_of(*std::max_element(rests.begin(), rests.end()));
      widths += static_cast<char>(width);
      data += packed_bits(rests, width);
    }
    out += widths + data;
  }
  return out;
}

std::int64_t whole(const Value& value) { return std::get<std::int64_t>(value); }
const std::string& text(const Value& value) { return std::get<std::string>(value); }

std::string plain(const ParquetColumn& column, const std::vector<Value>& values) {
  std::string out;
  if (column.type == kParquetBoolean) {
    std::vector<std::uint64_t> bits;
    for (const Value& value : values) bits.push_back(static_cast<std::uint64_t>(whole(value)));
    return packed_bits(bits, 1);
  }
  for (const Value& value : values) {
    if (column.type == kParquetInt32) put(out, static_cast<std::int32_t>(whole(value)));
    if (column.type == kParquetInt64) put(out, whole(value));
    if (column.type == kParquetFloat) put(out, static_cast<float>(std::get<double>(value)));
    if (column.type == kParquetDouble) put(out, std::get<double>(value));
    if (column.type == kParquetBytes) put(out, static_cast<std::uint32_t>(text(value).size()));
    if (column.type >= kParquetBytes || column.type == kParquetInt96) out += text(value);
  }
  return out;
}

std::string delta_lengths(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> lengths;
  std::string all;
  for (const std::string& each : texts) {
    lengths.push_back(static_cast<std::int64_t>(each.size()));
    all += each;
  }
  return delta(lengths) + all;
}

std::string encoded(const ParquetColumn& column, const std::vector<Value>& values) {
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  for (const Value& value : values) {
    if (std::holds_alternative<std::int64_t>(value)) numbers.push_back(whole(value));
    if (std::holds_alternative<std::string>(value)) texts.push_back(text(value));
  }
  switch (column.encoding) {
    case kRle: {
      const std::string runs = hybrid({numbers.begin(), numbers.end()}, 1);
      std::string out;
      put(out, static_cast<std::uint32_t>(runs.size()));
      return out + runs;
    }
    case kDelta:
      return delta(numbers);
    case kDeltaLength:
      return delta_lengths(texts);
    case kDeltaBytes: {
      std::vector<std::int64_t> shared;
      std::vector<std::string> rests;
      std::string before;
      for (const std::string& each : texts) {
        std::size_t same = 0;
        while (same < before.size() && same < each.size() && before[same] == each[same]) ++same;
        shared.push_back(static_cast<std::int64_t>(same));
        rests.push_back(each.substr(same));
        before = each;
      }
      return delta(shared) + delta_lengths(rests);
    }
    case kSplit: {
      const std::string rows = plain(column, values);
      const std::size_t width = values.empty() ? 1 : rows.size() / values.size();
      std::string out;
      for (std::size_t byte = 0; byte < width; ++byte) {
        for (std::size_t i = 0; i < values.size(); ++i) out += rows[i * width + byte];
      }
      return out;
    }
    default:
      return plain(column, values);
  }
}

std::string packed(int codec, const std::string& bytes) {
  std::string out;
  if (codec == kSnappy) {
    std::size_t size = snappy_max_compressed_length(bytes.size());
    out.resize(size);
    snappy_compress(bytes.data(), bytes.size(), out.data(), &size);
    out.resize(size);
  } else if (codec == kZstd) {
    out.resize(ZSTD_compressBound(bytes.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  } else if (codec == kLz4Raw) {
    out.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))));
    out.resize(static_cast<std::size_t>(
        LZ4_compress_default(bytes.data(), out.data(), static_cast<int>(bytes.size()), static_cast<int>(out.size()))));
  } else if (codec == kGzip) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    out.resize(deflateBound(&stream, bytes.size()) + 32);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
  } else {
    out = bytes;
  }
  return out;
}

struct Levels {
  std::vector<std::uint64_t> definitions;
  std::vector<std::uint64_t> repetitions;
  std::vector<Value> values;
};

// A list is a group that may be null, of a repeated group of one element that is there: levels 0 null, 1 empty, 2
// there.
Levels levels_of(const ParquetColumn& column, std::size_t first, std::size_t last) {
  Levels levels;
  for (std::size_t row = first; row < last; ++row) {
    const Value& value = column.values[row];
    const bool null = std::holds_alternative<std::monostate>(value);
    if (!column.is_list) {
      levels.definitions.push_back(null ? 0 : 1);
      levels.repetitions.push_back(0);
      if (!null) levels.values.push_back(value);
      continue;
    }
    std::vector<Value> list;
    if (const auto* numbers = std::get_if<ParquetColumn::List>(&value)) list.assign(numbers->begin(), numbers->end());
    if (const auto* words = std::get_if<ParquetColumn::Texts>(&value)) list.assign(words->begin(), words->end());
    for (std::size_t i = 0; i < std::max<std::size_t>(1, list.size()); ++i) {
      levels.definitions.push_back(null ? 0 : list.empty() ? 1 : 2);
      levels.repetitions.push_back(i == 0 ? 0 : 1);
      if (i < list.size()) levels.values.push_back(list[i]);
    }
  }
  return levels;
}

class Writer {
 public:
  Writer(const std::vector<ParquetColumn>& columns, const ParquetLayout& layout) : columns_(columns), layout_(layout) {}

  std::string run() {
    out_ = "PAR1";
    const std::size_t rows = columns_.empty() ? 0 : columns_.front().values.size();
    std::vector<std::string> groups;
    for (std::size_t first = 0; first < rows; first += layout_.rows_per_group) {
      groups.push_back(group(first, std::min(first + layout_.rows_per_group, rows)));
    }
    Thrift footer;
    footer.number(1, 2);
    schema(footer);
    footer.number(3, static_cast<std::int64_t>(rows), 6);
    footer.list(4, groups.size(), 12);
    for (const std::string& each : groups) footer.bytes += each;
    footer.text(6, "a test");
    footer.bytes += '\0';
    out_ += footer.bytes;
    put(out_, static_cast<std::uint32_t>(footer.bytes.size()));
    return out_ + "PAR1";
  }

 private:
  [[nodiscard]] bool begins_record(std::size_t i) const {
    return !columns_[i].record.empty() && (i == 0 || columns_[i - 1].record != columns_[i].record);
  }
  static int most_definition(const ParquetColumn& column) { return column.is_list ? 2 : column.required ? 0 : 1; }

  void schema(Thrift& footer) const {
    std::size_t elements = 1;
    std::size_t tops = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      elements += (columns_[i].is_list ? 3 : 1) + (begins_record(i) ? 1 : 0);
      tops += columns_[i].record.empty() || begins_record(i) ? 1 : 0;
    }
    footer.list(2, elements, 12);
    footer.open_element();
    footer.text(4, "schema");
    footer.number(5, static_cast<std::int64_t>(tops));
    footer.close();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ParquetColumn& column = columns_[i];
      if (begins_record(i)) {
        const auto is_member = [&](const ParquetColumn& each) { return each.record == column.record; };
        footer.open_element();
        footer.number(3, 0);
        footer.text(4, column.record);
        footer.number(5, std::count_if(columns_.begin(), columns_.end(), is_member));
        footer.close();
      }
      if (column.is_list) {
        footer.open_element();
        footer.number(3, 1);
        footer.text(4, column.name);
        footer.number(5, 1);
        footer.number(6, 3);  // LIST
        footer.close();
        footer.open_element();
        footer.number(3, 2);
        footer.text(4, "list");
        footer.number(5, 1);
        footer.close();
      }
      footer.open_element();
      footer.number(1, column.type);
      if (column.length > 0) footer.number(2, column.length);
      footer.number(3, column.is_list || column.required ? 0 : 1);
      footer.text(4, column.is_list ? "element" : column.name);
      if (column.converted >= 0) footer.number(6, column.converted);
      if (column.scale > 0) footer.number(7, column.scale);
      footer.close();
    }
  }

  std::string group(std::size_t first, std::size_t last) {
    Thrift thrift;
    thrift.open_element();
    thrift.list(1, columns_.size(), 12);
    for (const ParquetColumn& column : columns_) chunk(column, first, last, thrift);
    thrift.number(2, 0, 6);
    thrift.number(3, static_cast<std::int64_t>(last - first), 6);
    thrift.close();
    return thrift.bytes;
  }

  void chunk(const ParquetColumn& column, std::size_t first, std::size_t last, Thrift& thrift) {
    const int codec = column.codec >= 0 ? column.codec : layout_.codec;
    const std::size_t begin = out_.size();
    std::map<Value, std::uint64_t> places;
    const bool uses_dictionary = column.encoding == kDictionary;
    if (uses_dictionary) {
      std::vector<Value> entries;
      for (const Value& value : levels_of(column, first, last).values) {
        if (places.emplace(value, places.size()).second) entries.push_back(value);
      }
      const std::string bytes = plain(column, entries);
      page(2, bytes.size(), packed(codec, bytes), [&](Thrift& head) {
        head.open(7);
        head.number(1, static_cast<std::int64_t>(entries.size()));
        head.number(2, kPlain);
        head.close();
      });
    }
    const std::size_t data_begin = out_.size();
    std::size_t values = 0;
    for (std::size_t at = first; at < last; at += layout_.rows_per_page) {
      values += data_page(column, at, std::min(at + layout_.rows_per_page, last), codec, places);
    }
    thrift.open_element();
    thrift.number(2, 0, 6);
    thrift.open(3);
    thrift.number(1, column.type);
    thrift.list(2, 1, 5);
    put_varint(thrift.bytes, zigzag(column.encoding));
    thrift.list(3, column.record.empty() ? 1 : 2, 8);
    if (!column.record.empty()) thrift.element(column.record);
    thrift.element(column.name);
    thrift.number(4, codec);
    thrift.number(5, static_cast<std::int64_t>(values), 6);
    thrift.number(6, 0, 6);
    thrift.number(7, static_cast<std::int64_t>(out_.size() - begin), 6);
    thrift.number(9, static_cast<std::int64_t>(data_begin), 6);
    if (uses_dictionary) thrift.number(11, static_cast<std::int64_t>(begin), 6);
    thrift.close();
    thrift.close();
  }

  std::size_t data_page(const ParquetColumn& column, std::size_t first, std::size_t last, int codec,
                        const std::map<Value, std::uint64_t>& places) {
    const Levels levels = levels_of(column, first, last);
    std::string values;
    if (column.encoding == kDictionary) {
      std::vector<std::uint64_t> found;
      for (const Value& value : levels.values) found.push_back(places.at(value));
      const unsigned width = width_of(places.empty() ? 0 : places.size() - 1);
      values = static_cast<char>(width) + hybrid(found, width);
    } else {
      values = encoded(column, levels.values);
    }
    const auto most = static_cast<std::uint64_t>(most_definition(column));
    const std::string definitions = most == 0 ? "" : hybrid(levels.definitions, width_of(most));
    const std::string repetitions = column.is_list ? hybrid(levels.repetitions, 1) : "";
    const auto count = static_cast<std::int64_t>(levels.definitions.size());
    if (layout_.page_version == 1) {
      std::string bytes;
      for (const std::string* part : {&repetitions, &definitions}) {
        if (part == &repetitions ? !column.is_list : most == 0) continue;
        put(bytes, static_cast<std::uint32_t>(part->size()));
        bytes += *part;
      }
      bytes += values;
      page(0, bytes.size(), packed(codec, bytes), [&](Thrift& head) {
        head.open(5);
        head.number(1, count);
        head.number(2, column.encoding);
        head.number(3, kRle);
        head.number(4, kRle);
        head.close();
      });
    } else {
      const std::string bytes = repetitions + definitions + packed(codec, values);
      page(3, repetitions.size() + definitions.size() + values.size(), bytes, [&](Thrift& head) {
        head.open(8);
        head.number(1, count);
        head.number(2, count - static_cast<std::int64_t>(levels.values.size()));
        head.number(3, static_cast<std::int64_t>(last - first));
        head.number(4, column.encoding);
        const auto stated = [&](const std::string& of) {
          return layout_.stated_level_bytes >= 0 ? layout_.stated_level_bytes : static_cast<std::int64_t>(of.size());
        };
        head.number(5, stated(definitions));
        head.number(6, stated(repetitions));
        if (codec == kNoCodec) head.truth(7, false);
        head.close();
      });
    }
    return static_cast<std::size_t>(count);
  }

  template <typename Rest>
  void page(int type, std::size_t plain_bytes, const std::string& bytes, Rest&& rest) {
    Thrift head;
    head.number(1, type);
    head.number(2,
                layout_.stated_plain_bytes >= 0 ? layout_.stated_plain_bytes : static_cast<std::int64_t>(plain_bytes));
    head.number(3, static_cast<std::int64_t>(bytes.size()));
    if (layout_.checksums) {
      const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
      head.number(4, static_cast<std::int32_t>(sum));
    }
    rest(head);
    out_ += head.bytes + '\0' + bytes;
  }

  const std::vector<ParquetColumn>& columns_;
  const ParquetLayout& layout_;
  std::string out_;
};

}  // namespace

std::string parquet_file(const std::vector<ParquetColumn>& columns, const ParquetLayout& layout) {
  return Writer(columns, layout).run();
}

}  // namespace accelscope::test
