// Schemas are data. A schema says which columns the events of a track carry beyond the three that every event
// has (start, duration, name). Details, search, summaries, SQL and exports are driven by it; a vendor's new
// field needs no code outside its source. SQL names each schema's table after Schema::name and its columns
// after Column::name, which are the vendor's own field names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/model/ids.h"

namespace accelscope {

enum class EventKind : std::uint8_t {
  slice,    // an interval of a lane, [start, start + duration)
  counter,  // a sample; column 0 has Role::value
  instant,  // a point in time (duration 0)
  memory,   // an allocation or a release; see Role::allocation, address, size
  flow,     // a dependency: Role::flow_source and Role::flow_target hold keys of other events (Role::key), or
            // Role::flow_source_event and Role::flow_target_event their ids
  table,    // a row without time (a tensor, a queue); start and duration are 0
};

enum class ColumnType : std::uint8_t {
  int64,
  uint64,  // ids and addresses, exact
  float64,
  boolean,
  string,  // in the scope's dictionary
  text,    // mostly unique strings, kept inside the chunk
};

// What the product may do with a column beyond showing it.
enum class Role : std::uint8_t {
  none,
  key,              // the source's own id of the event; flows refer to it
  value,            // a counter's sample
  source_location,  // "file.py:33"
  wait_ns,          // ns that the event waited before it began
  bytes,            // bytes moved
  layer,            // slash path
  flow_source,      // key of the event that must come first
  flow_target,      // key of the event that depends on it
  allocation,       // signed bytes: > 0 allocates, < 0 releases
  address,
  tensor,
  pool,   // memory it lies in
  stack,  // stack frames, innermost first, separated by '\n'
  flops,
  operands,           // operand text in the vendor's grammar
  flow_source_event,  // as flow_source, but the id (uint64, scope 0) of an event of the same source: Row::id()
  flow_target_event,
  reserved,   // as allocation, but of memory that an allocator holds in order to cut allocations of its pool from it
  joins,      // true: reserved memory that goes on where the one that it touches ends
  requested,  // bytes that an allocation was asked for with; the rest of it is lost to rounding
};

struct Column {
  std::string name;  // the vendor's field name
  ColumnType type = ColumnType::int64;
  std::string unit;         // the name of a Unit: "ns", "B", "B/s", "" ...
  std::string group;        // heading in Details: Timing, Operation, Memory, IDs ...
  std::string title;        // what Details calls it; empty: the name
  std::string explanation;  // one sentence for the user
  Role role = Role::none;
  bool required = false;  // every event has it, so no validity bits are kept

  bool operator==(const Column&) const = default;
  static void fields(auto& walk, auto& c) {
    walk(c.name);
    walk.choice(c.type, ColumnType::int64, ColumnType::text);
    walk(c.unit, c.group, c.title, c.explanation, c.role, c.required);
  }
};

struct Schema {
  SchemaNumber number = 0;
  std::string name;  // SQL table: instruction, dma, ...
  EventKind kind = EventKind::slice;
  std::string name_column;  // the vendor's field behind the built-in name: opcode, variable, ...
  std::string name_explanation;
  std::vector<std::string> wait_names;  // events of these names are waiting, not busy
  std::vector<Column> columns;

  [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
  [[nodiscard]] std::optional<std::size_t> find(Role role) const;
  bool operator==(const Schema&) const = default;
  static void fields(auto& walk, auto& s) {
    walk(s.number, s.name);
    walk.choice(s.kind, EventKind::slice, EventKind::table);
    walk(s.name_column, s.name_explanation, s.wait_names, s.columns);
  }
};

}  // namespace accelscope
