#include "app/mcp/shelf.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::app::mcp {
namespace {

std::string open_names(const std::vector<std::unique_ptr<ShelvedSession>>& sessions) {
  std::vector<std::string> names;
  for (const auto& each : sessions) names.push_back(each->name);
  return names.empty() ? "none is open" : fmt::format("open are {}", fmt::join(names, ", "));
}

// "s12"
bool is_shelf_name(std::string_view text) {
  return text.size() > 1 && text.front() == 's' &&
         std::all_of(text.begin() + 1, text.end(), [](char letter) { return letter >= '0' && letter <= '9'; });
}

}  // namespace

Result<ShelvedSession*> SessionShelf::open(const std::vector<std::string>& paths,
                                           const workspace::OpenSessionOptions& options, CallControl& control) {
  if (paths.empty()) return Error{"path: missing; name a session file, a profile or a folder of them"};
  if (std::find(paths.begin(), paths.end(), "-") != paths.end())
    return Error{"-: the standard input carries the protocol; name a file"};
  const auto same =
      std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& each) { return each->paths == paths; });
  if (same == sessions_.end() && sessions_.size() >= kMostOpen)
    return Error{fmt::format("{} sessions are open; close one with close_session", kMostOpen)};
  auto opened = TRY(workspace::load_session(capture::sources::recognise(paths), options, control.job));
  auto session = std::make_unique<ShelvedSession>();
  session->paths = paths;
  session->opened = std::move(opened);
  session->snapshot = session->opened.store->snapshot();
  if (same != sessions_.end()) {
    session->name = (*same)->name;
    *same = std::move(session);
    return same->get();
  }
  session->name = fmt::format("s{}", ++opened_);
  sessions_.push_back(std::move(session));
  return sessions_.back().get();
}

ShelvedSession* SessionShelf::find_open(const std::string& name_or_path) const {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& each) {
    return each->name == name_or_path || (each->paths.size() == 1 && each->paths.front() == name_or_path);
  });
  return found == sessions_.end() ? nullptr : found->get();
}

Result<ShelvedSession*> SessionShelf::find(const std::string& name_or_path, CallControl& control) {
  if (ShelvedSession* open_one = find_open(name_or_path)) return open_one;
  if (is_shelf_name(name_or_path))
    return Error{fmt::format("{}: no such session; {}", name_or_path, open_names(sessions_))};
  return open({name_or_path}, {}, control);
}

Result<void> SessionShelf::close(const std::string& name) {
  ShelvedSession* session = find_open(name);
  if (session == nullptr) return Error{fmt::format("{}: no such session; {}", name, open_names(sessions_))};
  std::erase_if(sessions_, [&](const auto& each) { return each.get() == session; });
  return {};
}

}  // namespace accelscope::app::mcp
