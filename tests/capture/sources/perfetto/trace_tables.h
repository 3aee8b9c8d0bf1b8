// A session as the tables that Perfetto's own queries ask for: slice, track, counter, flow, process, thread, args and
// what is made of them, in an SQLite database in memory. So that the format's own conformance cases can be run as they
// are.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/capture/recording_sink.h"

namespace accelscope::capture::perfetto_conformance {

class TraceTables {
 public:
  // `json`: the text of a Chrome JSON trace, whose names of threads are read from it; "": a Perfetto trace.
  TraceTables(const RecordingSink& sink, const std::string& json);
  ~TraceTables() { sqlite3_close(database_); }
  TraceTables(const TraceTables&) = delete;
  TraceTables& operator=(const TraceTables&) = delete;

  struct Answer {
    std::string error;
    std::vector<std::string> rows;  // as CSV, without the header
  };
  [[nodiscard]] Answer ask(const std::string& query) const;

 private:
  void execute(const std::string& sql) const;

  sqlite3* database_ = nullptr;
};

}  // namespace accelscope::capture::perfetto_conformance
