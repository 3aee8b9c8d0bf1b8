// Where the threads that reach agents put their questions, and the user's answers reach them: one question at a time,
// in the order they were asked.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace accelscope::capture::client {

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

}  // namespace accelscope::capture::client
