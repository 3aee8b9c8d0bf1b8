#include <iostream>

#include "app/commands/command.h"
#include "app/commands/terminal.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return accelscope::app::run_program(
      {argv + 1, argv + argc},
      {std::cout, std::cerr, accelscope::app::is_terminal(stderr), accelscope::app::is_terminal(stdout)});
}
