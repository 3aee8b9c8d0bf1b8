#include "capture/sources/neuron/read/stack_frames.h"

#include <vector>

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

}  // namespace

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
  if (!out.empty()) out += '\n';
  out += function == functions_.end() ? std::string("(unnamed)") : function->second;
  if (file != files_.end()) out += " (" + file->second + ":" + location->second.line + ")";
}

std::string StackFrames::resolve(std::string_view frame_ids) const {
  const std::vector<std::string> ids = split_ids(frame_ids);
  std::vector<const Frame*> chain;
  for (const std::string& id : ids) {
    if (const auto found = frames_.find(id); found != frames_.end()) chain.push_back(&found->second);
  }
  if (chain.empty()) return {};
  if (ids.size() > 1 && chain.size() == ids.size() && chain.back()->parent == ids[ids.size() - 2]) {
    std::vector<const Frame*>(chain.rbegin(), chain.rend()).swap(chain);  // the list ran from the outermost inwards
  } else if (ids.size() == 1) {
    for (auto parent = frames_.find(chain.back()->parent); parent != frames_.end() && chain.size() < kFramesMaxDepth;
         parent = frames_.find(chain.back()->parent)) {
      chain.push_back(&parent->second);
    }
  }
  std::string text;
  for (const Frame* frame : chain) append_frame(text, *frame);
  return text;
}

void StackFrames::collect_files(std::set<std::string>& files) const {
  for (const auto& [id, name] : files_) {
    if (!name.empty()) files.insert(name);
  }
}

}  // namespace accelscope::capture::sources::neuron
