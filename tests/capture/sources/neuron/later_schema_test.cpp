// Profiles of schemas after 7.4.0: what they say of themselves is used, and what they lack is an error with its name.
// The tables that the viewer exports as text, and summaries of systems.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "capture/sources/base/importers.h"
#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"
#include "tests/support/neuron/evolved_profile.h"
#include "tests/support/neuron/neff.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

Imported later_profile(test::Profile profile, const fs::path& folder) {
  profile.find("Metadata")->find("profile_schema_version")->values = {std::string("12.0.1")};
  write_profile(profile, folder);
  return Imported::by(
      [&](EventSink& sink) { return sources::neuron::import_neuron_parquet(folder.string(), {}, sink); });
}

bool quality_says(const Imported& session, std::string_view kind, std::initializer_list<std::string_view> words) {
  for (const QualityEntry& entry : session.snapshot().quality) {
    const bool all = std::all_of(words.begin(), words.end(),
                                 [&](std::string_view word) { return entry.detail.find(word) != std::string::npos; });
    if (entry.kind == kind && all) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a known table without begin, end or engine is an error with table, column and version, and stays a table") {
  const test::TemporaryFolder folder;
  for (const char* column : {"start_ts", "engine"}) {
    test::Profile profile = test::profile_of_7_4_0();
    std::erase_if(profile.find("Instruction")->columns, [&](const auto& each) { return each.name == column; });
    const Imported session = later_profile(profile, fs::path(folder.path()) / column);
    CHECK(session.count("instruction") == 0);
    CHECK(session.count("Instruction") == 48);
    CHECK(quality_says(session, "schema_column_missing", {"\"Instruction\"", column, "schema 12.0.1"}));
    CHECK(session.count("dma") == 40);
  }
  test::Profile profile = test::profile_of_7_4_0();
  std::erase_if(profile.find("CcOp")->columns,
                [](const auto& each) { return each.name == "end_ts" || each.name == "duration_ns"; });
  const Imported session = later_profile(profile, fs::path(folder.path()) / "extent");
  CHECK(session.count("cc_op") == 0);
  CHECK(quality_says(session, "schema_column_missing", {"CcOp", "end or duration", "duration_ns", "12.0.1"}));
}

TEST_CASE("columns that only the profile describes have its type, unit and description") {
  const test::TemporaryFolder folder;
  test::Profile profile = test::profile_of_7_4_0();
  test::ProfileTable& table = *profile.find("Instruction");
  test::ProfileColumn added{
      "retry_window", "integer", "nanoseconds", "For which span a failed attempt is made again.", {}};
  for (std::size_t i = 0; i < 48; ++i) added.values.emplace_back(std::int64_t{250});
  table.columns.push_back(added);
  profile.tables.push_back({"PowerSample", "Power over time.", {added}});
  const Imported session = later_profile(profile, folder.path());
  CHECK(session.events("instruction").front().integer("retry_window") == 250);
  CHECK(session.events("instruction").front().string("extra").empty());
  CHECK(session.count("PowerSample") == 48);
  for (const auto& lane : session.snapshot().lanes) {
    if (lane.schema->name != "instruction" && lane.schema->name != "PowerSample") continue;
    const auto column = lane.schema->find("retry_window");
    REQUIRE(column.has_value());
    CHECK(lane.schema->columns[*column].unit == "ns");
    CHECK(lane.schema->columns[*column].explanation == "For which span a failed attempt is made again.");
  }
  CHECK(quality_says(session, "schema_differs", {"New columns", "Instruction.retry_window"}));
  CHECK(quality_says(session, "schema_differs", {"New tables", "PowerSample"}));
  CHECK(session.metric("profile_schema_version")->text == "12.0.1");
}

TEST_CASE("a column that is like an end and contradicts begin and duration is no end") {
  const test::TemporaryFolder folder;
  test::Profile profile = test::profile_of_7_4_0();
  test::ProfileColumn& end = *profile.find("Instruction")->find("end_ts");
  end.name = "end_slack";
  for (auto& value : end.values) value = std::int64_t{3};
  const Imported session = later_profile(profile, folder.path());
  CHECK(session.count("instruction") == 48);
  for (const EventValues& event : session.events("instruction")) {
    CHECK(event.end - event.begin == 61);
    CHECK(event.integer("end_slack") == 3);
  }
  CHECK(quality_says(session, "schema_guessed", {"\"Instruction\"", "contradict"}));
}

TEST_CASE("dependencies name a renamed table by the name that it is known by") {
  const test::TemporaryFolder folder;
  test::Profile profile = test::profile_of_7_4_0();
  profile.find("Instruction")->name = "ExecutedOperation";
  for (auto& value : profile.find("Flow")->find("in_table")->values) value = std::string("executed_operation");
  profile.find("Flow")->find("out_table")->values.front() = std::string("ExecutedOperation");
  const Imported session = later_profile(profile, folder.path());
  CHECK(session.count("instruction") == 48);
  CHECK(session.count("dependency") == 40);
  std::size_t by_name = 0;
  for (const EventValues& event : session.events("dependency")) {
    CHECK(event.string("in_table") == "instruction");
    by_name += event.string("out_table") == "Instruction" ? 1 : 0;
  }
  CHECK(by_name == 1);
  CHECK(quality_says(session, "schema_guessed", {"ExecutedOperation", "Instruction", "its columns"}));
}

TEST_CASE("source files of the archive beside the tables are in the session, and what is wrong with it is said") {
  const test::TemporaryFolder folder;
  const std::string archive = folder.file("profile/source_folder.tar.gz");
  const auto profile_with = [&](const std::string& content, const std::vector<std::string>& roots = {}) {
    test::write_file(archive, content);
    test::write_profile(test::profile_of_7_4_0(), folder.file("profile"));
    return Imported::input(folder.file("profile"), {.import = {.source_roots = roots}});
  };
  const auto sources_of = [](const Imported& session) {
    std::string text;
    for (const auto& file : session.snapshot().sources) text += fmt::format("{}={};", file->path, file->content);
    return text;
  };
  using Members = std::vector<test::TarMember>;
  const auto packed = [](const Members& members) { return gzip_of(test::tar_file(members)); };
  const Members whole = {{"src/", "", '5'}, {"src/other.py", "no"}, {"src/kernel.py", "import nki\n"}};
  CHECK(sources_of(profile_with(packed(whole))) == "kernel.py=import nki\n;");
  CHECK(sources_of(profile_with(test::tar_file(whole))) == "kernel.py=import nki\n;");  // not packed
  CHECK(quality_count(profile_with(packed(whole)), "source_files_missing") == 0);
  // A folder that the user names goes before.
  test::write_file(folder.file("mine/kernel.py"), "mine");
  CHECK(sources_of(profile_with(packed(whole), {folder.file("mine")})) == "kernel.py=mine;");
  // Nothing is written, wherever a member claims to lie.
  for (const char* name : {"../../kernel.py", "/tmp/accelscope planted/kernel.py"}) {
    CHECK(sources_of(profile_with(packed({{name, "planted"}}))) == "kernel.py=planted;");
    CHECK_FALSE(fs::exists(fs::path(folder.file("profile")) / name));
  }
  CHECK(sources_of(profile_with(packed({{"kernel.py", "", '2'}}))).empty());  // a link
  const auto is_refused = [&](const std::string& content, std::string_view why) {
    const Imported session = profile_with(content);
    CHECK(session.count("instruction") == 48);
    CHECK(sources_of(session).empty());
    CHECK(quality_says(session, "files_skipped", {"source_folder.tar.gz", why, "--source-root"}));
  };
  is_refused("packed", "the archive ends early");
  is_refused(packed({{"huge", "x", '0', "77777777777"}, {"kernel.py", "behind"}}), "holds more than");
  is_refused(gzip_of(test::tar_file({{"kernel.py", "cut", '0', "00000004000"}}, false)), "the archive ends early");
  const std::string cut = packed({{"a.py", std::string(100, 'x')}, {"kernel.py", "behind"}});
  is_refused(cut.substr(0, cut.size() / 2), "source_folder.tar.gz");
  // One that is larger than source files are, and zeros without end.
  const std::string large(9U << 20, 'x');
  CHECK(quality_count(profile_with(packed({{"kernel.py", large}})), "source_files_missing") == 1);
  CHECK(sources_of(profile_with(gzip_of(std::string(64U << 20, '\0')))).empty());
}

TEST_CASE("tables of the viewer's visible range are one session, with what the viewer leaves out said") {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path();
  std::ofstream(root / "visible_Instruction.csv")
      << "timeline_track,start_ts,end_ts,duration_ns,engine,pcore_idx,opcode,operands,id\n"
         "TensorMatrix,100,180,80,Tensor,0,MATMUL,\"src=x, dst=y\",9007199254740993\n"
         "Vector,200,230,30,Vector,0,COPY,,7\n";
  std::ofstream(root / "packets.csv")
      << "timeline_track,start_ts,end_ts,duration_ns,id,packet_idx,packet_aggregation_id,"
         "read_bytes,write_bytes,transfer_bytes,throughput,queue_type,queue_name,crc\n"
         "q0,120,160,40,5,0,1,512,512,512,1.5e9,data,qSync0,9\n";
  const auto parts = sources::find_input_parts(sources::recognise(root.string()));
  REQUIRE_MESSAGE(parts.ok(), (parts.ok() ? "" : parts.message()));
  REQUIRE(parts->parts.size() == 1);
  CHECK(parts->parts[0].format->name == "neuron-csv");
  REQUIRE(parts->parts[0].companions.size() == 1);
  sources::ImportOptions options;
  options.companions = parts->parts[0].companions;
  const Imported session = Imported::by(
      [&](EventSink& sink) { return sources::neuron::import_neuron_csv(parts->parts[0].file.path, options, sink); });
  REQUIRE(session.count("instruction") == 2);
  for (const EventValues& event : session.events("instruction")) {
    if (event.name != "MATMUL") continue;
    CHECK(event.track == "TensorMatrix");
    CHECK(event.integer("id") == 9'007'199'254'740'993);
    CHECK(event.string("operands") == "src=x, dst=y");
    CHECK(event.end - event.begin == 80);
  }
  CHECK(session.count("dma") == 1);
  CHECK(quality_says(session, "schema_guessed", {"packets", "DmaPacket"}));
  CHECK(session.quality("rows_left_out") != nullptr);
  CHECK(session.snapshot().meta_value("source.format") == "neuron-csv");
}

TEST_CASE("summaries have a block for each device profile and one for the system, as JSON and as text") {
  const std::string device(40, 'a');
  const std::string system(40, 'b');
  const Imported json = Imported::text("{\"n_" + device +
                                       "\": {\"total_time\": 0.25, "
                                       "\"throttle_gpio_1_active_time_nc4_percent\": 0.5}, \"s_" +
                                       system + "\": {\"total_duration_ns\": 1000, \"event_type_count\": {\"a\": 2}}}");
  const std::string text = "n_" + device +
                           "\n------\ntotal_time    0.25\nthrottle_gpio_1_active_time_nc4_percent    0.5\n\n"
                           "s_" +
                           system + "\n| total_duration_ns | 1000 |\n| event_type_count | {\"a\": 2} |\n";
  CHECK(sources::neuron::probe_neuron_summary(text, "summary.txt") > 0);
  const Imported plain = Imported::by([&](EventSink& sink) {
    return sources::neuron::import_neuron_summary(json::ByteSource::from_memory(text), "summary.txt", {}, sink);
  });
  for (const Imported* session : {&json, &plain}) {
    REQUIRE(session->metric("total_time") != nullptr);
    CHECK(session->metric("total_time")->value == 0.25);
    CHECK(session->metric("total_time")->device == "n_" + device);
    REQUIRE(session->metric("throttle_gpio_1_active_time_nc4_percent") != nullptr);
    CHECK(session->metric("throttle_gpio_1_active_time_nc4_percent")->unit == "share");
    REQUIRE(session->metric("total_duration_ns") != nullptr);
    CHECK(session->metric("total_duration_ns")->value == 1000);
    CHECK(session->metric("total_duration_ns")->device == "s_" + system);
    REQUIRE(session->metric("event_type_count") != nullptr);
    CHECK(session->metric("event_type_count")->text.find("\"a\"") != std::string::npos);
  }
}

}  // namespace accelscope::capture
