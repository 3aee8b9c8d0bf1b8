// The calls that led to an event, innermost first, put together from what the source recorded: the call of the host
// that launched it, the events of its thread that it lies in, the parents that a call names, and stacks that were
// written as text (Role::stack). For one event at a time, on a worker.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct StackCall {
  EventId event = kNoEvent;  // kNoEvent: a line of a stack that was recorded as text
  std::string name;          // of the event; the line as it was recorded
  std::string source;        // "file.py:33"; "" where the event or the line names none
  std::string table;         // of the event, Schema::name
  bool on_host = false;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t self_ns = 0;  // what of it no inner call took; of calls of a host, if it is asked for
};

struct EventStack {
  EventId event = kNoEvent;
  std::vector<StackCall> calls;  // the event itself first
  std::size_t own = 0;           // of them up to here: the event itself and what it was launched by, the call last
  // Calls elsewhere that a flow leads from to one of these, and the flow's name: the forward pass of a gradient.
  std::vector<StackCall> forward;
  std::string forward_flow;
};

// What is particular to a source.
struct StackRules {
  // Whether events of the table may have called what lies in them: a profiler's own marks have not. Null: all may.
  std::function<bool(const Schema& schema)> may_call;
  // Columns of whole numbers in which a call has an id of its own, and that of the call that made it.
  std::string id_column, parent_column;
  bool own_times = true;  // StackCall::self_ns is wanted, which reads all that the thread did meanwhile
};

[[nodiscard]] Result<EventStack> event_stack(const QueryContext& query, const Dependencies& dependencies, EventId event,
                                             const StackRules& rules);

}  // namespace accelscope::analysis
