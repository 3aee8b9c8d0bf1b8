#include "app/workspace/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/plan/form_model.h"
#include "app/session/analysis.h"
#include "app/view/marker_sets.h"
#include "app/view/record.h"
#include "app/workspace/headline.h"
#include "capture/sources/input_parts.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::workspace {

namespace fs = std::filesystem;

namespace {

constexpr double kViewMargin = 0.01;

std::string state_file(const std::string& directory, const char* name) {
  return directory.empty() ? "" : (fs::path(directory) / name).string();
}

bool is_closed_to_others(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !error && fs::exists(status) && (status.permissions() & fs::perms::others_read) == fs::perms::none;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

session::ViewRange with_margin(std::int64_t begin_ns, std::int64_t end_ns) {
  const auto begin = static_cast<double>(begin_ns);
  const double span = std::max(static_cast<double>(end_ns) - begin, 1.0);
  return {begin - span * kViewMargin, begin + span * (1 + kViewMargin)};
}

}  // namespace

session::ViewRange first_view(const session::SessionTab& tab) {
  const TimeRange shown = tab.first_shown ? *tab.first_shown : analysis::recorded_stretch(*tab.snapshot);
  return with_margin(shown.begin_ns, shown.end_ns);
}

Workspace::Workspace(WorkspaceOptions options)
    : options_(std::move(options)),
      recent_(state_file(options_.state_directory, "recent-sessions.txt")),
      settings_(state_file(options_.state_directory, "settings.txt")),
      configurations_(state_file(options_.state_directory, "configurations.txt")) {
  if (options_.wake) pool_.on_finished(options_.wake);  // what was found out is shown, whether or not anyone polls
  if (auto loaded = recent_.load(); !loaded) notify(Severity::warning, loaded.message());
  if (auto loaded = settings_.load(); !loaded) notify(Severity::warning, loaded.message());
  if (auto loaded = configurations_.load(); !loaded) notify(Severity::warning, loaded.message());
  if (options_.services.kinds) known_kinds_ = options_.services.kinds();
  look_for_recoverable();
}

Workspace::~Workspace() {
  for (Opening& opening : opening_) opening.job->cancel();
  for (Starting& starting : starting_) starting.job->cancel();
}

void Workspace::update(double now_s) {
  std::erase_if(closing_, [this](Closing& closing) {
    if (!closing.task->ready()) return false;
    if (closing.left) recoverable_.push_back(std::move(*closing.left));
    return true;
  });
  take_opened();
  take_jobs();
  take_started();
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    OpenTab& tab = *tabs_[i];
    refresh(tab, now_s);
    const bool grew = session::may_grow(*tab.session);
    if (tab.link) refresh_link(tab, now_s);
    if (grew && !session::may_grow(*tab.session)) refresh(tab, now_s);  // what is said of its end is of all that came
    if (tab.saving && tab.saving->finished()) take_saved(tab);
  }
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    OpenTab& tab = *tabs_[i];
    if (tab.save_when_over.empty() || session::may_grow(*tab.session) || saving(i)) continue;
    save(i, std::exchange(tab.save_when_over, {}));
  }
  for (std::size_t i = tabs_.size(); i-- > 0;) {
    const OpenTab& tab = *tabs_[i];
    const bool nothing_came =
        tab.link && tab.session->live == session::LiveState::failed && tab.session->snapshot->event_count == 0;
    if (nothing_came) {
      remove_tab(i, true);
    } else if (tab.close_when_saved && !saving(i) && !tab.session->modified) {
      remove_tab(i, false);
    }
  }
}

const Workspace::OpenTab* Workspace::whole_of(const OpenTab& tab) const {
  const auto whole = std::ranges::find_if(tabs_, [&](const auto& each) {
    return !each->part && each->session->beside.empty() && each->session->store == tab.session->store;
  });
  return whole == tabs_.end() ? nullptr : whole->get();
}

Workspace::SessionName Workspace::name_of(const OpenTab& tab) const {
  const OpenTab* whole = whole_of(tab);
  if (whole != nullptr) return {whole->session->title, whole->session->device};
  return {tab.part->session_title, tab.part->session_device};
}

std::string Workspace::session_title(std::size_t index) const { return name_of(*tabs_[index]).title; }

bool Workspace::saving(std::size_t index) const {
  return std::ranges::any_of(
      tabs_, [&](const auto& each) { return each->saving && each->session->store == tabs_[index]->session->store; });
}

bool Workspace::ask_of_unsaved() {
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    if (!tabs_[i]->session->modified) continue;
    const OpenTab* whole = whole_of(*tabs_[i]);
    std::size_t asked = i;
    for (std::size_t k = 0; k < tabs_.size(); ++k) asked = tabs_[k].get() == whole ? k : asked;
    activate(asked);
    question_ = asked;
    return true;
  }
  return false;
}

session::SessionTab* Workspace::active() const noexcept { return active_ ? tabs_[*active_]->session.get() : nullptr; }

void Workspace::activate(std::size_t index) {
  if (index < tabs_.size()) active_ = index;
}

void Workspace::show_start_page() {
  start_page_open_ = true;
  active_.reset();
}

void Workspace::close_start_page() {
  start_page_open_ = false;
  if (!active_ && !tabs_.empty()) active_ = tabs_.size() - 1;
}

void Workspace::close(std::size_t index, bool discard) {
  if (index >= tabs_.size()) return;
  OpenTab& tab = *tabs_[index];
  const bool shared = is_shared(tab);
  if (tab.session->modified && !discard && !shared) {
    activate(index);
    question_ = index;
    return;
  }
  if (tab.saving && !shared && !discard) {  // the file is whole first
    tab.close_when_saved = true;
    return;
  }
  const bool nothing_came = tabs_[index]->session->snapshot->event_count == 0;
  remove_tab(index, discard || nothing_came);
}

void Workspace::remove_tab(std::size_t index, bool discard) {
  OpenTab& gone = *tabs_[index];
  discard = discard && !is_shared(gone);
  for (const auto& other : tabs_) {
    if (other->session->store != gone.session->store) continue;
    other->session->modified = other->session->modified || gone.session->modified;
    if (!gone.part && other->part) {
      other->part->session_title = gone.session->title;
      other->part->session_device = gone.session->device;
    }
    if (gone.saving && &*other != &gone) {  // what was begun is carried through
      other->saving = std::move(gone.saving);
      other->saving_path = gone.saving_path;
      other->saving_version = gone.saving_version;
    }
  }
  std::string path = gone.session->path;
  auto close = [tab = std::move(tabs_[index]), discard](TaskControl&) mutable {
    if (discard && tab->link) tab->link->discard();
    session::StoreWriter::flush(*tab->session->writer->queue());
    tab.reset();
    return true;
  };
  closing_.push_back({std::move(path), std::make_shared<Task<bool>>(pool_.start(Priority::drawing, std::move(close)))});
  tabs_.erase(tabs_.begin() + static_cast<std::ptrdiff_t>(index));
  if (question_ == index) question_.reset();
  if (question_ && *question_ > index) --*question_;
  if (!active_) return;
  if (tabs_.empty()) {
    active_.reset();
  } else if (*active_ > index || *active_ >= tabs_.size()) {
    --*active_;
  }
}

void Workspace::answer(Answer answer) {
  if (!question_) return;
  const std::size_t index = *question_;
  question_.reset();
  if (answer == Answer::cancel) return;
  const Store* store = tabs_[index]->session->store.get();  // of the session, whichever tabs show it
  if (answer == Answer::save) return save_and_close(index, suggested_path(index));
  for (std::size_t i = tabs_.size(); i-- > 0;) {
    if (tabs_[i]->session->store.get() == store) remove_tab(i, true);
  }
}

std::optional<std::size_t> Workspace::index_of(TabId id) const noexcept {
  const auto found = std::ranges::find_if(tabs_, [id](const auto& each) { return each->id == id; });
  return found == tabs_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - tabs_.begin()));
}

void Workspace::save_and_close(std::size_t index, const std::string& path) {
  if (index >= tabs_.size()) return;
  for (const auto& each : tabs_) {
    if (each->session->store == tabs_[index]->session->store) each->close_when_saved = true;
  }
  if (!session::may_grow(*tabs_[index]->session)) return save(index, path);
  tabs_[index]->save_when_over = path;
  for (const auto& each : tabs_) {
    if (each->link && each->session->store == tabs_[index]->session->store) each->link->stop();
  }
}

void Workspace::open(const std::string& typed_path) {
  const std::string path = absolute_path(typed_path);
  const OpenTab* part = nullptr;
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    if (tabs_[i]->session->path != path) continue;
    if (!tabs_[i]->part) return activate(i);
    part = tabs_[i].get();
  }
  if (part != nullptr) return open_whole(*part);
  for (const Opening& opening : opening_) {
    if (opening.paths.size() == 1 && opening.paths.front() == path) return;
  }
  auto result = std::make_shared<std::optional<OpenedSession>>();
  std::vector<std::shared_ptr<Task<bool>>> before;  // what was closed just now may still be written
  for (const Closing& closing : closing_) {
    if (closing.path == path) before.push_back(closing.task);
  }
  auto work = [this, path, before, result](session::JobControl& control) -> Result<void> {
    for (const auto& closing : before) closing->wait();
    auto opened =
        TRY(open_session({capture::sources::recognise(path)}, {.source_roots = options_.source_roots}, pool_, control));
    result->emplace(std::move(opened));
    return {};
  };
  auto job = std::make_unique<session::BackgroundJob>("Opening " + file_name(path), std::move(work), options_.wake);
  opening_.push_back({{path}, std::move(job), std::move(result)});
}

void Workspace::open(const std::vector<std::string>& typed_paths) {
  if (typed_paths.size() < 2) {
    for (const std::string& path : typed_paths) open(path);
    return;
  }
  std::vector<std::string> paths;
  for (const std::string& path : typed_paths) paths.push_back(absolute_path(path));
  auto result = std::make_shared<std::optional<OpenedSession>>();
  auto work = [this, paths, result](session::JobControl& control) -> Result<void> {
    const auto files = capture::sources::recognise(paths);
    if (!capture::sources::are_of_one_run(files)) return {};
    auto opened = TRY(open_session(files, {.source_roots = options_.source_roots}, pool_, control));
    result->emplace(std::move(opened));
    return {};
  };
  auto job = std::make_unique<session::BackgroundJob>(fmt::format("Opening {} files", paths.size()), std::move(work),
                                                      options_.wake);
  opening_.push_back({std::move(paths), std::move(job), std::move(result)});
}

void Workspace::take_opened() {
  for (std::size_t i = 0; i < opening_.size();) {
    if (!opening_[i].job->finished()) {
      ++i;
      continue;
    }
    Opening opening = std::move(opening_[i]);
    opening_.erase(opening_.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<void> done = opening.job->finish();
    if (!done) {
      if (opening.job->cancelled()) continue;
      if (opening.paths.size() < 2) {
        notify(Severity::error, done.message());
        continue;
      }
    }
    if (!*opening.result) {  // each says for itself what is wrong with it
      for (const std::string& path : opening.paths) open(path);
      continue;
    }
    adopt(std::move(**opening.result));
    if (opening.paths.size() == 1) remember(*tabs_.back(), opening.paths.front());
  }
}

Workspace::OpenTab& Workspace::add_tab(std::string title, std::shared_ptr<Store> store,
                                       session::RetainedBeside retained) {
  auto tab = std::make_unique<OpenTab>();
  tab->id = ++last_id_;
  tab->session = std::make_unique<session::SessionTab>();
  session::SessionTab& session = *tab->session;
  session.title = std::move(title);
  session::attach(session, pool_, std::move(store), std::move(retained));
  session.analysis = std::make_shared<session::SessionAnalysis>(pool_, session.store);
  session.analysis->begin_frame(session.snapshot, 0);
  session.project = session::retained_value(session, session::kProjectKey);
  session.configuration = session::retained_value(session, session::kConfigurationKey);
  tabs_.push_back(std::move(tab));
  active_ = tabs_.size() - 1;
  start_page_open_ = false;
  return *tabs_.back();
}

session::SessionTab& Workspace::adopt(OpenedSession opened) {
  OpenTab& tab = add_tab(std::move(opened.title), std::move(opened.store), std::move(opened.retained));
  session::SessionTab& session = *tab.session;
  session.device = std::move(opened.device);
  session.path = std::move(opened.path);
  session.modified = opened.modified;
  session.active = opened.active;
  session.first_shown = opened.shown;
  if (!opened.note.empty()) notify(Severity::warning, std::move(opened.note));
  tab.fitted = true;
  session.show(first_view(session));
  view::show_retained_view(session, [this](std::string reported) { notify(Severity::note, std::move(reported)); });
  return session;
}

// All tabs on a store write their markers into it. Letters go on after those that the tab begins with.
std::int64_t Workspace::first_marker_beside(const session::SessionTab& session) const {
  std::int64_t first = persist::unix_now() << 20;
  const auto keep_apart = [&](const session::SessionTab& other) {
    if (&other == &session || other.store != session.store) return;
    first = std::max(first, (other.first_marker_id / view::kMarkersOfTab + 1) * view::kMarkersOfTab);
  };
  for (const auto& tab : tabs_) {
    keep_apart(*tab->session);
    for (const session::ComparedSession& each : tab->session->beside) keep_apart(*each.session);
  }
  std::int64_t taken = 0;
  for (const Marker& marker : session.markers) taken = std::max(taken, view::marker_ordinal(marker) + 1);
  return first + taken;
}

Workspace::OpenTab& Workspace::add_beside(const OpenTab& origin, SessionName name) {
  const session::SessionTab& from = *origin.session;
  OpenTab& tab = add_tab(std::move(name.title), from.store, {from.markers, from.retained});
  session::SessionTab& session = *tab.session;
  session.device = std::move(name.device);
  session.path = from.path;
  session.active = from.active;
  session.first_shown = from.first_shown;
  session.live = from.live;
  session.capture = from.capture;
  session.capture_seconds = from.capture_seconds;
  session.first_marker_id = first_marker_beside(session);
  tab.link = origin.link;
  tab.saved_version = origin.saved_version;
  tab.pace = origin.pace;
  tab.fitted = true;
  return tab;
}

void Workspace::open_whole(const OpenTab& part) {
  session::SessionTab& session = *add_beside(part, name_of(part)).session;
  session.modified = part.session->modified;
  session.show(first_view(session));
  session.follow = session::may_grow(session);
  view::ask_retained_view(session, [this](std::string reported) { notify(Severity::note, std::move(reported)); });
}

session::SessionTab& Workspace::open_part(std::size_t index, std::string title, std::string device,
                                          const std::vector<TrackNumber>& tracks) {
  const OpenTab& origin = *tabs_[index];  // stays where it is when a tab is added
  const session::SessionTab& whole = *origin.session;
  SessionName name = name_of(origin);
  OpenTab& tab = add_beside(origin, {std::move(title), std::move(device)});
  session::SessionTab& session = *tab.session;
  session.view_key = std::string(session::kViewKey) + " " + session.title + " " + session.device;
  TabPart& part = tab.part.emplace();
  part.session_title = std::move(name.title);
  part.session_device = std::move(name.device);
  for (const TrackNumber number : tracks) {
    const TrackSnapshot* track = session.snapshot->find_track(number);
    if (track != nullptr) part.devices.emplace(scope_of(number), track->track->host, track->track->device);
  }
  part.tracks = tracks;
  session.choices.filter.tracks = tracks;
  session.choices.rows.only = tracks;
  session.show(whole.view);
  session.follow = whole.follow && session::may_grow(session);
  view::ask_retained_view(session, [this](std::string reported) { notify(Severity::note, std::move(reported)); });
  return session;
}

std::optional<std::size_t> Workspace::tab_of(const std::shared_ptr<const Store>& store) const {
  std::optional<std::size_t> compared;
  for (std::size_t i = tabs_.size(); i-- > 0;) {
    const session::SessionTab& session = *tabs_[i]->session;
    if (session.store == store && !session.beside.empty()) compared = i;
  }
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    if (tabs_[i]->session->store == store && tabs_[i]->session->beside.empty()) return i;
  }
  return compared;
}

session::SessionTab& Workspace::open_comparison(std::vector<std::size_t> tabs) {
  std::ranges::sort(tabs);
  const OpenTab& origin = *tabs_[tabs.front()];
  const session::SessionTab& from = *origin.session;
  session::SessionTab& session = *add_beside(origin, {session::own_title(from), ""}).session;
  session.own_title = session.title;
  session.view_key = std::string(session::kViewKey) + " beside " + tabs_[tabs[1]]->session->title;
  session.choices.rows = from.choices.rows;
  // All of each, whichever is longest.
  const session::ViewRange here = first_view(session);
  session.show(here);
  for (std::size_t i = 1; i < tabs.size(); ++i) add_to_comparison(session, tabs[i]);
  return session;
}

void Workspace::add_to_comparison(session::SessionTab& comparison, std::size_t tab) {
  const session::SessionTab& from = *tabs_[tab]->session;
  session::ComparedSession added{.session = std::make_unique<session::SessionTab>(), .turns = {}, .turns_error = {}};
  session::SessionTab& session = *added.session;
  session.title = session::own_title(from);
  session.device = from.device;
  session.path = from.path;
  session.view_key = std::string(session::kViewKey) + " beside " + session::own_title(comparison);
  session::attach(session, pool_, from.store, {from.markers, from.retained});
  session.active = from.active;
  session.first_shown = from.first_shown;
  session.choices.rows = from.choices.rows;
  session.first_marker_id = first_marker_beside(session);
  session.analysis = std::make_shared<session::SessionAnalysis>(pool_, session.store);
  session.analysis->begin_frame(session.snapshot, 0);
  const double span = std::max(comparison.view.span_ns(), first_view(session).span_ns());
  comparison.show({comparison.view.begin_ns, comparison.view.begin_ns + span});
  comparison.order.push_back(comparison.order.size());
  comparison.beside.push_back(std::move(added));
  session::name_comparison(comparison);
}

// A device may get tracks while the capture runs. Where the user has chosen others since, these stay.
void Workspace::refresh_part(TabPart& part, session::SessionTab& session) {
  const Snapshot& snapshot = *session.snapshot;
  if (part.known_tracks == snapshot.tracks.size()) return;
  part.known_tracks = snapshot.tracks.size();
  std::vector<TrackNumber> tracks;
  for (const TrackSnapshot& each : snapshot.tracks) {
    const Track& track = *each.track;
    if (part.devices.contains({scope_of(track.number), track.host, track.device})) tracks.push_back(track.number);
  }
  const auto follow = [&](std::vector<TrackNumber>& chosen) {
    if (chosen == part.tracks) chosen = tracks;
  };
  if (tracks == part.tracks) return;
  follow(session.choices.filter.tracks);
  follow(session.choices.rows.only);
  part.tracks = std::move(tracks);
}

bool Workspace::is_shared(const OpenTab& tab) const {
  return std::ranges::any_of(tabs_, [&](const auto& other) {
    return other && other.get() != &tab && other->session->store == tab.session->store;
  });
}

bool Workspace::is_first_of_capture(const OpenTab& tab) const {
  const auto first = std::ranges::find_if(tabs_, [&](const auto& each) { return each->link == tab.link; });
  return first != tabs_.end() && first->get() == &tab;
}

bool Workspace::grows(const Store& store) const {
  return std::ranges::any_of(tabs_, [&](const auto& each) {
    return each && each->session->store.get() == &store && session::may_grow(*each->session);
  });
}

void Workspace::refresh(OpenTab& tab, double now_s) {
  session::SessionTab& session = *tab.session;
  const std::uint64_t known = session.snapshot->version;
  for (std::string& failed : session::begin_frame(session)) notify(Severity::error, std::move(failed));
  for (const session::ComparedSession& each : session.beside) {
    session::SessionTab& other = *each.session;
    for (std::string& failed : session::begin_frame(other)) notify(Severity::error, std::move(failed));
    other.analysis->begin_frame(other.snapshot, now_s, grows(*other.store));
    other.analysis->set_filter(other.choices.filter);
  }
  view::take_awaited_lanes(session);
  if (tab.part && session.snapshot->version != known) refresh_part(*tab.part, session);
  if (session.device.empty() && session.snapshot->version != known) session.device = device_of(*session.snapshot);
  session.analysis->begin_frame(session.snapshot, now_s, grows(*session.store));
  session.analysis->set_filter(session.choices.filter);
}

void Workspace::save(std::size_t index, const std::string& typed_path) {
  if (index >= tabs_.size() || saving(index)) return;
  OpenTab& tab = *tabs_[index];
  const std::string path = absolute_path(typed_path);
  std::vector<std::shared_ptr<session::StoreWriter::Queue>> unwritten;
  for (const auto& each : tabs_) {
    if (each->session->store != tab.session->store) continue;
    view::keep_view(*each->session, {});
    unwritten.push_back(each->session->writer->queue());
  }
  tab.saving_path = path;
  tab.saving_version = std::make_shared<std::atomic<std::uint64_t>>(0);
  // A command that was captured may hold what is for nobody else, and so may a file that is closed.
  const bool closed = !tab.session->capture.agents.empty() || is_closed_to_others(tab.session->path);
  const FileAccess access = closed ? FileAccess::owner : FileAccess::umask;
  auto work = [store = tab.session->store, unwritten = std::move(unwritten), version = tab.saving_version, path, access,
               &pool = pool_](session::JobControl& control) -> Result<void> {
    for (const auto& each : unwritten) session::StoreWriter::flush(*each);
    keep_headline(*store, pool);
    *version = store->version();
    return store->save(
        path, [&control](std::uint64_t done, std::uint64_t total) { return control.report(done, total); }, access);
  };
  tab.saving = std::make_unique<session::BackgroundJob>("Saving " + file_name(path), std::move(work), options_.wake);
}

void Workspace::take_saved(OpenTab& tab) {
  const std::unique_ptr<session::BackgroundJob> job = std::move(tab.saving);
  const Result<void> done = job->finish();
  if (!done) {
    for (const auto& each : tabs_) {
      if (each->session->store == tab.session->store) each->close_when_saved = false;
    }
    if (!job->cancelled()) notify(Severity::error, done.message() + ". The session stays open.");
    return;
  }
  session::SessionTab& session = *tab.session;
  for (const auto& each : tabs_) {
    session::SessionTab& other = *each->session;
    if (other.store != session.store) continue;
    other.path = tab.saving_path;
    each->saved_version = *tab.saving_version;
    other.modified =
        session::may_grow(other) || other.store->version() != each->saved_version || other.writer->unwritten();
    std::string& title = each->part ? each->part->session_title : other.title;
    if (title.empty() || each->link) title = title_of_path(other.path);
  }
  // Something was written while it was saved: what closes is whole.
  if (tab.close_when_saved && session.modified && !session::may_grow(session)) tab.save_when_over = session.path;
  if (tab.link && !session.modified) {  // a folder goes, and what cannot be removed is told to the session's file
    auto saved = [link = tab.link](TaskControl&) {
      link->saved();
      return true;
    };
    closing_.push_back({"", std::make_shared<Task<bool>>(pool_.start(Priority::background, std::move(saved)))});
  }
  remember(tab, session.path);
}

std::string Workspace::suggested_path(std::size_t index) const {
  const session::SessionTab& session = *tabs_[index]->session;
  if (!session.path.empty()) return session.path;
  return absolute_path(plan::file_of_title(session_title(index)));
}

std::vector<session::BackgroundJob*> Workspace::jobs() const {
  std::vector<session::BackgroundJob*> jobs;
  for (const Opening& opening : opening_) jobs.push_back(opening.job.get());
  for (const Starting& starting : starting_) jobs.push_back(starting.job.get());
  for (const auto& tab : tabs_) {
    if (tab->saving) jobs.push_back(tab->saving.get());
  }
  for (const PlainJob& plain : plain_jobs_) jobs.push_back(plain.job.get());
  return jobs;
}

void Workspace::start_job(std::string title, session::BackgroundJob::Work work,
                          std::function<void(const Result<void>&)> done) {
  plain_jobs_.push_back(
      {std::make_unique<session::BackgroundJob>(std::move(title), std::move(work), options_.wake), std::move(done)});
}

void Workspace::take_jobs() {
  for (std::size_t i = 0; i < plain_jobs_.size();) {
    if (!plain_jobs_[i].job->finished()) {
      ++i;
      continue;
    }
    const PlainJob ended = std::move(plain_jobs_[i]);
    plain_jobs_.erase(plain_jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<void> result = ended.job->finish();
    if (result || !ended.job->cancelled()) ended.done(result);
  }
}

bool Workspace::settled() const {
  if (!opening_.empty() || !starting_.empty() || !closing_.empty() || !plain_jobs_.empty()) return false;
  return std::ranges::all_of(tabs_, [](const auto& tab) {
    const auto rests = [](const session::SessionTab& each) {
      return !each.analysis->pending() && !each.events->pending() && !each.writer->pending();
    };
    session::SessionTab& session = *tab->session;
    return !tab->saving && !session::may_grow(session) &&
           std::ranges::all_of(session::sessions_of(session), [&](const auto* each) { return rests(*each); });
  });
}

void Workspace::notify(Severity severity, std::string text, std::string subject) {
  constexpr std::size_t kMostNotices = 4;  // more would push the timeline off the window
  if (severity == Severity::error) last_error_ = text;
  if (session::SessionTab* tab = active(); tab != nullptr && severity == Severity::error) tab->last_error = text;
  std::erase_if(notices_, [&](const Notice& notice) {
    return notice.text == text || (!subject.empty() && notice.subject == subject);
  });
  notices_.push_back({severity, std::move(text), std::move(subject)});
  if (notices_.size() > kMostNotices) notices_.erase(notices_.begin());
}

void Workspace::withdraw(std::string_view subject) {
  std::erase_if(notices_, [&](const Notice& notice) {
    if (notice.subject != subject) return false;
    if (last_error_ == notice.text) last_error_.clear();
    return true;
  });
}

void Workspace::dismiss_notice(std::size_t index) {
  if (index < notices_.size()) notices_.erase(notices_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Workspace::remember(const OpenTab& tab, const std::string& path) {
  const session::SessionTab& session = *tab.session;
  const Snapshot& snapshot = *session.snapshot;
  const analysis::WorkKinds kinds(snapshot);
  const bool works = session.active && (kinds.any_device() || kinds.any(WorkKind::host));
  SessionName name = name_of(tab);
  persist::RecentSession recent{.path = path,
                                .title = std::move(name.title),
                                .device = std::move(name.device),
                                .work_ns = works ? session.active->length_ns() : 0,
                                .events = count_passing(snapshot, nullptr),
                                .opened_unix_s = persist::unix_now(),
                                .warnings = count_warnings(snapshot),
                                .project = session.project,
                                .configuration = session.configuration};
  if (auto retained = recent_.remember(std::move(recent)); !retained) notify(Severity::warning, retained.message());
}

void Workspace::write_settings() {
  if (auto written = settings_.write_if_changed(); !written) notify(Severity::warning, written.message());
}

}  // namespace accelscope::app::workspace
