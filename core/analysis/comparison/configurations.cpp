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

std::string all_tags(const CaptureLabel& capture, std::string_view between = ", ") {
  std::vector<std::string> tags = capture.tags;
  std::sort(tags.begin(), tags.end());
  return fmt::format("{}", fmt::join(tags, between));
}

// What tells captures apart, where their names read alike: a tag may hold a comma.
constexpr std::string_view kApart = "\x1f";

std::string identity_of(const CaptureLabel& capture, const std::vector<std::string>& keys) {
  if (keys.empty()) return all_tags(capture, kApart);
  std::string identity;
  for (const std::string& key : keys) identity += label_by(capture, key).value_or("") + std::string(kApart);
  return identity;
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

bool have_all(std::span<const CaptureLabel> captures, std::string_view key) {
  return std::none_of(captures.begin(), captures.end(),
                      [&](const CaptureLabel& each) { return tag_value(each, key).empty(); });
}

// Those that were asked for; else kernels, where they tell the captures apart.
Result<std::vector<std::string>> grouping_keys(std::span<const CaptureLabel> captures, const std::string& by) {
  auto keys = names_of_list(by);
  if (!keys || !keys->empty() || !have_all(captures, "kernel")) return keys;
  const auto differs = [&](const CaptureLabel& each) {
    return tag_value(each, "kernel") != tag_value(captures.front(), "kernel");
  };
  if (std::any_of(captures.begin(), captures.end(), differs)) keys->emplace_back("kernel");
  return keys;
}

std::string joined_names(const std::vector<CaptureGroup>& groups) {
  std::string text;
  for (const CaptureGroup& group : groups) text += (text.empty() ? "" : ", ") + group.name;
  return text;
}

// "config=b=1, s=128", or without the key its value alone.
Result<std::string> group_name(const CaptureLabel& capture, const std::vector<std::string>& keys, bool with_key) {
  std::string name;
  for (const std::string& key : keys) {
    auto label = label_by(capture, key);
    if (label && !with_key && !tag_value(capture, key).empty()) label = std::string(tag_value(capture, key));
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
  const auto found = grouping_keys(captures, by);
  if (!found) return found.error();
  const std::vector<std::string>& keys = *found;
  std::vector<CaptureGroup> groups;
  std::vector<std::string> identities;
  std::vector<CaptureGroup> alone = each_by_itself(captures);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    std::string name;
    if (!keys.empty()) {
      auto made = group_name(captures[i], keys, true);
      if (!made) return made.error();
      name = std::move(*made);
    } else if (name = all_tags(captures[i]); name.empty()) {
      groups.push_back(std::move(alone[i]));
      identities.push_back(captures[i].path + std::string(kApart));
      continue;
    }
    const auto known = std::find(identities.begin(), identities.end(), identity_of(captures[i], keys));
    if (known == identities.end()) {
      groups.push_back({name, {i}});
      identities.push_back(identity_of(captures[i], keys));
    } else {
      groups[static_cast<std::size_t>(known - identities.begin())].captures.push_back(i);
    }
  }
  if (keys.empty() && groups.size() == 1 && captures.size() > 1) return each_by_itself(captures);
  return groups;
}

bool CapturePairs::is_shared(std::size_t name) const noexcept {
  return std::none_of(cells[name].begin(), cells[name].end(), [](const auto& cell) { return cell.empty(); });
}

std::vector<std::size_t> CapturePairs::shared() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_shared(i)) out.push_back(i);
  return out;
}

Result<CapturePairs> pair_captures(std::span<const CaptureLabel> captures, const std::vector<CaptureGroup>& groups,
                                   const std::string& by, const std::string& group_by) {
  auto named = names_of_list(by == "none" ? "" : by);
  if (!named) return named.error();
  std::vector<std::string>& keys = *named;
  const auto taken = grouping_keys(captures, group_by);
  if (!taken) return taken.error();
  if (by.empty() && !taken->empty()) {
    for (const char* key : {"kernel", "config"})
      if (std::find(taken->begin(), taken->end(), key) == taken->end() && have_all(captures, key))
        keys.emplace_back(key);
  }
  CapturePairs out;
  std::vector<std::string> identities;
  out.by = fmt::format("{}", fmt::join(keys, ", "));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t capture : groups[g].captures) {
      auto name = group_name(captures[capture], keys, keys.size() > 1);
      if (!name) return name.error();
      std::string identity = keys.empty() ? "" : identity_of(captures[capture], keys);
      const auto known = std::find(identities.begin(), identities.end(), identity);
      const auto number = static_cast<std::size_t>(known - identities.begin());
      if (known == identities.end()) {
        identities.push_back(std::move(identity));
        out.names.push_back(std::move(*name));
        out.cells.emplace_back(groups.size());
      }
      out.cells[number][g].push_back(capture);
    }
  }
  if (groups.size() > 1 && out.shared().empty()) {
    return Error{fmt::format("no {} has captures of all of {}; compare those of one {}, or name another --pair-by",
                             out.by, joined_names(groups), out.by)};
  }
  return out;
}

}  // namespace accelscope
