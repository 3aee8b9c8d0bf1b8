#include "tests/capture/kinds/itt/itt_support.h"
#include "tests/support/programs_folder.h"

#include <fmt/format.h>

namespace accelscope::capture {

std::string program_of(const std::string& name) { return accelscope::test::programs_folder() + "/" + name; }

IttCapture::IttCapture(const std::vector<std::string>& command,
                       const std::vector<std::pair<std::string, std::string>>& options) {
  request::KindChoice itt{"itt", {}};
  for (const auto& [name, value] : options) itt.options.push_back({name, value});
  agent::LocalCaptureOptions capture;
  capture.request.kinds = {itt};
  capture.request.program = command.front();
  capture.request.arguments.assign(command.begin() + 1, command.end());
  capture.request = request::complete_request(capture.request);
  capture.output = folder_.file("out.accel");
  capture.work_folder = folder_.file("work");
  std::filesystem::create_directories(capture.work_folder);
  capture.watch.printed = [this](bool, std::string_view bytes) { printed += bytes; };
  capture.watch.ended = [this](int status) { exit_status = status; };
  const Result<agent::LocalCaptureReport> report = agent::capture_locally(capture);
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK_MESSAGE(report->failure.empty(), report->failure);
  Result<std::unique_ptr<Store>> store = Store::open(capture.output);
  REQUIRE_MESSAGE(store.ok(), store.message());
  store_ = std::move(store).value();
  pool_ = std::make_unique<WorkerPool>(1);
  sql_ = std::make_unique<sql::Session>(*store_, store_->snapshot(), *pool_);
}

std::vector<std::string> IttCapture::rows(const std::string& sql) {
  TaskControl control;
  const Result<listing::SqlResult> result = sql_->run(sql, {}, control);
  REQUIRE_MESSAGE(result.ok(), result.message());
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < result->row_count(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < result->columns.size(); ++column) {
      const listing::SqlValue& value = result->at(row, column);
      if (column > 0) line += '|';
      if (const auto* text = std::get_if<std::string>(&value)) line += *text;
      if (const auto* number = std::get_if<std::int64_t>(&value)) line += std::to_string(*number);
      if (const auto* real = std::get_if<double>(&value)) line += fmt::format("{}", *real);
      if (std::holds_alternative<std::monostate>(value)) line += '-';
    }
    rows.push_back(line);
  }
  return rows;
}

std::string IttCapture::one(const std::string& sql) {
  const std::vector<std::string> all = rows(sql);
  REQUIRE(all.size() == 1);
  return all.front();
}

std::string IttCapture::quality() {
  std::string text;
  for (const std::string& row : rows("SELECT kind || ' ' || count FROM quality ORDER BY kind")) {
    text += (text.empty() ? "" : ", ") + row;
  }
  return text;
}

}  // namespace accelscope::capture
