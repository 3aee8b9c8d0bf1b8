// What outlives this process of a session that is being captured: a folder with the plan, a lock that tells whether
// the process still lives, and a FrameLog for each agent (agent-01 ...). Everything is 0600 in a folder of 0700; a
// folder that is not this user's alone to write is never used. The plan is there to be shown and to reach the agents
// again. Of what was to be run it keeps a salted fingerprint only, by which the same command is known again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/capture_status.h"
#include "capture/log/frame_segment.h"
#include "capture/reach/agent_host.h"

namespace accelscope::capture::client {

struct RecoveryPlan {
  CapturePlan plan;  // as it is read from a folder: without the program, its script, arguments, variables and files
  std::string title;
  std::int64_t begun_unix_s = 0;
  std::string viewer_id;  // as whom the agents know this viewer when it comes back
  std::string salt;
  std::string fingerprint;  // of what was asked, and of whom
  static void fields(auto& walk, auto& retained) {
    auto& plan = retained.plan;
    walk(retained.title, retained.begun_unix_s, plan.places);
    walk.choice(plan.mode, wire::StartMode::look, wire::StartMode::watch);
    walk(plan.capture_id, plan.request.results, plan.results_folder, plan.token_file, plan.ssh_config_file);
    walk(retained.viewer_id, retained.salt, retained.fingerprint);
    if (walk.more()) walk(plan.ssh_identity_file);  // older folders lack it
  }
};

[[nodiscard]] std::string title_of(const CapturePlan& plan);  // "bench at trn1-07:7420"
// Whether a command asks the same of the same agents. How it gets in (token, ssh's configuration) and where results go
// are its own to say.
[[nodiscard]] bool asks_the_same(const RecoveryPlan& retained, const CapturePlan& plan);

class RecoveryFolder {
 public:
  // A folder that another process left is not overwritten.
  [[nodiscard]] static Result<std::unique_ptr<RecoveryFolder>> create(const std::filesystem::path& folder,
                                                                      const RecoveryPlan& plan);
  // What a dead process left. Fails if it lives, or if there is no plan to be read.
  [[nodiscard]] static Result<std::unique_ptr<RecoveryFolder>> open(const std::filesystem::path& folder);
  [[nodiscard]] static Result<RecoveryPlan> read_plan(const std::filesystem::path& folder);
  [[nodiscard]] static bool in_use(const std::filesystem::path& folder);

  [[nodiscard]] std::filesystem::path new_agent();                  // agent-01, agent-02 ...
  [[nodiscard]] std::vector<std::filesystem::path> agents() const;  // those that are there
  Result<void> remove();                                            // all of it
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  RecoveryFolder(std::filesystem::path path, system::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  system::Descriptor lock_;
  std::uint32_t last_agent_ = 0;
};

// For a folder whose capture had ended before anything was noted of it: removes it, and gives the name by which the
// agents may know that viewer ("": it had none yet, or had asked for something else). Nothing for any other folder,
// which is left as it is.
[[nodiscard]] std::optional<std::string> clear_unbegun(const std::filesystem::path& folder, const CapturePlan& plan);

// Whether anything of a capture is in the folder.
[[nodiscard]] bool has_begun(const std::filesystem::path& folder);

// Those that are there, in their order.
[[nodiscard]] std::vector<std::filesystem::path> list_agent_folders(const std::filesystem::path& folder);

// An agent that was started for the capture, beside its frames: how to reach it again.
Result<void> write_running_agent(const std::filesystem::path& agent_folder, const reach::StartedAgent& agent);
[[nodiscard]] std::optional<reach::StartedAgent> read_running_agent(const std::filesystem::path& agent_folder);

}  // namespace accelscope::capture::client
