// What the events of a session can be coloured by: its tables and their columns, the values of a column as filters, and
// the change of the view that each choice is. No drawing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/tab.h"
#include "core/colour/event_colours.h"

namespace accelscope::app::view {

inline constexpr std::string_view kByName = "name";

// Tables (Schema::name) whose events are drawn as slices, those with the most events in rows that stand by themselves
// first.
[[nodiscard]] std::vector<std::string> coloured_tables(const Snapshot& snapshot);

struct ColourColumn {
  std::string column;  // as ColourChoice names it
  std::string title;   // "Queue", "Opcode"
  std::string group;   // "Memory"; empty: one of those that are used most
};
// Every column of a table, the name and the duration among them; those that are used most come first.
[[nodiscard]] std::vector<ColourColumn> colour_columns(const Snapshot& snapshot, std::string_view table);

// What a table is coloured by until the user chooses: the name, or where names say nothing ("unknown" of most moves) or
// less than another column does (processors of a core), that column.
[[nodiscard]] std::string usual_colour_column(const Snapshot& snapshot, std::string_view table);
// What the table is coloured by.
[[nodiscard]] std::string colour_column(const Snapshot& snapshot, const session::ViewChoices& choices,
                                        const std::string& table);
[[nodiscard]] std::string colour_title(const Snapshot& snapshot, const std::string& table, const std::string& column);
void choose_colour(session::SessionTab& tab, const std::string& table, const std::string& column);

// The events that a value stands for, as a search in the grammar of core/search/search.h.
[[nodiscard]] FilterTerm term_of(const colour::ColourTable& table, const colour::ColourValue& value);
// Shows only the events of the value in place of another value of the same legend, or all again if it did so already.
void toggle_only(EventFilter& filter, const colour::ColourTable& table, const colour::ColourValue& value);
// Hides the events of the value, or shows them again.
void toggle_hidden(EventFilter& filter, const colour::ColourTable& table, const colour::ColourValue& value);

enum class ValueState : std::uint8_t { plain, only, hidden };
[[nodiscard]] ValueState state_of(const EventFilter& filter, const colour::ColourTable& table,
                                  const colour::ColourValue& value);

}  // namespace accelscope::app::view
