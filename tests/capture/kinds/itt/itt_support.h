// Captures a program with the kind `itt` and answers SQL about what came.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "capture/agent/control/local_capture.h"
#include "core/sql/base/sql.h"
#include "tests/capture/kinds/kind_run_support.h"

// A check that fails shows its rows.
template <>
struct doctest::StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& rows) {
    std::string text = std::to_string(rows.size()) + " rows";
    for (const std::string& row : rows) text += "\n    " + row;
    return text.c_str();
  }
};

namespace accelscope::capture {

class IttCapture {
 public:
  // `options` as on the command line: {{"locks", "on"}}.
  explicit IttCapture(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& options = {});

  // Rows, cells joined by "|", NULL as "-".
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql);
  [[nodiscard]] std::string one(const std::string& sql);  // the only cell
  [[nodiscard]] std::string quality();                    // "kind count" of all entries, by kind

  std::string printed;
  int exit_status = -1;

 private:
  ScratchFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<sql::Session> sql_;
};

[[nodiscard]] std::string program_of(const std::string& name);  // among the test programs

}  // namespace accelscope::capture
