// A view as one line of text: what a link carries that is pasted in a chat, and what a session file keeps to be opened
// as it was left. Tracks go by their names (app/rows/groups.h), so that the text fits other runs of the program.
//
//   accelscope-view:1;range=1000,2500;search=mat%2Bmul;rows=pinned+track:engine/Tensor@nc0
//
// After the version, parts NAME=VALUE stand between semicolons. A value is a list of elements between commas, an
// element one or several texts between plus signs; what has a meaning of its own, spaces, and bytes beyond ASCII are
// written as %XX. White space anywhere is passed over: chats break lines. Parts:
//
//   range=BEGIN,END             what is seen, ns of session time; absent: what is seen stays
//   filter_range=BEGIN,END      ns, whole numbers
//   filter_tracks=TRACK,...     track names
//   filter=SEARCH,...           terms; SEARCH+not is one that must not hold
//   search=TEXT
//   colours=SCHEMA+COLUMN,...
//   rows=WHAT+KEY+VALUE...,...  lines of RowChoices::to_text()
//   selected=ID+NAME            an event: its id, and its name so that it is not mistaken for that of another run
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/tab.h"
#include "core/base/result.h"
#include "core/model/ids.h"

namespace accelscope::app::view {

struct LinkedEvent {
  EventId id = kNoEvent;
  std::string name;
  bool operator==(const LinkedEvent&) const = default;
};

struct ViewLink {
  std::optional<session::ViewRange> range;
  session::ViewChoices choices;            // its filter names no tracks: those are beside it
  std::vector<std::string> filter_tracks;  // by name
  std::optional<LinkedEvent> selected;
  std::vector<std::string>
      passed_over;  // when read: names of parts that this version does not know, "rows: NAME" for lines of rows
  bool operator==(const ViewLink&) const = default;
};

[[nodiscard]] std::string to_text(const ViewLink& link);
// A wrong text is an error that says where and what; so is one of a newer version whose rules are others.
[[nodiscard]] Result<ViewLink> read_view_link(std::string_view text);

}  // namespace accelscope::app::view
