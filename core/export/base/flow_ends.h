// The dependencies between a session's events with the times of both, for formats that draw them as arrows: which flows
// leave and reach an event, by number. Flows of which an end is not exported are left out and counted.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/export/base/event_pieces.h"

namespace accelscope::exporting {

struct ExportFlow {
  EventId source = kNoEvent;
  EventId target = kNoEvent;
  EventId flow = kNoEvent;  // the event that states it
  StringId kind = 0;
  std::int64_t source_begin_ns = 0, source_end_ns = 0;
  std::int64_t target_begin_ns = 0, target_end_ns = 0;
  std::uint8_t ends = 0;  // how many of the two are exported
  [[nodiscard]] bool retained() const noexcept { return ends == 2; }
};

class FlowEnds {
 public:
  // Reads the times of the events that flows join.
  [[nodiscard]] static Result<FlowEnds> build(const ExportRequest& request, const ExportPlan& plan);

  // A flow's number is its place in here, the same in every export of the session.
  [[nodiscard]] const std::vector<ExportFlow>& all() const noexcept { return flows_; }
  [[nodiscard]] std::uint64_t unresolved() const noexcept { return unresolved_; }  // that name no event of the session
  [[nodiscard]] std::uint64_t left_out() const noexcept;                           // an end of which is not exported

  // Numbers of the flows that lead to, and from, events of [first, last): narrow it once for a chunk, then ask for each
  // event of it.
  struct Span {
    std::uint32_t first = 0, last = 0;
  };
  [[nodiscard]] Span into(EventId first, EventId last) const noexcept;
  [[nodiscard]] Span out_of(EventId first, EventId last) const noexcept;  // places in by_source()
  [[nodiscard]] Span into(EventId event, const Span& within) const noexcept;
  [[nodiscard]] Span out_of(EventId event, const Span& within) const noexcept;
  [[nodiscard]] const std::vector<std::uint32_t>& by_source() const noexcept { return by_source_; }

 private:
  [[nodiscard]] Result<void> read_times(const ExportRequest& request, const ExportPlan& plan);

  std::vector<ExportFlow> flows_;         // by target
  std::vector<std::uint32_t> by_source_;  // numbers of flows
  std::uint64_t unresolved_ = 0;
};

// The flows of the events of the piece that a reader has open.
class PieceFlows {
 public:
  explicit PieceFlows(const FlowEnds* flows) : flows_(flows) {}  // null: there are none

  void open(const PieceReader& reader);
  template <typename Visit>  // visit(number, flow)
  void into(const PieceEvent& event, EventId id, Visit&& visit) const {
    if (flows_ == nullptr || chunks_[event.chunk].into.first == chunks_[event.chunk].into.last) return;
    const FlowEnds::Span found = flows_->into(id, chunks_[event.chunk].into);
    for (std::uint32_t i = found.first; i < found.last; ++i) visit(i, flows_->all()[i]);
  }
  template <typename Visit>
  void out_of(const PieceEvent& event, EventId id, Visit&& visit) const {
    if (flows_ == nullptr || chunks_[event.chunk].out_of.first == chunks_[event.chunk].out_of.last) return;
    const FlowEnds::Span found = flows_->out_of(id, chunks_[event.chunk].out_of);
    for (std::uint32_t i = found.first; i < found.last; ++i) {
      const std::uint32_t number = flows_->by_source()[i];
      visit(number, flows_->all()[number]);
    }
  }

 private:
  struct Chunk {
    FlowEnds::Span into, out_of;
  };
  const FlowEnds* flows_;
  std::vector<Chunk> chunks_;  // by those of the piece
};

// What a format leaves out of a session, counted: the sentences that every format says in the same words.

// What of a session a format has no place for.
struct FormatLimits {
  bool rows_without_time = true;  // tables without time are left out
  bool samples = false;           // counters are
  bool moments = false;           // events without a length are, and what was allocated and released
  bool flows = false;             // dependencies are
  bool source_files = true;       // the text of source files is
  bool markers = true;            // the user's marks are
};

// Sentences on tracks, source files and marks that the format leaves out.
[[nodiscard]] std::vector<std::string> losses_by_kind(const ExportRequest& request, const FormatLimits& limits);
// On what samples have beside their values, and those that have none; nothing to say of none.
void add_sample_losses(std::uint64_t values_beside, std::uint64_t without_value, std::vector<std::string>& losses);
// On dependencies with an end that is not exported, or that name no event.
void add_flow_losses(const FlowEnds& flows, std::vector<std::string>& losses);

}  // namespace accelscope::exporting
