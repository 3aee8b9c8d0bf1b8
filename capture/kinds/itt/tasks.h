// Tasks between their beginning and their end, and how they become events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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

// Of a thread or a fiber: the innermost one last.
struct TaskStack {
  TrackNumber track = kNone;
  std::vector<OpenTask> open;
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

class IttTasks {
 public:
  IttTasks(SessionWriter& writer, const IttNames& names, IttCounts& counts)
      : writer_(writer), names_(names), counts_(counts) {}

  void begin(TaskStack& stack, std::uint32_t site, std::int64_t ns, std::unique_ptr<TaskExtra> extra) {
    stack.open.push_back({site, ns, std::move(extra)});
  }
  // The innermost open task of that domain; what was begun inside it and has not ended ends with it.
  void end(TaskStack& stack, std::uint32_t domain, std::int64_t ns);
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
  [[nodiscard]] KnownId* known(const probe::itt::Id& id);

  SessionWriter& writer_;
  const IttNames& names_;
  IttCounts& counts_;
  std::unordered_map<probe::itt::Id, KnownId, IttIdHash> ids_;
};

[[nodiscard]] std::string colour_text(std::uint32_t colour);

}  // namespace accelscope::capture::kinds::itt
