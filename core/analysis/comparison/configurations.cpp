#include "core/analysis/comparison/configurations.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "core/base/text.h"

namespace accelscope {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return (error ? fs::path(path) : whole).lexically_normal().parent_path().filename().string();
}

// "config=resident", "nightly", of a folder its name; nothing where the capture has none of the name.
std::optional<std::string> label_by(const CaptureLabel& capture, const std::string& key) {
  if (key == "folder") return folder_of(capture.path);
  if (key == "file") return fs::path(capture.path).filename().string();
  const std::string_view value = tag_value(capture, key);
  if (value.empty()) return std::nullopt;
  return value == key ? key : fmt::format("{}={}", key, value);
}

std::string all_tags(const CaptureLabel& capture) {
  std::vector<std::string> tags = capture.tags;
  std::sort(tags.begin(), tags.end());
  return fmt::format("{}", fmt::join(tags, ", "));
}

// Files of one name are told apart by their folders.
std::vector<CaptureGroup> each_by_itself(std::span<const CaptureLabel> captures) {
  std::map<std::string, std::size_t> times;
  for (const CaptureLabel& each : captures) ++times[fs::path(each.path).filename().string()];
  std::vector<CaptureGroup> groups;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const std::string file = fs::path(captures[i].path).filename().string();
    groups.push_back({times[file] > 1 ? captures[i].path : fs::path(file).stem().string(), {i}});
  }
  return groups;
}

Result<std::string> group_name(const CaptureLabel& capture, const std::vector<std::string>& keys) {
  std::string name;
  for (const std::string& key : keys) {
    const auto label = label_by(capture, key);
    if (!label) {
      return Error{
          capture.tags.empty()
              ? fmt::format("{}: it has no tags; give it some: accelscope import FILE -o S.accel --tag {}=NAME",
                            capture.path, key)
              : fmt::format("{}: it has no tag {}; its tags are {}", capture.path, key, all_tags(capture))};
    }
    name += (name.empty() ? "" : ", ") + *label;
  }
  return name;
}

}  // namespace

std::string_view tag_value(const CaptureLabel& capture, std::string_view key) noexcept {
  for (const std::string& tag : capture.tags) {
    if (tag == key) return tag;
    if (tag.size() > key.size() && tag.starts_with(key) && tag[key.size()] == '=')
      return std::string_view(tag).substr(key.size() + 1);
  }
  return "";
}

Result<std::vector<CaptureGroup>> group_captures(std::span<const CaptureLabel> captures, const std::string& by) {
  std::vector<std::string> keys;
  for (std::string_view rest = by; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (const std::string_view key = trimmed(rest.substr(0, comma)); !key.empty()) keys.emplace_back(key);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  std::vector<CaptureGroup> groups;
  std::vector<CaptureGroup> alone = each_by_itself(captures);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    std::string name;
    if (!keys.empty()) {
      auto made = group_name(captures[i], keys);
      if (!made) return made.error();
      name = std::move(*made);
    } else if (name = all_tags(captures[i]); name.empty()) {
      groups.push_back(std::move(alone[i]));
      continue;
    }
    const auto known =
        std::find_if(groups.begin(), groups.end(), [&](const CaptureGroup& each) { return each.name == name; });
    if (known == groups.end()) {
      groups.push_back({name, {i}});
    } else {
      known->captures.push_back(i);
    }
  }
  if (keys.empty() && groups.size() == 1 && captures.size() > 1) return each_by_itself(captures);
  return groups;
}

}  // namespace accelscope
