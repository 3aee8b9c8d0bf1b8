// The frame tables of a profile, normalised by the vendor into ids of ids. Rows come before or after the instructions
// that refer to them, so they are kept and asked at the end.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/json/json_field.h"

namespace accelscope::capture::sources::neuron {

class StackFrames {
 public:
  // True if the table is one of the four.
  [[nodiscard]] static bool is_frame_table(std::string_view table) noexcept;
  void add(std::string_view table, std::span<const json::JsonField> fields);

  [[nodiscard]] bool empty() const noexcept { return frames_.empty(); }
  // "function (file:line)" per frame, innermost first, one per line, for a comma-separated list of frame ids.
  [[nodiscard]] std::string resolve(std::string_view frame_ids) const;
  void collect_files(std::set<std::string>& files) const;

 private:
  struct Frame {
    std::string location;
    std::string parent;
  };
  struct Location {
    std::string file;
    std::string function;
    std::string line;
  };
  void append_frame(std::string& out, const Frame& frame) const;

  std::unordered_map<std::string, Frame> frames_;
  std::unordered_map<std::string, Location> locations_;
  std::unordered_map<std::string, std::string> files_;
  std::unordered_map<std::string, std::string> functions_;
};

}  // namespace accelscope::capture::sources::neuron
