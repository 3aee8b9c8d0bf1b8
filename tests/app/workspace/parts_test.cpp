// Tabs that show a part of a session which another shows as a whole: what is saved, asked about and remembered is the
// session, whichever of its tabs are open, and closing one loses nothing.
#include <doctest/doctest.h>

#include <filesystem>

#include "app/view/marker_sets.h"
#include "app/workspace/workspace.h"
#include "tests/support/small_session.h"
#include "tests/support/wait.h"

using namespace accelscope;
using namespace accelscope::app::workspace;
using namespace accelscope::app;

namespace {

// The small session, from a file, in a tab, and one track of it in another that is in front.
struct WholeAndPart {
  WholeAndPart() : path(test::save_small_session(folder.path())), workspace({.state_directory = folder.file("state")}) {
    workspace.open(path);
    until([&] { return workspace.settled() && workspace.tab_count() == 1; });
    part = &workspace.open_part(0, "rank 0", "h nc7", {whole().snapshot->tracks.front().track->number});
    until([&] { return workspace.settled(); });
  }
  [[nodiscard]] session::SessionTab& whole() const { return workspace.tab(0); }
  template <typename Condition>
  void until(Condition condition) {
    REQUIRE(test::step_until(condition, [this] { workspace.update(now_s += 0.1); }));
  }
  test::TemporaryFolder folder;
  std::string path;
  Workspace workspace;
  session::SessionTab* part = nullptr;
  double now_s = 0;
};

}  // namespace

TEST_CASE("parts: unsaved work is asked about once for a session, before any of its tabs goes") {
  WholeAndPart open;
  CHECK_FALSE(open.workspace.ask_of_unsaved());
  for (const std::size_t modified : {0U, 1U}) {
    open.whole().modified = modified == 0;
    open.part->modified = modified == 1;
    REQUIRE(open.workspace.ask_of_unsaved());
    CHECK(open.workspace.question() == 0);  // the whole speaks for both
    CHECK(open.workspace.tab_count() == 2);
    open.workspace.answer(Workspace::Answer::cancel);
    CHECK(open.workspace.tab_count() == 2);
  }
  REQUIRE(open.workspace.ask_of_unsaved());
  open.workspace.answer(Workspace::Answer::discard);
  CHECK(open.workspace.tab_count() == 0);
  CHECK_FALSE(open.workspace.ask_of_unsaved());
}

TEST_CASE("parts: the answer to save writes the session and closes all its tabs") {
  WholeAndPart open;
  open.part->modified = true;
  std::filesystem::remove(open.path);
  REQUIRE(open.workspace.ask_of_unsaved());
  open.workspace.answer(Workspace::Answer::save);
  CHECK(open.workspace.tab_count() == 2);  // until it is written
  open.until([&] { return open.workspace.tab_count() == 0; });
  CHECK(std::filesystem::exists(open.path));
}

TEST_CASE("parts: a part is saved, remembered and asked about as its session, with the whole and without") {
  WholeAndPart open;
  open.whole().path.clear();
  open.part->path.clear();
  const std::string name = std::filesystem::path(open.workspace.suggested_path(0)).filename();
  CHECK(std::filesystem::path(open.workspace.suggested_path(1)).filename() == name);
  CHECK(open.workspace.session_title(1) == "small");
  open.whole().modified = true;
  open.workspace.close(0);
  REQUIRE(open.workspace.tab_count() == 1);
  CHECK(open.part->title == "rank 0");
  CHECK(open.part->modified);
  CHECK(open.workspace.session_title(0) == "small");
  CHECK(std::filesystem::path(open.workspace.suggested_path(0)).filename() == name);
  // A part of a part has the same session.
  (void)open.workspace.open_part(0, "rank 0 again", "h nc8", {open.part->snapshot->tracks.back().track->number});
  CHECK(open.workspace.session_title(1) == "small");
  open.workspace.save(0, open.folder.file("copy.accel"));
  open.until([&] { return open.workspace.settled(); });
  REQUIRE_FALSE(open.workspace.recent().list().empty());
  CHECK(open.workspace.recent().list()[0].path == open.folder.file("copy.accel"));
  CHECK(open.workspace.recent().list()[0].title == "small");
  CHECK(open.workspace.recent().list()[0].device == "nc0");
  CHECK(open.part->title == "rank 0");
}

TEST_CASE("parts: a path of which only a part is open opens as a whole beside it") {
  WholeAndPart open;
  open.workspace.open(open.path);
  CHECK(open.workspace.tab_count() == 2);
  CHECK(open.workspace.active_index() == 0);  // not the part, which has the path too
  open.part->modified = true;
  open.workspace.close(0);
  REQUIRE(open.workspace.tab_count() == 1);
  open.workspace.open(open.path);
  REQUIRE(open.workspace.tab_count() == 2);
  REQUIRE(open.workspace.active_index() == 1);
  open.until([&] { return open.workspace.settled(); });
  const session::SessionTab& whole = open.workspace.tab(1);
  CHECK(whole.store == open.part->store);
  CHECK(whole.title == "small");
  CHECK(whole.device == "nc0");
  CHECK(whole.path == open.path);
  CHECK(whole.modified);
  CHECK(whole.choices.filter.tracks.empty());
  CHECK(whole.view.begin_ns <= 1'000);
  CHECK(whole.view.end_ns >= 4'900);
  CHECK(whole.first_marker_id != open.part->first_marker_id);
  CHECK(view::marker_letter({.id = whole.first_marker_id}) ==
        std::string(1, static_cast<char>('A' + whole.markers.size())));
  open.workspace.activate(0);
  open.workspace.open(open.path);
  CHECK(open.workspace.tab_count() == 2);
  CHECK(open.workspace.active_index() == 1);
}

TEST_CASE("parts: a session is saved once at a time, and a tab that closes meanwhile does not end that") {
  for (const std::size_t closed : {0U, 1U}) {
    WholeAndPart open;
    const std::string copy = open.folder.file("copy.accel");
    open.workspace.save(closed, copy);
    CHECK(open.workspace.saving(0));
    CHECK(open.workspace.saving(1));
    open.workspace.save(1 - closed, copy);
    CHECK(open.workspace.jobs().size() == 1);
    open.workspace.close(closed);
    REQUIRE(open.workspace.tab_count() == 1);
    CHECK(open.workspace.saving(0));
    open.until([&] { return open.workspace.settled(); });
    CHECK(open.workspace.notices().empty());
    CHECK(open.workspace.tab(0).path == copy);
    CHECK(Store::open(copy).ok());
  }
}

TEST_CASE("parts: the last tab of a session that is saving goes once the file is written") {
  WholeAndPart open;
  open.workspace.close(1);
  open.workspace.save(0, open.folder.file("copy.accel"));
  open.workspace.close(0);
  CHECK(open.workspace.tab_count() == 1);
  open.until([&] { return open.workspace.tab_count() == 0; });
  CHECK(Store::open(open.folder.file("copy.accel")).ok());
}
