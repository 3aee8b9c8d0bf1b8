// What reaching an agent needs of the operating system; everything particular to it is in system.cpp. Descriptors are
// never inherited by programs that are started, other than as their input and output.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture {

// Owns an open descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  [[nodiscard]] Result<Descriptor> duplicate() const;
  void close() noexcept;
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

[[nodiscard]] Result<std::pair<Descriptor, Descriptor>> make_stream_pair();  // what one end writes the other reads
[[nodiscard]] Result<Descriptor> connect_to_loopback(std::uint16_t port);    // TCP, waits for the connection
[[nodiscard]] Result<Descriptor> open_for_reading(const std::string& file);

// Of a stream: all that comes until the other side ends it. Given up when stop() says so, and beyond `limit` bytes.
[[nodiscard]] Result<std::string> read_to_end(const Descriptor& stream, std::size_t limit,
                                              const std::function<bool()>& stop);
[[nodiscard]] Result<void> write_all(const Descriptor& stream, std::string_view text);
[[nodiscard]] bool peer_has_ended(const Descriptor& stream);  // both ways
void write_line(std::string_view text);                       // to standard output, past all buffers
void end_writing(const Descriptor& stream);                   // the other side reads an end

// A folder that only this user can enter, with a path short enough for sockets in it. Removed with the object.
class PrivateFolder {
 public:
  [[nodiscard]] static Result<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder() { remove(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  void remove() noexcept;
  std::string path_;
};

// A socket in the file system that only programs of this user may connect to.
class LocalListener {
 public:
  [[nodiscard]] static Result<LocalListener> open(const std::string& path);
  // Nothing when stop() says so. Connections of other users are closed unread.
  [[nodiscard]] std::optional<Descriptor> accept(const std::function<bool()>& stop) const;

 private:
  explicit LocalListener(Descriptor socket) : socket_(std::move(socket)) {}
  Descriptor socket_;
};
[[nodiscard]] Result<Descriptor> connect_to_local(const std::string& path);

struct ToolStart {
  std::vector<std::string> argv;         // the program's whole path first
  std::vector<std::string> environment;  // "NAME=VALUE", besides this program's own
  Descriptor input, output;              // none: pipes to this program
  bool shares_terminal = false;          // may read from our terminal and gets its Ctrl+C
};

// A program that is used and ended by this one. Its standard error goes to a file without a name, so that it never
// waits for somebody to read it.
class Tool {
 public:
  [[nodiscard]] static Result<Tool> start(ToolStart settings);
  Tool(Tool&& other) noexcept;
  Tool& operator=(Tool&& other) noexcept;
  ~Tool() { end(); }

  [[nodiscard]] int id() const noexcept { return id_; }  // of the process; 0 once it has ended
  [[nodiscard]] bool ended();
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }  // once ended; 128 + the number of a signal
  [[nodiscard]] std::string errors() const;                            // the last 16 KiB it has said
  [[nodiscard]] Result<void> write(std::string_view text) const { return write_all(input_, text); }
  void close_input() noexcept { input_.close(); }
  // Waits up to a tenth of a second for output. False at its end.
  [[nodiscard]] bool read(std::string& output);
  // Waits for the end; false when the time is over or stop() says so.
  [[nodiscard]] bool wait(std::chrono::milliseconds limit, const std::function<bool()>& stop);
  void end();  // asks it to end, and ends it after two seconds

 private:
  Tool() = default;
  int id_ = 0;
  int exit_code_ = 0;
  Descriptor input_, output_, errors_;
};

struct SystemNames {
  std::string system;   // "Linux"
  std::string machine;  // "x86_64"
};
[[nodiscard]] SystemNames this_system();
[[nodiscard]] std::string own_program();  // the whole path of this program; "" if the system does not tell
[[nodiscard]] std::string environment_value(const char* name);    // "" if there is none
void wipe(std::string& secret) noexcept;                          // overwrites and empties
[[nodiscard]] Result<std::string> random_hex(std::size_t bytes);  // for secrets

}  // namespace accelscope::capture
