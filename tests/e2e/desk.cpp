#include "tests/e2e/desk.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

namespace accelscope::test {
namespace {

using namespace std::chrono_literals;

using test::kPatience;
const std::string kPrograms = accelscope::test::programs_folder();

}  // namespace

std::optional<Screen> Screen::read(const std::string& path) {
  std::ifstream in(path);
  Screen screen(std::string((std::istreambuf_iterator<char>(in)), {}));
  if (screen.text_.empty()) return std::nullopt;
  screen.parser_ = std::make_shared<simdjson::dom::parser>();
  if (screen.parser_->parse(screen.text_).get(screen.root_) != simdjson::SUCCESS) return std::nullopt;
  return screen;
}

bool Screen::settled() const {
  bool settled = false;
  return root_["settled"].get(settled) == simdjson::SUCCESS && settled;
}

std::vector<std::string> Screen::texts() const {
  std::vector<std::string> texts;
  for (const simdjson::dom::element shown : root_["texts"].get_array()) {
    texts.emplace_back(std::string_view(shown.get_string()));
  }
  return texts;
}

bool Screen::shows(std::string_view text) const {
  const std::vector<std::string> shown = texts();
  return std::any_of(shown.begin(), shown.end(),
                     [&](const std::string& each) { return each.find(text) != std::string::npos; });
}

std::optional<Place> Screen::find(const std::string& widget, double across, double down) const {
  simdjson::dom::array sides;
  if (root_["widgets"][widget].get(sides) != simdjson::SUCCESS) return std::nullopt;
  double side[4] = {};
  for (std::size_t i = 0; i < 4; ++i) side[i] = sides.at(i).get_double();
  return Place{static_cast<int>(side[0] + across * (side[2] - side[0])),
               static_cast<int>(side[1] + down * (side[3] - side[1]))};
}

int Screen::count(const char* what) const {
  double count = 0;
  return root_[what].get(count) == simdjson::SUCCESS ? static_cast<int>(count) : 0;
}

std::vector<std::string> Screen::widgets(std::string_view prefix) const {
  std::vector<std::string> names;
  for (const simdjson::dom::key_value_pair widget : root_["widgets"].get_object()) {
    if (widget.key.starts_with(prefix)) names.emplace_back(widget.key);
  }
  return names;
}

std::string Screen::tab(std::string_view key) const {
  simdjson::dom::array tabs;
  simdjson::dom::element value;
  if (root_["state"]["tabs"].get(tabs) != simdjson::SUCCESS || tabs.size() == 0) return {};
  return tabs.at(0)[key].get(value) == simdjson::SUCCESS ? simdjson::to_string(value) : std::string();
}

std::string Screen::last_error() const {
  std::string_view error;
  return root_["state"]["last_error"].get(error) == simdjson::SUCCESS ? std::string(error) : text_;
}

Desk::Desk(int width, int height)
    : folder_(std::filesystem::temp_directory_path() / fmt::format("accelscope-desk-{}", std::random_device{}())) {
  std::filesystem::create_directory(folder_);
  width_ = width;
  Result<Process> display =
      Process::start({"Xvfb", "-displayfd", "1", "-screen", "0", fmt::format("{}x{}x24", width, height), "-nolisten",
                      "tcp", "-fbdir", folder_.string()});
  REQUIRE_MESSAGE(display.ok(), (display.ok() ? "" : display.message()));
  display_.emplace(std::move(*display));
  // The display's number is the first line that holds nothing else.
  std::optional<std::string> line = display_->read_line(kPatience);
  while (line && line->find_first_not_of("0123456789") != std::string::npos) line = display_->read_line(kPatience);
  REQUIRE(line.has_value());
  ::setenv("DISPLAY", (":" + *line).c_str(), 1);
  ::setenv("XDG_STATE_HOME", folder_.c_str(), 1);
  ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  // The graphics driver keeps memory when it is unloaded; what our own code leaks the other tests tell.
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

Desk::~Desk() {
  viewer_.reset();  // before its display
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Desk::run_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {kPrograms + "/accelscope"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Result<Process> program = Process::start(argv);
  REQUIRE(program.ok());
  const int code = program->finish(kPatience);
  REQUIRE_MESSAGE(code == 0, program->output());
}

void Desk::open_viewer(const std::string& target, const std::vector<std::string>& options) {
  std::error_code ignored;
  std::filesystem::remove(file("state.json"), ignored);
  std::vector<std::string> command = {kPrograms + "/accelscope", target, "--dump-state", file("state.json")};
  command.insert(command.end(), options.begin(), options.end());
  Result<Process> viewer = Process::start(command);
  REQUIRE(viewer.ok());
  viewer_.emplace(std::move(*viewer));
  clicks_ = keys_ = notches_ = 0;
  response({"search", "--sync", "--onlyvisible", "--name", "Accelscope"});
  (void)wait_until("a session is open", [](const Screen& screen) { return !screen.tab("title").empty(); });
}

void Desk::open_silent_viewer(const std::string& target) {
  Result<Process> viewer = Process::start({kPrograms + "/accelscope", target});
  REQUIRE(viewer.ok());
  viewer_.emplace(std::move(*viewer));
  response({"search", "--sync", "--onlyvisible", "--name", "Accelscope"});
}

// Of the X window dump that Xvfb keeps in a file: its header is of 32-bit words, the most significant byte first.
std::vector<std::uint32_t> Desk::picture() const {
  std::ifstream in(folder_ / "Xvfb_screen0", std::ios::binary);
  const std::string dump((std::istreambuf_iterator<char>(in)), {});
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(dump[at + i]);
    return value;
  };
  REQUIRE(dump.size() > 100);
  const std::size_t header = word(0) + word(76) * std::size_t{12};  // and its colours
  const std::size_t columns = word(16);
  const std::size_t rows = word(20);
  const std::size_t stride = word(48);
  REQUIRE(word(44) == 32);
  REQUIRE(dump.size() >= header + rows * stride);
  std::vector<std::uint32_t> pixels(columns * rows);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      const std::size_t at = header + y * stride + x * 4;
      const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(dump[at + i])}; };
      pixels[y * columns + x] = byte(2) << 16U | byte(1) << 8U | byte(0);
    }
  }
  return pixels;
}

void Desk::wait_until_still() {
  constexpr auto kStill = 1500ms;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::vector<std::uint32_t> last = picture();
  auto since = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - since < kStill) {
    std::this_thread::sleep_for(50ms);
    std::vector<std::uint32_t> now = picture();
    if (now != last) since = std::chrono::steady_clock::now();
    last = std::move(now);
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  }
}

Screen Desk::wait_until(const char* what, const std::function<bool(const Screen&)>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::optional<Screen> screen;
  while (std::chrono::steady_clock::now() < deadline) {
    screen = Screen::read(file("state.json"));
    if (screen && condition(*screen)) return *screen;
    std::this_thread::sleep_for(10ms);
  }
  FAIL("waited in vain until " << std::string(what) << "; the screen: " << (screen ? screen->text() : "none"));
  std::abort();  // FAIL does not return
}

Screen Desk::settle() {
  return wait_until("the viewer has settled", [this](const Screen& screen) {
    return screen.settled() && screen.count("clicks") >= clicks_ && screen.count("keys") >= keys_ &&
           screen.count("notches") >= notches_;
  });
}

void Desk::move(Place to) {
  pointer_ = to;
  response({"mousemove", std::to_string(to.x), std::to_string(to.y)});
}

void Desk::click(Place at, int button) {
  ++clicks_;
  pointer_ = at;
  response({"mousemove", std::to_string(at.x), std::to_string(at.y), "click", std::to_string(button)});
}

void Desk::click_on(const std::string& widget) {
  const Screen screen =
      wait_until(("there is " + widget).c_str(), [&](const Screen& seen) { return seen.has(widget); });
  click(*screen.find(widget));
}

void Desk::drag(Place from, Place to, int button) {
  const std::string which = std::to_string(button);
  response({"mousemove", std::to_string(from.x), std::to_string(from.y), "mousedown", which});
  for (int step = 1; step <= 4; ++step) {
    move({from.x + (to.x - from.x) * step / 4, from.y + (to.y - from.y) * step / 4});
  }
  ++clicks_;
  response({"mouseup", which});
}

void Desk::wheel(Place at, int notches) {
  move(at);
  notches_ += std::abs(notches);
  response({"click", "--repeat", std::to_string(std::abs(notches)), notches > 0 ? "4" : "5"});
}

void Desk::key(const std::string& keys) {
  keys_ += 1 + static_cast<int>(std::count(keys.begin(), keys.end(), '+'));
  response({"key", keys});
}

void Desk::type(const std::string& text) { response({"type", text}); }

void Desk::response(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "xdotool");
  Result<Process> tool = Process::start(arguments);
  REQUIRE(tool.ok());
  const int code = tool->finish(kPatience);
  REQUIRE_MESSAGE(code == 0, tool->output());
}

Screen Desk::close_by_key() {
  key("ctrl+q");
  return closed();
}

Screen Desk::close_by_signal() {
  viewer_->interrupt();
  return closed();
}

void Desk::interrupt() {
  viewer_->interrupt();
  CHECK(viewer_->finish(kPatience) == 0);
}

Screen Desk::closed() {
  const int code = viewer_->finish(kPatience);
  CHECK_MESSAGE(code == 0, viewer_->output());
  const std::optional<Screen> screen = Screen::read(file("state.json"));
  REQUIRE_MESSAGE(screen.has_value(), viewer_->output());
  return *screen;
}

}  // namespace accelscope::test
