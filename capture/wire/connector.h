// The ways from a viewer to an agent. A Connector makes one connection for each call, so that a capture can be taken
// up again after one has broken.
//
//   Connector connector = tcp_connector(address, {.known_agents_path = ..., .decide = ...});
//   connector(loop, limits, [&](Result<std::unique_ptr<Link>> link) { ...; (*link)->start(handler); });
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/system/address.h"
#include "capture/wire/link.h"

namespace accelscope::capture::wire {

// Calls back once, on the loop's thread; not at all if the loop is gone before.
using Connector = std::function<void(Loop&, const LinkLimits&, LinkCallback)>;

// An agent whose certificate nobody has seen before.
struct SeenCertificate {
  std::string address;      // HOST:PORT, as the agent was asked for
  std::string fingerprint;  // "SHA256:..."; accelscope-agent prints the same at its start
};

struct TlsClientOptions {
  // The fingerprints that are trusted (security/identities.h); without a path they are kept as long as the connector.
  std::string known_agents_path;
  // Asked at the first use of a certificate; answers once, at once or later, from any thread. Until then the agent is
  // not kept waiting: the connection is made anew once it is trusted. Without it an unknown agent is an error.
  std::function<void(const SeenCertificate&, std::function<void(bool trust)>)> decide;
  std::chrono::milliseconds decision{600'000};  // for the answer
  std::string trusted;  // a fingerprint to trust without asking; any other of an unknown agent is an error
};

// Plain TCP to loopback, TLS to all others and where the address says tls://. An agent whose certificate has changed
// is an error that names both fingerprints and the line to remove.
[[nodiscard]] Connector tcp_connector(const system::Address& address, TlsClientOptions options);

// Makes a link of one end of a connected socket, such as a socketpair whose other end is a program's input and output.
// Takes the descriptor in any case. The name is what messages call the peer.
void adopt(Loop& loop, int descriptor, const std::string& peer_name, const LinkLimits& limits,
           const LinkCallback& callback);

// Finds the IP addresses of a host's name without holding up a loop: the system's resolver may take half a minute to
// say that nobody answers, and cannot be interrupted.

// The IP addresses to try, in order, as text; an IP address is its own. The error says that the host cannot be found,
// and why.
[[nodiscard]] Result<std::vector<std::string>> find_host(const std::string& host);

// The same on a thread of its own; calls back on the loop's thread, or never if the loop is gone by then.
void find_host(Loop& loop, const std::string& host, std::function<void(Result<std::vector<std::string>>)> callback);

}  // namespace accelscope::capture::wire
