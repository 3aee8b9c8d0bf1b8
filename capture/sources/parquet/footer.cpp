#include "capture/sources/parquet/footer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/parquet/compact_thrift.h"

namespace accelscope::capture::sources::parquet {
namespace {

using format::CompactReader;
using format::CompactType;

constexpr std::uint64_t kMostFooterBytes = 64U << 20;  // real ones have some kB for each group of rows
constexpr std::size_t kMostFields = 10'000;
constexpr std::size_t kMostGroups = 100'000;
constexpr int kDeepestField = 32;
// A file cannot state more rows than its bytes may hold: runs of equal values pack well, but not without end.
constexpr std::uint64_t kMostRowsPerByte = 2000;
constexpr std::uint64_t kRowsOfAnyFile = 100'000;

[[nodiscard]] std::uint32_t little_endian_32(std::string_view bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

[[nodiscard]] std::int64_t unit_in_ns(CompactReader& reader) {
  std::int64_t ns = 1;
  reader.each_field([&](const CompactReader::Field& unit) {
    if (unit.id == format::fields::kMillis) ns = 1'000'000;
    if (unit.id == format::fields::kMicros) ns = 1000;
    reader.skip(unit.type);
  });
  return ns;
}

struct ConvertedRow {
  format::ConvertedType converted;
  Meaning meaning;
  std::int64_t unit_ns = 1;
};
constexpr std::array kConvertedRows = {
    ConvertedRow{format::ConvertedType::decimal, Meaning::decimal},
    ConvertedRow{format::ConvertedType::date, Meaning::date},
    ConvertedRow{format::ConvertedType::time_millis, Meaning::time, 1'000'000},
    ConvertedRow{format::ConvertedType::time_micros, Meaning::time, 1000},
    ConvertedRow{format::ConvertedType::timestamp_millis, Meaning::time, 1'000'000},
    ConvertedRow{format::ConvertedType::timestamp_micros, Meaning::time, 1000},
    ConvertedRow{format::ConvertedType::uint_8, Meaning::unsigned_number},
    ConvertedRow{format::ConvertedType::uint_16, Meaning::unsigned_number},
    ConvertedRow{format::ConvertedType::uint_32, Meaning::unsigned_number},
    ConvertedRow{format::ConvertedType::uint_64, Meaning::unsigned_number},
    ConvertedRow{format::ConvertedType::interval, Meaning::raw},
};

}  // namespace

struct Footer::Element {
  std::string name;
  std::optional<std::int64_t> type;
  std::int64_t length = 0;
  std::int64_t repetition = 0;
  std::int64_t children = 0;
  std::int64_t converted = -1;
  std::int64_t scale = 0;
  std::optional<Meaning> meaning;  // of the logical type
  std::int64_t unit_ns = 1;
  bool is_list = false;
  bool is_map = false;

  void read(CompactReader& reader);
  void read_logical(CompactReader& reader);
  void read_members(CompactReader& reader, std::int16_t logical);
};

void Footer::Element::read(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    if (reader.into(field, CompactReader::At{fields::kType, type}, CompactReader::At{fields::kTypeLength, length},
                    CompactReader::At{fields::kRepetition, repetition}, CompactReader::At{fields::kName, name},
                    CompactReader::At{fields::kChildren, children}, CompactReader::At{fields::kConverted, converted},
                    CompactReader::At{fields::kScale, scale})) {
      return;
    }
    if (field.id == fields::kLogical && field.type == CompactType::structure) return read_logical(reader);
    reader.skip(field.type);
  });
  const auto contains_words = [&](format::ConvertedType what) { return converted == static_cast<std::int64_t>(what); };
  is_list = is_list || contains_words(format::ConvertedType::list);
  is_map = is_map || contains_words(format::ConvertedType::map) || contains_words(format::ConvertedType::map_key_value);
}

void Footer::Element::read_logical(CompactReader& reader) {
  namespace fields = format::fields;
  reader.each_field([&](const CompactReader::Field& field) {
    is_list = is_list || field.id == fields::kList;
    is_map = is_map || field.id == fields::kMap;
    if (field.id == fields::kDecimal) meaning = Meaning::decimal;
    if (field.id == fields::kDate) meaning = Meaning::date;
    if (field.id == fields::kTime || field.id == fields::kTimestamp) meaning = Meaning::time;
    if (field.id == fields::kUuid) meaning = Meaning::raw;
    if (field.id == fields::kFloat16) meaning = Meaning::float16;
    if (field.type == CompactType::structure) {
      read_members(reader, field.id);
    } else {
      reader.skip(field.type);
    }
  });
}

void Footer::Element::read_members(CompactReader& reader, std::int16_t logical) {
  namespace fields = format::fields;
  constexpr std::int16_t kFirst = 1;   // scale, bits
  constexpr std::int16_t kSecond = 2;  // unit, is signed
  reader.each_field([&](const CompactReader::Field& member) {
    if (logical == fields::kDecimal && member.id == kFirst) {
      scale = reader.integer_of(member);
    } else if (logical == fields::kInteger && member.id == kSecond) {
      meaning = CompactReader::boolean(member) ? Meaning::number : Meaning::unsigned_number;
    } else if ((logical == fields::kTime || logical == fields::kTimestamp) && member.id == kSecond &&
               member.type == CompactType::structure) {
      unit_ns = unit_in_ns(reader);
    } else {
      reader.skip(member.type);
    }
  });
}

// Makes a tree of the elements, which lie in the file as it is walked: a group, its first child, that one's children.
class Footer::Planting {
 public:
  Planting(Footer& footer, std::vector<Element> elements) : footer_(footer), elements_(std::move(elements)) {}

  Result<void> run() {
    if (elements_.empty()) return Error{"its footer names no columns at all"};
    elements_.front().repetition = static_cast<std::int64_t>(format::Repetition::required);
    if (Result<void> planted = plant(0, 0, "", 0); !planted) return planted;
    if (next_ != elements_.size()) return Error{"the tree of its columns does not add up"};
    return {};
  }

 private:
  Result<void> plant(int definition, int repeated, const std::string& path, int depth) {
    if (next_ >= elements_.size() || depth > kDeepestField) return Error{"the tree of its columns does not add up"};
    const Element& element = elements_[next_++];
    const auto number = static_cast<std::uint32_t>(footer_.fields_.size());
    footer_.fields_.emplace_back();
    Field field;
    field.name = element.name;
    if (element.repetition < 0 || element.repetition > 2) return Error{"its footer has a field of no known repetition"};
    field.repetition = static_cast<format::Repetition>(element.repetition);
    field.definition = definition + (field.repetition == format::Repetition::required ? 0 : 1);
    field.repeated = repeated + (field.repetition == format::Repetition::repeated ? 1 : 0);
    const std::string here = depth <= 1 ? element.name : path + "." + element.name;
    if (element.type && element.children == 0) {
      if (Result<void> done = become_column(element, field); !done) return Error{here + ": " + done.message()};
      field.leaf = static_cast<std::uint32_t>(footer_.columns_.size());
      footer_.columns_.push_back(number);
      footer_.paths_.push_back(here);
    } else {
      if (element.children < (depth == 0 ? 0 : 1)) return Error{here + ": a group without columns cannot be"};
      for (std::int64_t i = 0; i < element.children; ++i) {
        field.children.push_back(static_cast<std::uint32_t>(footer_.fields_.size()));
        if (Result<void> done = plant(field.definition, field.repeated, here, depth + 1); !done) return done;
      }
      shape(element, field);
    }
    footer_.fields_[number] = std::move(field);
    return {};
  }

  Result<void> become_column(const Element& element, Field& field) const {
    field.is_column = true;
    if (*element.type < 0 || *element.type > static_cast<std::int64_t>(format::PhysicalType::fixed_len_byte_array)) {
      return Error{fmt::format("its type has the number {}, which is none of the format's", *element.type)};
    }
    field.type = static_cast<format::PhysicalType>(*element.type);
    constexpr std::int64_t kLongestFixed = 1 << 20;
    const bool fixed = field.type == format::PhysicalType::fixed_len_byte_array;
    if (fixed && (element.length <= 0 || element.length > kLongestFixed)) {
      return Error{fmt::format("values of {} bytes cannot be", element.length)};
    }
    field.length = fixed ? static_cast<std::uint32_t>(element.length) : 0;
    const bool bytes = fixed || field.type == format::PhysicalType::byte_array;
    field.meaning = fixed ? Meaning::raw : bytes ? Meaning::text : Meaning::number;
    field.scale = static_cast<int>(std::clamp<std::int64_t>(element.scale, 0, 18));
    for (const ConvertedRow& row : kConvertedRows) {
      if (static_cast<std::int64_t>(row.converted) != element.converted) continue;
      field.meaning = row.meaning;
      field.unit_ns = row.unit_ns;
    }
    if (element.meaning) {
      field.meaning = *element.meaning;
      field.unit_ns = element.unit_ns;
    }
    const bool whole = field.type == format::PhysicalType::int32 || field.type == format::PhysicalType::int64;
    const bool needs_whole =
        field.meaning == Meaning::time || field.meaning == Meaning::date || field.meaning == Meaning::unsigned_number;
    constexpr std::uint32_t kHalfBytes = 2;
    if ((needs_whole && !whole) || (field.meaning == Meaning::decimal && !whole && !bytes) ||
        (field.meaning == Meaning::float16 && field.length != kHalfBytes) ||
        (field.meaning == Meaning::raw && !bytes)) {
      field.meaning = bytes ? Meaning::raw : Meaning::number;
    }
    return {};
  }

  // Lists and maps are groups in groups; the words for the inner ones are any writer's own (LogicalTypes.md).
  void shape(const Element& element, Field& field) const {
    if (field.children.size() != 1 || (!element.is_list && !element.is_map)) return;
    Field& inner = footer_.fields_[field.children.front()];
    if (inner.repetition != format::Repetition::repeated) return;
    if (element.is_map && inner.children.size() == 2) {
      field.shape = Shape::map;
    } else {
      field.shape = Shape::list;
      inner.is_wrapper = inner.children.size() == 1 && inner.name != "array" && inner.name != field.name + "_tuple";
    }
  }

  Footer& footer_;
  std::vector<Element> elements_;
  std::size_t next_ = 0;
};

Result<Footer> Footer::read(RandomBytes& bytes) {
  const std::uint64_t size = bytes.size();
  const auto magic = static_cast<std::uint64_t>(format::kMagic.size());
  if (size < magic + format::kTailBytes) {
    return Error{
        fmt::format("has {} bytes, too few for a Parquet file; its writer was stopped, or is still at work", size)};
  }
  std::string tail(format::kTailBytes, '\0');
  TRY(bytes.read(size - tail.size(), tail));
  if (tail.ends_with(format::kEncryptedMagic)) {
    return Error{"its footer is encrypted, which is not read here; write it again without encryption"};
  }
  if (!tail.ends_with(format::kMagic)) {
    return Error{
        fmt::format("its end is missing: after {} bytes there is no footer, which says where its columns lie; its "
                    "writer was stopped, or is still at work, or the copy is not whole",
                    size)};
  }
  const std::uint64_t length = little_endian_32(tail);
  if (length > size - magic - format::kTailBytes || length > kMostFooterBytes) {
    return Error{fmt::format("states a footer of {} bytes in a file of {}; it is damaged: copy or export it again",
                             length, size)};
  }
  Footer footer;
  footer.file_bytes_ = size;
  footer.text_.resize(static_cast<std::size_t>(length));
  TRY(bytes.read(size - format::kTailBytes - length, footer.text_));
  TRY(footer.parse());
  return footer;
}

Result<void> Footer::parse() {
  namespace fields = format::fields;
  CompactReader reader(text_);
  std::vector<Element> elements;
  std::int64_t stated_rows = 0;
  bool encrypted = false;
  reader.each_field([&](const CompactReader::Field& field) {
    if (field.id == fields::kSchema && field.type == CompactType::list) {
      reader.each_element([&](CompactType type) {
        if (type != CompactType::structure || elements.size() >= kMostFields) return reader.skip(type);
        elements.emplace_back().read(reader);
      });
    } else if (field.id == fields::kFileRows) {
      stated_rows = reader.integer_of(field);
    } else if (field.id == fields::kRowGroups && field.type == CompactType::list) {
      reader.each_element([&](CompactType type) {
        if (type != CompactType::structure || groups_.size() >= kMostGroups) return reader.skip(type);
        Group group{reader.position(), 0};
        reader.each_field([&](const CompactReader::Field& of_group) {
          if (of_group.id != fields::kGroupRows) return reader.skip(of_group.type);
          group.rows = static_cast<std::uint64_t>(std::max<std::int64_t>(0, reader.integer_of(of_group)));
        });
        groups_.push_back(group);
      });
    } else if (field.id == fields::kCreatedBy) {
      created_by_ = reader.binary_of(field);
    } else {
      encrypted = encrypted || field.id == fields::kEncryption;
      reader.skip(field.type);
    }
  });
  if (reader.failed()) return Error{"its footer is damaged; copy or export it again"};
  if (encrypted) return Error{"it is encrypted, which is not read here; write it again without encryption"};
  if (Result<void> planted = Planting(*this, std::move(elements)).run(); !planted) return planted;
  const std::uint64_t most = kRowsOfAnyFile + kMostRowsPerByte * file_bytes_;
  for (const Group& group : groups_) rows_ = std::min(rows_, most) + std::min(group.rows, most);
  if (rows_ > most || stated_rows < 0) {
    return Error{fmt::format("states {} rows, which its {} bytes cannot hold; it is damaged: copy or export it again",
                             std::max<std::int64_t>(stated_rows, static_cast<std::int64_t>(rows_)), file_bytes_)};
  }
  return {};
}

Result<std::vector<ColumnChunkPlace>> Footer::chunks_of(std::size_t group) const {
  namespace fields = format::fields;
  std::vector<ColumnChunkPlace> chunks;
  const std::uint64_t last = file_bytes_ - format::kTailBytes - text_.size();
  const auto read_chunk = [&](CompactReader& reader) {
    ColumnChunkPlace chunk;
    std::int64_t data = -1;
    std::int64_t dictionary = -1;
    std::int64_t packed = -1;
    bool described = false;
    const auto read_data = [&] {
      described = true;
      reader.each_field([&](const CompactReader::Field& field) {
        if (reader.into(field, CompactReader::At{fields::kColumnType, chunk.type},
                        CompactReader::At{fields::kCodec, chunk.codec}, CompactReader::At{fields::kPackedBytes, packed},
                        CompactReader::At{fields::kDataOffset, data},
                        CompactReader::At{fields::kDictionaryOffset, dictionary})) {
          return;
        }
        if (field.id != fields::kValues) return reader.skip(field.type);
        chunk.values = static_cast<std::uint64_t>(std::max<std::int64_t>(0, reader.integer_of(field)));
      });
    };
    reader.each_field([&](const CompactReader::Field& field) {
      if (field.id == fields::kMetaData && field.type == CompactType::structure) return read_data();
      if (field.id == fields::kFilePath) chunk.problem = "lies in another file, which is not read here";
      if (field.id == fields::kCrypto) chunk.problem = "is encrypted, which is not read here";
      reader.skip(field.type);
    });
    // Some writers state a dictionary at 0 where there is none.
    const bool has_dictionary = dictionary >= std::int64_t{4} && dictionary < data;
    const std::int64_t begin = has_dictionary ? dictionary : data;
    if (!chunk.problem.empty()) {
    } else if (!described) {
      chunk.problem = "is not described in the footer";
    } else if (begin < 0 || packed < 0 || static_cast<std::uint64_t>(begin) > last ||
               static_cast<std::uint64_t>(packed) > last - static_cast<std::uint64_t>(begin)) {
      chunk.problem =
          fmt::format("is said to lie at byte {} with {} bytes, which is not inside the file", begin, packed);
    } else {
      chunk.begin = static_cast<std::uint64_t>(begin);
      chunk.end = chunk.begin + static_cast<std::uint64_t>(packed);
    }
    chunks.push_back(std::move(chunk));
  };
  CompactReader reader(std::string_view(text_).substr(groups_[group].begin));
  reader.each_field([&](const CompactReader::Field& field) {
    if (field.id != fields::kColumns || field.type != CompactType::list) return reader.skip(field.type);
    reader.each_element([&](CompactType type) {
      if (type != CompactType::structure || chunks.size() > columns_.size()) return reader.skip(type);
      read_chunk(reader);
    });
  });
  if (reader.failed() || chunks.size() != columns_.size()) {
    return Error{
        fmt::format("its footer describes {} columns of this group and not {}", chunks.size(), columns_.size())};
  }
  return chunks;
}

}  // namespace accelscope::capture::sources::parquet
