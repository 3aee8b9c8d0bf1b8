// What ssh starts to ask, as the viewer is when ssh starts it.
#include "capture/reach/ask_pass.h"

int main(int argc, char** argv) {
  if (!accelscope::capture::asked_by_ssh()) return 2;
  return accelscope::capture::answer_ssh(argc > 1 ? argv[1] : "");
}
