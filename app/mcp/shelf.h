// The sessions that a client has open, under short names: s1, s2, ...
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/workspace/opening.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::mcp {

// A call that is under way: what cancels it, whatever it is doing.
struct CallControl {
  TaskControl task;
  session::JobControl job;
  void cancel() noexcept {
    task.cancel();
    job.cancel();
  }
  [[nodiscard]] bool cancelled() const noexcept { return task.cancelled(); }
};

struct ShelvedSession {
  std::string name;                // "s1"
  std::vector<std::string> paths;  // that it was opened from
  workspace::OpenedSession opened;
  std::shared_ptr<const Snapshot> snapshot;

  [[nodiscard]] const Store& store() const noexcept { return *opened.store; }
};

class SessionShelf {
 public:
  static constexpr std::size_t kMostOpen = 16;

  // Opens it, again if it is open: the file may have changed. Fails when the file cannot be read or kMostOpen are open.
  [[nodiscard]] Result<ShelvedSession*> open(const std::vector<std::string>& paths,
                                             const workspace::OpenSessionOptions& options, CallControl& control);
  // By its name, or by a path, which is opened if it is not open yet.
  [[nodiscard]] Result<ShelvedSession*> find(const std::string& name_or_path, CallControl& control);
  [[nodiscard]] Result<void> close(const std::string& name);
  [[nodiscard]] const std::vector<std::unique_ptr<ShelvedSession>>& sessions() const noexcept { return sessions_; }
  [[nodiscard]] WorkerPool& pool() noexcept { return pool_; }

 private:
  [[nodiscard]] ShelvedSession* find_open(const std::string& name_or_path) const;
  WorkerPool pool_;
  std::vector<std::unique_ptr<ShelvedSession>> sessions_;
  std::size_t opened_ = 0;
};

}  // namespace accelscope::app::mcp
