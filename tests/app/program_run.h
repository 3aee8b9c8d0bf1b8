// The command line in this process, and what it printed.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "tests/support/files.h"

namespace accelscope::test {

struct ProgramOutcome {
  int code = 0;
  std::string out;
  std::string err;
};

inline ProgramOutcome run(const std::vector<std::string>& arguments, bool terminal = false) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = app::commands::run_program(arguments, {out, err, terminal, terminal});
  return {code, out.str(), err.str()};
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The rows of a query as CSV without the header.
inline std::string csv(const std::string& session, const std::string& sql) {
  const ProgramOutcome outcome = run({"query", session, sql, "--format", "csv"});
  const std::size_t header = outcome.out.find("\n");
  return outcome.code == app::terminal::kExitDone && header != std::string::npos ? outcome.out.substr(header + 1)
                                                                                 : "failed: " + outcome.err;
}

}  // namespace accelscope::test
