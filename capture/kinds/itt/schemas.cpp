#include "capture/kinds/itt/schemas.h"

namespace accelscope::capture::kinds::itt {
namespace {

[[nodiscard]] Column column(const char* name, ColumnType type, const char* group, const char* title,
                            const char* explanation, Role role = Role::none, const char* unit = "") {
  return {.name = name,
          .type = type,
          .unit = unit,
          .group = group,
          .title = title,
          .explanation = explanation,
          .role = role};
}

[[nodiscard]] Column domain_column() {
  return column("category", ColumnType::string, "Operation", "Domain",
                "The domain that the program put it into; \"zones\" for marks by macros.");
}

[[nodiscard]] Schema lock_schema(const char* name, const char* explanation) {
  Schema schema;
  schema.name = name;
  schema.kind = EventKind::slice;
  schema.name_column = "lock";
  schema.name_explanation = explanation;
  schema.columns = {
      column("source", ColumnType::string, "Operation", "Source", "Where the program declares the lock.",
             Role::source_location),
      column("shared", ColumnType::boolean, "Operation", "Shared", "Other threads may hold it shared as well."),
      column("address", ColumnType::uint64, "IDs", "Lock", "The lock's address in the program."),
  };
  return schema;
}

[[nodiscard]] Schema counter_schema(const char* name, ColumnType type) {
  Schema schema;
  schema.name = name;
  schema.kind = EventKind::counter;
  schema.columns = {
      column("value", type, "Operation", "Value", "What the program set, or counted up to.", Role::value)};
  return schema;
}

}  // namespace

Schema IttSchemas::task_schema() {
  Schema schema;
  schema.name = "task";
  schema.kind = EventKind::slice;
  schema.name_column = "task";
  schema.name_explanation = "The task, region, event or zone, as the program names it.";
  schema.columns = {
      domain_column(),
      column("source", ColumnType::string, "Operation", "Source", "Where in the source the zone is marked.",
             Role::source_location),
      column("function", ColumnType::string, "Operation", "Function", "The function that the zone is in."),
      column("metadata", ColumnType::text, "Operation", "Metadata", "What the program told of it, a line each."),
      column("value", ColumnType::uint64, "Operation", "Value", "The number that the program gave to the zone."),
      column("colour", ColumnType::string, "Operation", "Colour", "The colour that the program wishes."),
      column("task_id", ColumnType::string, "IDs", "Task id", "The program's own id of it."),
      column("parent_id", ColumnType::string, "IDs", "Belongs to",
             "The id, or the name where it has one, of what the program made it for."),
      column("key", ColumnType::uint64, "IDs", "Key", "By which dependencies refer to it.", Role::key),
      column("unfinished", ColumnType::boolean, "Timing", "Unfinished",
             "It had not ended when its thread, its process or the capture did; it is shown to end there."),
  };
  return schema;
}

Schema IttSchemas::frame_schema() {
  Schema schema;
  schema.name = "frame";
  schema.kind = EventKind::slice;
  schema.name_column = "frame";
  schema.name_explanation = "The frame's domain, or the name that the program gave it.";
  schema.columns = {
      domain_column(),
      column("number", ColumnType::uint64, "IDs", "Number", "Which frame of that name this is, from 1."),
      column("frame_id", ColumnType::string, "IDs", "Frame id", "The program's own id of it."),
      column("source", ColumnType::string, "Operation", "Source", "Where the source says it begins, if it does.",
             Role::source_location),
  };
  return schema;
}

Schema IttSchemas::marker_schema() {
  Schema schema;
  schema.name = "marker_event";
  schema.kind = EventKind::instant;
  schema.name_column = "marker";
  schema.name_explanation = "The marker, as the program names it.";
  schema.columns = {
      domain_column(),
      column("scope", ColumnType::string, "Operation", "Scope", "What the marker is about."),
      column("thread", ColumnType::string, "IDs", "Thread", "The thread that set it."),
      column("marker_id", ColumnType::string, "IDs", "Marker id", "The program's own id of it."),
  };
  return schema;
}

Schema IttSchemas::message_schema() {
  Schema schema;
  schema.name = "message";
  schema.kind = EventKind::instant;
  schema.name_column = "shown";
  schema.name_explanation =
      "The beginning of the message, or what its figures are of; once there were thousands of different ones, "
      "\"message\".";
  schema.columns = {
      column("text", ColumnType::text, "Operation", "Text", "The whole message."),
      column("severity", ColumnType::string, "Operation", "Severity", "How grave the program says it is."),
      column("thread", ColumnType::string, "IDs", "Thread", "The thread that sent it."),
      column("colour", ColumnType::string, "Operation", "Colour", "The colour that the program wishes."),
  };
  return schema;
}

Schema IttSchemas::lock_wait_schema() { return lock_schema("lock_wait", "The lock that the thread waits for."); }
Schema IttSchemas::lock_hold_schema() { return lock_schema("lock_hold", "The lock that the thread holds."); }

Schema IttSchemas::memory_schema() {
  Schema schema;
  schema.name = "allocation";
  schema.kind = EventKind::memory;
  schema.name_column = "pool_name";
  schema.name_explanation = "The pool as the program names it.";
  schema.columns = {
      column("allocation_bytes", ColumnType::int64, "Memory", "Size", "Bytes allocated, or released where negative.",
             Role::allocation, "B"),
      column("address", ColumnType::uint64, "Memory", "Address", "Where it lies in the program.", Role::address),
      column("pool", ColumnType::string, "Memory", "Pool", "The memory that it is taken from.", Role::pool),
      column("thread", ColumnType::string, "IDs", "Thread", "The thread that did it."),
  };
  return schema;
}

Schema IttSchemas::flow_schema() {
  Schema schema;
  schema.name = "dependency";
  schema.kind = EventKind::flow;
  schema.name_column = "relation";
  schema.name_explanation = "How the program relates the two.";
  schema.columns = {
      column("source_key", ColumnType::uint64, "IDs", "First", "Key of the task that comes first.", Role::flow_source),
      column("target_key", ColumnType::uint64, "IDs", "Then", "Key of the task that follows from it.",
             Role::flow_target),
  };
  return schema;
}

Schema IttSchemas::whole_counter_schema() { return counter_schema("program_counter", ColumnType::int64); }
Schema IttSchemas::real_counter_schema() { return counter_schema("program_figure", ColumnType::float64); }

}  // namespace accelscope::capture::kinds::itt
