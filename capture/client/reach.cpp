// Tries whether an agent can be reached, up to its welcome, and starts nothing.
#include <fmt/format.h>

#include <optional>

#include "capture/client/agent_transport.h"
#include "capture/client/capture_session.h"
#include "capture/reach/place.h"
#include "capture/security/secrets.h"

namespace accelscope::capture::client {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};

class Probe final : public wire::LinkHandler {
 public:
  Probe(std::string place, AgentTransport& transport, const wire::LinkLimits& limits, std::function<bool()> cancelled)
      : place_(std::move(place)), transport_(transport), limits_(limits), cancelled_(std::move(cancelled)) {}

  Result<Reached> run() {
    loop_.post([this] { connect(); });
    look_up();
    loop_.run();
    link_.reset();
    return result_;
  }

  void on_frame(wire::Frame frame) override {
    wire::Hearing heard(*this, frame);
    heard.on(true, &Probe::on_hello);
    heard.on(true, &Probe::on_welcome);
    heard.on(true, &Probe::on_error);
    if (!heard.problem().empty()) return fail("sent " + heard.problem());
    if (!heard.taken()) fail("is not an agent; connect to the address that accelscope-agent prints");
  }
  void on_closed(wire::Closed /*how*/, const std::string& text) override { fail("the agent " + text); }

 private:
  void connect() {
    begun_ = std::chrono::steady_clock::now();
    transport_.connector()(loop_, limits_, [this](Result<std::unique_ptr<wire::Link>> link) {
      if (!link) {
        result_ = link.error();
        return loop_.stop();
      }
      // An agent that is started has its token by now.
      const Result<std::optional<security::Token>> token = transport_.token();
      if (!token) return fail(token.message());
      Result<security::ViewerProof> proof = security::ViewerProof::begin(token.value());
      if (!proof) return fail(proof.message());
      proof_ = std::move(proof).value();
      link_ = std::move(link).value();
      link_->start(*this);
      own_.role = wire::PeerRole::viewer;
      own_.program = "accelscope";
      own_.program_version = ACCELSCOPE_VERSION;
      own_.nonce = proof_->nonce();
      link_->send(wire::encode(own_));
    });
  }

  void on_error(const wire::ErrorMessage& error) { fail(wire::printable(error.text)); }

  void on_hello(const wire::Hello& hello) {
    if (const Result<void> versions = wire::check_versions(own_, hello); !versions) return fail(versions.message());
    reached_.version = wire::printable(hello.program_version, 64);
    reached_.peer = fmt::format("{} ({} {})", place_, wire::printable(hello.program, 64),
                                wire::printable(hello.program_version, 64));
    const auto& wanted = hello.capabilities;
    if (std::find(wanted.begin(), wanted.end(), "token") == wanted.end()) return link_->trust();
    Result<std::string> mac = proof_->prove(hello.nonce, link_->channel_binding());
    if (!mac) return fail(mac.message());
    link_->trust();
    link_->send(wire::encode(wire::ProofMessage{std::move(mac).value()}));
  }

  void on_welcome(const wire::Welcome& welcome) {
    if (const Result<void> genuine = proof_->check_welcome(welcome.mac); !genuine) {
      return fail(genuine.message());
    }
    reached_.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun_).count();
    reached_.welcome = welcome;
    result_ = reached_;
    loop_.stop();
  }

  void look_up() {
    loop_.after(kAskEvery, [this] {
      if (cancelled_ && cancelled_()) return fail("cancelled");
      look_up();
    });
  }

  void fail(const std::string& text) {
    result_ = Error{fmt::format("{}: {}", place_, text)};
    loop_.stop();
  }

  wire::Loop loop_;
  std::string place_;
  AgentTransport& transport_;
  wire::LinkLimits limits_;
  std::function<bool()> cancelled_;
  std::unique_ptr<wire::Link> link_;
  std::optional<security::ViewerProof> proof_;
  wire::Hello own_;
  std::chrono::steady_clock::time_point begun_;
  Reached reached_;
  Result<Reached> result_ = Error{"cancelled"};
};

// "what is wrong; what to try"
HostFinding failure(std::string subject, const std::string& message) {
  const std::size_t cut = std::min(message.find("; "), message.size());
  return {std::move(subject), false, message.substr(0, cut), cut < message.size() ? message.substr(cut + 2) : ""};
}

HostFinding judge_versions(const std::string& theirs) {
  constexpr std::string_view kOwn = ACCELSCOPE_VERSION;
  HostFinding finding{"versions", theirs == kOwn, fmt::format("{} here, {} there", kOwn, theirs), ""};
  if (!finding.works) finding.advice = "they understand each other; update the older one to have all that both can do";
  return finding;
}

HostFinding judge_kind(const request::KindFacts& kind) {
  HostFinding finding{kind.name, true, kind.title, ""};
  for (const request::KindCheck& check : kind.checks) {
    if (!check.ok) return failure(kind.name, check.text);
  }
  return finding;
}

}  // namespace

HostCheck check_host(const std::string& place, const HostCheckOptions& options,
                     const std::function<bool()>& cancelled) {
  PromptQueue nobody(false);
  AgentTransportOptions transport_options;
  transport_options.token_file = options.token_file;
  transport_options.ssh_config_file = options.ssh_config_file;
  transport_options.ssh_identity_file = options.ssh_identity_file;
  transport_options.on_step = options.on_step;
  const auto begun = std::chrono::steady_clock::now();
  const auto transport = make_agent_transport(place, nobody, std::move(transport_options));
  if (!transport) return {{failure("reach", transport.message())}, {}};
  const Result<Reached> reached = Probe(place, **transport, {}, cancelled).run();
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  (*transport)->finish();
  if (!reached) {
    HostFinding finding = failure("reach", reached.message());
    finding.milliseconds = milliseconds;
    return {{std::move(finding)}, {}};
  }
  const wire::Welcome& welcome = reached->welcome;
  std::vector<HostFinding> findings = {{"reach", true, place, "", milliseconds}};
  findings.push_back({"agent", true,
                      fmt::format("accelscope-agent on {}, {}{}", welcome.host, welcome.system,
                                  welcome.may_run ? "" : "; it starts no programs")});
  findings.push_back(judge_versions(reached->version));
  if (!welcome.fixed.empty()) findings.push_back({"captures", true, welcome.fixed});
  for (const request::KindFacts& kind : welcome.kinds) findings.push_back(judge_kind(kind));
  return {std::move(findings), welcome};
}

Result<Reached> reach(const std::string& place, const std::string& token_file, const wire::LinkLimits& limits,
                      const std::function<bool()>& cancelled) {
  const reach::Place parsed = TRY(reach::parse_place(place));
  if (parsed.kind != reach::Place::Kind::address) return Reached{0, place, "", {}};
  PromptQueue nobody(false);
  AgentTransportOptions options;
  options.token_file = token_file;
  std::unique_ptr<AgentTransport> transport = TRY(make_agent_transport(place, nobody, options));
  return Probe(place, *transport, limits, cancelled).run();
}

}  // namespace accelscope::capture::client
