#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "app/library/library.h"
#include "capture/sim/output/simulator.h"
#include "core/analysis/advice/advice.h"
#include "core/chunk/session_writer.h"
#include "core/scan/event_mask.h"
#include "core/store/overlay.h"
#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::library;
using namespace accelscope::app;
using test::holds;
using test::run;

namespace {

std::string simulate_into(const test::TemporaryFolder& folder, const std::string& name) {
  const std::string path = folder.file(name);
  REQUIRE(run({"simulate", "-o", path, "--seed", "3", "--events", "4000"}).code == terminal::kExitDone);
  return path;
}

const LibraryEntry& entry_of(const LibraryScan& scan, const std::string& path) {
  const auto found =
      std::find_if(scan.entries.begin(), scan.entries.end(), [&](const auto& e) { return e.path == path; });
  REQUIRE(found != scan.entries.end());
  return *found;
}

}  // namespace

TEST_CASE("library: tags come back as they were given, whatever stands in them") {
  const std::vector<std::string> tags = {"kernel=mlp", "config=b=1, s=128", "\"quoted\"",
                                         " blank ",    "a=\"x\", b",        "plain"};
  CHECK(split_tags(join_tags(tags)) == tags);
  CHECK(join_tags({"mlp", "first"}) == "mlp,first");  // as ever
  CHECK(split_tags(" mlp, first ,,mlp") == std::vector<std::string>{"mlp", "first"});
  CHECK(split_tags("\"no end") == std::vector<std::string>{"\"no end"});
  CHECK(split_tags("").empty());
}

TEST_CASE("library: a session's headline is what opening it tells, and a save that is repeated keeps its time") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  WorkerPool pool(1);
  const LibraryEntry entry = read_entry(path, folder.path());
  CHECK(entry.problem.empty());
  CHECK(entry.headline.saved_unix_s > 0);
  CHECK(entry.headline.activity.size() == workspace::Headline::kCells);
  CHECK(*std::max_element(entry.headline.activity.begin(), entry.headline.activity.end()) == '9');
  const auto store = Store::open(path);
  REQUIRE(store.ok());
  TaskControl control;
  const auto reported =
      workspace::find_headline({**store, (*store)->snapshot(), pool, control}, entry.headline.saved_unix_s);
  REQUIRE(reported.ok());
  CHECK(*reported == entry.headline);
  // WARNINGS of a list counts what the Warnings panel tells, an error of the hardware first.
  const auto advice = analysis::find_advice({**store, (*store)->snapshot(), pool, control}, {});
  REQUIRE(advice.ok());
  REQUIRE(analysis::reported_error(**advice) != nullptr);
  CHECK(entry.headline.findings == (*advice)->findings.size());
  CHECK(entry.headline.error == analysis::reported_error(**advice)->tab);
  CHECK(workspace::headline_of(workspace::to_text(entry.headline)) == entry.headline);
  const std::string list = run({"list", folder.path()}).out;
  CHECK(holds(list, entry.headline.error + "; " + std::to_string((*advice)->findings.size())));
  CHECK(reported->events == count_passing(*(*store)->snapshot(), nullptr));  // rows without times are none
  REQUIRE((*store)
              ->set_overlay_value(workspace::kHeadlineKey,
                                  workspace::to_text(workspace::Headline{.name = "x", .saved_unix_s = 17}))
              .ok());
  workspace::keep_headline(**store, pool);
  CHECK(workspace::headline_of((*store)->overlay_value(workspace::kHeadlineKey))->saved_unix_s == 17);
  CHECK_FALSE(workspace::headline_of("2\tnewer").has_value());
  CHECK_FALSE(workspace::headline_of("").has_value());
}

TEST_CASE("library: what an agent saved without a headline is listed without figures, and nothing is written into it") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("agent.accel");
  test::save_simulated_session(path);
  const LibraryEntry entry = read_entry(path, folder.path());
  CHECK(entry.problem.empty());
  CHECK_FALSE(entry.has_figures());
  CHECK(entry.name == "agent");
  CHECK(entry.size_bytes > 0);
  CHECK(entry.when_unix_s() > 0);
  CHECK(read_overlay(path)->count(workspace::kHeadlineKey) == 0);
}

TEST_CASE("library: tags, title and project are kept in the file, of one that cannot be written beside it") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  REQUIRE(set_tags(path, split_tags(" mlp, baseline ,,mlp")).ok());
  REQUIRE(set_title(path, "first try ").ok());
  REQUIRE(set_project(path, "kernels").ok());
  const LibraryEntry entry = read_entry(path, folder.path());
  CHECK(entry.tags == std::vector<std::string>{"mlp", "baseline"});
  CHECK(entry.name == "first try");
  CHECK(entry.project == "kernels");
  CHECK(matches(entry, "BASE first"));
  CHECK_FALSE(matches(entry, "first nothing"));
  REQUIRE(set_title(path, "").ok());
  CHECK(read_entry(path, folder.path()).name != "first try");
  CHECK_FALSE(set_tags(folder.file("none.accel"), {"x"}).ok());
  CHECK(Store::open(path).ok());  // it is a session as before
  // With a sidecar, as a read-only file gets one, its values count.
  REQUIRE(std::filesystem::copy_file(path, folder.file("b.accel")));
  {
    const std::string sidecar = folder.file("b.accel") + ".overlay";
    REQUIRE(std::filesystem::copy_file(path, sidecar));
    REQUIRE(write_overlay_value(folder.file("b.accel"), workspace::kTagsKey, "beside").ok());
  }
  CHECK(read_overlay(folder.file("b.accel"))->at(workspace::kTagsKey) == "beside");
  // Taken away there, the file's own value does not come back.
  REQUIRE(write_overlay_value(folder.file("b.accel"), workspace::kTagsKey, "").ok());
  CHECK(read_overlay(folder.file("b.accel"))->count(workspace::kTagsKey) == 0);
  CHECK(read_entry(folder.file("b.accel"), folder.path()).tags.empty());
}

TEST_CASE("library: a sidecar that is broken or no plain file hides nothing, and nothing is written through it") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  REQUIRE(set_tags(path, {"own"}).ok());
  const std::string sidecar = path + ".overlay";
  const auto still_reads = [&] {
    const auto values = read_overlay(path);
    REQUIRE(values.ok());
    CHECK(values->at(workspace::kTagsKey) == "own");
    CHECK_FALSE(set_tags(path, {"other"}).ok());
    CHECK(holds(read_entry(path, folder.path()).remark, "a.accel.overlay"));
    CHECK(holds(run({"list", folder.path()}).err, "a.accel.overlay"));
    std::filesystem::remove(sidecar);
  };
  test::write_file(sidecar, "no database at all, and longer than the head of one would be");
  still_reads();
  REQUIRE(::mkfifo(sidecar.c_str(), 0600) == 0);
  still_reads();
  std::filesystem::create_directory(sidecar);
  still_reads();
  const std::string elsewhere = simulate_into(folder, "elsewhere.accel");
  REQUIRE(set_tags(elsewhere, {"foreign"}).ok());
  std::filesystem::create_symlink(elsewhere, sidecar);
  still_reads();
  CHECK(read_overlay(elsewhere)->at(workspace::kTagsKey) == "foreign");
  std::filesystem::create_symlink(folder.file("nowhere"), sidecar);
  still_reads();
  CHECK_FALSE(std::filesystem::exists(folder.file("nowhere")));
}

TEST_CASE("library: a copied file is not listed under the name of the first, and import --name counts") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("agent.accel");
  {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate({.seed = 5, .kernels = 1}, sink).ok());
    WorkerPool pool(1);
    workspace::keep_headline(*store, pool);
    REQUIRE(store->save(path).ok());
  }
  CHECK(read_entry(path, folder.path()).has_figures());
  REQUIRE(std::filesystem::copy_file(path, folder.file("copy.accel")));
  CHECK(read_entry(folder.file("copy.accel"), folder.path()).name == "copy");
  REQUIRE(set_title(path, "listed so").ok());
  REQUIRE(run({"import", path, "-o", folder.file("named.accel"), "--name", "wanted"}).code == terminal::kExitDone);
  CHECK(read_entry(folder.file("named.accel"), folder.path()).name == "wanted");
  CHECK(read_entry(path, folder.path()).name == "listed so");
}

TEST_CASE("library: folders that links lead to in circles are listed once, and a scan can be ended") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("deep"));
  (void)simulate_into(folder, "deep/a.accel");
  std::filesystem::create_directory_symlink(folder.path(), folder.file("deep/again"));
  CHECK(scan_library({folder.path()}).entries.size() == 1);
  std::size_t asked = 0;
  const auto ended = scan_library({folder.path()}, [&](std::size_t, std::size_t) { return ++asked < 2; });
  CHECK(ended.entries.empty());
  CHECK(asked == 2);
}

TEST_CASE("library: of two profiles that would become one file the second is refused, and many wait for each other") {
  const test::TemporaryFolder folder;
  const std::string profile =
      R"({"traceEvents": [{"ph": "X", "name": "step", "ts": 1, "dur": 5, "pid": 1, "tid": 1}]})";
  for (const char* name : {"b.json", "c.json", "d.json"}) test::write_file(folder.file(name), profile);
  std::filesystem::create_directories(folder.file("same"));
  test::write_file(folder.file("same/a.json"), profile);
  test::write_file(folder.file("same/a.JSON"), profile);
  persist::Settings settings("");
  WorkerPool pool(1);
  Library library(settings, pool, {});
  library.import(folder.file("same/a.json"), {});
  library.import(folder.file("same/a.JSON"), {});
  const std::vector<std::string> wrong = library.update();
  REQUIRE(wrong.size() == 1);
  CHECK(holds(wrong.front(), "another profile"));
  for (const char* name : {"b.json", "c.json", "d.json"}) library.import(folder.file(name), {});
  CHECK(library.is_importing(folder.file("d.json")));
  CHECK(library.importing(folder.file("d.json")) == nullptr);
  REQUIRE(test::step_until([&] { return library.settled(); }, [&] { CHECK(library.update().empty()); }));
  for (const char* name : {"same/a.accel", "b.accel", "c.accel", "d.accel"}) CHECK(Store::open(folder.file(name)).ok());
}

TEST_CASE("library: a scan finds sessions and profiles below a folder, and tells what cannot be read") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("deep/er"));
  const std::string session = simulate_into(folder, "deep/er/a.accel");
  const std::string profile = folder.file("deep/kernel.json");
  REQUIRE(run({"simulate", "-o", profile, "--seed", "3", "--events", "2000", "--format", "neuron-json"}).code ==
          terminal::kExitDone);
  test::write_file(folder.file("notes.txt"), "nothing of ours");
  test::write_file(folder.file("broken.accel"), "SQLite format 3");
  test::write_file(folder.file(".hidden.accel"), "x");
  const LibraryScan scan = scan_library({folder.path(), folder.path()});
  CHECK(scan.problems.empty());
  REQUIRE(scan.entries.size() == 3);
  CHECK(entry_of(scan, session).is_session);
  CHECK(entry_of(scan, profile).format == "neuron-json");
  CHECK_FALSE(entry_of(scan, folder.file("broken.accel")).problem.empty());
  CHECK(scan_library({folder.file("nowhere")}).problems.size() == 1);
}

TEST_CASE("library: moving takes the sidecar along and replaces nothing, and deleting takes both away") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  std::filesystem::create_directories(folder.file("to"));
  test::write_file(path + ".overlay", "kept");
  const auto moved = move_session(path, folder.file("to"));
  REQUIRE(moved.ok());
  CHECK(*moved == folder.file("to/a.accel"));
  CHECK(std::filesystem::exists(*moved + ".overlay"));
  CHECK_FALSE(std::filesystem::exists(path));
  const std::string second = simulate_into(folder, "a.accel");
  const auto refused = move_session(second, folder.file("to"));
  REQUIRE_FALSE(refused.ok());
  CHECK(holds(refused.message(), "of this name"));
  CHECK(std::filesystem::exists(second));
  std::filesystem::create_directories(folder.file("free"));
  test::write_file(folder.file("free/a.accel.overlay"), "of another");
  CHECK_FALSE(move_session(second, folder.file("free")).ok());
  CHECK(std::filesystem::exists(second));
  REQUIRE(delete_session(*moved).ok());
  CHECK_FALSE(std::filesystem::exists(*moved));
  CHECK_FALSE(std::filesystem::exists(*moved + ".overlay"));
  CHECK_FALSE(delete_session(*moved).ok());
}

TEST_CASE("list prints the sessions of a folder, as a table and as JSON, and searches them") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "mlp_fwd.accel");
  REQUIRE(set_tags(path, {"baseline"}).ok());
  (void)simulate_into(folder, "other.accel");
  REQUIRE(run({"simulate", "-o", folder.file("p.json"), "--events", "2000", "--format", "neuron-json"}).code ==
          terminal::kExitDone);
  const auto all = run({"list", folder.path()});
  REQUIRE(all.code == terminal::kExitDone);
  CHECK(holds(all.out, "mlp_fwd.accel"));
  CHECK(holds(all.out, "other.accel"));
  CHECK_FALSE(holds(all.out, "p.json"));
  CHECK(holds(run({"list", folder.path(), "--profiles"}).out, "p.json"));
  const auto found = run({"list", folder.path(), "--search", "baseline", "--json"});
  CHECK(holds(found.out, "\"tags\": [\"baseline\"]"));
  CHECK_FALSE(holds(found.out, "other.accel"));
  CHECK(run({"list", folder.file("nowhere")}).code == terminal::kExitFailed);
  CHECK(run({"list"}).code == terminal::kExitUsage);
  REQUIRE(set_title(path, "red\x1b[31m").ok());
  const auto coloured = run({"list", folder.path()});
  CHECK(holds(coloured.out, "red\xef\xbf\xbd[31m"));
  CHECK_FALSE(holds(coloured.out, "\x1b"));
}

namespace {

// As an agent writes it: no headline. With a process among its hosts.
void write_without_headline(const std::string& path, const std::string& process) {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.number = 0,
                                                 .name = "zone",
                                                 .kind = EventKind::slice,
                                                 .name_column = "",
                                                 .name_explanation = "",
                                                 .wait_names = {},
                                                 .columns = {}});
  const TrackNumber track = writer.add_track(
      {.name = "main", .kind = "host_thread", .device = "", .host = process, .unit = "", .schema = schema});
  for (int i = 0; i < 20; ++i) static_cast<void>(writer.begin_event(track, i * 1000, 500, writer.intern("step")));
  writer.set_meta("name", "train run");
  REQUIRE(writer.finish().ok());
  REQUIRE(store->save(path).ok());
}

}  // namespace

TEST_CASE("library: a session without a headline is looked into once, behind the list, and stays as it is") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("runs"));
  const std::string path = folder.file("runs/agent.accel"), broken = folder.file("runs/broken.accel");
  write_without_headline(path, "python3 (4711)");
  write_without_headline(folder.file("runs/b.accel"), "serve (12)");
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  const std::string before = test::read_file(path);
  const auto in_list = [&](Library& library) {
    REQUIRE(test::step_until([&] { return library.settled() && library.scanned(); },
                             [&] { CHECK(library.update().empty()); }));
    return library.matching({.text = "python3 (4711)"});
  };
  {
    persist::Settings settings("");
    WorkerPool pool(1);
    Library library(settings, pool, {}, folder.file("headlines.txt"));
    library.add_folder(folder.file("runs"));
    const auto found = in_list(library);
    REQUIRE(found.size() == 1);
    CHECK(found[0]->path == path);
    CHECK(found[0]->name == "train run");
    CHECK(found[0]->headline.events == 20);
    CHECK(found[0]->headline.work_ns == 19'500);
    CHECK(found[0]->headline.processes == std::vector<std::string>{"python3 (4711)"});
  }
  CHECK(test::read_file(path) == before);
  CHECK_FALSE(std::filesystem::exists(path + ".overlay"));
  CHECK(read_overlay(path)->count(workspace::kHeadlineKey) == 0);
  // What was found is remembered for this state of the file: it need not be readable.
  FoundHeadlines known(folder.file("headlines.txt"));
  REQUIRE(known.load().ok());
  LibraryEntry entry = read_entry(path, folder.path());
  REQUIRE(known.find(entry) != nullptr);
  CHECK(known.find(entry)->events == 20);
  ++entry.changed_ns;
  CHECK(known.find(entry) == nullptr);
  // A remembered file that is damaged costs the time to look again, and nothing else.
  test::write_file(folder.file("headlines.txt"), "a\tb\n\t\t\t\n" + path + "\t-1\t9\tx\n");
  persist::Settings settings("");
  WorkerPool pool(1);
  Library library(settings, pool, {}, folder.file("headlines.txt"));
  library.add_folder(folder.file("runs"));
  CHECK(in_list(library).size() == 1);
}

TEST_CASE("library: the list of the command line is the list of the viewer") {
  const test::TemporaryFolder folder;
  (void)simulate_into(folder, "mlp a.accel");
  write_without_headline(folder.file("mlp b.accel"), "python3 (4711)");
  write_without_headline(folder.file("other.accel"), "serve (12)");
  test::write_file(folder.file("mlp broken.accel"), "SQLite format 3");
  REQUIRE(set_tags(folder.file("other.accel"), {"mlp"}).ok());
  persist::Settings settings("");
  WorkerPool pool(1);
  Library library(settings, pool, {});
  library.add_folder(folder.path());
  REQUIRE(test::step_until([&] { return library.settled() && library.scanned(); },
                           [&] { CHECK(library.update().empty()); }));
  for (const char* search : {"", "mlp", "python3", "nothing like it"}) {
    CAPTURE(search);
    const auto printed = run({"list", folder.path(), "--search", search, "--json"});
    REQUIRE(printed.code == terminal::kExitDone);
    const auto wanted = library.matching({.text = search, .order = LibraryOrder::name, .descending = false});
    std::size_t lines = 0;
    for (const LibraryEntry* entry : wanted) {
      CAPTURE(entry->path);
      const std::size_t at = printed.out.find("{\"path\": \"" + entry->path + "\"");
      REQUIRE(at != std::string::npos);
      const std::string line = printed.out.substr(at, printed.out.find('\n', at) - at);
      ++lines;
      CHECK(holds(line, "\"name\": \"" + entry->name + "\""));
      CHECK(holds(line, entry->has_figures() ? "\"events\": " + std::to_string(entry->headline.events) + ","
                                             : std::string("\"events\": null,")));
      if (entry->has_figures()) CHECK(holds(line, "\"work_ns\": " + std::to_string(entry->headline.work_ns)));
      for (const std::string& process : entry->headline.processes) CHECK(holds(line, "[\"" + process + "\"]"));
    }
    CHECK(lines == static_cast<std::size_t>(std::count(printed.out.begin(), printed.out.end(), '{')));
  }
  const auto table = run({"list", folder.path()});
  CHECK(holds(table.out, "python3 (4711)"));
  CHECK(holds(table.out, "PROCESSES"));
  // Names are text, whatever is in them.
  REQUIRE(set_title(folder.file("other.accel"), "bad \x1b[31mname").ok());
  CHECK_FALSE(holds(run({"list", folder.path()}).out, "\x1b["));
}

TEST_CASE("library: a value of more than a MiB beside the events hides nothing but itself") {
  const test::TemporaryFolder folder;
  const std::string path = simulate_into(folder, "a.accel");
  REQUIRE(set_tags(path, {"mine"}).ok());
  {
    const auto store = Store::open(path);
    REQUIRE(store.ok());
    REQUIRE((*store)->set_overlay_value("a big one", std::string(3 << 20, 'x')).ok());
    REQUIRE((*store)->set_overlay_value("m", std::string((1 << 20) + 1, 'y')).ok());
  }
  const auto values = read_overlay(path);
  REQUIRE_MESSAGE(values.ok(), values.message());
  CHECK(values->count("a big one") == 0);
  CHECK(values->count("m") == 0);
  const LibraryEntry entry = read_entry(path, folder.path());
  CHECK(entry.problem.empty());
  CHECK(entry.has_figures());
  CHECK(entry.tags == std::vector<std::string>{"mine"});
  REQUIRE(set_tags(path, {"mine", "too"}).ok());
  CHECK(read_entry(path, folder.path()).tags.size() == 2);
  CHECK((*Store::open(path))->overlay_value("a big one").size() == 3 << 20);  // nothing is lost
}

TEST_CASE("library: damaged bytes in a session or beside it end in an error or in what was there, and lose nothing") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.accel"), sidecar = path + ".overlay";
  write_without_headline(path, "python3 (4711)");
  REQUIRE(set_tags(path, {"own"}).ok());
  const std::string whole = test::read_file(path);
  std::filesystem::copy_file(path, sidecar);
  REQUIRE(write_overlay_value(path, workspace::kTagsKey, "beside").ok());
  const std::string beside = test::read_file(sidecar);
  std::mt19937_64 random(29);
  const auto damaged = [&](std::string bytes) {
    const std::size_t count = 1 + random() % 8;
    for (std::size_t i = 0; i < count; ++i) {
      // The first pages say how the rest is read: half of the damage goes there.
      const std::size_t within = random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), 4096) : bytes.size();
      bytes[random() % within] = static_cast<char>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    return bytes;
  };
  std::size_t hidden = 0, read = 0;
  WorkerPool pool(1);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    test::write_file(sidecar, damaged(beside));
    const std::string sidecar_before = test::read_file(sidecar);
    const auto values = read_overlay(path);  // a session is readable whatever lies beside it
    REQUIRE_MESSAGE(values.ok(), values.message());
    hidden += values->count(workspace::kTagsKey) == 0 ? 1 : 0;
    std::string passed_over;
    if (read_overlay(path, &passed_over)->count(workspace::kTagsKey) != 0 && !passed_over.empty())
      CHECK(read_overlay(path)->at(workspace::kTagsKey) == "own");
    CHECK(test::read_file(sidecar) == sidecar_before);
    CHECK(test::read_file(path) == whole);
    std::filesystem::remove(sidecar);

    const std::string other = folder.file("damaged.accel");
    test::write_file(other, damaged(whole));
    const std::string other_before = test::read_file(other);
    LibraryEntry entry = read_entry(other, folder.path());
    if (entry.problem.empty() && lacks_headline(entry)) {
      TaskControl control;
      const auto found = look_into(entry, pool, control);
      read += found.ok() ? 1 : 0;
      if (!found) CHECK(holds(found.message(), "damaged.accel"));
    } else if (!entry.problem.empty()) {
      CHECK(holds(entry.problem, "damaged.accel"));
    }
    CHECK(test::read_file(other) == other_before);
    CHECK_FALSE(std::filesystem::exists(other + ".overlay"));
  }
  CHECK(hidden < 300);
  CHECK(read > 0);
  for (int round = 0; round < 2000; ++round) {
    std::string text =
        workspace::to_text({.name = "run", .device = "nc0", .events = 17, .processes = {"a (1)", "b (2)"}});
    const std::size_t count = 1 + random() % 4;
    for (std::size_t i = 0; i < count; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (const auto headline = workspace::headline_of(text)) {
      CHECK(headline->processes.size() <= workspace::Headline::kMostProcesses);
      CHECK((headline->activity.empty() || headline->activity.size() == workspace::Headline::kCells));
    }
  }
  const std::string plain = workspace::to_text({.name = "run", .processes = {"a\t(1)", "b (2)"}});
  CHECK(workspace::headline_of(plain)->processes == std::vector<std::string>{"a\t(1)", "b (2)"});
}
