#include "app/mcp/server.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <istream>
#include <mutex>
#include <sstream>

#include "capture/json/json_cursor.h"
#include "core/base/json.h"
#include "tests/app/program_run.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::mcp;
using namespace accelscope::app;
using test::holds;

namespace {

std::string request(int id, std::string_view method, std::string_view params = "{}") {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params) + "\n";
}

std::string tool_request(int id, std::string_view tool, std::string_view arguments) {
  return request(id, "tools/call", fmt::format(R"({{"name":"{}","arguments":{}}})", tool, arguments));
}

ServerDoors closed_doors() {
  return {[](const ScreenshotIntent&) -> Result<void> { return Error{"no pictures here"}; },
          [](const std::vector<std::string>&) {
            return ServerDoors::CommandOutcome{1, "", "no commands here"};
          }};
}

std::vector<std::string> messages_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> served(const std::string& input, const ServerDoors& doors = closed_doors()) {
  std::istringstream in(input);
  std::ostringstream out, err;
  CHECK(serve_mcp(in, out, err, {}, doors));
  return messages_of(out.str());
}

// Without the notifications.
std::vector<std::string> answers_of(const std::vector<std::string>& lines) {
  std::vector<std::string> answers;
  for (const std::string& line : lines) {
    if (!line.starts_with(R"({"jsonrpc":"2.0","method")")) answers.push_back(line);
  }
  return answers;
}

std::string member(std::string_view object, std::string_view name) {
  std::string value = "(missing)";
  CHECK(capture::json::each_member(object, [&](const capture::json::JsonField& field) {
    if (field.key == name) value = field.text;
    return true;
  }));
  return value;
}

// The text of a tool's answer, which is JSON again.
std::string answer_text(const std::string& line) {
  const std::string content = member(member(line, "result"), "content");
  std::string text;
  CHECK(capture::json::each_element(content, [&](const capture::json::JsonField& part) {
    if (text.empty()) text = member(part.text, "text");
    return true;
  }));
  return text;
}

bool is_tool_error(const std::string& line) { return member(member(line, "result"), "isError") == "true"; }

// Gives its text, and says when all of it was read: then nothing more will come.
class WatchedInput final : public std::streambuf {
 public:
  explicit WatchedInput(std::string text) : text_(std::move(text)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }
  void wait_for_end() {
    std::unique_lock lock(mutex_);
    CHECK(changed_.wait_for(lock, test::kPatience, [this] { return ended_; }));
  }

 private:
  int_type underflow() override {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
    return traits_type::eof();
  }
  std::string text_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

}  // namespace

TEST_CASE("a client that begins gets the revision it asked for, else the newest, and what there is") {
  const auto lines = served(request(1, "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{}})") +
                            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n" +
                            request(2, "initialize", R"({"protocolVersion":"1999-01-01"})") + request(3, "ping") +
                            request(4, "tools/list"));
  REQUIRE(lines.size() == 4);
  CHECK(member(member(lines[0], "result"), "protocolVersion") == "2025-06-18");
  CHECK(member(member(member(lines[0], "result"), "serverInfo"), "name") == "accelscope");
  CHECK(member(member(lines[1], "result"), "protocolVersion") == "2025-11-25");
  CHECK(member(lines[2], "result") == "{}");
  for (const std::string_view name : {"open_session", "summarise", "query", "top_costs", "advise", "event", "record"})
    CHECK(holds(lines[3], fmt::format("\"name\":\"{}\"", name)));
}

TEST_CASE("a session is opened, told of, asked and closed") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  const auto lines = served(
      tool_request(1, "open_session", fmt::format(R"({{"path":[{}]}})", json_quote(path))) +
      tool_request(2, "summarise", R"({"session":"s1"})") +
      tool_request(3, "query", R"({"session":"s1","sql":"SELECT id, name FROM slice ORDER BY id","max_rows":2})") +
      tool_request(4, "query", R"({"session":"s1","sql":"SELECT count(*) FROM slice"})") +
      request(5, "resources/list") + request(6, "resources/read", R"({"uri":"accelscope://s1/schema"})") +
      tool_request(7, "close_session", R"({"session":"s1"})") + tool_request(8, "summarise", R"({"session":"s1"})"));
  const auto answers = answers_of(lines);
  REQUIRE(answers.size() == 8);
  CHECK(lines.size() > answers.size());  // the client hears that there are other resources now
  for (std::size_t i = 0; i < answers.size(); ++i) CHECK(member(answers[i], "id") == std::to_string(i + 1));
  const std::string opened = answer_text(answers[0]);
  CHECK(member(opened, "session") == "s1");
  CHECK(member(opened, "events") == std::to_string(test::make_small_session().store->snapshot()->event_count));
  CHECK(!member(answer_text(answers[1]), "verdict").empty());
  const std::string rows = answer_text(answers[2]);
  CHECK(member(rows, "columns") == R"(["id","name"])");
  const int slices = std::stoi(test::csv(path, "SELECT count(*) FROM slice"));
  CHECK(holds(member(rows, "left_out"), fmt::format("2 of {} rows", slices)));
  CHECK(member(answer_text(answers[3]), "rows") == fmt::format("[[{}]]", slices));
  CHECK(holds(answers[4], "accelscope://s1/quality"));
  CHECK(holds(answers[5], "slice(id, track_id"));
  CHECK(is_tool_error(answers[7]));
  CHECK(holds(answer_text(answers[7]), "s1: no such session"));
}

TEST_CASE("an event is told with what it waited for") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  const test::SmallSession session = test::make_small_session();
  const auto lines = served(tool_request(
      1, "event",
      fmt::format(R"({{"session":{},"event":{}}})", json_quote(path), static_cast<std::uint64_t>(session.activate))));
  REQUIRE(!lines.empty());
  const std::string text = answer_text(lines.back());
  CHECK(member(text, "event") == std::to_string(static_cast<std::uint64_t>(session.activate)));
  CHECK(
      holds(member(text, "waited_for"), fmt::format("\"event\":{}", static_cast<std::uint64_t>(session.first_matmul))));
}

TEST_CASE("MCP: a kernel's source line and stack are those of its launch") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  std::ofstream(path) << R"json({"schemaVersion":1,"traceEvents":[
    {"ph":"X","cat":"python_function","name":"/home/me/train.py(41): step","pid":9,"tid":9,"ts":0,"dur":100,"args":{"Python id":1}},
    {"ph":"X","cat":"python_function","name":"torch/nn/modules/linear.py(12): forward","pid":9,"tid":9,"ts":10,"dur":80,"args":{"Python id":2,"Python parent id":1}},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":20,"dur":50,"args":{"External id":1}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":30,"dur":5,"args":{"correlation":7}},
    {"ph":"X","cat":"kernel","name":"void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)","pid":0,"tid":7,"ts":60,"dur":30,"args":{"External id":1,"correlation":7,"device":0,"stream":7}}]})json";
  const std::string kernel = test::csv(path, "SELECT id FROM kernel");
  const std::string call = test::csv(path, "SELECT id FROM runtime_call");
  const auto answers = answers_of(served(
      tool_request(1, "top_costs", fmt::format(R"({{"session":{},"by":"kernel"}})", json_quote(path))) +
      tool_request(2, "event", fmt::format(R"({{"session":{},"event":{}}})", json_quote(path), std::stoull(kernel)))));
  REQUIRE(answers.size() == 2);
  CHECK(holds(answer_text(answers[0]), "gemm f32"));
  CHECK(!holds(answer_text(answers[0]), "void cutlass"));  // answers have short names
  const std::string text = answer_text(answers[1]);
  CHECK(member(text, "source") == "/home/me/train.py:41");
  CHECK(member(text, "launched_by") == std::to_string(std::stoull(call)));
  CHECK(member(text, "stack") == R"(["cudaLaunchKernel","mm","linear.py:forward","train.py:step"])");
  CHECK(!holds(member(text, "name"), "void "));
  CHECK(holds(member(text, "full_name"), "void cutlass::Kernel"));
}

TEST_CASE("what is wrong with a request is said under its id, and the server goes on") {
  const auto lines = served("this is no JSON\n[]\n{\"id\":1,\"method\":\"ping\"}\n\n" + request(2, "no/such") +
                            tool_request(3, "no_such_tool", "{}") + tool_request(4, "query", R"({"sql":"SELECT 1"})") +
                            tool_request(5, "query", R"({"session":"s1","sql":"SELECT 1"})") +
                            tool_request(6, "top_costs", R"({"sesion":"s1","session":"s1"})") +
                            tool_request(7, "open_session", R"({"path":["-"]})") +
                            request(8, "resources/read", R"({"uri":"accelscope://none"})") + request(9, "ping"));
  REQUIRE(lines.size() == 11);
  CHECK(holds(lines[0], "\"id\":null"));
  CHECK(holds(lines[0], "-32700"));
  CHECK(holds(lines[1], "-32600"));
  CHECK(holds(lines[2], "-32600"));
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  CHECK(holds(all, R"("id":2,"error":{"code":-32601)"));
  CHECK(holds(all, R"("id":3,"error":{"code":-32602)"));
  CHECK(holds(all, "session: missing"));
  CHECK(holds(all, "s1: no such session; none is open"));
  CHECK(holds(all, "did you mean session?"));
  CHECK(holds(all, "the standard input carries the protocol"));
  CHECK(holds(all, R"("id":8,"error":{"code":-32002)"));
  CHECK(holds(all, R"("id":9,"result":{})"));
}

TEST_CASE("a cancelled request is not answered, one that came before it is") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  const std::string picture = fmt::format(R"({{"session":{}}})", json_quote(path));
  WatchedInput buffer(tool_request(1, "screenshot", picture) + tool_request(2, "screenshot", picture) +
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n");
  std::istream in(&buffer);
  std::ostringstream out, err;
  int drawn = 0;
  ServerDoors doors = closed_doors();
  doors.screenshot = [&](const ScreenshotIntent& intent) -> Result<void> {
    buffer.wait_for_end();  // the cancellation has been heard
    ++drawn;
    test::write_file(intent.output, "\x89PNG");
    return {};
  };
  CHECK(serve_mcp(in, out, err, {}, doors));
  CHECK(drawn == 1);
  CHECK(holds(out.str(), "\"id\":1,\"result\""));
  CHECK(holds(out.str(), "\"data\":\"iVBORw==\""));
  CHECK(holds(out.str(), "\"mimeType\":\"image/png\""));
  CHECK(!holds(out.str(), "\"id\":2"));
}

TEST_CASE(
    "the critical path is told by what it is made of, and sessions and changes go to the commands that know them") {
  const test::TemporaryFolder folder;
  const std::string path = test::save_small_session(folder.path());
  const std::string quoted = json_quote(path);
  std::vector<std::vector<std::string>> asked;
  const ServerDoors doors{[](const ScreenshotIntent&) -> Result<void> { return Error{"no pictures here"}; },
                          [&](const std::vector<std::string>& words) {
                            asked.push_back(words);
                            return ServerDoors::CommandOutcome{0, R"({"done":true})", ""};
                          }};
  const auto answers = answers_of(served(
      tool_request(1, "critical_path", fmt::format(R"({{"session":{}}})", quoted)) +
          tool_request(2, "critical_path", fmt::format(R"({{"session":{},"by":"moon"}})", quoted)) +
          tool_request(3, "compare", fmt::format(R"({{"base":{0},"others":[{0}]}})", quoted)) +
          tool_request(4, "explain_difference", fmt::format(R"({{"base":{0},"other":{0},"by":["line"]}})", quoted)) +
          tool_request(5, "what_if", fmt::format(R"({{"session":{},"changes":["host x0.5"]}})", quoted)) +
          tool_request(6, "what_if", fmt::format(R"({{"session":{},"changes":[]}})", quoted)),
      doors));
  REQUIRE(answers.size() == 6);
  const std::string shares = answer_text(answers[0]);
  CHECK(member(shares, "table") == "path-shares");
  CHECK(holds(member(shares, "note"), "nothing left over"));
  CHECK(is_tool_error(answers[1]));
  REQUIRE(asked.size() == 3);
  CHECK(asked[0].front() == "compare");
  CHECK(std::count(asked[0].begin(), asked[0].end(), path) == 2);
  CHECK(std::count(asked[1].begin(), asked[1].end(), "--explain") == 1);
  CHECK(std::count(asked[1].begin(), asked[1].end(), "line") == 1);
  CHECK(asked[2].front() == "what-if");
  CHECK(std::count(asked[2].begin(), asked[2].end(), "host x0.5") == 1);
  CHECK(is_tool_error(answers[5]));
}

TEST_CASE("MCP: record takes a place and no option, and hands each value on in one word with its option") {
  std::vector<std::vector<std::string>> commands;
  ServerDoors doors = closed_doors();
  doors.command = [&](const std::vector<std::string>& words) {
    commands.push_back(words);
    return ServerDoors::CommandOutcome{1, "", "nobody there"};
  };
  const test::TemporaryFolder folder;
  const std::string out = folder.file("-x.accel");
  (void)served(
      tool_request(1, "record", R"({"place":"--script=/etc/passwd","output":"a.accel","seconds":1})") +
          tool_request(2, "record", R"({"place":"h:1","output":"-","seconds":1})") +
          tool_request(3, "record", R"({"place":"h:1","output":")" + out + R"(","seconds":1,"kinds":"--force"})"),
      doors);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0] ==
        std::vector<std::string>{"record", "h:1", "--output=" + out, "--quiet", "--duration=1", "--kind=--force"});
}

TEST_CASE("MCP: the listing of a folder stays short, however much is in it") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const std::string deep = folder.file(std::string(200, 'd') + "/" + std::string(200, 'e'));
  std::filesystem::create_directories(deep);
  for (int i = 0; i < 70; ++i)
    std::filesystem::copy_file(session, fmt::format("{}/{}-{}.accel", deep, std::string(150, 'n'), i));
  const std::string answer = answer_text(
      answers_of(served(tool_request(1, "list_sessions", fmt::format(R"({{"folder":"{}"}})", folder.path())))).back());
  CHECK(answer.size() < 20'000);
  CHECK(holds(answer, "of 71 are shown"));
}
