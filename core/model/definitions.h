// Everything a session holds besides events: one small record each, made by a source, carried unchanged over
// the wire, kept as one row of the store. A record begins with a magic number, its kind, length and checksum, so
// that a salvager finds it in the raw pages of a damaged file. Unknown kinds and trailing bytes are skipped, which
// lets a newer minor version add fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/clock.h"
#include "core/model/ids.h"
#include "core/model/quality_kinds.h"
#include "core/model/schema.h"

namespace accelscope {

// A row of the timeline. Kinds in use: engine, dma_queue, cc_core, collective, host_thread, stream, counter,
// memory, throttle, semaphore, error, layer, barrier, flow, table. Views group tracks by device and kind.
struct Track {
  TrackNumber number = 0;
  TrackNumber parent = kNone;
  std::string name;
  std::string kind;
  std::string device;  // "nc0"
  std::string host;
  std::string unit;  // of counters
  SchemaNumber schema = kNone;
  ClockNumber clock = kNone;  // kNone: a tick is a ns of session time
  std::int64_t order = 0;     // among the tracks of its group
  bool operator==(const Track&) const = default;
  static void fields(auto& walk, auto& t) {
    walk(t.number, t.parent, t.name, t.kind, t.device, t.host, t.unit, t.schema, t.clock, t.order);
  }
};

// A lane of a track: within it events are sorted and do not overlap.
struct Lane {
  LaneNumber number = 0;
  TrackNumber track = 0;
  std::uint32_t depth = 0;  // 0 is the topmost sub-lane
  bool operator==(const Lane&) const = default;
  static void fields(auto& walk, auto& l) { walk(l.number, l.track, l.depth); }
};

// Strings first_id, first_id + 1, ... of the scope's dictionary. Ids begin at 1; 0 is "".
struct StringBatch {
  StringId first_id = 1;
  std::vector<std::string> strings;
  bool operator==(const StringBatch&) const = default;
  static void fields(auto& walk, auto& b) { walk(b.first_id, b.strings); }
};

struct SourceFile {
  std::string path;
  std::string content;
  bool operator==(const SourceFile&) const = default;
  static void fields(auto& walk, auto& f) { walk(f.path, f.content); }
};

// Free facts about the session: vendor metadata, versions, device names. A later value replaces an earlier one.
struct MetaEntry {
  std::string key;
  std::string value;
  bool operator==(const MetaEntry&) const = default;
  static void fields(auto& walk, auto& e) { walk(e.key, e.value); }
};

[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;

// What was skipped, estimated, dropped or missing. Counts of the same kind and detail add up.
struct QualityEntry {
  std::string kind;  // short stable name; those of this version are in quality_kinds.h
  std::uint64_t count = 0;
  std::string detail;  // a sentence for the user, with what to try
  Severity severity = Severity::note;

  QualityEntry() = default;
  QualityEntry(QualityKind of, std::uint64_t times, std::string said)
      : kind(of.name()), count(times), detail(std::move(said)), severity(of.severity()) {}
  bool operator==(const QualityEntry&) const = default;
  static void fields(auto& walk, auto& e) {
    walk(e.kind, e.count, e.detail);
    walk.choice(e.severity, Severity::note, Severity::error);
  }
};

// A figure that the vendor's file states. text is set for figures that are not numbers.
struct Metric {
  std::string name;   // the vendor's name
  std::string group;  // the vendor's group
  double value = 0;
  std::string unit;
  std::string text;
  std::string device;  // as in Track; empty: of the session or its only device
  bool operator==(const Metric&) const = default;
  static void fields(auto& walk, auto& m) {
    walk(m.name, m.group, m.value, m.unit, m.text);
    if (walk.more()) walk(m.device);  // sessions of the first version have none
  }
};

// A record says its alternative's place in here + 1: never reuse or move one.
using Definition = std::variant<Schema, Clock, Track, Lane, StringBatch, SourceFile, MetaEntry, QualityEntry, Metric>;

inline constexpr std::uint32_t kDefinitionMagic = 0x46454441;  // "ADEF"
inline constexpr std::size_t kDefinitionHeaderBytes = 24;

// The scope is kept in the record's header; sources and the wire use 0.
[[nodiscard]] Bytes encode(const Definition& definition, std::uint32_t scope = 0);
[[nodiscard]] std::uint32_t definition_scope(ByteView record) noexcept;

// Checks magic, length and checksum. An unknown kind yields an empty optional: skip it and go on.
[[nodiscard]] Result<std::optional<Definition>> decode_definition(ByteView bytes);

// The same record with its lane, track, schema and clock numbers moved from scope 0 into `scope`.
void move_to_scope(Definition& definition, std::uint32_t scope);

}  // namespace accelscope
