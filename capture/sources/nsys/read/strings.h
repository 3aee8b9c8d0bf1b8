// The strings that rows refer to by number. An export of a long run holds millions that no event names (the ranges of
// a framework that numbers its operators), so they are looked up as they are needed.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/sources/sqlite/foreign_database.h"
#include "core/chunk/session_writer.h"
#include "core/model/ids.h"

namespace accelscope::capture::sources::nsys {

// What of a string becomes a name.
enum class NsysNameForm : std::uint8_t {
  whole,
  function,  // without_version()
  range,     // without_operator_id()
};

class NsysStrings {
 public:
  explicit NsysStrings(SessionWriter& writer) : writer_(writer) {}

  Result<void> open(const sqlite::ForeignDatabase& file);
  // "" if there is none, which is counted. Valid until the next call.
  [[nodiscard]] std::string_view text(std::int64_t number);
  // In the session's dictionary; what is asked for again is remembered by number.
  [[nodiscard]] StringId intern(std::int64_t number, NsysNameForm form = NsysNameForm::whole);
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

 private:
  static constexpr std::size_t kMostRemembered = 16U << 20;  // numbers beyond are looked up each time

  SessionWriter& writer_;
  Statement lookup_;
  std::unordered_map<std::int64_t, std::string> whole_;  // of a table that cannot be looked up in
  std::array<std::vector<StringId>, 3> known_;           // by form and number; 0: not asked for yet
  std::string mended_;
  std::uint64_t missing_ = 0;
  bool any_ = false;
  bool whole_read_ = false;
};

// What becomes a name of the text.
[[nodiscard]] std::string_view name_in_form(std::string_view text, NsysNameForm form) noexcept;

}  // namespace accelscope::capture::sources::nsys
