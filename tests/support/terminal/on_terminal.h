// A program in a session of its own, whose terminal is this end of a pair; and what a terminal would show of what it
// writes there.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "capture/system/descriptor.h"
#include "core/base/text.h"

extern char** environ;

namespace accelscope::test {

class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& argv, int columns = 0, int rows = 0)
      : terminal_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(terminal_);
    REQUIRE(::grantpt(terminal_.get()) == 0);
    REQUIRE(::unlockpt(terminal_.get()) == 0);
    if (columns > 0) resize(columns, rows);
    const std::string other = ::ptsname(terminal_.get());
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, other.c_str(), O_RDWR, 0);  // the leader's first one is its terminal
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    REQUIRE(posix_spawn(&id_, argv.front().c_str(), &actions, &attributes, arguments.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  ~OnTerminal() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  void type(const std::string& keys) const {
    REQUIRE(::write(terminal_.get(), keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }
  // The program gets SIGWINCH.
  void resize(int columns, int rows) const {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    REQUIRE(::ioctl(terminal_.get(), TIOCSWINSZ, &size) == 0);
  }
  // Reads on until the condition holds of what was written so far; false: it has ended, or nothing comes any more.
  template <typename Condition>
  [[nodiscard]] bool read_until(Condition condition) {
    std::array<char, 4096> buffer{};
    while (!condition()) {
      pollfd waiting{terminal_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kLongMs) <= 0) return false;
      const ssize_t count = ::read(terminal_.get(), buffer.data(), buffer.size());
      if (count <= 0) return condition();
      shown.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }
  [[nodiscard]] bool shows(const std::string& text) {
    return read_until([&] { return shown.find(text) != std::string::npos; });
  }
  // Reads to the end; the exit status, as shells have it.
  int finish() {
    (void)read_until([] { return false; });
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] int id() const noexcept { return id_; }
  std::string shown;

 private:
  static constexpr int kLongMs = 600'000;
  capture::system::Descriptor terminal_;
  pid_t id_ = 0;
};

// What stands on a terminal after it was sent all this: rows without the blanks at their ends. Knows what
// app/terminal/screen.cpp sends.
class TerminalScreen {
 public:
  explicit TerminalScreen(std::string_view sent) {
    while (!sent.empty()) sent.remove_prefix(take(sent));
  }
  [[nodiscard]] std::string row(std::size_t number) const {  // from 0
    std::string text;
    if (number < rows_.size()) {
      for (const std::string& cell : rows_[number]) text += cell;
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
  }
  [[nodiscard]] std::size_t row_count() const noexcept { return rows_.size(); }
  [[nodiscard]] std::size_t width() const {
    std::size_t most = 0;
    for (const auto& row : rows_) most = std::max(most, row.size());
    return most;
  }
  // The first row that begins with the text; "" where none does.
  [[nodiscard]] std::string find(std::string_view begin) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (row(i).starts_with(begin)) return row(i);
    }
    return "";
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < rows_.size(); ++i) all += row(i) + '\n';
    return all;
  }
  bool alternate = false, cursor = true;

 private:
  std::size_t take(std::string_view sent) {
    if (sent.front() != '\x1b') {
      if (sent.front() == '\r' || sent.front() == '\n') return 1;
      const std::size_t length = std::max<std::size_t>(utf8_length(sent), 1);
      if (rows_.size() <= y_) rows_.resize(y_ + 1);
      if (rows_[y_].size() <= x_) rows_[y_].resize(x_ + 1, " ");
      rows_[y_][x_++] = std::string(sent.substr(0, length));
      return length;
    }
    const std::size_t end = sent.find_first_not_of("0123456789;?[", 1);
    if (end == std::string_view::npos) return sent.size();  // the rest is still to come
    run(sent.substr(2, end - 2), sent[end]);
    return end + 1;
  }
  void run(std::string_view arguments, char what) {
    if (what == 'H') {
      const std::size_t semicolon = arguments.find(';');
      y_ = std::stoul(std::string(arguments.substr(0, semicolon))) - 1;
      x_ = std::stoul(std::string(arguments.substr(semicolon + 1))) - 1;
    } else if (what == 'K') {
      if (y_ < rows_.size() && rows_[y_].size() > x_) rows_[y_].resize(x_);
    } else if (what == 'J') {
      rows_.clear();
    } else if (arguments == "?1049") {
      alternate = what == 'h';
    } else if (arguments == "?25") {
      cursor = what == 'h';
    }
  }
  std::vector<std::vector<std::string>> rows_;
  std::size_t x_ = 0, y_ = 0;
};

}  // namespace accelscope::test
