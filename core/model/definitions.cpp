#include "core/model/definitions.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/base/checksum.h"
#include "core/base/fields.h"

namespace accelscope {
namespace {

constexpr std::uint16_t kRecordVersion = 1;
// A record larger than this is damage, not data.
constexpr std::uint32_t kMaxRecordBytes = 512U << 20;
constexpr std::uint32_t kMaxStringsOfRecord = 2'000'000;  // sources send 65,536 at once

struct RecordHeader {
  std::uint32_t magic = kDefinitionMagic;
  std::uint16_t kind = 0;
  std::uint16_t version = kRecordVersion;
  std::uint32_t length = 0;  // of the whole record
  std::uint32_t scope = 0;
  std::uint64_t checksum = 0;
  static void fields(auto& walk, auto& h) { walk(h.magic, h.kind, h.version, h.length, h.scope, h.checksum); }
};
static_assert(sizeof(RecordHeader) == kDefinitionHeaderBytes);

std::uint64_t record_checksum(const RecordHeader& header, ByteView body) {
  return checksum(body) ^ (std::uint64_t{header.kind} << 48) ^ (std::uint64_t{header.scope} << 32) ^ body.size();
}

template <typename T>
Result<Definition> read_body(ByteView body) {
  T value = TRY(read_fields<T>(body, "definition record"));
  return Definition(std::move(value));
}

template <typename... T>
constexpr auto readers_of(const std::variant<T...>* /*of*/) {
  return std::array{&read_body<T>...};
}
constexpr auto kReaders = readers_of(static_cast<const Definition*>(nullptr));

// What a batch of strings says that it holds; its first id stands before it.
std::uint32_t string_count(ByteView body) {
  std::uint32_t count = 0;
  if (body.size() >= sizeof(StringId) + sizeof count) {
    std::memcpy(&count, body.data() + sizeof(StringId), sizeof count);
  }
  return count;
}

void move_number(std::uint32_t& number, std::uint32_t scope) { number = scoped_number(scope, number); }

}  // namespace

std::string_view severity_name(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "note";
}

Bytes encode(const Definition& definition, std::uint32_t scope) {
  const Bytes body = std::visit([](const auto& value) { return write_fields(value); }, definition);
  RecordHeader header{.kind = static_cast<std::uint16_t>(definition.index() + 1), .scope = scope};
  header.length = static_cast<std::uint32_t>(kDefinitionHeaderBytes + body.size());
  header.checksum = record_checksum(header, body);
  Bytes record = write_fields(header);
  record.insert(record.end(), body.begin(), body.end());
  return record;
}

Result<std::optional<Definition>> decode_definition(ByteView bytes) {
  const Result<RecordHeader> header = read_fields<RecordHeader>(bytes, "definition record");
  if (!header || header->magic != kDefinitionMagic) return Error{"definition record: it does not begin as one"};
  if (header->length != bytes.size() || header->length > kMaxRecordBytes) {
    return Error{fmt::format("definition record: it says {} bytes but has {}", header->length, bytes.size())};
  }
  const ByteView body = bytes.subspan(kDefinitionHeaderBytes);
  // Before they are read: a text that is empty takes four bytes in a record, and ten times as many in memory.
  if (header->kind == Definition(StringBatch()).index() + 1 && string_count(body) > kMaxStringsOfRecord) {
    return Error{fmt::format("definition record: it holds more than {} names at once", kMaxStringsOfRecord)};
  }
  if (record_checksum(*header, body) != header->checksum)
    return Error{"definition record: wrong checksum; its bytes were damaged"};
  if (header->kind == 0 || header->kind > kReaders.size()) return std::optional<Definition>();
  Result<Definition> read = kReaders[header->kind - 1](body);
  if (!read) return Error{fmt::format("{} (kind {})", read.message(), header->kind)};
  return std::optional(std::move(read).value());
}

std::uint32_t definition_scope(ByteView record) noexcept {
  RecordHeader header;
  FieldReader walk(record);
  walk(header);
  return header.scope;
}

void move_to_scope(Definition& definition, std::uint32_t scope) {
  if (auto* schema = std::get_if<Schema>(&definition)) {
    move_number(schema->number, scope);
  } else if (auto* clock = std::get_if<Clock>(&definition)) {
    move_number(clock->number, scope);
  } else if (auto* track = std::get_if<Track>(&definition)) {
    move_number(track->number, scope);
    move_number(track->parent, scope);
    move_number(track->schema, scope);
    move_number(track->clock, scope);
  } else if (auto* lane = std::get_if<Lane>(&definition)) {
    move_number(lane->number, scope);
    move_number(lane->track, scope);
  }
}

}  // namespace accelscope
