#include "capture/agent/agent_command.h"

int main(int argc, char** argv) { return accelscope::capture::run_agent_command(argc, argv); }
