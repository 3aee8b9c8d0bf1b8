#include <iostream>

#include "app/commands/command_line.h"
#include "app/terminal/terminal.h"
#include "capture/reach/ask_pass.h"
#include "capture/system/descriptor.h"

int main(int argc, char** argv) {
  accelscope::capture::system::open_closed_streams();
  accelscope::capture::system::ignore_file_size_signal();
  // ssh starts this program again, with nothing but its question, to have it put to the user.
  if (accelscope::capture::reach::asked_by_ssh())
    return accelscope::capture::reach::answer_ssh(argc > 1 ? argv[1] : "");
  std::ios::sync_with_stdio(false);
  return accelscope::app::commands::run_program({argv + 1, argv + argc},
                                                {std::cout, std::cerr, accelscope::app::terminal::is_terminal(stderr),
                                                 accelscope::app::terminal::is_terminal(stdout)});
}
