// What ssh asks while a connection is made - a pass phrase, a password, whether a host's key is right - and who
// answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace accelscope::capture::reach {

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

}  // namespace accelscope::capture::reach
