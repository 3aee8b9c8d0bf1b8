// Runs a program in Python under a capture of the kind `python`, and the same program without: what it printed, how it
// ended, and what the session holds.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "capture/request/request.h"
#include "core/sql/base/sql.h"
#include "tests/capture/kinds/kind_run_support.h"

namespace accelscope::capture {

struct PlainRun {
  std::string out;
  std::string err;
  int exit_status = -1;
};

struct ScriptFile {
  std::string name;
  std::string content;
};

// A folder with the program's files, and the interpreter that tests use: the system's, which has pytest.
class PythonFolder {
 public:
  explicit PythonFolder(std::initializer_list<ScriptFile> files);
  [[nodiscard]] std::string path(const std::string& name) const { return scratch_.file(name); }
  // Without Accelscope.
  [[nodiscard]] PlainRun plain(const std::vector<std::string>& arguments) const;

 private:
  ScratchFolder scratch_;
};

[[nodiscard]] std::string python_program();

class CapturedRun {
 public:
  CapturedRun(const PythonFolder& folder, const std::vector<std::string>& arguments,
              std::vector<request::OptionSetting> options = {}, std::vector<std::string> environment = {},
              const std::string& paused_name = "");  // of a capture that begins paused

  PlainRun plain;
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& sql);
  [[nodiscard]] std::string cell(const std::string& sql);  // the first one; "" if there is none
  [[nodiscard]] std::uint64_t count(const std::string& sql) { return std::stoull("0" + cell(sql)); }
  // Calls and lines of a thread by their begin, each on a line, two blanks before it for each depth.
  [[nodiscard]] std::string tree(const std::string& thread = "MainThread", const std::string& what = "");
  [[nodiscard]] std::string quality(const std::string& kind);  // its detail

 private:
  std::string file_;
  WorkerPool pool_{1};
  std::unique_ptr<Store> store_;
  std::unique_ptr<sql::Session> sql_;
};

}  // namespace accelscope::capture
