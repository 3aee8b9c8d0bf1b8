#include "capture/kinds/itt/tasks.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::capture::kinds::itt {
namespace {

using probe::itt::RecordType;

// Of which something is said; programs that make ids without end would fill the memory.
constexpr std::size_t kIttTasksMostIds = 1U << 18;

}  // namespace

std::string colour_text(std::uint32_t colour) { return fmt::format("#{:06x}", colour & 0xffffffU); }

void IttTasks::apply(TaskStack& stack, const TaskTold& told) {
  if (told.type == RecordType::task_begin) return stack.open.begin({told.value, told.ns, nullptr});
  if (told.type == RecordType::task_end) {
    const std::size_t at =
        stack.open.find([&](const OpenTask& task) { return names_.site(task.site).domain_id == told.value; });
    if (at != stack.open.kNone) return stack.open.end(at, writer_of(stack, told.ns));
    ++counts_.ends_without_begin;
    return;
  }
  if (stack.open.empty()) return;  // its begin found no room
  TaskExtra& extra = stack.open.innermost().with_extra();
  switch (told.type) {
    case RecordType::task_text:
      return extra.add_line(told.text);
    case RecordType::task_name:
      extra.name = told.text;
      return;
    case RecordType::task_value:
      extra.value = told.number;
      return;
    default:
      extra.colour = told.value;
  }
}

void IttTasks::close_all(TaskStack& stack, std::int64_t ns) { stack.open.end_inside(0, writer_of(stack, ns)); }

void IttTasks::write(TrackNumber track, std::uint32_t depth, OpenTask& task, std::int64_t end_ns, bool unfinished) {
  const IttSite& site = names_.site(task.site);
  const StringId name = task.extra && !task.extra->name.empty() ? writer_.intern(task.extra->name) : site.name;
  Row row = writer_.begin_event_at(track, depth, task.begin_ns, end_ns - task.begin_ns, name);
  row.string(kTaskDomain, site.domain);
  if (site.place != 0) row.string(kTaskSource, site.place);
  if (site.function != 0) row.string(kTaskFunction, site.function);
  const std::uint32_t colour = task.extra && task.extra->colour != 0 ? task.extra->colour : site.colour;
  if (colour != 0) row.string(kTaskColour, writer_.intern(colour_text(colour)));
  if (task.extra) write_extra(row, *task.extra);
  if (unfinished) {
    row.boolean(kTaskUnfinished, true);
    ++counts_.unfinished;
  }
}

void IttTasks::write_extra(Row& row, const TaskExtra& extra) {
  std::string metadata = extra.metadata;
  probe::itt::Id parent = extra.parent;
  if (!extra.id.empty()) {
    row.string(kTaskId, writer_.intern(id_text(extra.id)));
    if (const auto found = ids_.find(extra.id); found != ids_.end()) {
      for (const auto& [key, text] : found->second.metadata) {
        metadata += fmt::format("{}{}: {}", metadata.empty() ? "" : "\n", key, text);
      }
      if (parent.empty()) parent = found->second.parent;
    }
  }
  if (!parent.empty()) row.string(kTaskParent, writer_.intern(name_of(parent)));
  if (!metadata.empty()) row.text(kTaskMetadata, metadata);
  if (extra.value) row.unsigned_integer(kTaskValue, *extra.value);
  if (extra.key != 0) row.unsigned_integer(kTaskKey, extra.key);
}

std::string IttTasks::name_of(const probe::itt::Id& id) const {
  const auto found = ids_.find(id);
  return found != ids_.end() && !found->second.name.empty() ? found->second.name : id_text(id);
}

void IttTasks::own(const probe::itt::Id& child, const probe::itt::Id& parent) {
  if (KnownId* known_id = known(child)) known_id->parent = parent;
}

IttTasks::KnownId* IttTasks::known(const probe::itt::Id& id) {
  if (ids_.size() < kIttTasksMostIds) return &ids_[id];
  if (const auto found = ids_.find(id); found != ids_.end()) return &found->second;
  ++counts_.ids_over_limit;
  return nullptr;
}

void IttTasks::note(const probe::itt::Id& id, const std::string& key, const std::string& text) {
  KnownId* known_id = known(id);
  if (known_id == nullptr) return;
  // By this key libraries say what an object is called.
  if (key == "object_name") known_id->name = text;
  known_id->metadata[key] = text;
}

void IttTasks::name_id(const probe::itt::Id& id, const std::string& name) {
  KnownId* known_id = known(id);
  if (known_id != nullptr && known_id->name.empty()) known_id->name = name;
}

std::string IttTasks::id_text(const probe::itt::Id& id) const {
  if (id.d3 != 0) return fmt::format("{:#x}:{:#x}:{:#x}", id.d1, id.d2, id.d3);
  return id.d2 != 0 ? fmt::format("{:#x}:{:#x}", id.d1, id.d2) : fmt::format("{:#x}", id.d1);
}

}  // namespace accelscope::capture::kinds::itt
