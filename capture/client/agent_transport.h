// The way to an agent at a place: an agent that already runs is connected to; on this computer and behind ssh one is
// started first. Makes a connection each time one is wanted, on a thread of its own where that may take long or ask.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "capture/client/prompt_queue.h"
#include "capture/security/token.h"
#include "capture/wire/connector.h"
#include "core/base/result.h"

namespace accelscope::capture::client {

struct AgentTransportOptions {
  std::string token_file;       // "": the usual places
  std::string ssh_config_file;  // "": ssh's own
  bool ask_on_terminal = false;
  bool accept_new_agents = false;
  std::filesystem::path folder;  // where it is kept how an agent that was started is reached again; "": nowhere
  std::function<void(const std::string&)> on_step;  // any thread: what is being done
};

class AgentTransport {
 public:
  AgentTransport() = default;
  AgentTransport(const AgentTransport&) = delete;
  AgentTransport& operator=(const AgentTransport&) = delete;
  virtual ~AgentTransport() = default;

  // The connector must not be used after this object has gone.
  [[nodiscard]] virtual wire::Connector connector() = 0;
  // The secret of the agent, if one is known by now. Quick.
  [[nodiscard]] virtual Result<std::optional<security::Token>> token() = 0;
  // The token is meant for this agent alone: one that does not ask for it is not the one that is meant.
  [[nodiscard]] virtual bool must_prove() const = 0;
  // The agent is not needed any more: one that was started here ends. Returns at once.
  virtual void finish() = 0;
};

// Fails on a place that cannot be understood. The prompts must outlive the transport.
[[nodiscard]] Result<std::unique_ptr<AgentTransport>> make_agent_transport(const std::string& place,
                                                                           PromptQueue& prompts,
                                                                           AgentTransportOptions options);

}  // namespace accelscope::capture::client
