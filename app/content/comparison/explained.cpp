#include "app/content/comparison/explained.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "app/content/comparison/comparison_words.h"
#include "app/content/why/critical_path.h"
#include "core/analysis/comparison/compared_metrics.h"
#include "core/analysis/replay/bounds.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app {
namespace {

Result<SessionPath> path_of(const QueryContext& query, const std::optional<TimeRange>& range) {
  auto found = session_path(query, range);
  if (found && found->graph->count() == 0) {
    return Error{"nothing of the session works, moves or waits: it has no critical path"};
  }
  return found;
}

EventId event_of(const WorkGraph& graph, NodeIndex node) {
  return node == kNoNode ? kNoEvent : graph.whole_event(node);
}

std::int64_t total_of(const SessionTerms& of, bool stated, const CriticalPath& path) {
  if (stated) return std::llround(*of.stated_total_ns);
  return of.work ? of.work->length_ns() : path.range.length_ns();
}

// With what of the total lies outside of the path.
std::vector<PathShare> shares_of_total(const SessionPath& found, PathBy by, std::int64_t total_ns) {
  std::vector<PathShare> shares = path_shares(*found.graph, found.path, by);
  const std::int64_t outside_ns = total_ns - found.path.range.length_ns();
  if (outside_ns != 0) shares.push_back({"start and end of the run", 1, outside_ns, true});
  return shares;
}

std::string signed_ns(std::int64_t ns) { return signed_figure(static_cast<double>(ns), "ns"); }
std::string plain_ns(std::int64_t ns) { return format_duration(static_cast<double>(ns)); }

// Rows that are told, and what the others are together.
struct ToldTerms {
  std::size_t count = 0;  // from the front, without those that are as long
  std::size_t left = 0;
  std::int64_t left_ns = 0;
};

std::vector<const PathTerm*> told_terms(const PathDifference& difference, std::size_t most, ToldTerms& told) {
  std::vector<const PathTerm*> changed, out;
  for (const PathTerm& term : difference.terms) {
    if (term.difference_ns() != 0) changed.push_back(&term);
  }
  const std::size_t shown = most == 0 ? changed.size() : std::min(most, changed.size());
  std::vector<const PathTerm*> largest = changed;
  std::stable_sort(largest.begin(), largest.end(), [](const PathTerm* a, const PathTerm* b) {
    return std::abs(a->difference_ns()) > std::abs(b->difference_ns());
  });
  largest.resize(shown);
  for (const PathTerm* term : changed) {
    if (std::find(largest.begin(), largest.end(), term) != largest.end()) {
      out.push_back(term);
    } else {
      ++told.left;
      told.left_ns += term->difference_ns();
    }
  }
  told.count = out.size();
  return out;
}

std::string left_text(const ToldTerms& told) {
  return fmt::format("{} smaller term{}", told.left, told.left == 1 ? "" : "s");
}

// A table cell of Markdown holds no bars.
std::string cell_text(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

}  // namespace

Result<Explained> explain_difference(const QueryContext& base, const QueryContext& other,
                                     const std::vector<ExplainedBy>& by) {
  const auto base_terms = session_terms(base);
  if (!base_terms) return base_terms.error();
  const auto other_terms = session_terms(other);
  if (!other_terms) return other_terms.error();
  const bool stated = base_terms->stated_total_ns && other_terms->stated_total_ns;
  const auto here = path_of(base, stated ? std::nullopt : base_terms->work);
  if (!here) return here.error();
  const auto there = path_of(other, stated ? std::nullopt : other_terms->work);
  if (!there) return there.error();
  Explained out;
  out.total = stated ? kStatedTime : kWorkTime;
  out.base_ns = total_of(*base_terms, stated, here->path);
  out.other_ns = total_of(*other_terms, stated, there->path);
  out.base_bound = path_most_text(*here->graph, here->path);
  out.other_bound = path_most_text(*there->graph, there->path);
  for (const ExplainedBy& each : by) {
    ExplainedPart part{each, path_difference(shares_of_total(*here, each.by, out.base_ns),
                                             shares_of_total(*there, each.by, out.other_ns), each.by)};
    for (const PathTerm& term : part.difference.terms) {
      part.base_events.push_back(event_of(*here->graph, term.base_first));
      part.other_events.push_back(event_of(*there->graph, term.other_first));
    }
    out.parts.push_back(std::move(part));
  }
  return out;
}

std::string explained_headline(const Explained& explained) {
  const std::int64_t difference = explained.other_ns - explained.base_ns;
  const std::string totals = fmt::format("{} to {}, {}", plain_ns(explained.base_ns), plain_ns(explained.other_ns),
                                         lower_case(compared_title(explained.total)));
  if (difference == 0) return "as long: " + plain_ns(explained.base_ns);
  return fmt::format("{} by {}: {}", difference > 0 ? "slower" : "faster", plain_ns(std::abs(difference)), totals);
}

std::string explained_sum(const PathDifference& difference) {
  const std::int64_t whole = difference.other_ns - difference.base_ns;
  const std::int64_t left = whole - difference.longer_ns - difference.shorter_ns;
  return fmt::format("Longer {}, shorter {}, together {}. {}", signed_ns(difference.longer_ns),
                     signed_ns(difference.shorter_ns), signed_ns(whole),
                     left == 0 ? "Nothing left over." : signed_ns(left) + " left over.");
}

std::string explained_label(const PathTerm& term, const ExplainedBy& by) {
  if (term.is_gap) return "waiting: " + term.label;
  if (!term.label.empty()) return term.label;
  return by.by == PathBy::line ? "(no line)" : "(no name)";
}

std::string explained_why(const PathTerm& term) {
  const std::uint64_t last = term.other_count == 0 ? term.base_count : term.other_count;
  const std::string counted =
      fmt::format("{} {}{}", format_count(last), term.is_gap ? "gap" : "event", last == 1 ? "" : "s");
  if (term.base_count == 0) return counted + ", new on the path";
  if (term.other_count == 0) return counted + ", gone from the path";
  if (term.base_count == term.other_count) return counted + " as before";
  return format_count(term.base_count) + " to " + counted;
}

void write_explained_text(std::ostream& out, const Explained& explained, std::size_t most_rows) {
  out << fmt::format("{} against {}: {}\n", explained.other_title, explained.base_title, explained_headline(explained))
      << fmt::format("A: {}\nB: {}\n", explained.base_bound, explained.other_bound);
  for (const ExplainedPart& part : explained.parts) {
    out << '\n';
    ToldTerms told;
    const std::vector<const PathTerm*> terms = told_terms(part.difference, most_rows, told);
    const std::string title = fmt::format("On the critical path, by {}", part.by.name);
    std::size_t width = std::max<std::size_t>(title.size(), 40);
    for (const PathTerm* term : terms) width = std::max(width, explained_label(*term, part.by).size());
    const auto row = [&](std::string_view label, const std::string& a, const std::string& b, std::int64_t difference,
                         const std::string& why) {
      out << fmt::format("{:<{}}  {:>12}  {:>12}  {:>13}  {}\n", label, width, a, b, signed_ns(difference), why);
    };
    out << fmt::format("{:<{}}  {:>12}  {:>12}  {:>13}\n", title, width, "A", "B", "difference");
    for (const PathTerm* term : terms) {
      row(explained_label(*term, part.by), plain_ns(term->base_ns), plain_ns(term->other_ns), term->difference_ns(),
          explained_why(*term));
    }
    if (told.left > 0) row(left_text(told), "", "", told.left_ns, "");
    row("total", plain_ns(part.difference.base_ns), plain_ns(part.difference.other_ns),
        part.difference.other_ns - part.difference.base_ns, "");
    out << explained_sum(part.difference) << '\n';
  }
}

void write_explained_markdown(std::ostream& out, const Explained& explained, std::size_t most_rows) {
  out << fmt::format("## {} against {}: {}\n\n- A: {}\n- B: {}\n", explained.other_title, explained.base_title,
                     explained_headline(explained), explained.base_bound, explained.other_bound);
  for (const ExplainedPart& part : explained.parts) {
    out << fmt::format("\n### By {}\n\n| {} | A | B | Difference | |\n|---|---:|---:|---:|---|\n", part.by.name,
                       part.by.title);
    ToldTerms told;
    for (const PathTerm* term : told_terms(part.difference, most_rows, told)) {
      out << fmt::format("| {} | {} | {} | {} | {} |\n", cell_text(explained_label(*term, part.by)),
                         plain_ns(term->base_ns), plain_ns(term->other_ns), signed_ns(term->difference_ns()),
                         explained_why(*term));
    }
    if (told.left > 0) out << fmt::format("| {} | | | {} | |\n", left_text(told), signed_ns(told.left_ns));
    out << fmt::format("\n{}\n", explained_sum(part.difference));
  }
}

void write_explained_json(std::ostream& out, const Explained& explained, std::size_t most_rows) {
  out << fmt::format(
      "{{\"base\": {}, \"other\": {}, \"base_ns\": {}, \"other_ns\": {}, \"difference_ns\": {},\n \"base_bound\": {}, "
      "\"other_bound\": {}, \"by\": {{",
      json_quote(explained.base_title), json_quote(explained.other_title), explained.base_ns, explained.other_ns,
      explained.other_ns - explained.base_ns, json_quote(explained.base_bound), json_quote(explained.other_bound));
  bool first_part = true;
  for (const ExplainedPart& part : explained.parts) {
    out << fmt::format("{}\n  {}: {{\"terms\": [", first_part ? "" : ",", json_quote(part.by.name));
    first_part = false;
    bool first = true;
    ToldTerms told;
    for (const PathTerm* term : told_terms(part.difference, most_rows, told)) {
      const auto place = static_cast<std::size_t>(term - part.difference.terms.data());
      const auto id = [](EventId event) { return event == kNoEvent ? std::string("null") : std::to_string(event); };
      out << fmt::format(
          "{}\n   {{\"label\": {}, \"gap\": {}, \"base_ns\": {}, \"other_ns\": {}, \"difference_ns\": {}, "
          "\"base_count\": {}, \"other_count\": {}, \"base_event\": {}, \"other_event\": {}}}",
          first ? "" : ",", json_quote(term->label), term->is_gap, term->base_ns, term->other_ns, term->difference_ns(),
          term->base_count, term->other_count, id(part.base_events[place]), id(part.other_events[place]));
      first = false;
    }
    out << fmt::format("],\n   \"left_out\": {{\"terms\": {}, \"difference_ns\": {}}}, \"sum_ns\": {}}}", told.left,
                       told.left_ns, part.difference.longer_ns + part.difference.shorter_ns);
  }
  out << "}}\n";
}

}  // namespace accelscope::app
