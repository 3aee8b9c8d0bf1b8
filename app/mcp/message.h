// One message of JSON-RPC 2.0, a line of JSON, as the Model Context Protocol uses it over standard streams.
// Source: the specification of JSON-RPC 2.0; Model Context Protocol, revision 2025-06-18, "Base Protocol",
// "Transports".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::app {

inline constexpr std::size_t kMostMessageBytes = std::size_t{16} << 20;

enum class RpcError : int {
  parse = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602,
  internal = -32603,
  no_resource = -32002,
};

struct RpcFailure {
  RpcError code = RpcError::internal;
  std::string message;
};

struct RpcMessage {
  std::string id;      // as JSON, a number or a text; "": a notification, which is not answered
  std::string method;  // "": an answer to something that we asked
  std::string params;  // a JSON object; "{}" where there are none
};

struct ReadMessage {
  RpcMessage message;
  std::optional<RpcFailure> failure;  // what is answered instead, under message.id ("" : null)
};

[[nodiscard]] ReadMessage read_message(std::string_view line);

// Lines without their end.
[[nodiscard]] std::string result_message(std::string_view id, std::string_view result);
[[nodiscard]] std::string failure_message(std::string_view id, const RpcFailure& failure);
[[nodiscard]] std::string notification_message(std::string_view method, std::string_view params);

}  // namespace accelscope::app
