#include "capture/kinds/opencl/argument_text.h"

#include <fmt/format.h>

#include <cstring>

#include "core/base/format.h"

namespace accelscope::capture::kinds::opencl {
namespace {

using probe::opencl::ArgumentKind;
using probe::opencl::ArgumentRecord;

template <typename Number>
[[nodiscard]] Number as(std::uint64_t value) {
  Number number{};
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// Without a type, small numbers are taken to be signed and what does not fit to be bits.
[[nodiscard]] std::string value_text(const ArgumentRecord& argument, const std::string& type) {
  const std::uint64_t value = argument.value;
  const bool is_unsigned = type.starts_with('u');
  if (type == "float" && argument.bytes == sizeof(float)) return fmt::format("{}", as<float>(value));
  if (type == "double" && argument.bytes == sizeof(double)) return fmt::format("{}", as<double>(value));
  switch (argument.bytes) {
    case 1:
      return is_unsigned ? fmt::format("{}", as<std::uint8_t>(value)) : fmt::format("{}", as<std::int8_t>(value));
    case 2:
      if (type == "half") return fmt::format("{:#06x}", as<std::uint16_t>(value));
      return is_unsigned ? fmt::format("{}", as<std::uint16_t>(value)) : fmt::format("{}", as<std::int16_t>(value));
    case 4:
      return is_unsigned ? fmt::format("{}", as<std::uint32_t>(value)) : fmt::format("{}", as<std::int32_t>(value));
    case 8:
      return is_unsigned ? fmt::format("{}", value) : fmt::format("{}", as<std::int64_t>(value));
    default:
      return fmt::format("{} B", argument.bytes);
  }
}

[[nodiscard]] std::string text_of(const ArgumentRecord& argument, const std::string& type,
                                  const std::map<std::uint64_t, std::string>& memories) {
  switch (argument.kind) {
    case ArgumentKind::value:
      return value_text(argument, type);
    case ArgumentKind::memory: {
      const auto known = memories.find(argument.value);
      return known == memories.end() ? fmt::format("memory {}", argument.value) : known->second;
    }
    case ArgumentKind::local:
      return fmt::format("local {}", format_bytes(argument.bytes));
    case ArgumentKind::shared_pointer:
      return fmt::format("{:#x}", argument.value);
    case ArgumentKind::not_set:
      break;
  }
  return "?";
}

}  // namespace

std::string argument_text(std::span<const ArgumentRecord> arguments, std::span<const ArgumentName> names,
                          const std::map<std::uint64_t, std::string>& memories) {
  static const ArgumentName kUnknown;
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentName& name = i < names.size() ? names[i] : kUnknown;
    if (i != 0) text += ", ";
    if (!name.name.empty()) text += name.name + "=";
    text += text_of(arguments[i], name.type, memories);
  }
  return text;
}

}  // namespace accelscope::capture::kinds::opencl
