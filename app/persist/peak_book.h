// What the user has entered of what devices can do at most, for all sessions of a device of that name. Kept in one
// small text file, a line each, which may be edited by hand:
//
//   NVIDIA H100 80GB HBM3 <tab> hbm <tab> 3350000000000
//
// model, what (as `accelscope view FILE --table peaks` names them), and the value in B/s or FLOP/s. Lines that cannot
// be read are passed over and go when the file is written anew.
#pragma once

#include <string>
#include <string_view>

#include "core/analysis/peaks/peaks.h"

namespace accelscope::app {

// In the folder for settings; "" without one.
[[nodiscard]] std::string peak_book_file(const std::string& state_directory);

class PeakBook {
 public:
  // file: where they are kept; "" keeps them for this run only.
  explicit PeakBook(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  [[nodiscard]] const PeakEdits& edits() const noexcept { return edits_; }
  Result<void> enter(PeakEdit edit);  // in the place of what was entered before
  Result<void> forget(std::string_view model, std::string_view what);

 private:
  Result<void> write() const;
  std::string file_;
  PeakEdits edits_;
};

}  // namespace accelscope::app
