// The way to an agent at a place: an agent that already runs is connected to; on this computer and behind ssh one is
// started first. Makes a connection each time one is wanted, on a thread of its own where that may take long or ask.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "capture/security/secrets.h"
#include "capture/wire/connector.h"
#include "core/base/result.h"

namespace accelscope::capture::client {

// Where the threads that reach agents put their questions, and the user's answers reach them: one question at a time,
// in the order they were asked.

// Something that only the user can say.
struct CaptureQuestion {
  enum class Kind : std::uint8_t { text, secret, yes_no };
  std::uint64_t id = 0;
  Kind kind = Kind::text;
  std::string place;
  std::string title;  // "The agent at trn1-07:7420 is new here"
  std::string text;   // with the fingerprint; or ssh's own prompt
  std::string yes = "Yes";
  std::string no = "No";
};

class PromptQueue {
 public:
  using Answer = std::function<void(const std::optional<std::string>&)>;

  // asks: there is somebody to answer; else every answer is no.
  explicit PromptQueue(bool asks) : open_(asks) {}

  // Calls back once, from the thread that answers (or at once). Returns the question's id.
  std::uint64_t ask(CaptureQuestion question, Answer answer);
  // Waits for the answer, or until withdraw_all() for the place.
  [[nodiscard]] std::optional<std::string> ask_and_wait(CaptureQuestion question);
  void withdraw(const std::string& place);  // its questions need no answer any more
  void close();                             // answers everything with no, now and from now on

  [[nodiscard]] std::optional<CaptureQuestion> current() const;
  void answer(std::uint64_t id, const std::optional<std::string>& text);

 private:
  struct Asked {
    CaptureQuestion question;
    Answer answer;
  };
  void take_and_answer(const std::function<bool(const Asked&)>& which, const std::optional<std::string>& text);

  mutable std::mutex mutex_;
  std::deque<Asked> asked_;
  std::uint64_t last_id_ = 0;
  bool open_;
};

struct AgentTransportOptions {
  std::string token_file;         // "": the usual places
  std::string ssh_config_file;    // "": ssh's own
  std::string ssh_identity_file;  // "": ssh's own keys
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
