#include "capture/sources/nsys/read/payloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::size_t kPayloadHeaderBytes = 32;
constexpr std::int64_t kFirstLayout = 1 << 24;     // types from here on are layouts and lists of words
constexpr std::size_t kMostFields = 4096;          // of all layouts: a broken file may hold anything
constexpr std::size_t kNowhere = 1U << 30;         // no payload is so long
constexpr std::size_t kMostShownCharacters = 400;  // of a text within a payload
constexpr std::string_view kMessageSize = "Message size";

constexpr std::int64_t kArrayFlags = 7 << 4;  // of a fixed length, up to a zero, or of a length that another field has
constexpr std::int64_t kFixedArray = 1 << 4;

template <typename Number>
[[nodiscard]] Number number_at(ByteView bytes, std::size_t offset) noexcept {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

[[nodiscard]] std::uint64_t natural_at(ByteView bytes, std::size_t offset, std::size_t size) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, size);  // little-endian, as the machines are that nsys runs on
  return number;
}

[[nodiscard]] std::int64_t integer_at(ByteView bytes, std::size_t offset, std::size_t size) noexcept {
  const unsigned unused = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::int64_t>(natural_at(bytes, offset, size) << unused) >> unused;
}

}  // namespace

// Types of fields, as the NVTX extension for payloads numbers them.
struct NsysPayloads::FieldType {
  std::int64_t type;
  FieldShape shape;
  std::size_t bytes;
};

NsysPayloads::FieldType NsysPayloads::type_of(const Field& field, std::uint64_t domain) const {
  static constexpr FieldType kFieldTypes[] = {
      {1, FieldShape::character, 1}, {2, FieldShape::natural, 1},    {3, FieldShape::integer, 2},
      {4, FieldShape::natural, 2},   {5, FieldShape::integer, 4},    {6, FieldShape::natural, 4},
      {7, FieldShape::integer, 8},   {8, FieldShape::natural, 8},    {9, FieldShape::integer, 8},
      {10, FieldShape::natural, 8},  {11, FieldShape::integer, 1},   {12, FieldShape::natural, 1},
      {13, FieldShape::integer, 2},  {14, FieldShape::natural, 2},   {15, FieldShape::integer, 4},
      {16, FieldShape::natural, 4},  {17, FieldShape::integer, 8},   {18, FieldShape::natural, 8},
      {19, FieldShape::real, 4},     {20, FieldShape::real, 8},      {22, FieldShape::natural, 8},
      {23, FieldShape::natural, 8},  {25, FieldShape::character, 1}, {32, FieldShape::natural, 1},
      {33, FieldShape::natural, 1},  {34, FieldShape::natural, 2},   {35, FieldShape::natural, 4},
      {36, FieldShape::natural, 8},
  };
  const auto words = words_.find({domain, static_cast<std::uint64_t>(field.type)});
  if (field.type >= kFirstLayout && words != words_.end()) {
    return {field.type, FieldShape::integer, words->second.bytes};
  }
  for (const FieldType& each : kFieldTypes) {
    if (each.type == field.type) return each;
  }
  return {field.type, FieldShape::unknown, 0};
}

void NsysPayloads::read(const sqlite::ForeignDatabase& file) {
  Result<sqlite::ForeignRows> rows =
      file.rows("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                {"domainId", "schemaId", "idx", "flags", "type", "name", "offset", "arrayOrUnionDetail"});
  std::map<LayoutKey, std::map<std::int64_t, Field>> found;  // processes repeat the layouts of a library
  for (std::size_t count = 0; rows && count < kMostFields && rows->next(); ++count) {
    const LayoutKey key{static_cast<std::uint64_t>(rows->integer(0)), static_cast<std::uint64_t>(rows->integer(1))};
    Field field{std::string(rows->text(5)), rows->integer(4), rows->integer(3), 0, rows->integer(7)};
    field.offset = static_cast<std::size_t>(std::clamp<std::int64_t>(rows->integer(6), 0, 1 << 24));
    found[key].try_emplace(rows->integer(2), std::move(field));
  }
  for (auto& [key, fields] : found) {
    for (auto& [index, field] : fields) layouts_[key].push_back(std::move(field));
  }
  Result<sqlite::ForeignRows> words = file.rows("NVTX_PAYLOAD_ENUM_ENTRIES", {"domainId", "schemaId", "value", "name"});
  for (std::size_t count = 0; words && count < kMostFields && words->next(); ++count) {
    const LayoutKey key{static_cast<std::uint64_t>(words->integer(0)), static_cast<std::uint64_t>(words->integer(1))};
    words_[key].words.try_emplace(words->integer(2), words->text(3));
  }
}

// Behind a field of unknown size nothing can be placed.
void NsysPayloads::add_layout(const LayoutKey& key, std::vector<Field> fields, std::size_t alignment) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Field& field = fields[i];
    const FieldType type = type_of(field, key.first);
    const std::size_t step = std::max<std::size_t>(1, alignment == 0 ? type.bytes : std::min(type.bytes, alignment));
    if (field.offset == 0 && i > 0) field.offset = std::min(kNowhere, (end + step - 1) / step * step);
    const bool is_array = (field.flags & kArrayFlags) == kFixedArray;
    const auto count = static_cast<std::size_t>(is_array ? std::clamp<std::int64_t>(field.detail, 0, 1 << 24) : 1);
    end = type.bytes == 0 ? kNowhere : std::min(kNowhere, field.offset + type.bytes * count);
  }
  layouts_[key] = std::move(fields);
}

void NsysPayloads::add_words(const LayoutKey& key, std::size_t bytes, std::map<std::int64_t, std::string> words) {
  words_[key] = {bytes == 1 || bytes == 2 || bytes == 8 ? bytes : 4, std::move(words)};
}

bool NsysPayloads::append_value(const Field& field, std::uint64_t domain, ByteView payload, Payload& into) const {
  const FieldType type = type_of(field, domain);
  const bool array = (field.flags & kArrayFlags) != 0;
  if (type.shape == FieldShape::unknown || field.offset + type.bytes > payload.size()) return false;
  if (array && (type.shape != FieldShape::character || (field.flags & kArrayFlags) != kFixedArray)) return false;
  std::string value;
  switch (type.shape) {
    case FieldShape::character: {
      const std::size_t length = array ? static_cast<std::size_t>(std::max<std::int64_t>(field.detail, 0)) : 1;
      const auto* text = reinterpret_cast<const char*>(payload.data()) + field.offset;
      const std::string_view all(text, std::min({length, payload.size() - field.offset, kMostShownCharacters}));
      value = all.substr(0, all.find('\0'));
      break;
    }
    case FieldShape::integer:
      value = std::to_string(integer_at(payload, field.offset, type.bytes));
      break;
    case FieldShape::natural:
      value = std::to_string(natural_at(payload, field.offset, type.bytes));
      break;
    case FieldShape::real:
      value = type.bytes == 4 ? fmt::format("{}", number_at<float>(payload, field.offset))
                              : fmt::format("{}", number_at<double>(payload, field.offset));
      break;
    case FieldShape::unknown:
      return false;
  }
  if (const auto words = words_.find({domain, static_cast<std::uint64_t>(field.type)}); words != words_.end()) {
    const auto word = words->second.words.find(integer_at(payload, field.offset, type.bytes));
    if (word != words->second.words.end()) value = word->second;
  }
  if (field.name.starts_with(kMessageSize) && type.shape != FieldShape::real && type.shape != FieldShape::character) {
    into.message_bytes = integer_at(payload, field.offset, type.bytes);
  }
  into.text += fmt::format("{}{}={}", into.text.empty() ? "" : ", ", field.name, value);
  return true;
}

std::optional<NsysPayloads::Payload> NsysPayloads::decoded(const LayoutKey& key, ByteView payload) const {
  const auto found = layouts_.find(key);
  if (found == layouts_.end()) return std::nullopt;
  Payload result;
  bool any = false;
  for (const Field& field : found->second) any = append_value(field, key.first, payload, result) || any;
  if (!any) return std::nullopt;
  return result;
}

std::optional<NsysPayloads::Payload> NsysPayloads::decoded(ByteView data) const {
  if (data.size() < kPayloadHeaderBytes) return std::nullopt;
  const std::uint64_t size = number_at<std::uint64_t>(data, 16);
  if (size > data.size() - kPayloadHeaderBytes) return std::nullopt;
  return decoded({number_at<std::uint32_t>(data, 0), number_at<std::uint32_t>(data, 8)},
                 data.subspan(kPayloadHeaderBytes, static_cast<std::size_t>(size)));
}

}  // namespace accelscope::capture::sources::nsys
