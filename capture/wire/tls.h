// TLS as both sides of a connection use it: version 1.3 only, and certificates that are their own authority. The agent
// shows one (security/identities.h); the viewer trusts it because it knows its fingerprint
// (security/identities.h), not because somebody signed it. Viewers show none: they prove that they know the token
// (security/secrets.h).
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include "core/base/bytes.h"
#include "core/base/result.h"

struct ssl_st;  // OpenSSL's SSL

namespace asio::ssl {
class context;
}

namespace accelscope::capture::security {
struct AgentIdentity;
}

namespace accelscope::capture::wire {

// Takes any certificate: the handshake proves that the peer holds its key; whose it is, the caller asks afterwards.
[[nodiscard]] std::shared_ptr<asio::ssl::context> make_client_context();
[[nodiscard]] Result<std::shared_ptr<asio::ssl::context>> make_server_context(const security::AgentIdentity& identity);

// 32 bytes of the connection's secrets (RFC 8446, 7.5): label "EXPORTER-accelscope", no context value. Empty if it has
// none, which no proof is bound to.
[[nodiscard]] Bytes export_channel_binding(ssl_st* connection);
[[nodiscard]] std::string peer_fingerprint(ssl_st* connection);  // empty if the peer showed no certificate

// TCP's end or TLS's; whether the peer had more to say, the frames tell.
[[nodiscard]] bool is_end_of_stream(const std::error_code& failure);

// Of a failed read, write or handshake; in our words where the library's help nobody.
[[nodiscard]] std::string describe(const std::error_code& failure);

}  // namespace accelscope::capture::wire
