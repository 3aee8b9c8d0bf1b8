#include <openssl/crypto.h>

#include "capture/agent/control/commands.h"
#include "capture/system/descriptor.h"

int main(int argc, char** argv) {
  accelscope::capture::system::open_closed_streams();
  accelscope::capture::system::ignore_file_size_signal();
  // TLS lies inside this program: a host's settings for its own may name modules that do not fit.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  return accelscope::capture::agent::run_agent_command(argc, argv);
}
