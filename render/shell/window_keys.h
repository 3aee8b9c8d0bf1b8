// GLFW's key numbers as our keys. Letters follow the user's keyboard layout, so that Ctrl+Z is where it is printed.
#pragma once

#include "render/base/input.h"

namespace accelscope::render {

[[nodiscard]] Key key_from_glfw(int key, int scancode);

}  // namespace accelscope::render
