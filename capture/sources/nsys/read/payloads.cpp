#include "capture/sources/nsys/read/payloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::size_t kPayloadHeaderBytes = 32;
constexpr std::int64_t kFirstLayout = 1 << 24;     // types from here on are layouts and lists of words
constexpr std::size_t kMostFields = 4096;          // of all layouts: a broken file may hold anything
constexpr std::size_t kMostShownCharacters = 400;  // of a text within a payload
constexpr std::string_view kMessageSize = "Message size";

// Types of fields, as the NVTX extension for payloads numbers them.
enum class FieldShape : std::uint8_t { unknown, character, integer, natural, real };
struct FieldType {
  std::int64_t type;
  FieldShape shape;
  std::size_t bytes;
};
constexpr FieldType kFieldTypes[] = {
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
constexpr std::int64_t kArrayFlags = 7 << 4;  // of a fixed length, up to a zero, or of a length that another field has
constexpr std::int64_t kFixedArray = 1 << 4;

[[nodiscard]] FieldType field_type(std::int64_t type) noexcept {
  for (const FieldType& each : kFieldTypes) {
    if (each.type == type) return each;
  }
  return {type, FieldShape::unknown, 0};
}

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
    words_[key].try_emplace(words->integer(2), words->text(3));
  }
}

bool NsysPayloads::append_value(const Field& field, std::uint64_t domain, ByteView payload, Payload& into) const {
  FieldType type = field_type(field.type);
  const auto words = words_.find({domain, static_cast<std::uint64_t>(field.type)});
  if (field.type >= kFirstLayout && words != words_.end()) type = {field.type, FieldShape::integer, 4};
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
  if (words != words_.end()) {
    const auto word = words->second.find(integer_at(payload, field.offset, type.bytes));
    if (word != words->second.end()) value = word->second;
  }
  if (field.name.starts_with(kMessageSize) && type.shape != FieldShape::real && type.shape != FieldShape::character) {
    into.message_bytes = integer_at(payload, field.offset, type.bytes);
  }
  into.text += fmt::format("{}{}={}", into.text.empty() ? "" : ", ", field.name, value);
  return true;
}

std::optional<NsysPayloads::Payload> NsysPayloads::decoded(ByteView data) const {
  if (data.size() < kPayloadHeaderBytes) return std::nullopt;
  const std::uint64_t domain = number_at<std::uint32_t>(data, 0);
  const std::uint64_t layout = number_at<std::uint32_t>(data, 8);
  const std::uint64_t size = number_at<std::uint64_t>(data, 16);
  const auto found = layouts_.find({domain, layout});
  if (found == layouts_.end() || size > data.size() - kPayloadHeaderBytes) return std::nullopt;
  const ByteView payload = data.subspan(kPayloadHeaderBytes, static_cast<std::size_t>(size));
  Payload result;
  bool any = false;
  for (const Field& field : found->second) any = append_value(field, domain, payload, result) || any;
  if (!any) return std::nullopt;
  return result;
}

}  // namespace accelscope::capture::sources::nsys
