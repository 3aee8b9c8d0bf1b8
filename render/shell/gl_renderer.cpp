#include "render/shell/gl_renderer.h"

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include <algorithm>
#include <cassert>
#include <string>

#include "render/base/imgui_compat.h"

namespace accelscope::render {
namespace {

void sample_nearest() {
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

}  // namespace

TextureHandle GlTextures::update(TextureHandle handle, int width, int height, std::span<const Pixel> pixels) {
  assert(pixels.size() >= static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (width <= 0 || height <= 0) return handle;
  auto name = static_cast<GLuint>(handle);
  GLint old_width = 0;
  GLint old_height = 0;
  if (name == 0) {
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    sample_nearest();
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  } else {
    glBindTexture(GL_TEXTURE_2D, name);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &old_width);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &old_height);
  }
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  if (old_width == width && old_height == height) {
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  } else {
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  }
  return name;
}

void GlTextures::release(TextureHandle handle) {
  const auto name = static_cast<GLuint>(handle);
  if (name != 0) glDeleteTextures(1, &name);
}

GlRenderer::~GlRenderer() {
  if (started_) ImGui_ImplOpenGL3_Shutdown();
}

Result<void> GlRenderer::start() {
  GLint major = 0;
  GLint minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  if (major * 10 + minor < 33) {
    const auto* version = reinterpret_cast<const char*>(glGetString(GL_VERSION));
    return Error{"OpenGL 3.3 is needed, this machine has \"" + std::string(version != nullptr ? version : "none") +
                 "\"; update the graphics driver or install Mesa (libgl1-mesa-dri)"};
  }
  if (!compat::start_opengl()) {
    return Error{"OpenGL's functions cannot be loaded: libGL.so.1 is missing or broken; install libgl1"};
  }
  started_ = true;
  return {};
}

void GlRenderer::upload_fonts() {
  if (fonts_ == 0) compat::create_opengl_objects();
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  unsigned char* bytes = nullptr;
  int width = 0;
  int height = 0;
  atlas.GetTexDataAsRGBA32(&bytes, &width, &height);
  // Glyphs have fractional advances; the nearest texel keeps each of them on whole pixels and crisp.
  fonts_ = textures_.update(fonts_, width, height,
                            {reinterpret_cast<const Pixel*>(bytes), static_cast<std::size_t>(width * height)});
  compat::set_font_texture(atlas, fonts_);
}

void GlRenderer::render(int width, int height, Pixel background) {
  const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(background);
  glViewport(0, 0, width, height);
  glClearColor(colour.x, colour.y, colour.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

Picture GlRenderer::read_back(int width, int height) {
  Picture picture{width, height, {}};
  const auto row = static_cast<std::size_t>(width) * 4;
  picture.rgba.resize(row * static_cast<std::size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, picture.rgba.data());
  auto* pixels = picture.rgba.data();
  for (std::size_t top = 0, bottom = static_cast<std::size_t>(height) - 1; top < bottom; ++top, --bottom) {
    std::swap_ranges(pixels + top * row, pixels + (top + 1) * row, pixels + bottom * row);  // GL's rows go upwards
  }
  for (std::size_t alpha = 3; alpha < picture.rgba.size(); alpha += 4) picture.rgba[alpha] = 255;
  return picture;
}

GlFramebuffer::~GlFramebuffer() {
  if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
  if (colour_ != 0) glDeleteRenderbuffers(1, &colour_);
}

Result<void> GlFramebuffer::create(int width, int height) {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width <= 0 || height <= 0 || width > largest || height > largest) {
    return Error{"A picture of " + std::to_string(width) + " x " + std::to_string(height) +
                 " pixels cannot be drawn; each side must be from 1 to " + std::to_string(largest)};
  }
  glGenFramebuffers(1, &framebuffer_);
  glGenRenderbuffers(1, &colour_);
  glBindRenderbuffer(GL_RENDERBUFFER, colour_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return Error{"The graphics driver refuses to draw into memory; try LIBGL_ALWAYS_SOFTWARE=1"};
  }
  return {};
}

}  // namespace accelscope::render
