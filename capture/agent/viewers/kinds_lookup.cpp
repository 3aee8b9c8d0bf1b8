#include "capture/agent/viewers/kinds_lookup.h"

#include <fmt/format.h>

#include <unistd.h>
#include <array>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "capture/probe/host/files.h"
#include "capture/request/option_cli.h"
#include "capture/request/options.h"
#include "capture/system/address.h"
#include "capture/system/shown_command.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::agent {
namespace {

constexpr std::chrono::seconds kKindsStayKnown{5};

// Where the looking fails, for want of memory most likely, nothing is found; whoever asks goes on with what needs no
// kind.
std::vector<request::KindFacts> look_up(const std::function<std::vector<request::KindFacts>()>& list) {
  try {
    return list();
  } catch (...) {
    return {};
  }
}

}  // namespace

KindsLookup::~KindsLookup() {
  if (thread_.joinable()) thread_.join();
}

void KindsLookup::ask(const void* who, std::function<void()> answered) {
  const bool known = !list_ || (looked_at_ && std::chrono::steady_clock::now() - *looked_at_ < kKindsStayKnown);
  if (known) return answered();
  waiting_.emplace_back(who, std::move(answered));
  if (std::exchange(looking_, true)) return;  // also where who asked first has gone
  if (thread_.joinable()) thread_.join();     // its answer is here
  try {
    thread_ = std::thread([this] { loop_.post([this, found = look_up(list_)] { answer(found); }); });
  } catch (const std::system_error&) {  // no thread is to be had: what was known before is the answer
    answer(known_);
  }
}

void KindsLookup::answer(std::vector<request::KindFacts> found) {
  looking_ = false;
  known_ = std::move(found);
  looked_at_ = std::chrono::steady_clock::now();
  for (const auto& each : std::exchange(waiting_, {})) each.second();
}

void KindsLookup::forget(const void* who) {
  std::erase_if(waiting_, [who](const auto& each) { return each.first == who; });
}

namespace {

// What a part keeps alive while it runs.
struct PartFacts {
  request::CaptureRequest request;
  std::size_t kind = 0;
  std::string work_folder;
  std::chrono::steady_clock::time_point origin;
  request::ProgramWatch watch;
  std::vector<MetaEntry> facts;                   // of the whole capture; the first part's
  std::shared_ptr<probes::ProbeListener> probes;  // of a kind that works through one
};

Result<void> write_part(PartFacts& part, EventSink& sink, const request::OpenScope& open_scope,
                        const request::AskCapture& ask) {
  for (const MetaEntry& entry : part.facts) {
    if (Result<void> done = sink.define(entry); !done) return done;
  }
  const request::KindRun run{part.request,      part.request.kinds[part.kind],
                             part.origin,       part.work_folder,
                             open_scope,        part.watch,
                             part.probes.get(), ask};
  Result<void> done = request::run_kind(run, sink);
  part.probes.reset();  // another capture may wait there
  return done;
}

// A setting of a file may carry a name before it: "x=x.npy".
bool was_sent(const std::string& setting, const std::string& work_folder) {
  const auto lies_there = [&](const std::string& path) {
    std::error_code failure;
    return wire::safe_relative_path(path) && !work_folder.empty() &&
           std::filesystem::exists(std::filesystem::path(work_folder) / path, failure);
  };
  const std::size_t equals = setting.find('=');
  return equals == std::string::npos ? lies_there(setting) : lies_there(setting.substr(equals + 1));
}

Result<void> check_files(const request::CaptureRequest& request, const std::string& work_folder,
                         const std::vector<request::KindFacts>& kinds) {
  if (!request.directory.empty() && !was_sent(request.directory, work_folder)) {
    return Error{
        fmt::format("{}: the agent uses no folders of its host for viewers; start it with --allow-run, or send "
                    "the folder along",
                    request.directory)};
  }
  for (const request::KindChoice& choice : request.kinds) {
    const request::KindFacts* facts = TRY(request::find_facts(choice.name, kinds));
    for (const request::KindOption& option : facts->options) {
      if (option.type != request::OptionType::file) continue;
      for (const request::OptionSetting& setting : choice.options) {
        if (setting.name != option.name || was_sent(setting.value, work_folder)) continue;
        return Error{
            fmt::format("--{}: the agent reads no files of its host for viewers; start it with --allow-run, "
                        "or send the file along",
                        option.name)};
      }
    }
  }
  return {};
}

// What schedulers and launchers say of the job in the environment of its processes: for each fact the variables that
// may hold it, the most exact first.
struct JobFact {
  const char* name;
  std::array<const char*, 3> variables;
};
constexpr std::array kJobFacts = {
    JobFact{"job.id", {"SLURM_JOB_ID", "TRAINING_JOB_NAME", "TORCHELASTIC_RUN_ID"}},
    JobFact{"job.name", {"SLURM_JOB_NAME", "TRAINING_JOB_NAME", nullptr}},
    JobFact{"job.user", {"SLURM_JOB_USER", nullptr, nullptr}},
    JobFact{"job.rank", {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}},
    JobFact{"job.ranks", {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}},
};
constexpr std::array kSchedulers = {std::pair{"SLURM_JOB_ID", "slurm"}, std::pair{"TRAINING_JOB_NAME", "sagemaker"},
                                    std::pair{"TORCHELASTIC_RUN_ID", "torchrun"},
                                    std::pair{"OMPI_COMM_WORLD_SIZE", "mpi"}};

void add_job_facts(const request::CaptureRequest& request, std::vector<MetaEntry>& facts) {
  const auto value_of = [&](const char* variable) {
    return variable == nullptr ? std::string() : system::environment_value(variable, request.environment);
  };
  for (const auto& [variable, scheduler] : kSchedulers) {
    if (value_of(variable).empty()) continue;
    facts.push_back({"job.scheduler", scheduler});
    break;
  }
  for (const JobFact& fact : kJobFacts) {
    for (const char* variable : fact.variables) {
      std::string value = value_of(variable);
      if (value.empty()) continue;
      facts.push_back({fact.name, std::move(value)});
      break;
    }
  }
}

}  // namespace

std::vector<MetaEntry> request_facts(const request::CaptureRequest& request) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::string kinds;
  for (const request::KindChoice& choice : request.kinds) kinds += (kinds.empty() ? "" : ", ") + choice.name;
  std::vector<MetaEntry> facts = {
      {"capture.host", system::host_name()},
      {"capture.kinds", kinds},
      {"capture.begin_unix_ns", fmt::format("{}", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count())}};
  if (!request.name.empty()) facts.push_back({"capture.name", request.name});
  add_job_facts(request, facts);
  std::vector<std::string> command = request::kind_arguments(request.kinds, request::declared_kinds());
  if (request.paused) command.emplace_back("--paused");
  if (request.duration_seconds > 0) command.push_back(fmt::format("--duration={}", request.duration_seconds));
  for (const std::string& setting : request.environment) {
    command.push_back(fmt::format("--env={}=...", setting.substr(0, setting.find('='))));
  }
  if (!request.directory.empty()) command.push_back("--cwd=" + request.directory);
  if (!request.program.empty()) {
    command.emplace_back("--");
    command.push_back(request.program);
    command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  }
  facts.push_back({"capture.command", system::shown_command(command)});
  if (!request.script.empty()) facts.push_back({"capture.script", system::without_secrets(request.script)});
  return facts;
}

Result<std::vector<SourcePart>> kind_parts(const request::CaptureRequest& wanted, const std::string& work_folder,
                                           std::chrono::steady_clock::time_point origin,
                                           const request::ProgramWatch& watch) {
  request::CaptureRequest request = request::complete_request(wanted);
  const std::vector<request::KindFacts> kinds = request::checked_kinds(request.kinds);
  TRY(request::check_request(request, kinds));
  TRY(request::describe_request(request, work_folder));
  std::vector<MetaEntry> facts = request_facts(request);
  probes::ProbePlaces probes = TRY(probes::open_probe_places(request));
  request.environment.insert(request.environment.end(), probes.environment.begin(), probes.environment.end());
  std::vector<SourcePart> parts;
  for (std::size_t i = 0; i < request.kinds.size(); ++i) {
    const auto part = std::make_shared<PartFacts>(
        PartFacts{request, i, work_folder, origin, watch, std::exchange(facts, {}), probes.listeners[i]});
    parts.push_back({request.kinds[i].name,
                     [part](EventSink& sink, const request::OpenScope& open_scope, const request::AskCapture& ask) {
                       return write_part(*part, sink, open_scope, ask);
                     },
                     (*request::find_facts(request.kinds[i].name, kinds))->needs_program,
                     (*request::find_kind(request.kinds[i].name))->own_time});
  }
  return parts;
}

AgentKinds agent_kinds(bool may_run, const std::vector<request::KindChoice>& started_with) {
  AgentKinds kinds;
  kinds.list = [] { return request::checked_kinds(); };
  kinds.parts = [may_run, started_with](
                    const request::CaptureRequest& request, const std::string& work_folder,
                    std::chrono::steady_clock::time_point origin) -> Result<std::vector<SourcePart>> {
    if (!may_run && request.kinds != started_with) {
      TRY(check_files(request, work_folder, request::declared_kinds()));
    }
    return kind_parts(request, work_folder, origin);
  };
  kinds.describe = [](const request::CaptureRequest& request, const std::string& work_folder) {
    const Result<std::string> described = request::describe_request(request, work_folder);
    return described ? *described : std::string();
  };
  return kinds;
}

}  // namespace accelscope::capture::agent
