// The arguments of a tool by their names. Errors name the argument and what it takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app {

class ToolArguments {
 public:
  // Of a JSON object. Fails where it is none.
  [[nodiscard]] static Result<ToolArguments> read(std::string_view object);

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] Result<std::string> required_text(std::string_view name) const;
  [[nodiscard]] Result<std::string> text(std::string_view name, std::string otherwise = "") const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                             std::int64_t most) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> id(std::string_view name) const;  // a number or its digits
  // A text alone is a list of one.
  [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view name) const;

 private:
  enum class Kind : std::uint8_t { text, number, list, other };
  struct Value {
    Kind kind = Kind::other;
    std::string text;
  };
  [[nodiscard]] const Value* find(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace accelscope::app
