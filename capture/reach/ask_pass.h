// How ssh's questions reach the user: ssh starts this program again as its SSH_ASKPASS, with a socket's path in the
// environment; that process hands the question through the socket to the one that started ssh, whose Prompter answers,
// and prints the answer for ssh. Answers are kept nowhere and wiped on both sides.
//
//   int main(...) { if (asked_by_ssh()) return answer_ssh(argc, argv); ... }
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/system/descriptor.h"

namespace accelscope::capture::reach {

// What ssh asks while a connection is made - a pass phrase, a password, whether a host's key is right - and who
// answers.
struct Prompt {
  enum class Kind : std::uint8_t {
    secret,   // the answer is not shown while it is typed
    yes_no,   // answered with "yes" or "no"; to a question about a host's key also with its fingerprint
    confirm,  // any answer allows it, none refuses it
    notice,   // nothing to answer: ssh waits for something else, such as a touch of a security key
  };
  Kind kind = Kind::secret;
  std::string place;          // who is connected to
  std::string text;           // ssh's own words
  std::uint32_t attempt = 1;  // above 1: the same was asked before, and that answer was not taken
};

// One for each host: a question is cancelled without a word about whose it is.
class Prompter {
 public:
  virtual ~Prompter() = default;
  // Called on a worker thread; may wait as long as the user thinks. Nothing: the user cancelled. A notice returns at
  // once. The answer is wiped after use.
  [[nodiscard]] virtual std::optional<std::string> ask(const Prompt& prompt) = 0;
  // From any thread: nobody waits any more for the answer to what is asked now, and ask() returns nothing soon; also
  // ends a notice. Later questions are new ones. May come when nothing is asked.
  virtual void cancel() = 0;
};

class AskPass {
 public:
  // The socket is made in `folder`, which nobody else may enter. The prompter must outlive this object.
  [[nodiscard]] static Result<std::unique_ptr<AskPass>> start(const std::string& folder, std::string place,
                                                              Prompter& prompter);
  ~AskPass();  // ends a question that is open
  AskPass(const AskPass&) = delete;
  AskPass& operator=(const AskPass&) = delete;

  // For the ssh that is to ask. "": this program is asked.
  [[nodiscard]] std::vector<std::string> environment(const std::string& askpass_program) const;
  void begin_connection();  // questions count from their first attempt again
  // The first line of the question that the user left without an answer since then; "" if there is none.
  [[nodiscard]] std::string refused() const;

 private:
  AskPass(system::LocalListener listener, std::string path, std::string place, Prompter& prompter);
  void serve();
  void answer(system::Descriptor peer);
  void drop_ended_notices();

  system::LocalListener listener_;
  std::string path_;
  std::string place_;
  Prompter& prompter_;
  std::vector<system::Descriptor> notices_;  // shown; ssh ends each when what it waits for has come
  mutable std::mutex mutex_;
  std::map<std::string, std::uint32_t> attempts_;
  std::string refused_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> served_ = false;
  std::thread thread_;
};

// In the process that ssh starts.
[[nodiscard]] bool asked_by_ssh();
int answer_ssh(const std::string& question);  // the exit code: 0 answered, 1 not

}  // namespace accelscope::capture::reach
