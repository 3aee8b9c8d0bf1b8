#include "app/content/comparison/explained.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "app/content/comparison/comparison_words.h"
#include "core/analysis/comparison/compared_metrics.h"
#include "core/analysis/replay/bounds.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/critical_path.h"

namespace accelscope::app::content {
namespace {

Result<analysis::SessionPath> path_of(const QueryContext& query, const std::optional<TimeRange>& range) {
  auto found = analysis::session_path(query, range);
  if (found && found->graph->count() == 0) {
    return Error{"nothing of the session works, moves or waits: it has no critical path"};
  }
  return found;
}

EventId event_of(const analysis::WorkGraph& graph, analysis::NodeIndex node) {
  return node == analysis::kNoNode ? kNoEvent : graph.whole_event(node);
}

std::int64_t total_of(const analysis::SessionTerms& of, bool stated, const analysis::CriticalPath& path) {
  if (stated) return std::llround(*of.stated_total_ns);
  return of.work ? of.work->length_ns() : path.range.length_ns();
}

// With what of the total lies outside of the path.
std::vector<analysis::PathShare> shares_of_total(const analysis::SessionPath& found, analysis::PathBy by,
                                                 std::int64_t total_ns) {
  std::vector<analysis::PathShare> shares = analysis::path_shares(*found.graph, found.path, by);
  const std::int64_t outside_ns = total_ns - found.path.range.length_ns();
  if (outside_ns != 0) shares.push_back({"start and end of the run", 1, outside_ns, true});
  return shares;
}

// The sums of several captures divided so that what is left of the divisions goes to the largest rests: the parts then
// add up to `whole`.
void divide(std::vector<analysis::PathShare>& shares, std::int64_t count, std::int64_t whole) {
  std::vector<std::pair<std::int64_t, std::size_t>> rests;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::int64_t floor = shares[i].length_ns / count, rest = shares[i].length_ns % count;
    if (rest < 0) {
      --floor;
      rest += count;
    }
    shares[i].length_ns = floor;
    const auto of = static_cast<std::uint64_t>(count);
    shares[i].count = std::max<std::uint64_t>(shares[i].count == 0 ? 0 : 1, (shares[i].count + of / 2) / of);
    sum += floor;
    rests.emplace_back(-rest, i);
  }
  std::sort(rests.begin(), rests.end());
  for (std::size_t i = 0; i < rests.size() && sum < whole; ++i, ++sum) ++shares[rests[i].second].length_ns;
}

// Rows that are told, and what the others are together.
struct ReportedTerms {
  std::size_t count = 0;  // from the front, without those that are as long
  std::size_t left = 0;
  std::int64_t left_ns = 0;
};

std::vector<const analysis::PathTerm*> reported_terms(const analysis::PathDifference& difference, std::size_t most,
                                                      ReportedTerms& reported) {
  std::vector<const analysis::PathTerm*> changed, out;
  for (const analysis::PathTerm& term : difference.terms) {
    if (term.difference_ns() != 0) changed.push_back(&term);
  }
  const std::size_t shown = most == 0 ? changed.size() : std::min(most, changed.size());
  std::vector<const analysis::PathTerm*> largest = changed;
  std::stable_sort(largest.begin(), largest.end(), [](const analysis::PathTerm* a, const analysis::PathTerm* b) {
    return std::abs(a->difference_ns()) > std::abs(b->difference_ns());
  });
  largest.resize(shown);
  for (const analysis::PathTerm* term : changed) {
    if (std::find(largest.begin(), largest.end(), term) != largest.end()) {
      out.push_back(term);
    } else {
      ++reported.left;
      reported.left_ns += term->difference_ns();
    }
  }
  reported.count = out.size();
  return out;
}

std::string left_text(const ReportedTerms& reported) { return counted(reported.left, "smaller term"); }

// A table cell of Markdown holds no bars.
std::string cell_text(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

Result<ExplainedSide> side_of(const QueryContext& query, const analysis::SessionTerms& terms, std::string_view total,
                              const std::vector<ExplainedBy>& by) {
  const bool stated = total == analysis::kStatedTime && terms.stated_total_ns;
  const auto path = TRY(path_of(query, stated ? std::nullopt : terms.work));
  ExplainedSide out;
  out.total_ns = total_of(terms, stated, path.path);
  out.bound = analysis::path_most_text(*path.graph, path.path);
  for (const ExplainedBy& each : by) {
    ExplainedSide::Part part{shares_of_total(path, each.by, out.total_ns), {}};
    for (analysis::PathShare& share : part.shares) {
      const EventId event = event_of(*path.graph, share.first);
      share.first = event == kNoEvent ? analysis::kNoNode : static_cast<analysis::NodeIndex>(part.events.size());
      if (event != kNoEvent) part.events.push_back(event);
    }
    out.parts.push_back(std::move(part));
  }
  return out;
}

}  // namespace

Result<ExplainedSide> explained_side(const QueryContext& query, std::string_view total,
                                     const std::vector<ExplainedBy>& by) {
  const auto terms = TRY(analysis::session_terms(query));
  return side_of(query, terms, total, by);
}

ExplainedSide mean_side(const std::vector<ExplainedSide>& captures) {
  ExplainedSide out = captures.front();
  if (captures.size() == 1) return out;
  const auto count = static_cast<std::int64_t>(captures.size());
  std::int64_t sum = 0;
  for (const ExplainedSide& each : captures) sum += each.total_ns;
  out.total_ns = std::llround(static_cast<double>(sum) / static_cast<double>(count));
  for (std::size_t i = 0; i < out.parts.size(); ++i) {
    std::vector<analysis::PathShare>& shares = out.parts[i].shares;
    for (std::size_t capture = 1; capture < captures.size(); ++capture) {
      for (analysis::PathShare share : captures[capture].parts[i].shares) {
        const auto known = std::find_if(shares.begin(), shares.end(), [&](const analysis::PathShare& each) {
          return each.label == share.label && each.is_gap == share.is_gap;
        });
        share.first = analysis::kNoNode;  // its event is another session's
        if (known == shares.end()) {
          shares.push_back(std::move(share));
        } else {
          known->length_ns += share.length_ns;
          known->count += share.count;
        }
      }
    }
    divide(shares, count, out.total_ns);
  }
  return out;
}

Explained explain_sides(const ExplainedSide& base, const ExplainedSide& other, std::string_view total,
                        const std::vector<ExplainedBy>& by) {
  Explained out;
  out.total = total;
  out.base_ns = base.total_ns;
  out.other_ns = other.total_ns;
  out.base_bound = base.bound;
  out.other_bound = other.bound;
  const auto event = [](const ExplainedSide::Part& part, analysis::NodeIndex first) {
    return first == analysis::kNoNode ? kNoEvent : part.events[first];
  };
  for (std::size_t i = 0; i < by.size(); ++i) {
    ExplainedPart part{by[i], analysis::path_difference(base.parts[i].shares, other.parts[i].shares, by[i].by), {}, {}};
    for (const analysis::PathTerm& term : part.difference.terms) {
      part.base_events.push_back(event(base.parts[i], term.base_first));
      part.other_events.push_back(event(other.parts[i], term.other_first));
    }
    out.parts.push_back(std::move(part));
  }
  return out;
}

Result<Explained> explain_difference(const QueryContext& base, const QueryContext& other,
                                     const std::vector<ExplainedBy>& by) {
  const auto base_terms = TRY(analysis::session_terms(base));
  const auto other_terms = TRY(analysis::session_terms(other));
  const std::string_view total =
      base_terms.stated_total_ns && other_terms.stated_total_ns ? analysis::kStatedTime : analysis::kWorkTime;
  const auto here = TRY(side_of(base, base_terms, total, by));
  const auto there = TRY(side_of(other, other_terms, total, by));
  return explain_sides(here, there, total, by);
}

std::string exact_time(const Explained& explained, std::int64_t ns, bool is_signed) {
  constexpr std::int64_t kInMilliseconds = 10'000'000;
  const bool is_long = std::max(std::abs(explained.base_ns), std::abs(explained.other_ns)) >= kInMilliseconds;
  const std::int64_t unit = is_long ? 1'000'000 : 1'000;
  const auto size = static_cast<std::uint64_t>(std::abs(ns)), per = static_cast<std::uint64_t>(unit);
  const std::string_view sign = ns < 0 ? "-" : is_signed && ns > 0 ? "+" : "";
  return fmt::format("{}{}.{:0{}} {}", sign, format_count(size / per), size % per, is_long ? 6 : 3,
                     is_long ? "ms" : "µs");
}

std::string explained_headline(const Explained& explained) {
  const std::int64_t difference = explained.other_ns - explained.base_ns;
  const auto time = [&](std::int64_t ns) { return exact_time(explained, ns); };
  if (difference == 0) return "as long: " + time(explained.base_ns);
  return fmt::format("{} by {}: {} to {}, {}", difference > 0 ? "slower" : "faster", time(std::abs(difference)),
                     time(explained.base_ns), time(explained.other_ns), lower_case(compared_title(explained.total)));
}

std::string explained_sum(const Explained& explained, const analysis::PathDifference& difference) {
  const auto signed_ns = [&](std::int64_t ns) { return exact_time(explained, ns, true); };
  const std::int64_t whole = difference.other_ns - difference.base_ns;
  const std::int64_t left = whole - difference.longer_ns - difference.shorter_ns;
  return fmt::format("Longer {}, shorter {}, together {}. {}", signed_ns(difference.longer_ns),
                     signed_ns(difference.shorter_ns), signed_ns(whole),
                     left == 0 ? "Nothing left over." : signed_ns(left) + " left over.");
}

std::string explained_label(const analysis::PathTerm& term, const ExplainedBy& by) {
  if (term.is_gap) return "waiting: " + term.label;
  if (!term.label.empty()) return term.label;
  return by.by == analysis::PathBy::line ? "(no line)" : "(no name)";
}

std::string explained_why(const analysis::PathTerm& term) {
  const std::uint64_t last = term.other_count == 0 ? term.base_count : term.other_count;
  const std::string words = counted(last, term.is_gap ? "gap" : "event");
  if (term.base_count == 0) return words + ", new on the path";
  if (term.other_count == 0) return words + ", gone from the path";
  if (term.base_count == term.other_count) return words + " as before";
  return format_count(term.base_count) + " to " + words;
}

void write_explained_text(std::ostream& out, const Explained& explained, std::size_t most_rows) {
  out << fmt::format("{} against {}: {}\n", explained.other_title, explained.base_title, explained_headline(explained))
      << fmt::format("A: {}\nB: {}\n", explained.base_bound, explained.other_bound);
  const auto plain_ns = [&](std::int64_t ns) { return exact_time(explained, ns); };
  const auto signed_ns = [&](std::int64_t ns) { return exact_time(explained, ns, true); };
  for (const ExplainedPart& part : explained.parts) {
    out << '\n';
    ReportedTerms reported;
    const std::vector<const analysis::PathTerm*> terms = reported_terms(part.difference, most_rows, reported);
    const std::string title = fmt::format("On the critical path, by {}", part.by.name);
    std::size_t width = std::max<std::size_t>(title.size(), 40);
    for (const analysis::PathTerm* term : terms) width = std::max(width, explained_label(*term, part.by).size());
    const auto row = [&](std::string_view label, const std::string& a, const std::string& b, std::int64_t difference,
                         const std::string& why) {
      out << fmt::format("{:<{}}  {:>14}  {:>14}  {:>15}  {}\n", label, width, a, b, signed_ns(difference), why);
    };
    out << fmt::format("{:<{}}  {:>14}  {:>14}  {:>15}\n", title, width, "A", "B", "difference");
    for (const analysis::PathTerm* term : terms) {
      row(explained_label(*term, part.by), plain_ns(term->base_ns), plain_ns(term->other_ns), term->difference_ns(),
          explained_why(*term));
    }
    if (reported.left > 0) row(left_text(reported), "", "", reported.left_ns, "");
    row("total", plain_ns(part.difference.base_ns), plain_ns(part.difference.other_ns),
        part.difference.other_ns - part.difference.base_ns, "");
    out << explained_sum(explained, part.difference) << '\n';
  }
}

void write_explained_markdown(std::ostream& out, const Explained& explained, std::size_t most_rows) {
  out << fmt::format("## {} against {}: {}\n\n- A: {}\n- B: {}\n", explained.other_title, explained.base_title,
                     explained_headline(explained), explained.base_bound, explained.other_bound);
  const auto plain_ns = [&](std::int64_t ns) { return exact_time(explained, ns); };
  const auto signed_ns = [&](std::int64_t ns) { return exact_time(explained, ns, true); };
  for (const ExplainedPart& part : explained.parts) {
    out << fmt::format("\n### By {}\n\n| {} | A | B | Difference | |\n|---|---:|---:|---:|---|\n", part.by.name,
                       part.by.title);
    ReportedTerms reported;
    for (const analysis::PathTerm* term : reported_terms(part.difference, most_rows, reported)) {
      out << fmt::format("| {} | {} | {} | {} | {} |\n", cell_text(explained_label(*term, part.by)),
                         plain_ns(term->base_ns), plain_ns(term->other_ns), signed_ns(term->difference_ns()),
                         explained_why(*term));
    }
    if (reported.left > 0) out << fmt::format("| {} | | | {} | |\n", left_text(reported), signed_ns(reported.left_ns));
    out << fmt::format("\n{}\n", explained_sum(explained, part.difference));
  }
}

void add_explained(JsonWriter& json, const Explained& explained, std::size_t most_rows) {
  const auto id = [](EventId event) { return event == kNoEvent ? JsonValue() : event; };
  json.begin_object("base", explained.base_title, "other", explained.other_title, "base_ns", explained.base_ns);
  json.add("other_ns", explained.other_ns, "difference_ns", explained.other_ns - explained.base_ns);
  json.add("base_bound", explained.base_bound, "other_bound", explained.other_bound).key("by").begin_object();
  for (const ExplainedPart& part : explained.parts) {
    ReportedTerms reported;
    const std::vector<const analysis::PathTerm*> terms = reported_terms(part.difference, most_rows, reported);
    json.key(part.by.name).begin_object().array("terms", terms, [&](const analysis::PathTerm* term) {
      const auto place = static_cast<std::size_t>(term - part.difference.terms.data());
      json.begin_object("label", term->label, "gap", term->is_gap, "base_ns", term->base_ns);
      json.add("other_ns", term->other_ns, "difference_ns", term->difference_ns(), "base_count", term->base_count);
      json.add("other_count", term->other_count, "base_event", id(part.base_events[place]));
      json.add("other_event", id(part.other_events[place])).end();
    });
    json.key("left_out").object("terms", reported.left, "difference_ns", reported.left_ns);
    json.add("sum_ns", part.difference.longer_ns + part.difference.shorter_ns).end();
  }
  json.end().end();
}

}  // namespace accelscope::app::content
