#include "capture/client/capture_session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <ctime>
#include <mutex>
#include <random>
#include <utility>
#include <variant>

#include "capture/client/agent_transport.h"
#include "capture/client/connection.h"
#include "capture/client/recovery_folder.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/kinds/program/events.h"
#include "capture/reach/place.h"
#include "capture/system/address.h"
#include "core/base/own_files.h"
#include "core/chunk/chunk_view.h"

namespace accelscope::capture::client {
namespace {

// A program that was run several times has a label before all but its first.
[[nodiscard]] bool is_exit_status(std::string_view key) {
  if (!key.ends_with(kinds::program::kExitStatusFact)) return false;
  const std::size_t before = key.size() - kinds::program::kExitStatusFact.size();
  return before == 0 || key[before - 1] == '.';
}

}  // namespace

// One kind's events: finds the lanes of printed lines among its definitions.
class ProgramOutput::Scope final : public ForwardingSink {
 public:
  Scope(ProgramOutput& output, EventSink& sink) : ForwardingSink(sink), output_(output) {}

  Result<void> define(const Definition& definition) override {
    if (const auto* schema = std::get_if<Schema>(&definition)) note(*schema);
    if (const auto* track = std::get_if<Track>(&definition); track != nullptr && schemas_.contains(track->schema)) {
      tracks_[track->number] = {track->name == kinds::program::stream_name(system::OutputStream::err), track->schema};
    }
    if (const auto* lane = std::get_if<Lane>(&definition); lane != nullptr && tracks_.contains(lane->track)) {
      lanes_[lane->number] = lane->track;
    }
    if (const auto* meta = std::get_if<MetaEntry>(&definition); meta != nullptr && is_exit_status(meta->key)) {
      int status = 0;
      const char* end = meta->value.data() + meta->value.size();
      if (std::from_chars(meta->value.data(), end, status).ec == std::errc()) output_.set_exit_status(status);
    }
    return ForwardingSink::define(definition);
  }

  Result<void> append(SealedChunk chunk) override {
    if (const auto lane = lanes_.find(chunk.lane()); lane != lanes_.end()) read(chunk, tracks_[lane->second]);
    return ForwardingSink::append(std::move(chunk));
  }

 private:
  struct Columns {
    std::size_t text = 0;
    std::size_t line = 0;
    std::size_t piece = 0;
  };
  struct Stream {
    bool is_error = false;
    SchemaNumber schema = kNone;
  };

  void note(const Schema& schema) {
    const auto text = schema.find("text");
    const auto line = schema.find("line");
    const auto piece = schema.find("piece");
    if (schema.name == kinds::program::kLineSchemaName && text && line && piece)
      schemas_[schema.number] = {*text, *line, *piece};
  }

  void read(const SealedChunk& chunk, const Stream& stream) {
    const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
    const Columns& columns = schemas_[stream.schema];
    if (!view || view->column_count() <= std::max({columns.text, columns.line, columns.piece})) return;
    for (std::uint32_t row = 0; row < view->count(); ++row) {
      output_.add_piece(stream.is_error, view->text(columns.text, row), view->int64(columns.line, row),
                        !view->has_value(columns.piece, row));
    }
  }

  ProgramOutput& output_;
  std::map<SchemaNumber, Columns> schemas_;
  std::map<TrackNumber, Stream> tracks_;
  std::map<LaneNumber, TrackNumber> lanes_;
};

ProgramOutput::ProgramOutput(ingest::SinkProvider& sinks) : sinks_(sinks) {}
ProgramOutput::~ProgramOutput() = default;

EventSink& ProgramOutput::sink(std::uint32_t scope) {
  std::unique_ptr<Scope>& found = scopes_[scope];
  if (!found) found = std::make_unique<Scope>(*this, sinks_.sink(scope));
  return *found;
}

void ProgramOutput::keep() {
  const std::lock_guard lock(mutex_);
  keeps_ = true;
}

void ProgramOutput::add_piece(bool is_error, std::string_view text, std::int64_t line, bool whole) {
  const std::lock_guard lock(mutex_);
  if (!keeps_) return;
  OpenLine& before = open_lines_[is_error ? 1 : 0];
  std::string shown;
  if (before.open && before.line != line) shown += '\n';
  shown += text;
  if (whole) shown += '\n';
  before = {line, !whole};
  texts_.push_back({is_error, std::move(shown)});
}

std::vector<ProgramText> ProgramOutput::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(texts_, {});
}

std::vector<ProgramText> ProgramOutput::take_last() {
  const std::lock_guard lock(mutex_);
  for (const bool is_error : {false, true}) {
    if (std::exchange(open_lines_[is_error ? 1 : 0].open, false)) texts_.push_back({is_error, "\n"});
  }
  return std::exchange(texts_, {});
}

void ProgramOutput::set_exit_status(int status) {
  const std::lock_guard lock(mutex_);
  exit_status_ = status;
}

std::optional<int> ProgramOutput::exit_status() const {
  const std::lock_guard lock(mutex_);
  return exit_status_;
}

namespace {

using std::chrono::milliseconds;

// What is being done to reach an agent, told by one thread and shown by another.
class StepText {
 public:
  void set(const std::string& text) {
    const std::lock_guard lock(mutex_);
    text_ = text;
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// One agent of the session. Without a connection it is over: it could not be begun, or had ended before.
struct CapturedAgent {
  CapturedAgent(Store& store, const AgentFeedOptions& options) : scopes(store), output(scopes), feed(output, options) {}
  ingest::StoreScopes scopes;
  ProgramOutput output;
  AgentFeed feed;
  std::unique_ptr<AgentTransport> transport;  // outlives the connection that uses it
  std::unique_ptr<Connection> connection;     // closes before what it feeds
  AgentStatus without;                        // the status without a connection
  std::shared_ptr<StepText> step = std::make_shared<StepText>();

  [[nodiscard]] AgentStatus status() const {
    AgentStatus status = connection ? connection->status() : without;
    status.exit_status = output.exit_status();
    if (!connection) return status;
    const bool reaching = status.phase == CapturePhase::preparing || status.phase == CapturePhase::reconnecting;
    if (reaching) status.step = step->text();
    return status;
  }
};

// A program on this computer runs where its user is, not in a folder of the agent's own. Where files are sent, it runs
// beside them, as it would elsewhere.
void name_directory(request::CaptureRequest& request, const std::string& place, const std::vector<std::string>& sent) {
  const Result<reach::Place> parsed = reach::parse_place(place);
  if (!parsed || parsed->kind != reach::Place::Kind::local || !sent.empty()) return;
  std::error_code failure;
  const std::filesystem::path here = std::filesystem::current_path(failure);
  if (failure) return;
  request.directory =
      request.directory.empty() ? here.string() : (here / request.directory).lexically_normal().string();
}

// Of agent-01: 1; 0 if it is no such folder.
std::size_t agent_number(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  constexpr std::string_view kStem = "agent-";
  std::size_t number = 0;
  if (name.starts_with(kStem)) std::from_chars(name.data() + kStem.size(), name.data() + name.size(), number);
  return number;
}

// A folder that is there already may be one that others have put there. Reported before anything is captured.
Result<void> check_results_folder(const CapturePlan& plan) {
  if (plan.request.results.empty()) return {};
  if (plan.results_folder.empty()) return Error{"files are to be brought back; name the folder for them"};
  std::error_code failure;
  if (!std::filesystem::exists(std::filesystem::symlink_status(plan.results_folder, failure))) return {};
  return check_own_folder(plan.results_folder, Sharing::group);
}

bool is_over(CapturePhase phase) { return phase == CapturePhase::ended || phase == CapturePhase::failed; }

// Of all agents together: what most needs to be seen.
CapturePhase phase_of(const std::vector<AgentStatus>& agents) {
  const auto any = [&](CapturePhase phase) {
    return std::any_of(agents.begin(), agents.end(),
                       [phase](const AgentStatus& agent) { return agent.phase == phase; });
  };
  const bool over = std::all_of(agents.begin(), agents.end(), [](const auto& agent) { return is_over(agent.phase); });
  if (over) return any(CapturePhase::failed) ? CapturePhase::failed : CapturePhase::ended;
  for (const CapturePhase phase : {CapturePhase::reconnecting, CapturePhase::stopping, CapturePhase::streaming,
                                   CapturePhase::preparing, CapturePhase::paused}) {
    if (any(phase)) return phase;
  }
  return CapturePhase::preparing;
}

}  // namespace

struct CaptureSession::Implementation {
  Implementation(CapturePlan capture_plan, std::shared_ptr<Store> session_store, CaptureSessionOptions session_options)
      : plan(std::move(capture_plan)),
        store(std::move(session_store)),
        options(std::move(session_options)),
        prompts(options.asks) {
    if (!options.viewer_id.empty()) viewer_id = options.viewer_id;
  }
  ~Implementation() {
    prompts.close();  // whoever waits for an answer waits no more
    agents.clear();
  }

  Result<void> make_folder();
  Result<void> begin_agent(const std::string& place);
  Result<void> recover_agent(const std::filesystem::path& agent_folder);
  [[nodiscard]] AgentFeedOptions feed_options(const std::string& place, const std::filesystem::path& agent_folder);
  Result<void> connect(const std::shared_ptr<CapturedAgent>& agent, const std::string& place, const wire::Start& start,
                       const std::filesystem::path& agent_folder);
  void keep(std::shared_ptr<CapturedAgent> agent);
  void remove_folder();
  void ask_token(const std::string& place, const std::weak_ptr<CapturedAgent>& agent);
  [[nodiscard]] std::vector<std::shared_ptr<CapturedAgent>> all() const;
  [[nodiscard]] std::shared_ptr<RecoveryFolder> retained_folder() const;
  template <typename Act>
  void each_connection(const Act& act) const {
    for (const std::shared_ptr<CapturedAgent>& agent : all()) {
      if (agent->connection) act(*agent->connection);
    }
  }
  [[nodiscard]] CaptureStatus status() const;

  CapturePlan plan;
  std::shared_ptr<Store> store;
  CaptureSessionOptions options;
  PromptQueue prompts;
  std::string viewer_id = system::random_id();
  std::shared_ptr<ingest::SessionClock> clock = std::make_shared<ingest::SessionClock>();
  std::shared_ptr<HostNames> hosts = std::make_shared<HostNames>();
  mutable std::mutex mutex;  // a session that is saved or discarded gives up its folder on a thread of its own
  std::shared_ptr<RecoveryFolder> folder;
  std::vector<std::shared_ptr<CapturedAgent>> agents;
};

Result<void> CaptureSession::Implementation::make_folder() {
  const std::time_t now = std::time(nullptr);
  std::filesystem::path path = options.recovery_folder;
  if (path.empty()) {
    if (options.recovery_directory.empty()) return {};
    path = std::filesystem::path(options.recovery_directory) /
           fmt::format("{:%Y-%m-%d-%H%M%S}-{}-{}", fmt::localtime(now), ::getpid(), viewer_id.substr(0, 4));
  }
  Result<std::unique_ptr<RecoveryFolder>> made =
      RecoveryFolder::create(path, {plan, title_of(plan), now, viewer_id, {}, {}});
  if (!made) return made.error();
  folder = std::move(made).value();
  return {};
}

// One that cannot be removed is offered for recovery later, which does no harm.
void CaptureSession::Implementation::remove_folder() {
  std::shared_ptr<RecoveryFolder> left;
  {
    const std::lock_guard lock(mutex);
    left.swap(folder);
  }
  if (!left) return;
  if (Result<void> removed = left->remove(); !removed) {
    store->add_quality({QualityKind("recovery_file").as(Severity::note), 1, removed.message()});
  }
}

AgentFeedOptions CaptureSession::Implementation::feed_options(const std::string& place,
                                                              const std::filesystem::path& agent_folder) {
  AgentFeedOptions feed;
  feed.place = place;
  feed.hosts = hosts;
  feed.clock = clock;
  feed.reference = all().empty();
  feed.names_host = plan.places.size() > 1;
  feed.folder = agent_folder;
  return feed;
}

void CaptureSession::Implementation::keep(std::shared_ptr<CapturedAgent> agent) {
  const std::lock_guard lock(mutex);
  agents.push_back(std::move(agent));
}

std::vector<std::shared_ptr<CapturedAgent>> CaptureSession::Implementation::all() const {
  const std::lock_guard lock(mutex);
  return agents;
}

std::shared_ptr<RecoveryFolder> CaptureSession::Implementation::retained_folder() const {
  const std::lock_guard lock(mutex);
  return folder;
}

Result<void> CaptureSession::Implementation::begin_agent(const std::string& place) {
  const std::shared_ptr<RecoveryFolder> retained = retained_folder();
  const std::filesystem::path agent_folder = retained ? retained->new_agent() : std::filesystem::path();
  const auto agent = std::make_shared<CapturedAgent>(*store, feed_options(place, agent_folder));
  wire::Start start;
  start.mode = plan.mode;
  start.capture_id = plan.capture_id;
  start.request = plan.request;
  // The name of this request: asked again after a break, it begins nothing twice.
  if (start.mode == wire::StartMode::begin) {
    start.capture_id = fmt::format("{}-{}", viewer_id, all().size() + 1);
    name_directory(start.request, place, plan.send);
  }
  return connect(agent, place, start, agent_folder);
}

Result<void> CaptureSession::Implementation::connect(const std::shared_ptr<CapturedAgent>& agent,
                                                     const std::string& place, const wire::Start& start,
                                                     const std::filesystem::path& agent_folder) {
  if (options.keeps_output) agent->output.keep();
  const std::weak_ptr<CapturedAgent> weak = agent;
  AgentTransportOptions transport;
  transport.token_file = plan.token_file;
  transport.ssh_config_file = plan.ssh_config_file;
  transport.ssh_identity_file = plan.ssh_identity_file;
  transport.ask_on_terminal = options.ask_on_terminal;
  transport.accept_new_agents = options.accept_new_agents;
  transport.folder = agent_folder;
  transport.on_step = [step = agent->step](const std::string& text) { step->set(text); };
  std::unique_ptr<AgentTransport> made = TRY(make_agent_transport(place, prompts, std::move(transport)));
  agent->transport = std::move(made);
  ConnectionOptions connection;
  connection.connector = agent->transport->connector();
  connection.place = place;
  connection.description = options.description;
  connection.viewer_id = viewer_id;
  connection.start = start;
  connection.send = plan.send;
  connection.results_folder = plan.results_folder;
  connection.replaces_results = plan.replaces_results;
  if (plan.places.size() > 1 && !plan.results_folder.empty()) {
    connection.results_folder /= fmt::format("{:02}", all().size() + 1);
  }
  connection.window_bytes = options.window_bytes;
  connection.give_up = options.give_up;
  connection.stay_after_end = retained_folder() == nullptr;  // else everything is safe by then
  connection.limits = options.limits;
  connection.token = [transport = agent->transport.get()] { return transport->token(); };
  connection.must_prove = agent->transport->must_prove();
  connection.ask_token = [this, place, weak] { ask_token(place, weak); };
  agent->connection = std::make_unique<Connection>(std::move(connection), agent->feed);
  keep(agent);
  agent->connection->begin();
  return {};
}

void CaptureSession::Implementation::ask_token(const std::string& place, const std::weak_ptr<CapturedAgent>& agent) {
  CaptureQuestion question;
  question.kind = CaptureQuestion::Kind::secret;
  question.place = place;
  question.title = fmt::format("The agent at {} wants its token", place);
  question.text = "It is in the file that accelscope-agent named at its start.";
  prompts.ask(std::move(question), [agent](const std::optional<std::string>& answer) {
    const auto it = agent.lock();
    if (!it) return;
    std::optional<security::Token> token;
    if (answer) {
      if (Result<security::Token> parsed = security::Token::parse(*answer); parsed) token = std::move(parsed).value();
    }
    it->connection->set_token(std::move(token));
  });
}

// What came is read first. If there was more, it is fetched where the agent still has it.
Result<void> CaptureSession::Implementation::recover_agent(const std::filesystem::path& agent_folder) {
  const Result<log::FrameLogFacts> facts = log::FrameLog::read_facts(agent_folder);
  // Where to connect is what was asked for; the folder tells which of the places it is, and names one that joined
  // later.
  const std::size_t number = agent_number(agent_folder);
  const bool asked_for = number > 0 && number <= plan.places.size();
  const std::string place = asked_for ? plan.places[number - 1]
                            : facts   ? facts.value().place
                                      : agent_folder.filename().string();
  const auto agent = std::make_shared<CapturedAgent>(*store, feed_options(place, agent_folder));
  if (!log::list_segments(agent_folder).empty()) {
    if (Result<void> read = agent->feed.replay(); !read) return read;
  }
  AgentStatus& status = agent->without;
  status.place = status.peer = place;
  status.phase = CapturePhase::ended;
  status.events = agent->feed.counts().events();
  status.chunks = agent->feed.counts().chunks();
  status.lost_events = agent->feed.counts().lost_events();
  status.dropped_events = agent->feed.counts().dropped_events();
  status.last_sequence = agent->feed.counts().last_sequence();
  if (const std::optional<wire::StreamEnd>& end = agent->feed.facts().end) {
    status.end_known = true;
    status.outcome = end->outcome;
  }
  if (facts) {
    status.name = facts.value().name;
    status.description = facts.value().description;
    status.capture_id = facts.value().capture_id;
  }
  const bool may_connect = asked_for || options.recovery_folder.empty();  // a command names all its places
  if (agent->feed.facts().end || status.capture_id.empty() || !may_connect) {
    keep(agent);
    return {};
  }
  wire::Start start;
  start.mode = plan.mode == wire::StartMode::watch ? wire::StartMode::watch : wire::StartMode::take_up;
  start.capture_id = status.capture_id;
  start.request.results = plan.request.results;
  return connect(agent, place, start, agent_folder);
}

CaptureStatus CaptureSession::Implementation::status() const {
  CaptureStatus whole;
  for (const std::shared_ptr<CapturedAgent>& agent : all()) whole.agents.push_back(agent->status());
  whole.phase = phase_of(whole.agents);
  for (const AgentStatus& agent : whole.agents) {
    whole.events += agent.events;
    whole.events_per_second += agent.events_per_second;
    whole.bytes_per_second += agent.bytes_per_second;
    if (whole.message.empty()) whole.message = agent.message;
  }
  return whole;
}

CaptureSession::CaptureSession(std::unique_ptr<Implementation> impl) : impl_(std::move(impl)) {}

CaptureSession::~CaptureSession() {
  for (const std::shared_ptr<CapturedAgent>& agent : impl_->all()) {
    // A capture that failed here may still be had from its agent.
    if (agent->transport && agent->status().phase == CapturePhase::ended) agent->transport->finish();
  }
}

Result<std::unique_ptr<CaptureSession>> CaptureSession::begin(CapturePlan plan, std::shared_ptr<Store> store,
                                                              CaptureSessionOptions options) {
  if (plan.places.empty()) return Error{"name where to capture: local, HOST:PORT or ssh://HOST"};
  TRY(check_results_folder(plan));
  auto impl = std::make_unique<Implementation>(std::move(plan), std::move(store), std::move(options));
  TRY(impl->make_folder());
  for (const std::string& place : impl->plan.places) {
    Result<void> begun = impl->begin_agent(place);
    if (begun) continue;
    impl->remove_folder();
    return begun.error();
  }
  return std::make_unique<CaptureSession>(std::move(impl));
}

Result<std::unique_ptr<CaptureSession>> CaptureSession::recover(const Recoverable& left, std::shared_ptr<Store> store,
                                                                CaptureSessionOptions options) {
  TRY(check_results_folder(left.plan));
  std::unique_ptr<RecoveryFolder> folder = TRY(RecoveryFolder::open(left.folder));
  auto impl = std::make_unique<Implementation>(left.plan, std::move(store), std::move(options));
  impl->folder = std::move(folder);
  if (const Result<RecoveryPlan> retained = RecoveryFolder::read_plan(left.folder); retained)
    impl->viewer_id = retained->viewer_id;
  for (const std::filesystem::path& agent : list_agent_folders(left.folder)) {
    TRY(impl->recover_agent(agent));
  }
  return std::make_unique<CaptureSession>(std::move(impl));
}

void CaptureSession::add(const std::string& place) {
  const Result<void> begun = impl_->begin_agent(place);
  if (begun) return;
  const auto agent = std::make_shared<CapturedAgent>(*impl_->store, impl_->feed_options(place, {}));
  agent->without.place = agent->without.peer = place;
  agent->without.phase = CapturePhase::failed;
  agent->without.message = begun.message();
  impl_->keep(agent);
}

void CaptureSession::leave(const std::string& place) {
  impl_->each_connection([&](Connection& connection) {
    if (connection.status().place == place) connection.leave();
  });
}

void CaptureSession::pause() {
  impl_->each_connection([](Connection& connection) { connection.set_paused(true); });
}

void CaptureSession::resume() {
  impl_->each_connection([](Connection& connection) { connection.set_paused(false); });
}

void CaptureSession::stop() {
  impl_->each_connection([](Connection& connection) { connection.stop(); });
}

CaptureStatus CaptureSession::status() const { return impl_->status(); }

bool CaptureSession::wait_for(milliseconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  const std::vector<std::shared_ptr<CapturedAgent>> agents = impl_->all();
  return std::all_of(agents.begin(), agents.end(), [&](const std::shared_ptr<CapturedAgent>& agent) {
    if (!agent->connection) return true;
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    return agent->connection->wait_for(std::max(left, milliseconds(0)));
  });
}

std::vector<ProgramText> CaptureSession::take_output() {
  std::vector<ProgramText> taken;
  for (const std::shared_ptr<CapturedAgent>& agent : impl_->all()) {
    const bool over = is_over(agent->status().phase);
    for (ProgramText& text : over ? agent->output.take_last() : agent->output.take()) taken.push_back(std::move(text));
  }
  return taken;
}

std::optional<CaptureQuestion> CaptureSession::question() const { return impl_->prompts.current(); }

void CaptureSession::answer(std::uint64_t id, const std::optional<std::string>& answer) {
  impl_->prompts.answer(id, answer);
}

void CaptureSession::saved() {
  impl_->each_connection([](Connection& connection) { connection.saved(); });
  // While something may still come, the file does not have it.
  if (status().over()) impl_->remove_folder();
}

void CaptureSession::discard() {
  impl_->each_connection([](Connection& connection) { connection.discard(); });
  impl_->remove_folder();
}

std::vector<Recoverable> find_recoverable(const std::string& recovery_directory) {
  std::vector<Recoverable> found;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(recovery_directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (Result<Recoverable> left = read_recoverable(entry->path().string()); left) {
      found.push_back(std::move(left).value());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Recoverable& a, const Recoverable& b) { return a.begun_unix_s > b.begun_unix_s; });
  return found;
}

Result<Recoverable> read_recoverable(const std::string& folder) {
  RecoveryPlan retained = TRY(RecoveryFolder::read_plan(folder));
  if (RecoveryFolder::in_use(folder)) return Error{folder + ": belongs to a capture that is still running"};
  Recoverable left{folder, std::move(retained.plan), std::move(retained.title), retained.begun_unix_s, 0, 0};
  for (const std::filesystem::path& agent : list_agent_folders(folder)) {
    const log::FrameLogContent content = log::FrameLog::survey(agent);
    left.bytes += content.bytes;
    left.events += content.events;
  }
  return left;
}

Result<void> discard_recoverable(const Recoverable& left) {
  Result<std::unique_ptr<RecoveryFolder>> folder = RecoveryFolder::open(left.folder);
  return folder ? (*folder)->remove() : folder.error();
}

}  // namespace accelscope::capture::client
