#include "app/mcp/server.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <istream>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "app/mcp/shelf.h"
#include "app/mcp/tool.h"
#include "app/output/session_export.h"
#include "capture/json/json_cursor.h"
#include "core/analysis/figures/terminology.h"
#include "core/base/json.h"
#include "core/sql/base/sql.h"

namespace accelscope::app::mcp {
namespace {

// One message of JSON-RPC 2.0, a line of JSON, as the Model Context Protocol uses it over standard streams.
// Source: the specification of JSON-RPC 2.0; Model Context Protocol, revision 2025-06-18, "Base Protocol",
// "Transports".
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

using capture::json::JsonField;
using capture::json::JsonKind;

std::string id_json(const JsonField& field) {
  if (field.kind == JsonKind::string) return json_quote(field.text);
  return field.kind == JsonKind::number ? std::string(field.text) : std::string();
}

[[nodiscard]] ReadMessage read_message(std::string_view line) {
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

// Lines without their end.
[[nodiscard]] std::string result_message(std::string_view id, std::string_view result) {
  return json_object("jsonrpc", "2.0", "id", JsonValue::raw(id), "result", JsonValue::raw(result));
}

[[nodiscard]] std::string failure_message(std::string_view id, const RpcFailure& failure) {
  JsonWriter json;
  json.begin_object("jsonrpc", "2.0", "id", id.empty() ? JsonValue() : JsonValue::raw(id));
  json.key("error").object("code", static_cast<int>(failure.code), "message", failure.message);
  return json.done();
}

[[nodiscard]] std::string notification_message(std::string_view method, std::string_view params) {
  return json_object("jsonrpc", "2.0", "method", method, "params", JsonValue::raw(params));
}

// What a client can read besides calling tools: the tables of each open session with their columns, its data-quality
// report, and what figures mean.

constexpr std::string_view kScheme = "accelscope://";
constexpr std::string_view kGlossary = "accelscope://glossary";

std::string contents(const std::string& uri, std::string_view type, const std::string& text) {
  JsonWriter json;
  json.begin_object().key("contents").begin_array().object("uri", uri, "mimeType", type, "text", text);
  return json.done();
}

std::string term_line(const analysis::FigureTerm& term) {
  return fmt::format("{}{}: {}{}{}\n", term.name, term.unit.empty() ? "" : fmt::format(" [{}]", term.unit), term.text,
                     term.how.empty() ? "" : " Computed: ", term.how);
}

Result<std::string> glossary(const std::string& figure) {
  if (!figure.empty()) {
    const analysis::FigureTerm* term = analysis::find_word(figure);
    if (term == nullptr) return Error{fmt::format("{}: no figure has this name; {} has all", figure, kGlossary)};
    return term_line(*term);
  }
  std::string text;
  std::string_view group;
  for (const analysis::FigureTerm& term : analysis::figure_terms()) {
    if (term.group != group) text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", term.group);
    group = term.group;
    text += term_line(term);
  }
  return text;
}

// "slice(id, track_id, ...)" a line.
std::string schema_text(SessionShelf& shelf, const ShelvedSession& session) {
  const sql::Session sql(session.store(), session.snapshot, shelf.pool());
  std::string text;
  for (const sql::ListedTable& table : sql.tables()) {
    text += fmt::format("{}({})", table.name, fmt::join(table.columns, ", "));
    if (!table.hidden_columns.empty()) text += fmt::format(" also {}", fmt::join(table.hidden_columns, ", "));
    text += fmt::format("  -- about {} rows\n", table.row_estimate);
  }
  return text;
}

// {"resources": [...]}
[[nodiscard]] std::string resource_list(const SessionShelf& shelf) {
  JsonWriter json;
  const auto add = [&](const std::string& uri, const std::string& name, std::string_view type) {
    json.object("uri", uri, "name", name, "mimeType", type);
  };
  json.begin_object().key("resources").begin_array();
  add(std::string(kGlossary), "What figures mean", "text/plain");
  for (const auto& each : shelf.sessions()) {
    const std::string base = std::string(kScheme) + each->name;
    add(base + "/schema", "Tables and columns of " + each->opened.title, "text/plain");
    add(base + "/quality", "Data quality of " + each->opened.title, "application/json");
  }
  return json.done();
}

// {"resourceTemplates": [...]}
[[nodiscard]] std::string resource_templates() {
  JsonWriter json;
  const auto add = [&](std::string_view uri, std::string_view name, std::string_view type) {
    json.object("uriTemplate", uri, "name", name, "mimeType", type);
  };
  json.begin_object().key("resourceTemplates").begin_array();
  add("accelscope://glossary/{figure}", "What a figure means", "text/plain");
  add("accelscope://{session}/schema", "Tables and columns of an open session", "text/plain");
  add("accelscope://{session}/quality", "Data quality of an open session", "application/json");
  return json.done();
}

// {"contents": [...]}. Fails on an address that there is nothing at.
[[nodiscard]] Result<std::string> read_resource(const std::string& uri, SessionShelf& shelf) {
  if (uri == kGlossary || uri.starts_with(fmt::format("{}/", kGlossary))) {
    const auto text = TRY(glossary(uri == kGlossary ? "" : uri.substr(kGlossary.size() + 1)));
    return contents(uri, "text/plain", text);
  }
  for (const auto& each : shelf.sessions()) {
    const std::string base = std::string(kScheme) + each->name;
    if (uri == base + "/schema") return contents(uri, "text/plain", schema_text(shelf, *each));
    if (uri == base + "/quality") return contents(uri, "application/json", output::quality_json(*each->snapshot));
  }
  return Error{fmt::format("{}: there is nothing; resources/list has what there is", uri)};
}

// The newest first: it is offered to clients that ask for another.
constexpr std::array<std::string_view, 3> kRevisions = {"2025-11-25", "2025-06-18", "2025-03-26"};
constexpr auto kProgressPause = std::chrono::milliseconds(500);
constexpr std::string_view kInstructions =
    "Profiles of AI accelerators. Open a file with open_session, then summarise and advise; go deeper with top_costs, "
    "table, query (SQL) and event (by id); screenshot shows a view. Answers are short: left_out says what is missing "
    "from them and how to get it. All times are ns since the session's start.";

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// A member of an object as JSON; "" where there is none.
std::string member_json(std::string_view object, std::string_view name) {
  std::string value;
  (void)capture::json::each_member(object, [&](const capture::json::JsonField& field) {
    if (field.key != name) return true;
    if (field.kind == capture::json::JsonKind::null) return true;
    value = field.kind == capture::json::JsonKind::string ? json_quote(field.text) : std::string(field.text);
    return true;
  });
  return value;
}

std::string member_text(std::string_view object, std::string_view name) {
  std::string value;
  (void)capture::json::each_member(object, [&](const capture::json::JsonField& field) {
    if (field.key == name && field.kind == capture::json::JsonKind::string) value = field.text;
    return true;
  });
  return value;
}

std::string tool_result(const Result<ToolAnswer>& answer) {
  JsonWriter json;
  json.begin_object().key("content").begin_array().object("type", "text", "text",
                                                          answer ? answer->text : answer.message());
  if (answer && !answer->png.empty())
    json.object("type", "image", "data", base64(answer->png), "mimeType", "image/png");
  return json.end().add("isError", !answer).done();
}

class McpServer {
 public:
  McpServer(std::ostream& out, const ServerDoors& doors) : out_(out), doors_(doors) {}

  void open(const std::vector<std::string>& paths, std::ostream& err);
  Result<void> serve(std::istream& in);

 private:
  struct Waiting {
    RpcMessage message;
    std::shared_ptr<CallControl> control;
  };
  using Answer = Result<std::string>;

  void take_line(const std::string& line);
  void take_notification(const RpcMessage& message);
  void work();
  void answer(const Waiting& request);
  [[nodiscard]] std::optional<RpcFailure> find_answer(const Waiting& request, std::string& result);
  [[nodiscard]] std::optional<RpcFailure> call_tool(const Waiting& request, std::string& result);
  [[nodiscard]] static std::string initialise(const RpcMessage& message);
  [[nodiscard]] static std::string tool_list();
  void send(const std::string& message);

  std::ostream& out_;
  const ServerDoors& doors_;
  SessionShelf shelf_;  // of the working thread
  std::mutex out_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  Waiting current_;
  bool ended_ = false;
};

// Tells a client that asked for it how far its call is, until the object ends.
class ProgressTeller {
 public:
  ProgressTeller(std::string token, const CallControl& control, std::function<void(const std::string&)> send)
      : token_(std::move(token)), control_(control), send_(std::move(send)) {
    if (!token_.empty()) thread_ = std::thread([this] { tell(); });
  }
  ~ProgressTeller() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  ProgressTeller(const ProgressTeller&) = delete;
  ProgressTeller& operator=(const ProgressTeller&) = delete;

 private:
  void tell() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kProgressPause, [this] { return ending_; })) {
      // Reading comes before asking; progress must only ever grow.
      const std::uint64_t done = control_.job.done() + control_.task.done();
      if (done <= reported_) continue;
      reported_ = done;
      JsonWriter params;
      params.begin_object("progressToken", JsonValue::raw(token_), "progress", done);
      if (const std::uint64_t total = control_.job.total() + control_.task.total(); total >= done)
        params.add("total", total);
      send_(notification_message("notifications/progress", params.done()));
    }
  }

  std::string token_;
  const CallControl& control_;
  std::function<void(const std::string&)> send_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t reported_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

void McpServer::send(const std::string& message) {
  const std::scoped_lock lock(out_mutex_);
  out_ << message << '\n' << std::flush;
}

void McpServer::open(const std::vector<std::string>& paths, std::ostream& err) {
  for (const std::string& path : paths) {
    CallControl control;
    if (const auto session = shelf_.open({path}, {}, control); !session) {
      err << "accelscope: " << session.message() << '\n';
    } else {
      err << fmt::format("accelscope: {} is {}\n", path, (*session)->name);
    }
  }
}

std::string McpServer::initialise(const RpcMessage& message) {
  const std::string asked = member_text(message.params, "protocolVersion");
  const bool known = std::find(kRevisions.begin(), kRevisions.end(), asked) != kRevisions.end();
  JsonWriter json;
  json.begin_object("protocolVersion", known ? asked : kRevisions.front()).key("capabilities");
  json.begin_object().key("tools").object().key("resources").object("listChanged", true).end();
  json.key("serverInfo").object("name", "accelscope", "title", "Accelscope", "version", ACCELSCOPE_VERSION);
  return json.add("instructions", kInstructions).done();
}

std::string McpServer::tool_list() {
  JsonWriter json;
  json.begin_object().array("tools", tools(), [&](const Tool& tool) { json.value(JsonValue::raw(tool_json(tool))); });
  return json.done();
}

std::optional<RpcFailure> McpServer::call_tool(const Waiting& request, std::string& result) {
  const std::string name = member_text(request.message.params, "name");
  const Tool* tool = find_tool(name);
  if (tool == nullptr) return RpcFailure{RpcError::invalid_params, fmt::format("{}: there is no such tool", name)};
  const std::string given = member_json(request.message.params, "arguments");
  const auto arguments = ToolArguments::read(given.empty() ? "{}" : given);
  if (!arguments) return RpcFailure{RpcError::invalid_params, arguments.message()};
  const std::string token = member_json(member_json(request.message.params, "_meta"), "progressToken");
  const std::size_t open_before = shelf_.sessions().size();
  {
    const ProgressTeller teller(token, *request.control, [this](const std::string& message) { send(message); });
    ToolCall call{shelf_, *arguments, *request.control, doors_};
    result = tool_result(run_tool(*tool, call));
  }
  if (shelf_.sessions().size() != open_before) send(notification_message("notifications/resources/list_changed", "{}"));
  return std::nullopt;
}

std::optional<RpcFailure> McpServer::find_answer(const Waiting& request, std::string& result) {
  const std::string& method = request.message.method;
  if (method == "initialize") {
    result = initialise(request.message);
  } else if (method == "ping") {
    result = "{}";
  } else if (method == "tools/list") {
    result = tool_list();
  } else if (method == "tools/call") {
    return call_tool(request, result);
  } else if (method == "resources/list") {
    result = resource_list(shelf_);
  } else if (method == "resources/templates/list") {
    result = resource_templates();
  } else if (method == "resources/read") {
    auto read = read_resource(member_text(request.message.params, "uri"), shelf_);
    if (!read) return RpcFailure{RpcError::no_resource, read.message()};
    result = std::move(*read);
  } else {
    return RpcFailure{RpcError::unknown_method, fmt::format("{}: not known here", method)};
  }
  return std::nullopt;
}

void McpServer::answer(const Waiting& request) {
  std::string result;
  std::optional<RpcFailure> failure;
  try {
    failure = find_answer(request, result);
  } catch (const std::bad_alloc&) {
    failure = RpcFailure{RpcError::internal, "there is not enough memory; close a session"};
  }
  if (request.control->cancelled()) return;  // whoever cancelled waits for nothing
  send(failure ? failure_message(request.message.id, *failure) : result_message(request.message.id, result));
}

void McpServer::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      current_ = {};
      changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      current_ = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (!current_.control->cancelled()) answer(current_);
  }
}

void McpServer::take_notification(const RpcMessage& message) {
  if (message.method != "notifications/cancelled") return;
  const std::string id = member_json(message.params, "requestId");
  const std::scoped_lock lock(mutex_);
  if (current_.control && current_.message.id == id) current_.control->cancel();
  for (const Waiting& each : waiting_) {
    if (each.message.id == id) each.control->cancel();
  }
}

void McpServer::take_line(const std::string& line) {
  ReadMessage read = read_message(line);
  if (read.failure) {
    send(failure_message(read.message.id, *read.failure));
    return;
  }
  if (read.message.method.empty()) return;  // an answer; we ask nothing
  if (read.message.id.empty()) {
    take_notification(read.message);
    return;
  }
  const std::scoped_lock lock(mutex_);
  waiting_.push_back({std::move(read.message), std::make_shared<CallControl>()});
  changed_.notify_all();
}

Result<void> McpServer::serve(std::istream& in) {
  std::thread worker([this] { work(); });
  std::string line;
  while (std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    take_line(line);
    if (!out_) break;  // nobody reads any more
  }
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  worker.join();
  if (!out_) return Error{"the standard output cannot be written; has the client gone?"};
  return {};
}

}  // namespace

Result<void> serve_mcp(std::istream& in, std::ostream& out, std::ostream& err, const std::vector<std::string>& paths,
                       const ServerDoors& doors) {
  McpServer server(out, doors);
  server.open(paths, err);
  return server.serve(in);
}

}  // namespace accelscope::app::mcp
