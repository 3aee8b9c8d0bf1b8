#include "app/content/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/format.h"

namespace accelscope::app {
namespace {

// Columns that sources call so.
constexpr std::string_view kFrom = "source", kTo = "dest", kQueueType = "queue_type", kStream = "stream";
constexpr std::array<std::string_view, 3> kNothing = {"unknown", "Unknown", "(unknown)"};

[[nodiscard]] const FieldValue* field_of(const EventRecord& event, std::optional<std::size_t> column) {
  if (!column || *column >= event.fields.size()) return nullptr;
  return &event.fields[*column];
}

[[nodiscard]] std::string text_of(const EventRecord& event, std::string_view column) {
  const FieldValue* value = field_of(event, event.lane->schema->find(column));
  const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return text != nullptr ? *text : std::string();
}

[[nodiscard]] std::optional<double> number_of(const FieldValue* value) {
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<std::int64_t>(value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(value)) return static_cast<double>(*number);
  return {};
}

// "[['WEIGHT']]" -> "WEIGHT"; "" for what is not known.
[[nodiscard]] std::string place_text(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == '"' || c == ' '; });
  return names_nothing(text) ? std::string() : text;
}

[[nodiscard]] std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + " " + second;
}

void add(std::vector<std::string>& texts, std::string text) {
  if (!text.empty() && (texts.empty() || text.size() < texts.back().size())) texts.push_back(std::move(text));
}

}  // namespace

bool has_event_text(const Schema& schema, bool waits) { return waits || schema.find(Role::bytes).has_value(); }

bool names_nothing(std::string_view name) noexcept {
  return name.empty() || std::find(kNothing.begin(), kNothing.end(), name) != kNothing.end();
}

std::vector<std::string> transfer_texts(const EventRecord& event, const std::vector<std::string>& names) {
  const auto bytes = number_of(field_of(event, event.lane->schema->find(Role::bytes)));
  const std::string size = bytes && *bytes > 0 ? format_bytes(*bytes) : std::string();
  const std::string from = place_text(text_of(event, kFrom));
  const std::string to = place_text(text_of(event, kTo));
  const std::string direction = from.empty() && to.empty() ? std::string() : from + "→" + to;
  const bool named = !names.empty() && !names_nothing(names.front());
  std::vector<std::string> texts;
  if (named) {
    add(texts, joined(joined(names.front(), direction), size));
    add(texts, joined(names.front(), size));
    for (const std::string& name : names) add(texts, name);
    return texts;
  }
  std::string queue = text_of(event, kQueueType);
  std::replace(queue.begin(), queue.end(), '_', ' ');
  add(texts, joined(direction.empty() ? queue : direction, size));
  add(texts, size);
  return texts;
}

std::vector<std::string> wait_texts(const std::string& cause) {
  if (cause.empty()) return {};
  return {"wait " + cause, cause};
}

std::string stated_cause(const EventRecord& event) {
  const Schema& schema = *event.lane->schema;
  if (const auto stream = number_of(field_of(event, schema.find(kStream))); stream && *stream >= 0 && *stream < 4e9) {
    return fmt::format("stream {:.0f}", *stream);
  }
  // The vendor's operands name the semaphore, and in brackets whose it is: "S[5] (Tensor)>=1".
  const FieldValue* value = field_of(event, schema.find(Role::operands));
  const auto* operands = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  const std::size_t at = operands != nullptr ? operands->find("S[") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t end = operands->find(']', at);
  if (end == std::string::npos) return {};
  if (operands->compare(end + 1, 2, " (") == 0) {
    const std::size_t close = operands->find(')', end);
    if (close != std::string::npos) return operands->substr(end + 3, close - end - 3);
  }
  return operands->substr(at, end + 1 - at);
}

}  // namespace accelscope::app
