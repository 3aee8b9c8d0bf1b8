// Where a capture is made, as the user names it:
//
//   local                        on this computer; an agent is started for it
//   HOST:PORT, tls://HOST:PORT   an agent that already runs; the wire's own parser reads the address
//   ssh://[USER@]HOST[:PORT]     a host on which an agent is started through ssh; IPv6 in brackets
//
// USER and HOST become arguments of the system's ssh. What ssh could take for an option, or a shell for more than a
// word, is refused here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::reach {

struct Place {
  enum class Kind : std::uint8_t { local, address, ssh };

  Kind kind = Kind::local;
  std::string address;     // kind address: as typed
  std::string user;        // kind ssh; "": as the user's ssh configuration says
  std::string host;        // kind ssh: a name, an alias of that configuration, or a numeric address without brackets
  std::uint16_t port = 0;  // kind ssh; 0: as the configuration says

  [[nodiscard]] std::string text() const;  // parse_place() of it gives the same place
  bool operator==(const Place&) const = default;
};

[[nodiscard]] Result<Place> parse_place(std::string_view text);

}  // namespace accelscope::capture::reach
