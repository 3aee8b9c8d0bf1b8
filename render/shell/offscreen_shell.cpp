// Pictures without a display: EGL gives a GL context with no surface, frames go into a framebuffer in memory.
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include "render/shell/frame_loop.h"
#include "render/shell/gl_renderer.h"
#include "render/shell/shell.h"

namespace accelscope::render {
namespace {

constexpr const char* kNoContext =
    "No OpenGL 3.3 context can be had without a display: EGL has neither a surfaceless nor a device platform that "
    "works. Install Mesa (libegl-mesa0, libgl1-mesa-dri), or open a window instead";

class EglContext {
 public:
  EglContext() = default;
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;
  ~EglContext() { close(); }

  // Mesa's surfaceless platform first, then every EGL device (drivers without it), then the default display.
  [[nodiscard]] Result<void> open() {
    const auto platform_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (platform_display != nullptr) {
      if (make_current(platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr))) return {};
      for (const EGLDeviceEXT device : devices()) {
        if (make_current(platform_display(EGL_PLATFORM_DEVICE_EXT, device, nullptr))) return {};
      }
    }
    if (make_current(eglGetDisplay(EGL_DEFAULT_DISPLAY))) return {};
    return Error{kNoContext};
  }

 private:
  static std::vector<EGLDeviceEXT> devices() {
    const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
    std::array<EGLDeviceEXT, 16> found{};
    EGLint count = 0;
    if (query == nullptr || query(static_cast<EGLint>(found.size()), found.data(), &count) == EGL_FALSE) return {};
    return {found.begin(), found.begin() + count};
  }

  bool make_current(EGLDisplay display) {
    if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) return false;
    display_ = display;
    constexpr EGLint kConfig[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    constexpr EGLint kContext[] = {
        EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    const bool ready =
        eglBindAPI(EGL_OPENGL_API) == EGL_TRUE && eglChooseConfig(display, kConfig, &config, 1, &count) == EGL_TRUE;
    if (ready) context_ = eglCreateContext(display, count > 0 ? config : EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, kContext);
    if (context_ != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE) {
      return true;
    }
    close();
    return false;
  }

  void close() {
    if (display_ == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    eglTerminate(display_);
    display_ = EGL_NO_DISPLAY;
    context_ = EGL_NO_CONTEXT;
  }

  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

// Frames that follow once nothing loads any more: ImGui knows the sizes of new windows from the second frame on.
constexpr int kSettledFrames = 3;

}  // namespace

Result<Picture> render_offscreen(FrameClient& client, const OffscreenOptions& options) {
  EglContext egl;
  TRY(egl.open());
  GlTextures textures;
  FrameLoop loop(options.theme, textures);
  loop.ui().record_text(options.controls != nullptr);
  GlRenderer renderer;
  TRY(renderer.start());
  GlFramebuffer framebuffer;
  TRY(framebuffer.create(options.width, options.height));

  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(options.give_up_after);
  int settled_frames = 0;
  while (settled_frames < kSettledFrames) {
    if (loop.prepare(options.width, options.height, options.scale)) renderer.upload_fonts();
    loop.draw(client, Input{}, 1.0 / 60, false);
    if (const auto requests = loop.take_picture_requests(); !requests.empty()) {
      renderer.render(options.width, options.height, loop.ui().colour(Colour::bg2));
      const Picture picture = GlRenderer::read_back(options.width, options.height);
      for (const auto& done : requests) done(picture);
    }
    settled_frames = client.settled() ? settled_frames + 1 : 0;
    if (settled_frames == 0) {
      if (Clock::now() > deadline) {
        return Error{"The picture was not ready after " + std::to_string(static_cast<int>(options.give_up_after)) +
                     " s: something is still loading; take a part of the session, or report this"};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // other threads are at work
    }
  }
  if (options.controls != nullptr) *options.controls = loop.ui().controls();
  renderer.render(options.width, options.height, loop.ui().colour(Colour::bg2));
  return GlRenderer::read_back(options.width, options.height);
}

}  // namespace accelscope::render
