#include "app/mcp/message.h"

#include "app/mcp/json_text.h"
#include "capture/json/json_cursor.h"

namespace accelscope::app {
namespace {

using capture::json::JsonField;
using capture::json::JsonKind;

std::string id_json(const JsonField& field) {
  if (field.kind == JsonKind::string) return json_quote(field.text);
  return field.kind == JsonKind::number ? std::string(field.text) : std::string();
}

}  // namespace

ReadMessage read_message(std::string_view line) {
  ReadMessage read;
  RpcMessage& message = read.message;
  const auto refuse = [&](RpcError code, std::string_view why) -> ReadMessage& {
    read.failure = RpcFailure{code, std::string(why)};
    return read;
  };
  if (line.size() > kMostMessageBytes) return refuse(RpcError::invalid_request, "the message is longer than 16 MiB");
  message.params = "{}";
  bool versioned = false, answer = false, odd_params = false, odd_id = false;
  const bool whole = capture::json::each_member(line, [&](const JsonField& field) {
    if (field.key == "jsonrpc") versioned = field.text == "2.0";
    if (field.key == "id") {
      message.id = id_json(field);
      odd_id = message.id.empty();
    }
    if (field.key == "method" && field.kind == JsonKind::string) message.method = field.text;
    if (field.key == "result" || field.key == "error") answer = true;
    if (field.key == "params" && field.kind != JsonKind::null) {
      odd_params = field.kind != JsonKind::object;
      message.params = field.text;
    }
    return true;
  });
  if (!whole) {
    const bool batch =
        line.find_first_not_of(" \t\r") != std::string_view::npos && line[line.find_first_not_of(" \t\r")] == '[';
    if (batch) return refuse(RpcError::invalid_request, "several messages in one list are not taken: one a line");
    return refuse(RpcError::parse, "the line is not one JSON object");
  }
  if (!versioned) return refuse(RpcError::invalid_request, "\"jsonrpc\" is not \"2.0\"");
  if (odd_id) return refuse(RpcError::invalid_request, "\"id\" is neither a number nor a text");
  if (message.method.empty() && !answer) return refuse(RpcError::invalid_request, "\"method\" is missing");
  if (odd_params) return refuse(RpcError::invalid_params, "\"params\" is not an object");
  return read;
}

std::string result_message(std::string_view id, std::string_view result) {
  return JsonObject().text("jsonrpc", "2.0").raw("id", id).raw("result", result).done();
}

std::string failure_message(std::string_view id, const RpcFailure& failure) {
  const std::string error =
      JsonObject().number("code", static_cast<int>(failure.code)).text("message", failure.message).done();
  return JsonObject().text("jsonrpc", "2.0").raw("id", id.empty() ? "null" : id).raw("error", error).done();
}

std::string notification_message(std::string_view method, std::string_view params) {
  return JsonObject().text("jsonrpc", "2.0").text("method", method).raw("params", params).done();
}

}  // namespace accelscope::app
