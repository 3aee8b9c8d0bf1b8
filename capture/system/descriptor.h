// What reaching an agent needs of the operating system; all that is particular to it is here and in tool.cpp.
// Descriptors are never inherited by programs that are started, other than as their input and output.
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

namespace accelscope::capture::system {

// "WHAT: No such file or directory", from errno.
[[nodiscard]] Error system_error(std::string_view what);

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
[[nodiscard]] Result<std::pair<Descriptor, Descriptor>> make_pipe();         // the first reads what the second writes
[[nodiscard]] Result<Descriptor> connect_to_loopback(std::uint16_t port);    // TCP, waits for the connection
[[nodiscard]] Result<Descriptor> open_for_reading(const std::string& file);
// The file, made if it is not there and locked as long as the descriptor is open. Nothing if another process has it.
[[nodiscard]] Result<std::optional<Descriptor>> try_lock(const std::string& file);
[[nodiscard]] bool is_locked(const std::string& file);  // by a living process, this one included

// Of a stream: all that comes until the other side ends it. Given up when stop() says so, and beyond `limit` bytes.
[[nodiscard]] Result<std::string> read_to_end(const Descriptor& stream, std::size_t limit,
                                              const std::function<bool()>& stop);
[[nodiscard]] Result<void> write_all(const Descriptor& stream, std::string_view text);
[[nodiscard]] bool peer_has_ended(const Descriptor& stream);  // both ways
void write_line(std::string_view text);                       // to standard output, past all buffers
void end_writing(const Descriptor& stream);                   // the other side reads an end

// A folder that only this user can enter, with a path short enough for sockets in it. Removed with the object, and
// locked as long as that lives.
class PrivateFolder {
 public:
  [[nodiscard]] static Result<PrivateFolder> make(std::string_view purpose);  // a word for its name
  // One that exists, of this user and with such a name; the lock is taken if nobody has it.
  [[nodiscard]] static Result<PrivateFolder> take_over(const std::string& path, std::string_view purpose);
  // Removes those that programs which were killed have left, unless they are to be kept.
  static void remove_left_behind(std::string_view purpose, const std::function<bool(const std::string&)>& keep);
  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder() { remove(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Descriptor& lock() const noexcept { return lock_; }  // a copy of it keeps the lock, too

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  void remove() noexcept;
  std::string path_;
  Descriptor lock_;
};

// A socket in the file system that only programs of this user may connect to.
class LocalListener {
 public:
  [[nodiscard]] static Result<LocalListener> open(const std::string& path);
  // The next connection of this user or of root, if one waits; those of other users are closed unread.
  [[nodiscard]] std::optional<Descriptor> take() const;
  [[nodiscard]] std::optional<Descriptor> accept(
      const std::function<bool()>& stop) const;                                    // nothing when stop() says so
  [[nodiscard]] const Descriptor& descriptor() const noexcept { return socket_; }  // readable when a connection waits

 private:
  explicit LocalListener(Descriptor socket) : socket_(std::move(socket)) {}
  Descriptor socket_;
};
[[nodiscard]] Result<Descriptor> connect_to_local(const std::string& path);

struct SystemNames {
  std::string system;   // "Linux"
  std::string machine;  // "x86_64"
};
[[nodiscard]] SystemNames this_system();
[[nodiscard]] std::string own_program();  // the whole path of this program; "" if the system does not tell
[[nodiscard]] std::string environment_value(const char* name);  // "" if there is none
// As a program with these settings of its own has it, "NAME=VALUE"; of several the last counts.
[[nodiscard]] std::string environment_value(const std::string& name, const std::vector<std::string>& settings);
void wipe(std::string& secret) noexcept;                          // overwrites and empties
[[nodiscard]] Result<std::string> random_hex(std::size_t bytes);  // for secrets

// The standard streams of a program that must not lose what it does over them.

// First of all in main(). A stream that the caller has closed is opened onto nothing: else the next file that is opened
// would take its place, and what is printed would go into that file. Writing to a closed standard output fails, as on a
// full disk.
void open_closed_streams();

// A file that may grow no further (ulimit -f) is an error of the write and does not end this program.
void ignore_file_size_signal();

// All of it, to a file, a pipe or a terminal, through interruptions. False: nobody reads it any more or there is no
// room; errno says which.
[[nodiscard]] bool write_all(int file, std::string_view bytes);

// While it lives, a reader that has gone is an error of the write and does not end this program. Programs that are
// started meanwhile have the signal as usual.
class IgnoredBrokenPipe {
 public:
  IgnoredBrokenPipe();
  ~IgnoredBrokenPipe();
  IgnoredBrokenPipe(const IgnoredBrokenPipe&) = delete;
  IgnoredBrokenPipe& operator=(const IgnoredBrokenPipe&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace accelscope::capture::system
