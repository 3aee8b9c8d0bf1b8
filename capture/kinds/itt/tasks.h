// Tasks between their beginning and their end, and how they become events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/kinds/base/open_spans.h"
#include "capture/kinds/itt/names.h"
#include "capture/kinds/itt/tracks.h"

namespace accelscope::capture::kinds::itt {

struct IttIdHash {
  std::size_t operator()(const probe::itt::Id& id) const noexcept {
    return static_cast<std::size_t>((id.d1 * 0x9E3779B97F4A7C15U ^ id.d2) * 0xC2B2AE3D27D4EB4FU ^ id.d3);
  }
};

// What few tasks have.
struct TaskExtra {
  probe::itt::Id id, parent;
  std::string name;      // in place of the site's; "": none
  std::string metadata;  // a line each
  std::optional<std::uint64_t> value;
  std::uint32_t colour = 0;
  std::uint64_t key = 0;  // 0: nothing refers to it

  void add_line(const std::string& line) { metadata += (metadata.empty() ? "" : "\n") + line; }
};

struct OpenTask {
  std::uint32_t site = 0;
  std::int64_t begin_ns = 0;
  std::unique_ptr<TaskExtra> extra;

  [[nodiscard]] TaskExtra& with_extra() {
    if (!extra) extra = std::make_unique<TaskExtra>();
    return *extra;
  }
};

// Of a thread or a fiber.
struct TaskStack {
  TrackNumber track = kNone;
  NestedSpans<OpenTask> open;
};

struct IttCounts {
  std::uint64_t unfinished = 0;          // tasks, regions, frames
  std::uint64_t ends_without_begin = 0;  // of those
  std::uint64_t releases_unknown = 0;    // of memory
  std::uint64_t relations_open = 0;      // between what never ran
  std::uint64_t bad_records = 0;
  std::uint64_t bad_times = 0;     // outside of the capture
  std::uint64_t cut_counters = 0;  // values over what a column can hold
  std::uint64_t ids_over_limit = 0;
};

struct TaskTold {
  probe::itt::RecordType type{};
  std::uint32_t value = 0;  // as RecordHead::value
  std::int64_t ns = 0;      // of begins and ends
  std::uint64_t number = 0;
  std::string text;
};

class IttTasks {
 public:
  IttTasks(SessionWriter& writer, const IttNames& names, IttCounts& counts)
      : writer_(writer), names_(names), counts_(counts) {}

  // What a thread or fiber tells of a task without an id. An end is that of the innermost open task of its domain.
  void apply(TaskStack& stack, const TaskTold& told);
  void close_all(TaskStack& stack, std::int64_t ns);
  void write(TrackNumber track, std::uint32_t depth, OpenTask& task, std::int64_t end_ns, bool unfinished);

  // What the program says of an id holds for every task that has it, or belongs to it.
  void note(const probe::itt::Id& id, const std::string& key, const std::string& text);
  void name_id(const probe::itt::Id& id, const std::string& name);
  void own(const probe::itt::Id& child, const probe::itt::Id& parent);

  [[nodiscard]] std::string id_text(const probe::itt::Id& id) const;

 private:
  struct KnownId {
    std::string name;
    std::map<std::string, std::string> metadata;
    probe::itt::Id parent;
  };
  void write_extra(Row& row, const TaskExtra& extra);
  [[nodiscard]] std::string name_of(const probe::itt::Id& id) const;  // its id, where it has none
  [[nodiscard]] auto writer_of(const TaskStack& stack, std::int64_t end_ns) {
    return [this, track = stack.track, end_ns](OpenTask& task, std::size_t depth, bool left_open) {
      write(track, static_cast<std::uint32_t>(depth), task, end_ns, left_open);
    };
  }
  [[nodiscard]] KnownId* known(const probe::itt::Id& id);

  SessionWriter& writer_;
  const IttNames& names_;
  IttCounts& counts_;
  std::unordered_map<probe::itt::Id, KnownId, IttIdHash> ids_;
};

[[nodiscard]] std::string colour_text(std::uint32_t colour);

}  // namespace accelscope::capture::kinds::itt
