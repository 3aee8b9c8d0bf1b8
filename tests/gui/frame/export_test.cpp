// File > Export: a row for each format, which asks where to and writes what the filter leaves.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/export/formats/formats.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using render::Key;

namespace {

struct ExportFixture : OpenViewer {
  void export_as(const std::string& format, const std::string& target) {
    run(("export_" + format).c_str());
    shell.type(target);
    shell.key(Key::enter);
    REQUIRE(shell.settle());
    if (shell.find("file_dialog.done") != nullptr) REQUIRE(shell.click("file_dialog.done"));
    REQUIRE(wait_for([&] { return shell.shows("Wrote ") || std::filesystem::exists(target); }));
    shell.frame(3);
    REQUIRE(shell.settle());
  }
  [[nodiscard]] static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

}  // namespace

TEST_CASE_FIXTURE(ExportFixture, "File > Export offers every format and writes the session") {
  for (const exporting::ExportFormat& format : exporting::export_formats()) {
    CAPTURE(format.name);
    const auto* command = app.commands().find("export_" + std::string(format.name));
    REQUIRE(command != nullptr);
    const bool applies = format.applies == nullptr || format.applies(*tab().snapshot);
    CHECK(command->enabled() == applies);
    if (!applies) continue;
    const std::string target =
        folder.file("exported-" + std::string(format.name) +
                    (format.shape == exporting::ExportShape::folder ? "" : std::string(format.suffix)));
    export_as(std::string(format.name), target);
    CHECK(std::filesystem::exists(target));
  }
  CHECK(shell.shows("Wrote "));
}

TEST_CASE_FIXTURE(ExportFixture, "File > Export writes what the filter leaves, and says what is not in the file") {
  tab().change([&](session::ViewChoices& choices) { choices.filter.terms = {{"MATMUL", false}}; });
  shell.frame(2);
  REQUIRE(shell.settle());
  const std::string target = folder.file("part.csv");
  export_as("csv", target);
  CHECK(content(target).find("MATMUL") != std::string::npos);
  CHECK(content(target).find("ACTIVATE") == std::string::npos);
  const std::string stacks = folder.file("part.txt");
  export_as("collapsed", stacks);
  CHECK(shell.shows("Not in it:"));
}
