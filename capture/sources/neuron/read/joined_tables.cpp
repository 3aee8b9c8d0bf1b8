#include "capture/sources/neuron/read/joined_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::size_t kFramesMaxDepth = 256;  // a damaged file may link frames in a circle

[[nodiscard]] std::string value_of(std::span<const json::JsonField> fields,
                                   std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    for (const json::JsonField& field : fields) {
      if (field.key == key && field.kind != json::JsonKind::null) return std::string(field.text);
    }
  }
  return {};
}

[[nodiscard]] std::int64_t core_of(std::span<const json::JsonField> fields) {
  for (const json::JsonField& field : fields) {
    if (field.key == "pcore_idx") return json::to_int64(field).value_or(KernelCalls::kNoCore);
  }
  return KernelCalls::kNoCore;
}

[[nodiscard]] std::vector<std::string> split_ids(std::string_view list) {
  std::vector<std::string> ids;
  std::string id;
  for (const char c : list) {
    const bool part =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    if (part) {
      id += c;
    } else if (!id.empty()) {
      ids.push_back(std::move(id));
      id.clear();
    }
  }
  if (!id.empty()) ids.push_back(std::move(id));
  return ids;
}

// "function (file:line)"; the line is left out where it is not known.
void append_line(std::string& out, std::string_view function, std::string_view location) {
  if (!out.empty()) out += '\n';
  out += function.empty() ? std::string_view("(unnamed)") : function;
  if (!location.empty()) out += fmt::format(" ({})", location);
}

struct LevelTable {
  std::string_view table, id, name;
  CompilerLevels::Level level;
};
constexpr std::array<LevelTable, 4> kLevelTables = {
    {{"FrameworkInstruction", "raw_framework_id", "framework_name", CompilerLevels::Level::framework},
     {"HloInstruction", "raw_hlo_id", "hlo_name", CompilerLevels::Level::hlo},
     {"PenguinInstruction", "raw_penguin_id", "penguin_name", CompilerLevels::Level::penguin},
     {"BirInstruction", "raw_bir_id", "bir_name", CompilerLevels::Level::bir}}};

[[nodiscard]] const LevelTable* find_level_table(std::string_view table) noexcept {
  const auto* const found = std::ranges::find(kLevelTables, table, &LevelTable::table);
  return found == kLevelTables.end() ? nullptr : found;
}

}  // namespace

bool is_joined_table(std::string_view table) noexcept {
  return StackFrames::is_frame_table(table) || KernelCalls::is_kernel_table(table) ||
         CompilerLevels::is_level_table(table);
}

bool StackFrames::is_frame_table(std::string_view table) noexcept {
  return table == "stack_frame" || table == "stack_frames" || table == "stack_frame_file_location" ||
         table == "stack_frame_file_name" || table == "stack_frame_function_name" || table == "StackFrame" ||
         table == "StackFrameFileLocation" || table == "StackFrameFileName" || table == "StackFrameFunctionName";
}

void StackFrames::add(std::string_view table, std::span<const json::JsonField> fields) {
  std::string id = value_of(fields, {"id"});
  if (id.empty()) return;
  if (table.ends_with("location") || table.ends_with("Location")) {
    locations_[std::move(id)] = {value_of(fields, {"file_name_id"}), value_of(fields, {"function_name_id"}),
                                 value_of(fields, {"line_number", "line"})};
  } else if (table.ends_with("file_name") || table.ends_with("FileName")) {
    files_[std::move(id)] = value_of(fields, {"name", "file_name"});
  } else if (table.ends_with("function_name") || table.ends_with("FunctionName")) {
    functions_[std::move(id)] = value_of(fields, {"name", "function_name"});
  } else {
    frames_[std::move(id)] = {value_of(fields, {"file_location_id"}), value_of(fields, {"parent_frame_id"})};
  }
}

void StackFrames::append_frame(std::string& out, const Frame& frame) const {
  const auto location = locations_.find(frame.location);
  if (location == locations_.end()) return;
  const auto function = functions_.find(location->second.function);
  const auto file = files_.find(location->second.file);
  append_line(out, function == functions_.end() ? std::string_view() : function->second,
              file == files_.end() ? std::string() : file->second + ":" + location->second.line);
}

StackFrames::Texts StackFrames::resolve(std::string_view frame_ids, SessionWriter& writer) const {
  const std::vector<std::string> ids = split_ids(frame_ids);
  std::vector<const Frame*> frames;
  for (const std::string& id : ids) {
    if (const auto found = frames_.find(id); found != frames_.end()) frames.push_back(&found->second);
  }
  if (frames.empty()) return {};
  std::string stack, others;
  const bool is_list = frames.size() > 1 && frames.size() == ids.size();
  if (is_list && frames.back()->parent == ids[ids.size() - 2]) {  // from the outermost inwards
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) append_frame(stack, **frame);
  } else if (is_list && frames.front()->parent == ids[1]) {
    for (const Frame* frame : frames) append_frame(stack, *frame);
  } else {
    const Frame* frame = frames.front();
    for (std::size_t depth = 0; frame != nullptr && depth < kFramesMaxDepth; ++depth) {
      append_frame(stack, *frame);
      const auto parent = frames_.find(frame->parent);
      frame = parent == frames_.end() ? nullptr : &parent->second;
    }
    for (const Frame* other : std::span(frames).subspan(1)) append_frame(others, *other);
  }
  return {std::move(stack), others.empty() ? 0 : writer.intern(others)};
}

void StackFrames::collect_files(std::set<std::string>& files) const {
  for (const auto& [id, name] : files_) {
    if (!name.empty()) files.insert(name);
  }
}

bool KernelCalls::is_kernel_table(std::string_view table) noexcept {
  return table == "KernelInstructions" || table == "KernelStackFrames" || table == "KernelIterationVariables";
}

void KernelCalls::add(std::string_view table, std::span<const json::JsonField> fields, SessionWriter& writer) {
  const std::int64_t core = core_of(fields);
  const std::string file = value_of(fields, {"file_path"}), line = value_of(fields, {"line_number"});
  const std::string location = file.empty() || line.empty() ? std::string() : file + ":" + line;
  if (!file.empty()) files_.insert(file);
  if (table == "KernelInstructions") {
    const std::string name = value_of(fields, {"kernel_instruction_name"});
    if (name.empty()) return;
    instructions_[{core, writer.intern(name)}] = {value_of(fields, {"stack_frame_id"}),
                                                  value_of(fields, {"iteration_variables_id"}), location};
  } else if (table == "KernelStackFrames") {
    frames_[{core, value_of(fields, {"stack_frame_id"})}] = {value_of(fields, {"fully_qualified_function_name"}),
                                                             location, value_of(fields, {"parent_stack_frame_id"})};
  } else {
    variables_[{core, value_of(fields, {"iteration_variable_id"})}] = {
        fmt::format("{}={}", value_of(fields, {"variable_name"}), value_of(fields, {"variable_value"})), location,
        value_of(fields, {"parent_iteration_variable_id"})};
  }
}

std::vector<const KernelCalls::Linked*> KernelCalls::chain(const ById& links, std::int64_t core,
                                                           const std::string& id) {
  std::vector<const Linked*> found;
  const auto find = [&](const std::string& of) {
    const auto own = of.empty() ? links.end() : links.find({core, of});
    return own == links.end() && !of.empty() ? links.find({kNoCore, of}) : own;
  };
  for (auto link = find(id); link != links.end() && found.size() < kFramesMaxDepth; link = find(link->second.parent))
    found.push_back(&link->second);
  return found;
}

const KernelCalls::Texts& KernelCalls::of_instruction(StringId name, std::int64_t core, SessionWriter& writer) {
  auto found = instructions_.find({core, name});
  if (found == instructions_.end()) found = instructions_.find({kNoCore, name});
  static const Texts kNone;
  if (found == instructions_.end()) return kNone;
  Instruction& instruction = found->second;
  if (std::exchange(instruction.is_resolved, true)) return instruction.texts;
  std::string stack, loops;
  for (const Linked* frame : chain(frames_, core, instruction.frame)) {
    const bool is_innermost = stack.empty() && !instruction.location.empty();
    append_line(stack, frame->text, is_innermost ? instruction.location : frame->location);
  }
  for (const Linked* variable : chain(variables_, core, instruction.variable))
    loops = variable->text + (loops.empty() ? "" : ", ") + loops;
  const auto text = [&](const std::string& of) { return of.empty() ? 0 : writer.intern(of); };
  return instruction.texts = {std::move(stack), text(loops), text(instruction.location)};
}

void KernelCalls::collect_files(std::set<std::string>& files) const { files.insert(files_.begin(), files_.end()); }

bool CompilerLevels::is_level_table(std::string_view table) noexcept { return find_level_table(table) != nullptr; }

void CompilerLevels::add(std::string_view table, std::span<const json::JsonField> fields, SessionWriter& writer) {
  const LevelTable& of = *find_level_table(table);
  const std::string id = value_of(fields, {of.id}), name = value_of(fields, {of.name});
  if (id.empty() || name.empty()) return;
  if (of.level == Level::framework) {
    framework_names_.try_emplace(writer.intern(id), writer.intern(name));
  } else if (const auto number = json::to_int64({of.id, id, json::JsonKind::number})) {
    names_.try_emplace({of.level, *number}, writer.intern(name));
  }
}

StringId CompilerLevels::name(Level level, std::int64_t raw_id) const {
  const auto found = names_.find({level, raw_id});
  return found == names_.end() ? 0 : found->second;
}

StringId CompilerLevels::framework_name(StringId raw_id) const {
  const auto found = framework_names_.find(raw_id);
  return found == framework_names_.end() ? 0 : found->second;
}

}  // namespace accelscope::capture::sources::neuron
