#include "capture/wire/tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/error.hpp>
#include <string_view>

#include "capture/security/identities.h"

namespace accelscope::capture::wire {
namespace {

constexpr std::string_view kBindingLabel = "EXPORTER-accelscope";
constexpr std::size_t kBindingBytes = 32;

std::shared_ptr<asio::ssl::context> make_context(asio::ssl::context::method method) {
  auto context = std::make_shared<asio::ssl::context>(method);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(context->native_handle(), 0);  // every connection has secrets of its own
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  return context;
}

bool is_reason(const std::error_code& failure, int reason) {
  return failure.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(failure.value())) == reason;
}

}  // namespace

std::shared_ptr<asio::ssl::context> make_client_context() {
  auto context = make_context(asio::ssl::context::tls_client);
  SSL_CTX_set_verify(context->native_handle(), SSL_VERIFY_NONE, nullptr);
  return context;
}

Result<std::shared_ptr<asio::ssl::context>> make_server_context(const security::AgentIdentity& identity) {
  auto context = make_context(asio::ssl::context::tls_server);
  asio::error_code failure;
  context->use_certificate(asio::buffer(identity.certificate_pem), asio::ssl::context::pem, failure);
  if (!failure) context->use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem, failure);
  if (failure) return Error{fmt::format("the agent's certificate cannot be used: {}", failure.message())};
  return context;
}

Bytes export_channel_binding(ssl_st* connection) {
  Bytes binding(kBindingBytes);
  const int done =
      SSL_export_keying_material(connection, reinterpret_cast<unsigned char*>(binding.data()), binding.size(),
                                 kBindingLabel.data(), kBindingLabel.size(), nullptr, 0, 0);
  if (done != 1) binding.clear();
  return binding;
}

std::string peer_fingerprint(ssl_st* connection) {
  const X509* certificate = SSL_get0_peer_certificate(connection);
  return certificate == nullptr ? std::string() : security::certificate_fingerprint(*certificate);
}

bool is_end_of_stream(const std::error_code& failure) {
  return failure == asio::error::eof || failure == asio::ssl::error::stream_truncated;
}

std::string describe(const std::error_code& failure) {
  if (failure == asio::ssl::error::stream_truncated) return "the other side closed the connection";
  if (is_reason(failure, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC)) return "what came was altered on its way";
  if (is_reason(failure, SSL_R_UNSUPPORTED_PROTOCOL) || is_reason(failure, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION)) {
    return "one side does not speak TLS 1.3";
  }
  // What is no record of TLS has no version of it, or, as newer libraries look first, no length.
  if (is_reason(failure, SSL_R_WRONG_VERSION_NUMBER) || is_reason(failure, SSL_R_PACKET_LENGTH_TOO_LONG)) {
    return "the other side does not speak TLS";
  }
  return failure.message();
}

}  // namespace accelscope::capture::wire
