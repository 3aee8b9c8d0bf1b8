// Which captures are set against which, by their tags: "kernel=mlp", "config=b=1, s=128", "nightly".
//
//   const auto groups = group_captures(captures, "");          // kernel against kernel, else all tags alike
//   const auto groups = group_captures(captures, "config");    // by the value of a tag
//   const auto pairs = pair_captures(captures, *groups, "", "");  // each kernel within its config
//
// A tag is taken as it is: its value may hold commas, blanks and equals signs.
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

// `by`: names of tags as names_of_list() reads them; "folder" and "file" stand for where the capture lies; "" for the
// tag "kernel" where all captures have it and it tells them apart, else for all tags, and then captures without any are
// each a configuration of their own, as all are where there would be only one. An error: a capture does not have the
// tag. The group of the first capture comes first.
[[nodiscard]] Result<std::vector<CaptureGroup>> group_captures(std::span<const CaptureLabel> captures,
                                                               const std::string& by);

// What a capture is set against is of the same problem: the same value of these tags.
struct CapturePairs {
  std::string by;                                            // "config"; "": everything is one problem
  std::vector<std::string> names;                            // "b=1, s=128", in the order in which they first come
  std::vector<std::vector<std::vector<std::size_t>>> cells;  // captures by name, then group; none: it has none of it

  [[nodiscard]] bool is_shared(std::size_t name) const noexcept;  // every group has captures of it
  [[nodiscard]] std::vector<std::size_t> shared() const;
};
// `by`: names of tags as names_of_list() reads them; "" for those of "kernel" and "config" that do not make the groups
// and that all captures have, "none" for no pairs. An error: a capture does not have the tag, or nothing is shared by
// all groups.
[[nodiscard]] Result<CapturePairs> pair_captures(std::span<const CaptureLabel> captures,
                                                 const std::vector<CaptureGroup>& groups, const std::string& by,
                                                 const std::string& group_by);

}  // namespace accelscope
