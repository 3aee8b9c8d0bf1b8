#include "capture/client/recovery_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include "capture/log/frame_log.h"
#include "capture/security/private_files.h"
#include "core/base/checksum.h"

namespace accelscope::capture::client {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kPlanMagic = 0x4e4c5041;   // "APLN"
constexpr std::uint32_t kAgentMagic = 0x4e4e5241;  // "ARNN"
constexpr std::uint16_t kVersion = 2;

fs::path plan_path(const fs::path& folder) { return folder / "plan"; }
fs::path lock_path(const fs::path& folder) { return folder / "lock"; }
fs::path running_path(const fs::path& folder) { return folder / "agent"; }

template <typename... Fields>
std::string sealed(const Fields&... fields) {
  FieldWriter walk(wire::kMessageLimits);
  walk(fields...);
  Bytes bytes = walk.take();
  append_checksum(bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// False if it was damaged.
template <typename... Fields>
bool unseal(const fs::path& path, Fields&... fields) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::optional<ByteView> content = checked_content(std::as_bytes(std::span(text)));
  if (!content) return false;
  FieldReader walk(*content, wire::kMessageLimits);
  walk(fields...);
  return walk.ok();
}

// Values may be secrets, and the program is not started again.
std::string encode(RecoveryPlan kept) {
  for (std::string& variable : kept.plan.request.environment)
    variable.resize(std::min(variable.size(), variable.find('=')));
  return sealed(kPlanMagic, kVersion, kept);
}

Result<system::Descriptor> take_lock(const fs::path& folder) {
  Result<std::optional<system::Descriptor>> lock = system::try_lock(lock_path(folder).string());
  if (!lock) return lock.error();
  if (*lock) return std::move(**lock);
  return Error{fmt::format("{}: belongs to a capture that is still running", folder.string())};
}

}  // namespace

Result<std::unique_ptr<RecoveryFolder>> RecoveryFolder::create(const fs::path& folder, const RecoveryPlan& plan) {
  std::error_code failure;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), failure);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return log::file_error(folder, "made");
  Result<system::Descriptor> lock = take_lock(folder);
  if (!lock) return lock.error();
  if (fs::exists(plan_path(folder), failure)) {
    return Error{
        fmt::format("{}: holds a capture that was interrupted; recover it, or remove the folder", folder.string())};
  }
  if (Result<void> written = security::write_private_file(plan_path(folder).string(), encode(plan)); !written) {
    return written.error();
  }
  return std::unique_ptr<RecoveryFolder>(new RecoveryFolder(folder, std::move(lock).value()));
}

Result<std::unique_ptr<RecoveryFolder>> RecoveryFolder::open(const fs::path& folder) {
  if (const Result<RecoveryPlan> plan = read_plan(folder); !plan) return plan.error();
  Result<system::Descriptor> lock = take_lock(folder);
  if (!lock) return lock.error();
  std::unique_ptr<RecoveryFolder> opened(new RecoveryFolder(folder, std::move(lock).value()));
  opened->last_agent_ = static_cast<std::uint32_t>(list_agent_folders(folder).size());
  return opened;
}

Result<RecoveryPlan> RecoveryFolder::read_plan(const fs::path& folder) {
  const Error damaged{fmt::format("{}: holds no capture that can be recovered", folder.string())};
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  RecoveryPlan kept;
  const bool read = unseal(plan_path(folder), magic, version, kept);
  if (!read || magic != kPlanMagic || version != kVersion) return damaged;
  return kept;
}

bool RecoveryFolder::in_use(const fs::path& folder) { return system::is_locked(lock_path(folder).string()); }

fs::path RecoveryFolder::new_agent() { return path_ / fmt::format("agent-{:02}", ++last_agent_); }

std::vector<fs::path> list_agent_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (entry->path().filename().string().starts_with("agent-")) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::string> clear_unbegun(const fs::path& folder) {
  if (RecoveryFolder::in_use(folder)) return {};
  const std::vector<fs::path> agents = list_agent_folders(folder);
  const bool begun = std::any_of(agents.begin(), agents.end(), [](const fs::path& agent) {
    return !log::list_segments(agent).empty() || log::FrameLog::read_facts(agent).ok();
  });
  if (begun) return {};
  const Result<RecoveryPlan> plan = RecoveryFolder::read_plan(folder);
  std::error_code failure;
  std::vector<fs::path> own = agents;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    const bool is_agent = std::find(agents.begin(), agents.end(), entry.path()) != agents.end();
    if (!is_agent && !name.starts_with("plan") && !name.starts_with(".plan") && name != "lock")
      return {};  // somebody else's
    if (!is_agent) own.push_back(entry.path());
  }
  for (const fs::path& path : own) fs::remove_all(path, failure);
  if (!fs::remove(folder, failure)) return {};
  return plan ? plan->viewer_id : std::string();
}

Result<void> RecoveryFolder::remove() {
  std::error_code failure;
  fs::remove_all(path_, failure);
  if (failure) return Error{fmt::format("{}: cannot be removed: {}", path_.string(), failure.message())};
  return {};
}

Result<void> write_running_agent(const fs::path& agent_folder, const reach::StartedAgent& agent) {
  if (::mkdir(agent_folder.c_str(), 0700) != 0 && errno != EEXIST) return log::file_error(agent_folder, "made");
  return security::write_private_file(running_path(agent_folder).string(),
                                      sealed(kAgentMagic, agent.port, agent.token, agent.folder));
}

std::optional<reach::StartedAgent> read_running_agent(const fs::path& agent_folder) {
  std::uint32_t magic = 0;
  reach::StartedAgent agent;
  const bool read = unseal(running_path(agent_folder), magic, agent.port, agent.token, agent.folder);
  return read && magic == kAgentMagic ? std::optional(agent) : std::nullopt;
}

}  // namespace accelscope::capture::client
