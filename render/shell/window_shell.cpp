#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <utility>

#include "render/base/imgui_compat.h"
#include "render/shell/frame_loop.h"
#include "render/shell/gl_renderer.h"
#include "render/shell/shell.h"

namespace accelscope::render {

namespace {

struct KeyPair {
  int glfw;
  Key key;
};

constexpr KeyPair kKeys[] = {
    {GLFW_KEY_TAB, Key::tab},
    {GLFW_KEY_LEFT, Key::left},
    {GLFW_KEY_RIGHT, Key::right},
    {GLFW_KEY_UP, Key::up},
    {GLFW_KEY_DOWN, Key::down},
    {GLFW_KEY_PAGE_UP, Key::page_up},
    {GLFW_KEY_PAGE_DOWN, Key::page_down},
    {GLFW_KEY_HOME, Key::home},
    {GLFW_KEY_END, Key::end},
    {GLFW_KEY_INSERT, Key::insert},
    {GLFW_KEY_DELETE, Key::del},
    {GLFW_KEY_BACKSPACE, Key::backspace},
    {GLFW_KEY_SPACE, Key::space},
    {GLFW_KEY_ENTER, Key::enter},
    {GLFW_KEY_ESCAPE, Key::escape},
    {GLFW_KEY_KP_ENTER, Key::keypad_enter},
    {GLFW_KEY_COMMA, Key::comma},
    {GLFW_KEY_PERIOD, Key::period},
    {GLFW_KEY_SLASH, Key::slash},
    {GLFW_KEY_SEMICOLON, Key::semicolon},
    {GLFW_KEY_APOSTROPHE, Key::apostrophe},
    {GLFW_KEY_LEFT_BRACKET, Key::bracket_left},
    {GLFW_KEY_RIGHT_BRACKET, Key::bracket_right},
    {GLFW_KEY_BACKSLASH, Key::backslash},
    {GLFW_KEY_GRAVE_ACCENT, Key::grave},
    {GLFW_KEY_MINUS, Key::minus},
    {GLFW_KEY_KP_SUBTRACT, Key::minus},
    {GLFW_KEY_EQUAL, Key::equals},
    {GLFW_KEY_KP_ADD, Key::equals},
    {GLFW_KEY_LEFT_CONTROL, Key::left_ctrl},
    {GLFW_KEY_RIGHT_CONTROL, Key::right_ctrl},
    {GLFW_KEY_LEFT_SHIFT, Key::left_shift},
    {GLFW_KEY_RIGHT_SHIFT, Key::right_shift},
    {GLFW_KEY_LEFT_ALT, Key::left_alt},
    {GLFW_KEY_RIGHT_ALT, Key::right_alt},
#ifdef __APPLE__
    {GLFW_KEY_LEFT_SUPER, Key::left_ctrl},  // the command key does there what Ctrl does elsewhere
    {GLFW_KEY_RIGHT_SUPER, Key::right_ctrl},
#endif
};

Key from(Key first, int offset) { return static_cast<Key>(static_cast<int>(first) + offset); }

// GLFW's key numbers as our keys. Letters follow the user's keyboard layout, so that Ctrl+Z is where it is printed.
Key key_from_glfw(int key, int scancode) {
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) {
    const char* printed = glfwGetKeyName(key, scancode);
    if (printed != nullptr && printed[0] >= 'a' && printed[0] <= 'z' && printed[1] == '\0') {
      return from(Key::a, printed[0] - 'a');
    }
    return from(Key::a, key - GLFW_KEY_A);
  }
  if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return from(Key::digit0, key - GLFW_KEY_0);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return from(Key::digit0, key - GLFW_KEY_KP_0);
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return from(Key::f1, key - GLFW_KEY_F1);
  for (const KeyPair& pair : kKeys) {
    if (pair.glfw == key) return pair.key;
  }
  return Key::none;
}

// The one thing that a signal handler may write.
volatile std::sig_atomic_t g_stop_signal = 0;

void stop_on_signal(int signal) {
  g_stop_signal = signal;
  std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

Error glfw_error(const std::string& what, const std::string& advice) {
  const char* description = nullptr;
  glfwGetError(&description);
  return Error{what + (description != nullptr ? std::string(": ") + description : std::string()) + "; " + advice};
}

struct GlfwLibrary {
  bool ready = glfwInit() == GLFW_TRUE;
  GlfwLibrary() = default;
  GlfwLibrary(const GlfwLibrary&) = delete;
  GlfwLibrary& operator=(const GlfwLibrary&) = delete;
  ~GlfwLibrary() {
    if (ready) glfwTerminate();
  }
};

std::string utf8(unsigned code) {
  std::string text;
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | code >> 6);
    text += static_cast<char>(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | code >> 12);
    text += static_cast<char>(0x80U | (code >> 6 & 0x3fU));
    text += static_cast<char>(0x80U | (code & 0x3fU));
  } else {
    text += static_cast<char>(0xf0U | code >> 18);
    text += static_cast<char>(0x80U | (code >> 12 & 0x3fU));
    text += static_cast<char>(0x80U | (code >> 6 & 0x3fU));
    text += static_cast<char>(0x80U | (code & 0x3fU));
  }
  return text;
}

class WindowShell {
 public:
  WindowShell(FrameClient& client, const WindowOptions& options) : client_(client), options_(options) {}
  WindowShell(const WindowShell&) = delete;
  WindowShell& operator=(const WindowShell&) = delete;
  ~WindowShell() {
    client_.set_wake({});
    renderer_.reset();
    loop_.reset();
    for (GLFWcursor* cursor : cursors_) {
      if (cursor != nullptr) glfwDestroyCursor(cursor);
    }
    if (window_ != nullptr) glfwDestroyWindow(window_);
  }

  [[nodiscard]] Result<void> open();
  void run();

 private:
  void place_within_monitor();
  [[nodiscard]] static WindowShell& of(GLFWwindow* window) {
    auto& shell = *static_cast<WindowShell*>(glfwGetWindowUserPointer(window));
    shell.pace_.event();
    return shell;
  }
  void install_callbacks();
  void connect_clipboard();
  void set_icon();
  void update_pixel_sizes();
  void request_close() { done_ = done_ || client_.close_requested(); }
  [[nodiscard]] bool frame_is_due(double now) const;
  void wait(double now);
  void draw_frame(double now);
  void show_cursor();

  FrameClient& client_;
  const WindowOptions& options_;
  GLFWwindow* window_ = nullptr;
  GlTextures textures_;
  std::unique_ptr<FrameLoop> loop_;
  std::unique_ptr<GlRenderer> renderer_;
  InputQueue queue_;
  std::array<GLFWcursor*, ImGuiMouseCursor_COUNT> cursors_{};
  std::shared_ptr<std::atomic<bool>> woken_ = std::make_shared<std::atomic<bool>>(false);
  int width_ = 0;  // pixels
  int height_ = 0;
  float scale_ = 1;
  float mouse_factor_ = 1;  // pixels per window coordinate: 2 on a Mac's Retina screen
  FramePace pace_;
  double last_frame_ = 0;
  double frame_seconds_ = 1.0 / 60;
  bool done_ = false;
};

Result<void> WindowShell::open() {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, options_.scale > 0 ? GLFW_FALSE : GLFW_TRUE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "accelscope");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "accelscope");
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // until it lies within the monitor
  const float factor = options_.scale > 0 ? options_.scale : 1;
  const auto sized = [factor](int units) { return static_cast<int>(static_cast<float>(units) * factor); };
  window_ = glfwCreateWindow(sized(options_.width), sized(options_.height), options_.title.c_str(), nullptr, nullptr);
  if (window_ == nullptr) {
    return glfw_error("The window cannot be opened", "OpenGL 3.3 is needed; update the graphics driver");
  }
  place_within_monitor();
  glfwSetWindowUserPointer(window_, this);
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor(); monitor != nullptr) {
    const GLFWvidmode* mode = glfwGetVideoMode(monitor);
    if (mode != nullptr && mode->refreshRate > 0) frame_seconds_ = 1.0 / std::clamp(mode->refreshRate, 30, 240);
  }
  loop_ = std::make_unique<FrameLoop>(options_.theme, textures_);
  renderer_ = std::make_unique<GlRenderer>();
  if (auto started = renderer_->start(); !started) {
    renderer_.reset();
    return started.error();
  }
  set_icon();
  connect_clipboard();
  install_callbacks();
  constexpr std::pair<ImGuiMouseCursor_, int> kCursors[] = {
      {ImGuiMouseCursor_Arrow, GLFW_ARROW_CURSOR},      {ImGuiMouseCursor_TextInput, GLFW_IBEAM_CURSOR},
      {ImGuiMouseCursor_ResizeNS, GLFW_VRESIZE_CURSOR}, {ImGuiMouseCursor_ResizeEW, GLFW_HRESIZE_CURSOR},
      {ImGuiMouseCursor_Hand, GLFW_HAND_CURSOR},        {ImGuiMouseCursor_ResizeAll, GLFW_CROSSHAIR_CURSOR},
  };
  for (const auto& [cursor, shape] : kCursors)
    cursors_[static_cast<std::size_t>(cursor)] = glfwCreateStandardCursor(shape);
  client_.set_wake([woken = woken_] {
    woken->store(true);
    glfwPostEmptyEvent();
  });
  return {};
}

// A window that is larger than the monitor's free part has its status bar outside: it is made to fit with its frame,
// and fills that part where a window manager can have it so.
void WindowShell::place_within_monitor() {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  int width = 0;
  int height = 0;
  glfwGetWindowSize(window_, &width, &height);
  if (monitor != nullptr) {
    WindowPlace free;
    WindowFrame frame;
    glfwGetMonitorWorkarea(monitor, &free.x, &free.y, &free.width, &free.height);
    glfwGetWindowFrameSize(window_, &frame.left, &frame.top, &frame.right, &frame.bottom);
    const WindowPlace place = window_within(free, frame, width, height);
    const bool fits = place.width == width && place.height == height;
    if (!fits) glfwSetWindowSize(window_, place.width, place.height);
    glfwSetWindowPos(window_, place.x, place.y);
    if (!fits) glfwMaximizeWindow(window_);
  }
  glfwShowWindow(window_);
}

void WindowShell::set_icon() {
  std::vector<GLFWimage> images;
  std::vector<Picture> pictures = options_.icons;  // GLFW wants writable pixels
  for (Picture& picture : pictures) images.push_back({picture.width, picture.height, picture.rgba.data()});
  if (!images.empty()) glfwSetWindowIcon(window_, static_cast<int>(images.size()), images.data());
}

void WindowShell::connect_clipboard() {
  compat::set_clipboard(
      window_, [](void* window) { return glfwGetClipboardString(static_cast<GLFWwindow*>(window)); },
      [](void* window, const char* text) { glfwSetClipboardString(static_cast<GLFWwindow*>(window), text); });
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
}

void WindowShell::install_callbacks() {
  glfwSetCursorPosCallback(window_, [](GLFWwindow* window, double x, double y) {
    WindowShell& shell = of(window);
    const auto factor = static_cast<double>(shell.mouse_factor_);
    shell.queue_.mouse_moved({static_cast<float>(x * factor), static_cast<float>(y * factor)});
  });
  glfwSetCursorEnterCallback(window_, [](GLFWwindow* window, int entered) {
    if (entered == GLFW_FALSE) of(window).queue_.mouse_moved({-1, -1});
  });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int) {
    if (button < 0 || button >= static_cast<int>(kMouseButtonCount)) return;
    of(window).queue_.mouse_button(static_cast<MouseButton>(button), action == GLFW_PRESS);
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* window, double x, double y) {
    of(window).queue_.wheel({static_cast<float>(x), static_cast<float>(y)});
  });
  glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int scancode, int action, int modifiers) {
    if (action == GLFW_REPEAT) return;  // ImGui repeats keys itself
    WindowShell& shell = of(window);
    const Key ours = key_from_glfw(key, scancode);
    shell.queue_.key(ours, action == GLFW_PRESS);
    if (ours == Key::q && action == GLFW_PRESS && (modifiers & GLFW_MOD_CONTROL) != 0) shell.request_close();
  });
  glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned code) { of(window).queue_.text(utf8(code)); });
  glfwSetWindowFocusCallback(window_,
                             [](GLFWwindow* window, int focused) { of(window).queue_.focus(focused == GLFW_TRUE); });
  glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
    of(window).client_.files_dropped(std::vector<std::string>(paths, paths + count));
  });
  glfwSetWindowCloseCallback(window_, [](GLFWwindow* window) {
    WindowShell& shell = of(window);
    shell.request_close();
    glfwSetWindowShouldClose(window, shell.done_ ? GLFW_TRUE : GLFW_FALSE);
  });
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* window) { (void)of(window); });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* window, int, int) { (void)of(window); });
  glfwSetWindowContentScaleCallback(window_, [](GLFWwindow* window, float, float) { (void)of(window); });
}

void WindowShell::update_pixel_sizes() {
  int window_width = 0;
  int window_height = 0;
  glfwGetWindowSize(window_, &window_width, &window_height);
  glfwGetFramebufferSize(window_, &width_, &height_);
  mouse_factor_ = window_width > 0 ? static_cast<float>(width_) / static_cast<float>(window_width) : 1;
  float scale_x = 1;
  float scale_y = 1;
  glfwGetWindowContentScale(window_, &scale_x, &scale_y);
  scale_ = options_.scale > 0 ? options_.scale : std::clamp(scale_x, 0.5F, 4.0F);
}

bool WindowShell::frame_is_due(double now) const { return pace_.due(now) || !queue_.empty() || client_.animates(); }

// Sleeps until an event, a wake-up or the next wanted frame. While frames follow each other it only keeps the pace,
// since the swap does not wait for the screen everywhere.
void WindowShell::wait(double now) {
  if (!frame_is_due(now)) {
    glfwWaitEventsTimeout(std::max(pace_.sleep_s(now), 0.001));
    return;
  }
  glfwPollEvents();
  for (double left = last_frame_ + frame_seconds_ * 0.9 - glfwGetTime(); left > 0;
       left = last_frame_ + frame_seconds_ * 0.9 - glfwGetTime()) {
    glfwWaitEventsTimeout(left);
  }
}

void WindowShell::show_cursor() {
  const ImGuiMouseCursor wanted = ImGui::GetMouseCursor();
  GLFWcursor* cursor = wanted >= 0 ? cursors_[static_cast<std::size_t>(wanted)] : nullptr;
  glfwSetCursor(window_, cursor != nullptr ? cursor : cursors_[ImGuiMouseCursor_Arrow]);
}

void WindowShell::draw_frame(double now) {
  update_pixel_sizes();
  if (width_ <= 0 || height_ <= 0) {  // minimised
    pace_.rest();
    (void)queue_.next_frame(false);
    return;
  }
  if (loop_->prepare(width_, height_, scale_)) renderer_->upload_fonts();
  const double passed = last_frame_ > 0 ? std::max(now - last_frame_, 0.001) : frame_seconds_;
  last_frame_ = now;
  loop_->draw(client_, queue_.next_frame(loop_->takes_text()), passed);
  pace_.drawn(now, loop_->wants_frame(), loop_->wants_frame_after());
  show_cursor();
  renderer_->render(width_, height_, loop_->ui().colour(Colour::bg2));
  for (auto& done : loop_->take_picture_requests()) done(GlRenderer::read_back(width_, height_));
  glfwSwapBuffers(window_);
}

void WindowShell::run() {
  while (!done_ && !client_.wants_to_quit() && g_stop_signal == 0) {
    wait(glfwGetTime());
    if (woken_->exchange(false)) pace_.event();
    if (const double now = glfwGetTime(); frame_is_due(now)) draw_frame(now);
  }
}

}  // namespace

// The desktop window: GLFW for window and input, frames only when something happens. Idle means idle: without input,
// animation or a wake-up no frame is drawn.

Result<void> run_in_window(FrameClient& client, const WindowOptions& options) {
  const GlfwLibrary glfw;
  if (!glfw.ready) {
    return glfw_error("No window can be opened here",
                      "run it in a desktop session or set DISPLAY; without a display the command line still works");
  }
  WindowShell shell(client, options);
  TRY(shell.open());
  g_stop_signal = 0;
  std::signal(SIGTERM, stop_on_signal);
  std::signal(SIGINT, stop_on_signal);
  shell.run();
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  return {};
}

}  // namespace accelscope::render
