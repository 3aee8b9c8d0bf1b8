#include "render/shell/null_shell.h"

#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "render/base/imgui_compat.h"
#include "render/shell/frame_loop.h"

namespace accelscope::render {
namespace {

constexpr double kFrameSeconds = 1.0 / 60;
constexpr std::chrono::minutes kPatience{10};  // only what never comes ends by it

// Hands out handles and forgets the pixels.
class NullTextures final : public Textures {
 public:
  TextureHandle update(TextureHandle handle, int, int, std::span<const Pixel>) override {
    return handle != 0 ? handle : ++last_;
  }
  void release(TextureHandle) override {}

 private:
  TextureHandle last_ = 0;
};

// Of all shells of a program, which are drawn one after another.
SharedFonts& fonts_of_all() {
  static SharedFonts fonts;
  return fonts;
}

const char* get_clipboard(void* text) { return static_cast<std::string*>(text)->c_str(); }
void set_clipboard(void* text, const char* value) { *static_cast<std::string*>(text) = value; }

}  // namespace

struct NullShell::State {
  State(FrameClient& its_client, const NullShellOptions& options)
      : client(its_client),
        loop(options.theme, textures, &fonts_of_all()),
        width(options.width),
        height(options.height),
        scale(options.scale) {
    loop.ui().record_text(true);
    compat::set_clipboard(&clipboard, get_clipboard, set_clipboard);
    ImGui::GetIO().BackendFlags |=
        ImGuiBackendFlags_RendererHasVtxOffset;  // as the GL backend: large lists are allowed
  }

  FrameClient& client;
  NullTextures textures;
  FrameLoop loop;
  InputQueue queue;
  std::string clipboard;
  int width;
  int height;
  float scale;
  Point mouse{-1, -1};
  FramePace pace;
  double now_s = 0;
  double drawn_s = -kFrameSeconds;
  std::shared_ptr<std::atomic<bool>> woken = std::make_shared<std::atomic<bool>>(false);
};

NullShell::NullShell(FrameClient& client, const NullShellOptions& options)
    : state_(std::make_unique<State>(client, options)) {
  client.set_wake([woken = state_->woken] { woken->store(true); });
  frame(2);  // ImGui knows sizes of new windows from the second frame on
}

NullShell::~NullShell() { state_->loop.make_current(); }

void NullShell::draw() {
  if (state_->loop.prepare(state_->width, state_->height, state_->scale)) {
    compat::set_font_texture(*ImGui::GetIO().Fonts, 1);
  }
  const Input& input = state_->queue.next_frame(state_->loop.takes_text());
  state_->loop.draw(state_->client, input, state_->now_s - state_->drawn_s, false);
  state_->drawn_s = state_->now_s;
  state_->pace.drawn(state_->now_s, state_->loop.wants_frame(), state_->loop.wants_frame_after());
  for (auto& done : state_->loop.take_picture_requests()) done(Picture{});
}

void NullShell::frame(int count) {
  for (int i = 0; i < count || !state_->queue.empty(); ++i) {
    state_->now_s = state_->drawn_s + kFrameSeconds;
    state_->pace.event();
    draw();
  }
}

int NullShell::rest(double seconds) {
  const double end = state_->now_s + seconds;
  int drawn = 0;
  while (true) {
    if (state_->woken->exchange(false)) state_->pace.event();
    if (!state_->client.animates()) {
      for (double sleep = 0; state_->now_s < end && (sleep = state_->pace.sleep_s(state_->now_s)) > 0;)
        state_->now_s = std::min(end, state_->now_s + std::max(sleep, 1e-6));
    }
    if (state_->now_s >= end) break;
    draw();
    ++drawn;
    state_->now_s += kFrameSeconds;
  }
  state_->now_s = std::max(state_->now_s, end);
  return drawn;
}

int NullShell::sleep(int times, const std::function<void()>& others_work) {
  int drawn = 0;
  for (int i = 0; i < times; ++i) {
    others_work();
    drawn += rest(FramePace::kLongestSleepS);
  }
  return drawn;
}

bool NullShell::rest_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    if (rest(kFrameSeconds) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void NullShell::wait(double seconds) { frame(static_cast<int>(seconds / kFrameSeconds) + 1); }

bool NullShell::settle(int max_frames) {
  // A busy machine gets its time: what never settles is told by both, frames and seconds.
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (int i = 0; i < max_frames || std::chrono::steady_clock::now() < deadline; ++i) {
    frame();
    if (state_->client.settled()) {
      frame(2);
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // other threads are at work
  }
  return false;
}

void NullShell::move(Point to) {
  state_->mouse = to;
  state_->queue.mouse_moved(to);
  frame();
}

void NullShell::press(MouseButton button) {
  state_->queue.mouse_button(button, true);
  frame();
}

void NullShell::release(MouseButton button) {
  state_->queue.mouse_button(button, false);
  frame();
}

void NullShell::wheel(Point notches) {
  state_->queue.wheel(notches);
  frame(2);
}

bool NullShell::click(std::string_view name, MouseButton button, int times) {
  if (!hover(name)) return false;
  click(state_->mouse, button, times);
  return true;
}

void NullShell::click(Point at, MouseButton button, int times) {
  move(at);
  frame();
  for (int i = 0; i < times; ++i) {
    press(button);
    release(button);
  }
  frame(2);  // what opened is there
}

bool NullShell::hover(std::string_view name) {
  const Rect* rect = find(name);
  if (rect == nullptr) return false;
  move(rect->centre());
  return true;
}

void NullShell::drag(Point from, Point to, MouseButton button, int steps) {
  move(from);
  frame();
  press(button);
  for (int i = 1; i <= steps; ++i) {
    const float share = static_cast<float>(i) / static_cast<float>(steps);
    move({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
  }
  release(button);
  frame();
}

void NullShell::key(Key key, Modifiers modifiers) {
  const std::pair<bool, Key> held[] = {
      {modifiers.ctrl, Key::left_ctrl}, {modifiers.shift, Key::left_shift}, {modifiers.alt, Key::left_alt}};
  for (const auto& [wanted, modifier] : held) {
    if (wanted) state_->queue.key(modifier, true);
  }
  state_->queue.key(key, true);
  state_->queue.key(key, false);
  for (const auto& [wanted, modifier] : held) {
    if (wanted) state_->queue.key(modifier, false);
  }
  frame(2);
}

void NullShell::hold(Key key, bool down) {
  state_->queue.key(key, down);
  frame();
}

void NullShell::type(std::string_view utf8) {
  state_->queue.text(std::string(utf8));
  frame(2);
}

void NullShell::drop_files(const std::vector<std::string>& paths) {
  state_->client.files_dropped(paths);
  frame(2);
}

void NullShell::resize(int width, int height, float scale) {
  state_->width = width;
  state_->height = height;
  state_->scale = scale;
  frame(2);
}

const Rect* NullShell::find(std::string_view name) const { return state_->loop.ui().find_widget(name); }

bool NullShell::shows(std::string_view text) const {
  const auto& texts = state_->loop.ui().texts();
  return std::ranges::any_of(texts,
                             [&](const VisibleText& shown) { return shown.text.find(text) != std::string::npos; });
}

bool NullShell::shows_in(const Rect& place, std::string_view text) const {
  const auto& texts = state_->loop.ui().texts();
  return std::ranges::any_of(texts, [&](const VisibleText& shown) {
    return shown.text.find(text) != std::string::npos && place.contains(shown.rect.centre());
  });
}

std::string NullShell::visible_text() const {
  std::vector<VisibleText> texts = state_->loop.ui().texts();
  std::ranges::stable_sort(texts, [](const VisibleText& a, const VisibleText& b) {
    return a.rect.y0 != b.rect.y0 ? a.rect.y0 < b.rect.y0 : a.rect.x0 < b.rect.x0;
  });
  std::string all;
  for (const VisibleText& shown : texts) all += shown.text + '\n';
  return all;
}

const ImDrawData* NullShell::draw_data() const { return state_->loop.draw_data(); }

const std::string& NullShell::clipboard() const { return state_->clipboard; }

bool NullShell::idle() const { return !state_->loop.wants_frame() && state_->loop.wants_frame_after() < 0; }

Ui& NullShell::ui() { return state_->loop.ui(); }

}  // namespace accelscope::render
