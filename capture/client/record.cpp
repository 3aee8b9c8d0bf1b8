#include "capture/client/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "capture/client/capture_status.h"
#include "capture/client/recovery_folder.h"
#include "capture/log/frame_log.h"
#include "capture/request/kind.h"
#include "capture/request/option_cli.h"
#include "core/base/format.h"
#include "core/base/own_files.h"
#include "core/store/salvage/rescue.h"

namespace accelscope::capture::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{100};

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// A link that leads nowhere is there, too.
bool is_there(const std::string& path) {
  std::error_code failure;
  return std::filesystem::exists(std::filesystem::symlink_status(path, failure));
}

Error another(const Recoverable& left, const RecordOptions& options) {
  return Error{fmt::format(
      "{}: holds another recording that was interrupted, {} events of {}; this one is of {}. Nothing was overwritten: "
      "give the command of the first again to go on with it, save what came of it with accelscope import {} -o FILE, "
      "or "
      "name another output with -o",
      left.folder, format_count(left.events), left.title, title_of(options.plan), left.folder)};
}

Result<std::unique_ptr<CaptureSession>> open_session(const RecordOptions& options,
                                                     const std::shared_ptr<Store>& store) {
  CaptureSessionOptions session;
  session.description = fmt::format("records to {}", options.output_path);
  session.recovery_folder = recovery_folder_of(options.output_path);
  session.asks = bool(options.answer);
  session.ask_on_terminal = options.ask_on_terminal;
  session.accept_new_agents = options.accept_new_agents;
  session.limits = options.limits;
  session.keeps_output = bool(options.printed);
  if (!is_there(session.recovery_folder)) return CaptureSession::begin(options.plan, store, session);
  if (Result<void> own = check_own_folder(session.recovery_folder, Sharing::reading); !own) {
    return Error{
        fmt::format("{}; what is recorded to {} is kept in such a folder until it is saved: name another output",
                    own.message(), options.output_path)};
  }
  // A recorder that ended at its very begin: what it asked for is asked for again, by the same name.
  if (std::optional<std::string> viewer = clear_unbegun(session.recovery_folder, options.plan)) {
    session.viewer_id = std::move(*viewer);
    return CaptureSession::begin(options.plan, store, session);
  }
  Result<Recoverable> left = read_recoverable(session.recovery_folder);
  const Result<RecoveryPlan> retained = RecoveryFolder::read_plan(session.recovery_folder);
  if (!left || !retained) {
    return Error{fmt::format("{}; accelscope import {} reads what is in it", left.message(), session.recovery_folder)};
  }
  if (!asks_the_same(*retained, options.plan)) return another(*left, options);
  left->plan = options.plan;  // where to connect and what to write is said by the command, not by the folder
  if (options.on_recovery) options.on_recovery(left.value());
  return CaptureSession::recover(left.value(), store, session);
}

// False: it could not be shown. The capture goes on: the session has it all.
bool show_output(CaptureSession& session, const RecordOptions& options) {
  bool shown = true;
  for (const ProgramText& text : session.take_output()) shown = shown && options.printed(text);
  return shown;
}

// Returns when every agent has ended or failed, and whether all that programs printed could be shown. What an agent
// itself limits needs no second watch here.
bool follow(CaptureSession& session, const RecordOptions& options) {
  const SteadyClock::time_point begin = SteadyClock::now();
  const double limit = options.plan.mode == wire::StartMode::begin ? 0 : options.plan.request.duration_seconds;
  bool asked_to_stop = false;
  bool shown = true;
  while (!session.wait_for(kPollInterval)) {
    shown = shown && show_output(session, options);
    if (const std::optional<CaptureQuestion> question = session.question()) {
      session.answer(question->id, options.answer ? options.answer(*question) : std::nullopt);
    }
    const bool wanted = !options.progress || options.progress(session.status(), {});
    const bool time_is_up = limit > 0 && seconds_since(begin) >= limit;
    if ((wanted && !time_is_up) || std::exchange(asked_to_stop, true)) continue;
    session.stop();
  }
  return shown && show_output(session, options);
}

// Of what is kept in the recovery folder, where nothing could be saved.
std::string what_is_left(const RecordOptions& options, std::uint64_t events) {
  const std::string folder = recovery_folder_of(options.output_path);
  std::uint64_t retained = 0;
  for (const std::filesystem::path& agent : list_agent_folders(folder)) retained += log::FrameLog::survey(agent).events;
  return fmt::format("; {} of {} events are kept in {}: make room there and run the same command again",
                     format_count(retained), format_count(events), folder);
}

Result<SavedSession> save(Store& store, const RecordOptions& options, const CaptureStatus& status) {
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!options.progress) return true;
    return options.progress(status, total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  };
  return save_or_rescue(store, options.output_path, progress, FileAccess::owner);
}

RecordReport report_of(const CaptureStatus& status, const Store& store, const std::string& path) {
  RecordReport report;
  report.path = path;
  report.agents = status.agents;
  report.message = status.message;
  std::uint64_t lost = 0;
  bool all_counted = true;
  for (const AgentStatus& agent : status.agents) {
    report.chunks += agent.chunks;
    report.wire_bytes += agent.bytes;
    lost += agent.lost_events;
    // What an agent that died had not sealed is in no count.
    all_counted = all_counted && agent.end_known && agent.outcome != wire::Outcome::failed;
    report.dropped_events += agent.dropped_events;
    report.doubled_frames += agent.doubled_frames;
    report.results_files += agent.results_files;
    report.capture_seconds = std::max(report.capture_seconds, agent.streaming_seconds);
    if (report.exit_status.value_or(0) == 0 && agent.exit_status) report.exit_status = agent.exit_status;
  }
  const StoreStatus retained = store.status();
  const std::shared_ptr<const Snapshot> snapshot = store.snapshot();
  for (const LaneSnapshot& lane : snapshot->lanes)
    (lane.data->kind == EventKind::table ? report.table_rows : report.events) += lane.event_count;
  report.memory_bytes = retained.memory_bytes;
  lost = std::max(lost, retained.lost);
  if (all_counted) report.lost_events = lost;
  const bool agree = std::all_of(status.agents.begin(), status.agents.end(),
                                 [](const AgentStatus& agent) { return agent.totals_agree; });
  report.complete = status.phase == CapturePhase::ended && lost == 0 && agree;
  if (!report.complete && report.message.empty()) {
    report.message = fmt::format("{} events are lost; the session's quality report says where", lost);
  }
  return report;
}

}  // namespace

std::string recovery_folder_of(const std::string& output_path) { return output_path + ".recovery"; }

bool goes_on(const CapturePlan& plan, const std::string& output_path) {
  const std::string folder = recovery_folder_of(output_path);
  const Result<RecoveryPlan> retained = RecoveryFolder::read_plan(folder);
  return retained && asks_the_same(*retained, plan) && has_begun(folder);
}

Result<RecordReport> record(const RecordOptions& options) {
  std::unique_ptr<Store> created = TRY(Store::create(options.store));
  const std::shared_ptr<Store> store = std::move(created);
  std::unique_ptr<CaptureSession> opened = TRY(open_session(options, store));
  CaptureSession& session = *opened;
  const bool shown = follow(session, options);

  const CaptureStatus status = session.status();
  const bool nothing = std::all_of(status.agents.begin(), status.agents.end(),
                                   [](const AgentStatus& agent) { return agent.last_sequence == 0; });
  if (nothing) {
    session.saved();  // there is nothing to keep
    return Error{status.message.empty() ? "the agent sent nothing" : status.message};
  }
  RecordReport report = report_of(status, *store, options.output_path);
  report.output_shown = shown;
  const SteadyClock::time_point save_begin = SteadyClock::now();
  const Result<SavedSession> saved = save(*store, options, status);
  if (!saved) return Error{saved.message() + what_is_left(options, report.events)};
  report.path = saved->path;
  if (!saved->problem.empty()) {
    report.complete = false;
    report.message += (report.message.empty() ? "" : "; ") + saved->problem;
  }
  report.save_seconds = seconds_since(save_begin);
  const bool may_go_on = std::any_of(status.agents.begin(), status.agents.end(),
                                     [](const AgentStatus& agent) { return agent.out_of_reach && !agent.end_known; });
  if (!may_go_on) {
    session.saved();
    return report;
  }
  report.message += fmt::format(
      "; the agent may still have the rest: the same command goes on with it once it can be reached (if it is gone for "
      "good, remove {})",
      recovery_folder_of(options.output_path));
  return report;
}

// A plan as the command that does the same.

std::vector<std::string> record_command(const CapturePlan& plan, const std::string& output_path) {
  std::vector<std::string> words = {"accelscope", "record"};
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  std::string places;
  for (const std::string& place : plan.places) places += (places.empty() ? "" : ",") + place;
  words.push_back(places.empty() ? "HOST:PORT" : places);
  option("-o", output_path);
  if (plan.mode == wire::StartMode::watch) words.emplace_back("--watch");
  if (plan.mode == wire::StartMode::take_up) words.emplace_back("--take-up");
  option("--capture", plan.capture_id);
  option("--token-file", plan.token_file);
  option("--ssh-config", plan.ssh_config_file);
  option("--ssh-identity", plan.ssh_identity_file);
  const request::CaptureRequest& request = plan.request;
  option("--name", request.name);
  for (std::string& word : request::kind_arguments(request.kinds, request::declared_kinds()))
    words.push_back(std::move(word));
  if (request.paused) words.emplace_back("--paused");
  if (request.duration_seconds > 0) option("--duration", fmt::format("{}", request.duration_seconds));
  option("--cwd", request.directory);
  for (const std::string& variable : request.environment) option("--env", variable);
  for (const std::string& path : plan.send) option("--send", path);
  for (const std::string& path : request.results) option("--results", path);
  option("--results-folder", plan.results_folder);
  option("--script-text", request.script);
  if (request.program.empty()) return words;
  words.insert(words.end(), {"--", request.program});
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  return words;
}

}  // namespace accelscope::capture::client
