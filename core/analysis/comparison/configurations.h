// Which captures are of one configuration, by their tags: "kernel=mlp", "config=resident", "nightly".
//
//   const auto groups = group_captures(captures, "");          // all tags alike: one configuration
//   const auto groups = group_captures(captures, "config");    // by the value of a tag
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope {

struct CaptureLabel {
  std::string path;               // as it was given
  std::vector<std::string> tags;  // "kernel=mlp"; "" value where there is no =
};

struct CaptureGroup {
  std::string name;                   // "config=resident"; of a capture by itself its file
  std::vector<std::size_t> captures;  // in the order in which they were given
};

// The value of a tag "key=value"; of a tag without a value the tag; "" where it has none.
[[nodiscard]] std::string_view tag_value(const CaptureLabel& capture, std::string_view key) noexcept;

// `by`: names of tags with commas between; "folder" and "file" stand for where the capture lies; "" for all tags, and
// then captures without any are each a configuration of their own, as all are where there would be only one.
// An error: a capture does not have the tag. The group of the first capture comes first.
[[nodiscard]] Result<std::vector<CaptureGroup>> group_captures(std::span<const CaptureLabel> captures,
                                                               const std::string& by);

}  // namespace accelscope
