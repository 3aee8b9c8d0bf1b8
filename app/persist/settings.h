// What the viewer remembers between runs besides sessions: named values in one small text file. Meaning is given
// by those who use a value (theme, scale, panel layout); unknown names of a newer version are kept.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::app {

class Settings {
 public:
  // file: where they are kept; "" keeps them for this run only.
  explicit Settings(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  [[nodiscard]] std::string value(std::string_view name, std::string_view otherwise = "") const;
  [[nodiscard]] double number(std::string_view name, double otherwise) const;
  void set(std::string_view name, std::string value);
  void set(std::string_view name, double value);
  // Writes the file when something has changed since it was last written.
  Result<void> write_if_changed();

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> values_;
  bool changed_ = false;
};

}  // namespace accelscope::app
