// A program that is watched from its start to its end: what it prints comes through two pipes that are read when there
// is room for it (until then the program waits), it and all that it starts lie in a session and group of their own
// that signals reach together, and its end is known with what it used. What is particular to the operating system is
// in supervised_child.cpp.
//
//   Result<std::unique_ptr<SupervisedChild>> child = SupervisedChild::start({.program = "python3", ...});
//   while (!child->ended()) { child->wait(100ms); child->read(OutputStream::out, buffer); ... }
//   ChildEnd end = child->finish();
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::system {

struct ChildStart {
  std::string program;  // with a '/': a path, relative to `directory`; else looked for on the PATH that it will have
  std::vector<std::string> arguments;
  std::string directory;                 // in which it runs; "": this process's
  std::vector<std::string> environment;  // "NAME=VALUE", in place of or beside this process's own
  bool one_stream = false;               // standard error goes where standard output goes, in the order of both
};

// The program's whole path. Fails with what to try if there is no such program or folder, or it cannot be executed.
[[nodiscard]] Result<std::string> find_start(const ChildStart& start);

// The whole path of a program that lies in one of the folders, "a:b:c"; relative ones begin at `directory`, "": this
// process's. Fails with what to try.
[[nodiscard]] Result<std::string> find_on_path(const std::string& program, const std::string& folders,
                                               const std::string& directory);

enum class OutputStream : std::uint8_t { out = 0, err = 1 };

struct ChildEnd {
  int exit_code = 0;  // 128 + the signal's number if one ended it, as shells say it
  int signal = 0;     // that ended it; 0: it returned
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::uint64_t max_resident_bytes = 0;  // of the largest of its processes that it waited for
};

class SupervisedChild {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SupervisedChild>> start(const ChildStart& start);
  ~SupervisedChild();  // ends the whole group if the program still runs
  SupervisedChild(const SupervisedChild&) = delete;
  SupervisedChild& operator=(const SupervisedChild&) = delete;

  [[nodiscard]] int id() const noexcept { return id_; }
  // Returns when there is output, the program or a stream has ended, or the time is over.
  void wait(std::chrono::milliseconds at_most);
  // Takes what is there, at most the buffer's size; 0: nothing now. At the stream's end it is closed.
  [[nodiscard]] std::size_t read(OutputStream stream, std::span<char> buffer);
  [[nodiscard]] bool is_open(OutputStream stream) const noexcept { return bool(pipes_[index(stream)]); }
  [[nodiscard]] bool any_open() const noexcept { return is_open(OutputStream::out) || is_open(OutputStream::err); }
  // The program itself has ended; what it started may live on and hold its streams.
  [[nodiscard]] bool ended();
  void signal_group(int number) const;  // none once finish() was called
  // Waits for the program's end if it still runs, and lets it go.
  ChildEnd finish();

 private:
  SupervisedChild(int id, std::array<Descriptor, 2> pipes);
  [[nodiscard]] static std::size_t index(OutputStream stream) noexcept { return static_cast<std::size_t>(stream); }

  int id_;
  std::array<Descriptor, 2> pipes_;
  Descriptor end_notice_;  // readable once the program has ended; none: the system has none
  bool ended_ = false;
  bool finished_ = false;
};

[[nodiscard]] std::string signal_name(int number);  // "SIGSEGV"

}  // namespace accelscope::capture::system
