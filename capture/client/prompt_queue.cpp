#include "capture/client/prompt_queue.h"

#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace accelscope::capture::client {

std::uint64_t PromptQueue::ask(CaptureQuestion question, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      question.id = ++last_id_;
      asked_.push_back({std::move(question), std::move(answer)});
      return last_id_;
    }
  }
  answer({});
  return 0;
}

std::optional<std::string> PromptQueue::ask_and_wait(CaptureQuestion question) {
  auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
  std::future<std::optional<std::string>> answered = promise->get_future();
  ask(std::move(question), [promise](const std::optional<std::string>& text) { promise->set_value(text); });
  return answered.get();
}

// The callbacks may ask again, so they are called without the lock.
void PromptQueue::take_and_answer(const std::function<bool(const Asked&)>& which,
                                  const std::optional<std::string>& text) {
  std::vector<Asked> taken;
  {
    const std::lock_guard lock(mutex_);
    std::deque<Asked> kept;
    for (Asked& asked : asked_) {
      if (which(asked)) {
        taken.push_back(std::move(asked));
      } else {
        kept.push_back(std::move(asked));
      }
    }
    asked_ = std::move(kept);
  }
  for (const Asked& asked : taken) asked.answer(text);
}

void PromptQueue::withdraw(const std::string& place) {
  take_and_answer([&place](const Asked& asked) { return asked.question.place == place; }, {});
}

void PromptQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  take_and_answer([](const Asked&) { return true; }, {});
}

std::optional<CaptureQuestion> PromptQueue::current() const {
  const std::lock_guard lock(mutex_);
  return asked_.empty() ? std::nullopt : std::optional(asked_.front().question);
}

void PromptQueue::answer(std::uint64_t id, const std::optional<std::string>& text) {
  take_and_answer([id](const Asked& asked) { return asked.question.id == id; }, text);
}

}  // namespace accelscope::capture::client
