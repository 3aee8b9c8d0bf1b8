#include "app/terminal/screen.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "app/terminal/terminal.h"
#include "core/base/text.h"

#if !defined(_WIN32)
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#endif

namespace accelscope::app::terminal {
namespace {

constexpr std::size_t kMostColumns = 1000, kMostRows = 1000;

std::size_t size_of(const char* variable) {
  const char* value = std::getenv(variable);
  std::size_t number = 0;
  return value != nullptr && read_number(std::string_view(value), number) ? number : 0;
}

}  // namespace

#if defined(_WIN32)

ScreenSize terminal_size() { return {}; }
Result<std::unique_ptr<Screen>> Screen::open() { return Error{"this system's terminal is not known; use --once"}; }
Screen::~Screen() = default;
void Screen::show(const std::vector<ScreenLine>&) {}
std::optional<ScreenKey> Screen::wait_key(std::chrono::milliseconds) { return std::nullopt; }
int Screen::ended() const noexcept { return 0; }
void Screen::leave() {}
void Screen::enter() {}

#else

ScreenSize terminal_size() {
  winsize window{};
  ScreenSize size{size_of("COLUMNS"), size_of("LINES")};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0)
    size = {window.ws_col, window.ws_row};
  if (size.columns == 0 || size.columns > kMostColumns) size.columns = ScreenSize{}.columns;
  if (size.rows == 0 || size.rows > kMostRows) size.rows = ScreenSize{}.rows;
  return size;
}

namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::array kEnds = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kCrashes = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

// What signal handlers read and write.
volatile std::sig_atomic_t g_ended = 0, g_entered = 0, g_stopped = 0;
termios g_before;  // written before the handlers are there
std::array<struct sigaction, NSIG> g_handlers;

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the terminal is gone: SIGHUP says so
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void restore() {
  if (g_entered == 0) return;
  g_entered = 0;
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
}

void on_end(int signal) {
  if (g_ended == 0) {
    g_ended = signal;
    return;
  }
  restore();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void on_crash(int signal) {
  restore();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void on_stop(int) { g_stopped = 1; }
void on_new_size(int) {}  // it only ends a wait

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, &g_handlers[static_cast<std::size_t>(signal)]);
}

void unhandle(int signal) { ::sigaction(signal, &g_handlers[static_cast<std::size_t>(signal)], nullptr); }

struct KeyText {
  std::string_view text;
  ScreenKey key;
};
constexpr std::array kKeyTexts = {KeyText{"\x1b[A", kKeyUp},      KeyText{"\x1b[B", kKeyDown},
                                  KeyText{"\x1bOA", kKeyUp},      KeyText{"\x1bOB", kKeyDown},
                                  KeyText{"\x1b[5~", kKeyPageUp}, KeyText{"\x1b[6~", kKeyPageDown},
                                  KeyText{"\x1b[H", kKeyHome},    KeyText{"\x1b[F", kKeyEnd}};

// At most so many characters of UTF-8.
std::string_view front(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (at < text.size() && characters > 0) {
    at += std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    --characters;
  }
  return text.substr(0, at);
}

}  // namespace

Result<std::unique_ptr<Screen>> Screen::open() {
  if (!is_terminal(stdout)) return Error{"the standard output is no terminal; use --once"};
  std::unique_ptr<Screen> screen(new Screen);
  g_ended = 0;
  g_stopped = 0;
  for (const int signal : kEnds) handle(signal, on_end);
  for (const int signal : kCrashes) handle(signal, on_crash);
  handle(SIGTSTP, on_stop);
  handle(SIGWINCH, on_new_size);
  screen->enter();
  return screen;
}

Screen::~Screen() {
  leave();
  for (const int signal : kEnds) unhandle(signal);
  for (const int signal : kCrashes) unhandle(signal);
  unhandle(SIGTSTP);
  unhandle(SIGWINCH);
}

int Screen::ended() const noexcept { return g_ended; }

void Screen::leave() { restore(); }

void Screen::enter() {
  if (g_entered != 0) return;
  shown_.clear();
  if (::tcgetattr(STDIN_FILENO, &g_before) == 0) {
    termios keys = g_before;  // Ctrl+C and Ctrl+Z stay signals
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  g_entered = 1;
  write_all(kEnter);
}

void Screen::show(const std::vector<ScreenLine>& lines) {
  const ScreenSize size = terminal_size();
  std::string out;
  if (size != shown_size_) {
    out = "\x1b[0m\x1b[2J";
    shown_.clear();
    shown_size_ = size;
  }
  const std::size_t rows = std::min(lines.size(), size.rows);
  for (std::size_t row = 0; row < std::max(rows, shown_.size()); ++row) {
    ScreenLine line = row < rows ? lines[row] : ScreenLine{};
    line.text = front(plain_text(line.text), size.columns);
    const bool known = row < shown_.size() && shown_[row].text == line.text && shown_[row].is_head == line.is_head;
    if (known) continue;
    out += fmt::format("\x1b[{};1H{}{}\x1b[0m\x1b[K", row + 1, line.is_head ? "\x1b[7m" : "", line.text);
    if (row >= shown_.size()) shown_.resize(row + 1);
    shown_[row] = std::move(line);
  }
  write_all(out);
}

std::optional<ScreenKey> Screen::wait_key(std::chrono::milliseconds limit) {
  if (typed_.empty()) {
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    if (::poll(&keys, 1, static_cast<int>(limit.count())) > 0) {
      std::array<char, 256> buffer{};
      const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
      if (count > 0) typed_.assign(buffer.data(), static_cast<std::size_t>(count));
      if (count == 0 && (keys.revents & POLLHUP) != 0) g_ended = SIGHUP;
    }
  }
  if (g_stopped != 0) {
    g_stopped = 0;
    leave();
    ::raise(SIGSTOP);
    enter();
  }
  if (typed_.empty()) return std::nullopt;
  for (const KeyText& each : kKeyTexts) {
    if (!typed_.starts_with(each.text)) continue;
    typed_.erase(0, each.text.size());
    return each.key;
  }
  const auto key = ScreenKey(static_cast<unsigned char>(typed_.front()));
  typed_.erase(0, 1);
  return key;
}

#endif

}  // namespace accelscope::app::terminal
