#include "core/model/definitions.h"

#include <fmt/format.h>

#include <limits>

#include "core/base/checksum.h"

namespace accelscope {
namespace {

// Numbers in files and frames: never reuse one.
enum class RecordKind : std::uint16_t {
  schema = 1,
  clock = 2,
  track = 3,
  lane = 4,
  strings = 5,
  source_file = 6,
  meta = 7,
  quality = 8,
  metric = 9,
};

constexpr std::uint16_t kRecordVersion = 1;
// A record larger than this is damage, not data.
constexpr std::uint32_t kMaxRecordBytes = 512U << 20;

void put(ByteWriter& out, const Schema& schema) {
  out.number(schema.number);
  out.text(schema.name);
  out.number(static_cast<std::uint8_t>(schema.kind));
  out.text(schema.name_column);
  out.text(schema.name_explanation);
  out.number(static_cast<std::uint32_t>(schema.wait_names.size()));
  for (const std::string& name : schema.wait_names) out.text(name);
  out.number(static_cast<std::uint32_t>(schema.columns.size()));
  for (const Column& column : schema.columns) {
    out.text(column.name);
    out.number(static_cast<std::uint8_t>(column.type));
    out.text(column.unit);
    out.text(column.group);
    out.text(column.title);
    out.text(column.explanation);
    out.number(static_cast<std::uint8_t>(column.role));
    out.number(static_cast<std::uint8_t>(column.required ? 1 : 0));
  }
}

void get(ByteReader& in, Schema& schema) {
  schema.number = in.number<std::uint32_t>();
  schema.name = in.text();
  schema.kind = static_cast<EventKind>(in.number<std::uint8_t>());
  schema.name_column = in.text();
  schema.name_explanation = in.text();
  const auto waits = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < waits && in.ok(); ++i) schema.wait_names.emplace_back(in.text());
  const auto columns = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < columns && in.ok(); ++i) {
    Column column;
    column.name = in.text();
    column.type = static_cast<ColumnType>(in.number<std::uint8_t>());
    column.unit = in.text();
    column.group = in.text();
    column.title = in.text();
    column.explanation = in.text();
    column.role = static_cast<Role>(in.number<std::uint8_t>());
    column.required = in.number<std::uint8_t>() != 0;
    schema.columns.push_back(std::move(column));
  }
}

void put(ByteWriter& out, const Clock& clock) {
  out.number(clock.number);
  out.text(clock.name);
  out.number(clock.ticks_per_ns);
  out.number(clock.version);
  out.number(clock.residual_ns);
  out.number(static_cast<std::uint32_t>(clock.anchors.size()));
  for (const ClockAnchor& anchor : clock.anchors) {
    out.number(anchor.ticks);
    out.number(anchor.ns);
  }
}

void get(ByteReader& in, Clock& clock) {
  clock.number = in.number<std::uint32_t>();
  clock.name = in.text();
  clock.ticks_per_ns = in.number<double>();
  clock.version = in.number<std::uint32_t>();
  clock.residual_ns = in.number<double>();
  const auto anchors = in.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < anchors && in.ok(); ++i) {
    const auto ticks = in.number<std::int64_t>();
    const auto ns = in.number<std::int64_t>();
    clock.anchors.push_back({ticks, ns});
  }
}

void put(ByteWriter& out, const Track& track) {
  out.number(track.number);
  out.number(track.parent);
  out.text(track.name);
  out.text(track.kind);
  out.text(track.device);
  out.text(track.host);
  out.text(track.unit);
  out.number(track.schema);
  out.number(track.clock);
  out.number(track.order);
}

void get(ByteReader& in, Track& track) {
  track.number = in.number<std::uint32_t>();
  track.parent = in.number<std::uint32_t>();
  track.name = in.text();
  track.kind = in.text();
  track.device = in.text();
  track.host = in.text();
  track.unit = in.text();
  track.schema = in.number<std::uint32_t>();
  track.clock = in.number<std::uint32_t>();
  track.order = in.number<std::int64_t>();
}

void put(ByteWriter& out, const Lane& lane) {
  out.number(lane.number);
  out.number(lane.track);
  out.number(lane.depth);
}

void get(ByteReader& in, Lane& lane) {
  lane.number = in.number<std::uint32_t>();
  lane.track = in.number<std::uint32_t>();
  lane.depth = in.number<std::uint32_t>();
}

void put(ByteWriter& out, const StringBatch& batch) {
  out.number(batch.first_id);
  out.number(static_cast<std::uint32_t>(batch.strings.size()));
  for (const std::string& text : batch.strings) out.text(text);
}

void get(ByteReader& in, StringBatch& batch) {
  batch.first_id = in.number<std::uint32_t>();
  const auto count = in.number<std::uint32_t>();
  // A string takes at least its length: a false count cannot make us reserve more than the record's own size.
  if (count <= in.remaining() / sizeof(std::uint32_t)) batch.strings.reserve(count);
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) batch.strings.emplace_back(in.text());
}

void put(ByteWriter& out, const SourceFile& file) {
  out.text(file.path);
  out.text(file.content);
}

void get(ByteReader& in, SourceFile& file) {
  file.path = in.text();
  file.content = in.text();
}

void put(ByteWriter& out, const MetaEntry& entry) {
  out.text(entry.key);
  out.text(entry.value);
}

void get(ByteReader& in, MetaEntry& entry) {
  entry.key = in.text();
  entry.value = in.text();
}

void put(ByteWriter& out, const QualityEntry& entry) {
  out.text(entry.kind);
  out.number(entry.count);
  out.text(entry.detail);
  out.number(static_cast<std::uint8_t>(entry.severity));
}

void get(ByteReader& in, QualityEntry& entry) {
  entry.kind = in.text();
  entry.count = in.number<std::uint64_t>();
  entry.detail = in.text();
  entry.severity = static_cast<Severity>(in.number<std::uint8_t>());
}

void put(ByteWriter& out, const Metric& metric) {
  out.text(metric.name);
  out.text(metric.group);
  out.number(metric.value);
  out.text(metric.unit);
  out.text(metric.text);
  out.text(metric.device);
}

void get(ByteReader& in, Metric& metric) {
  metric.name = in.text();
  metric.group = in.text();
  metric.value = in.number<double>();
  metric.unit = in.text();
  metric.text = in.text();
  if (in.remaining() > 0) metric.device = in.text();  // sessions of the first version have none
}

// The kind number of a record is its alternative's place in the variant + 1.
RecordKind kind_of(const Definition& definition) { return static_cast<RecordKind>(definition.index() + 1); }

std::uint64_t record_checksum(std::uint16_t kind, std::uint32_t scope, ByteView body) {
  return checksum(body) ^ (std::uint64_t{kind} << 48) ^ (std::uint64_t{scope} << 32) ^ body.size();
}

template <typename T>
bool read_body(ByteReader& in, Definition& out) {
  T value;
  get(in, value);
  if (!in.ok()) return false;
  out = std::move(value);
  return true;
}

bool known_enums(const Definition& definition) {
  if (const auto* schema = std::get_if<Schema>(&definition)) {
    if (schema->kind > EventKind::table) return false;
    for (const Column& column : schema->columns) {
      if (column.type > ColumnType::text) return false;
    }
  }
  if (const auto* entry = std::get_if<QualityEntry>(&definition)) return entry->severity <= Severity::error;
  return true;
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
  ByteWriter body;
  std::visit([&body](const auto& value) { put(body, value); }, definition);
  const auto kind = static_cast<std::uint16_t>(kind_of(definition));
  ByteWriter record;
  record.number(kDefinitionMagic);
  record.number(kind);
  record.number(kRecordVersion);
  record.number(static_cast<std::uint32_t>(kDefinitionHeaderBytes + body.size()));
  record.number(scope);
  record.number(record_checksum(kind, scope, body.view()));
  record.raw(body.view());
  return record.take();
}

Result<std::optional<Definition>> decode_definition(ByteView bytes) {
  ByteReader header(bytes);
  const auto magic = header.number<std::uint32_t>();
  const auto kind = header.number<std::uint16_t>();
  (void)header.number<std::uint16_t>();
  const auto length = header.number<std::uint32_t>();
  const auto scope = header.number<std::uint32_t>();
  const auto sum = header.number<std::uint64_t>();
  if (!header.ok() || magic != kDefinitionMagic) return Error{"definition record: it does not begin as one"};
  if (length != bytes.size() || length > kMaxRecordBytes) {
    return Error{fmt::format("definition record: it says {} bytes but has {}", length, bytes.size())};
  }
  const ByteView body = bytes.subspan(kDefinitionHeaderBytes);
  if (record_checksum(kind, scope, body) != sum)
    return Error{"definition record: wrong checksum; its bytes were damaged"};

  ByteReader in(body);
  Definition definition;
  bool read = false;
  switch (static_cast<RecordKind>(kind)) {
    case RecordKind::schema:
      read = read_body<Schema>(in, definition);
      break;
    case RecordKind::clock:
      read = read_body<Clock>(in, definition);
      break;
    case RecordKind::track:
      read = read_body<Track>(in, definition);
      break;
    case RecordKind::lane:
      read = read_body<Lane>(in, definition);
      break;
    case RecordKind::strings:
      read = read_body<StringBatch>(in, definition);
      break;
    case RecordKind::source_file:
      read = read_body<SourceFile>(in, definition);
      break;
    case RecordKind::meta:
      read = read_body<MetaEntry>(in, definition);
      break;
    case RecordKind::quality:
      read = read_body<QualityEntry>(in, definition);
      break;
    case RecordKind::metric:
      read = read_body<Metric>(in, definition);
      break;
    default:
      return std::optional<Definition>();
  }
  if (!read) return Error{fmt::format("definition record of kind {}: it ends before its last field", kind)};
  if (!known_enums(definition)) {
    return Error{fmt::format("definition record of kind {}: it holds a value this version does not know", kind)};
  }
  return std::optional<Definition>(std::move(definition));
}

std::uint32_t definition_scope(ByteView record) noexcept {
  ByteReader header(record);
  (void)header.raw(12);
  return header.number<std::uint32_t>();
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
