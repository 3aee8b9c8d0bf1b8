#include "core/model/track_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace accelscope {
namespace {

constexpr std::string_view kDescriptionMark = "accelscope: ";
struct RoleWord {
  std::string_view word;
  Role role;
};
constexpr std::array kAllocationRoles = {
    RoleWord{"allocation", Role::allocation},  RoleWord{"address", Role::address},    RoleWord{"key", Role::key},
    RoleWord{"tensor", Role::tensor},          RoleWord{"pool", Role::pool},          RoleWord{"stack", Role::stack},
    RoleWord{"source", Role::source_location}, RoleWord{"requested", Role::requested}};

// A ";" ends a word, and stands in none.
[[nodiscard]] std::string escaped_word(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ';' || c == '%') {
      escaped += c == ';' ? "%3B" : "%25";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

[[nodiscard]] std::string unescaped_word(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view three = text.substr(i, 3);
    const bool escape = three == "%3B" || three == "%25";
    plain += escape ? (three == "%3B" ? ';' : '%') : text[i];
    i += escape ? 2 : 0;
  }
  return plain;
}

}  // namespace

TrackWords words_of_track(const Track& track, const Schema* schema) {
  TrackWords words{track.kind, track.device, track.host, {}};
  if (schema == nullptr || schema->kind != EventKind::memory || !schema->find(Role::allocation)) return words;
  for (const RoleWord& each : kAllocationRoles) {
    if (const auto column = schema->find(each.role))
      words.columns.emplace_back(each.role, schema->columns[*column].name);
  }
  return words;
}

std::string track_description(const TrackWords& words) {
  std::string text(kDescriptionMark);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("{}={};", name, escaped_word(value));
  };
  add("kind", words.kind);
  add("device", words.device);
  add("host", words.host);
  for (const auto& [role, column] : words.columns) {
    for (const RoleWord& each : kAllocationRoles) {
      if (each.role == role) add(each.word, column);
    }
  }
  return text;
}

std::optional<TrackWords> read_track_description(std::string_view text) {
  if (!text.starts_with(kDescriptionMark)) return std::nullopt;
  text.remove_prefix(kDescriptionMark.size());
  TrackWords words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    const std::string value = equals == word.size() ? std::string() : unescaped_word(word.substr(equals + 1));
    if (name == "kind") words.kind = value;
    if (name == "device") words.device = value;
    if (name == "host") words.host = value;
    for (const RoleWord& each : kAllocationRoles) {
      if (each.word == name) words.columns.emplace_back(each.role, value);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace accelscope
