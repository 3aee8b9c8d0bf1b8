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
    const Result<std::optional<security::Token>> token = transport_.token();
    if (!token) return fail(token.message());
    Result<security::ViewerProof> proof = security::ViewerProof::begin(token.value());
    if (!proof) return fail(proof.message());
    proof_ = std::move(proof).value();
    begun_ = std::chrono::steady_clock::now();
    transport_.connector()(loop_, limits_, [this](Result<std::unique_ptr<wire::Link>> link) {
      if (!link) {
        result_ = link.error();
        return loop_.stop();
      }
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

}  // namespace

Result<Reached> reach(const std::string& place, const std::string& token_file, const wire::LinkLimits& limits,
                      const std::function<bool()>& cancelled) {
  const reach::Place parsed = TRY(reach::parse_place(place));
  if (parsed.kind != reach::Place::Kind::address) return Reached{0, place, {}};
  PromptQueue nobody(false);
  AgentTransportOptions options;
  options.token_file = token_file;
  std::unique_ptr<AgentTransport> transport = TRY(make_agent_transport(place, nobody, options));
  return Probe(place, *transport, limits, cancelled).run();
}

}  // namespace accelscope::capture::client
