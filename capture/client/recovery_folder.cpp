#include "capture/client/recovery_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/log/frame_log.h"
#include "capture/reach/place.h"
#include "capture/system/shown_command.h"
#include "core/base/checksum.h"
#include "core/base/own_files.h"

namespace accelscope::capture::client {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kPlanMagic = 0x4e4c5041;   // "APLN"
constexpr std::uint32_t kAgentMagic = 0x4e4e5241;  // "ARNN"
constexpr std::uint16_t kVersion = 3;
constexpr std::size_t kMostPlanBytes = 16U << 20;
constexpr std::size_t kSaltBytes = 16;

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

// False if it was damaged, or is not this user's.
template <typename... Fields>
bool unseal(const fs::path& path, Fields&... fields) {
  const Result<std::string> text = read_own_file(path.string(), Sharing::none, kMostPlanBytes);
  if (!text) return false;
  const std::optional<ByteView> content = checked_content(std::as_bytes(std::span(text.value())));
  if (!content) return false;
  FieldReader walk(*content, wire::kMessageLimits);
  walk(fields...);
  return walk.ok();
}

// Programs on this computer run where their user is, so that the same words in another folder ask for something else.
std::string folder_that_counts(const CapturePlan& plan) {
  const bool here = std::any_of(plan.places.begin(), plan.places.end(), [](const std::string& place) {
    const Result<reach::Place> parsed = reach::parse_place(place);
    return parsed && parsed->kind == reach::Place::Kind::local;
  });
  std::error_code failure;
  return here ? fs::current_path(failure).string() : std::string();
}

std::string fingerprint_of(const CapturePlan& plan, const std::string& salt) {
  FieldWriter walk(wire::kMessageLimits);
  walk(salt, plan.places, static_cast<std::uint8_t>(plan.mode), plan.capture_id, plan.send, plan.request);
  walk(folder_that_counts(plan));
  const Bytes bytes = walk.take();
  return sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<system::Descriptor> take_lock(const fs::path& folder) {
  std::optional<system::Descriptor> lock = TRY(system::try_lock(lock_path(folder).string()));
  if (lock) return std::move(*lock);
  return Error{fmt::format("{}: belongs to a capture that is still running", folder.string())};
}

}  // namespace

std::string title_of(const CapturePlan& plan) {
  std::string places;
  for (const std::string& place : plan.places) places += (places.empty() ? "" : ", ") + place;
  const std::string& name = plan.request.name.empty() ? plan.request.program : plan.request.name;
  return system::without_secrets(name.empty() ? places : fmt::format("{} at {}", name, places));
}

bool asks_the_same(const RecoveryPlan& retained, const CapturePlan& plan) {
  return !retained.fingerprint.empty() && retained.fingerprint == fingerprint_of(plan, retained.salt);
}

Result<std::unique_ptr<RecoveryFolder>> RecoveryFolder::create(const fs::path& folder, const RecoveryPlan& plan) {
  std::error_code failure;
  TRY(make_own_folder(folder.string(), Sharing::reading));
  system::Descriptor lock = TRY(take_lock(folder));
  if (fs::exists(plan_path(folder), failure)) {
    return Error{
        fmt::format("{}: holds a capture that was interrupted; recover it, or remove the folder", folder.string())};
  }
  const std::string salt = TRY(system::random_hex(kSaltBytes));
  RecoveryPlan retained = plan;
  retained.salt = salt;
  retained.fingerprint = fingerprint_of(plan.plan, retained.salt);
  TRY(write_own_file(plan_path(folder).string(), sealed(kPlanMagic, kVersion, retained)));
  return std::unique_ptr<RecoveryFolder>(new RecoveryFolder(folder, std::move(lock)));
}

Result<std::unique_ptr<RecoveryFolder>> RecoveryFolder::open(const fs::path& folder) {
  TRY(read_plan(folder));
  system::Descriptor lock = TRY(take_lock(folder));
  std::unique_ptr<RecoveryFolder> opened(new RecoveryFolder(folder, std::move(lock)));
  opened->last_agent_ = static_cast<std::uint32_t>(list_agent_folders(folder).size());
  return opened;
}

Result<RecoveryPlan> RecoveryFolder::read_plan(const fs::path& folder) {
  TRY(check_own_folder(folder.string(), Sharing::reading));
  const Error damaged{fmt::format("{}: holds no capture that can be recovered", folder.string())};
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  RecoveryPlan retained;
  const bool read = unseal(plan_path(folder), magic, version, retained);
  if (!read || magic != kPlanMagic || version != kVersion) return damaged;
  return retained;
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

bool has_begun(const fs::path& folder) {
  const std::vector<fs::path> agents = list_agent_folders(folder);
  return std::any_of(agents.begin(), agents.end(), [](const fs::path& agent) {
    return !log::list_segments(agent).empty() || log::FrameLog::read_facts(agent).ok();
  });
}

std::optional<std::string> clear_unbegun(const fs::path& folder, const CapturePlan& asked) {
  if (!check_own_folder(folder.string(), Sharing::reading) || RecoveryFolder::in_use(folder)) return {};
  if (has_begun(folder)) return {};
  const std::vector<fs::path> agents = list_agent_folders(folder);
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
  return plan && asks_the_same(*plan, asked) ? plan->viewer_id : std::string();
}

Result<void> RecoveryFolder::remove() {
  std::error_code failure;
  fs::remove_all(path_, failure);
  if (failure) return Error{fmt::format("{}: cannot be removed: {}", path_.string(), failure.message())};
  return {};
}

Result<void> write_running_agent(const fs::path& agent_folder, const reach::StartedAgent& agent) {
  if (Result<void> made = make_own_folder(agent_folder.string(), Sharing::reading); !made) return made;
  return write_own_file(running_path(agent_folder).string(),
                        sealed(kAgentMagic, agent.port, agent.token, agent.folder));
}

std::optional<reach::StartedAgent> read_running_agent(const fs::path& agent_folder) {
  std::uint32_t magic = 0;
  reach::StartedAgent agent;
  const bool read = unseal(running_path(agent_folder), magic, agent.port, agent.token, agent.folder);
  return read && magic == kAgentMagic ? std::optional(agent) : std::nullopt;
}

}  // namespace accelscope::capture::client
