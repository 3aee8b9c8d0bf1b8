#include "render/shell/window_keys.h"

#include <GLFW/glfw3.h>

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

}  // namespace

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

}  // namespace accelscope::render
