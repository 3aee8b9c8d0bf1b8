// The tables of session files in a connection of somebody else's program. One SessionFiles per connection; a file is
// opened once and stays open as long as a table of it does.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/sql/virtual/virtual_table.h"

namespace accelscope::sql {

class OpenSession;

class SessionFiles {
 public:
  SessionFiles();
  ~SessionFiles();
  SessionFiles(const SessionFiles&) = delete;
  SessionFiles& operator=(const SessionFiles&) = delete;

  // The arguments of CREATE VIRTUAL TABLE x USING accelscope('run.accel', 'slice').
  [[nodiscard]] Result<std::unique_ptr<VirtualTable>> table(std::span<const char* const> arguments);
  // Makes a temporary table per table of the file, its name behind the prefix. Gives a sentence about them.
  [[nodiscard]] Result<std::string> create_all(sqlite3* database, const std::string& path, const std::string& prefix);

 private:
  [[nodiscard]] Result<std::shared_ptr<OpenSession>> open(const std::string& path);
  std::shared_ptr<WorkerPool> pool_;  // made for the first file
  std::map<std::string, std::weak_ptr<OpenSession>> sessions_;
};

}  // namespace accelscope::sql
