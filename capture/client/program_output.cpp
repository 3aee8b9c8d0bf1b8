#include "capture/client/program_output.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "capture/kinds/program/events.h"
#include "core/chunk/chunk_view.h"

namespace accelscope::capture::client {
namespace {

// A program that was run several times has a label before all but its first.
[[nodiscard]] bool is_exit_status(std::string_view key) {
  if (!key.ends_with(kinds::program::kExitStatusFact)) return false;
  const std::size_t before = key.size() - kinds::program::kExitStatusFact.size();
  return before == 0 || key[before - 1] == '.';
}

}  // namespace

// One kind's events: finds the lanes of printed lines among its definitions.
class ProgramOutput::Scope final : public ForwardingSink {
 public:
  Scope(ProgramOutput& output, EventSink& sink) : ForwardingSink(sink), output_(output) {}

  Result<void> define(const Definition& definition) override {
    if (const auto* schema = std::get_if<Schema>(&definition)) note(*schema);
    if (const auto* track = std::get_if<Track>(&definition); track != nullptr && schemas_.contains(track->schema)) {
      tracks_[track->number] = {track->name == kinds::program::stream_name(system::OutputStream::err), track->schema};
    }
    if (const auto* lane = std::get_if<Lane>(&definition); lane != nullptr && tracks_.contains(lane->track)) {
      lanes_[lane->number] = lane->track;
    }
    if (const auto* meta = std::get_if<MetaEntry>(&definition); meta != nullptr && is_exit_status(meta->key)) {
      int status = 0;
      const char* end = meta->value.data() + meta->value.size();
      if (std::from_chars(meta->value.data(), end, status).ec == std::errc()) output_.set_exit_status(status);
    }
    return ForwardingSink::define(definition);
  }

  Result<void> append(SealedChunk chunk) override {
    if (const auto lane = lanes_.find(chunk.lane()); lane != lanes_.end()) read(chunk, tracks_[lane->second]);
    return ForwardingSink::append(std::move(chunk));
  }

 private:
  struct Columns {
    std::size_t text = 0;
    std::size_t line = 0;
    std::size_t piece = 0;
  };
  struct Stream {
    bool is_error = false;
    SchemaNumber schema = kNone;
  };

  void note(const Schema& schema) {
    const auto text = schema.find("text");
    const auto line = schema.find("line");
    const auto piece = schema.find("piece");
    if (schema.name == kinds::program::kLineSchemaName && text && line && piece)
      schemas_[schema.number] = {*text, *line, *piece};
  }

  void read(const SealedChunk& chunk, const Stream& stream) {
    const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
    const Columns& columns = schemas_[stream.schema];
    if (!view || view->column_count() <= std::max({columns.text, columns.line, columns.piece})) return;
    for (std::uint32_t row = 0; row < view->count(); ++row) {
      output_.add_piece(stream.is_error, view->text(columns.text, row), view->int64(columns.line, row),
                        !view->has_value(columns.piece, row));
    }
  }

  ProgramOutput& output_;
  std::map<SchemaNumber, Columns> schemas_;
  std::map<TrackNumber, Stream> tracks_;
  std::map<LaneNumber, TrackNumber> lanes_;
};

ProgramOutput::ProgramOutput(ingest::SinkProvider& sinks) : sinks_(sinks) {}
ProgramOutput::~ProgramOutput() = default;

EventSink& ProgramOutput::sink(std::uint32_t scope) {
  std::unique_ptr<Scope>& found = scopes_[scope];
  if (!found) found = std::make_unique<Scope>(*this, sinks_.sink(scope));
  return *found;
}

void ProgramOutput::keep() {
  const std::lock_guard lock(mutex_);
  keeps_ = true;
}

void ProgramOutput::add_piece(bool is_error, std::string_view text, std::int64_t line, bool whole) {
  const std::lock_guard lock(mutex_);
  if (!keeps_) return;
  OpenLine& before = open_lines_[is_error ? 1 : 0];
  std::string shown;
  if (before.open && before.line != line) shown += '\n';
  shown += text;
  if (whole) shown += '\n';
  before = {line, !whole};
  texts_.push_back({is_error, std::move(shown)});
}

std::vector<ProgramText> ProgramOutput::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(texts_, {});
}

std::vector<ProgramText> ProgramOutput::take_last() {
  const std::lock_guard lock(mutex_);
  for (const bool is_error : {false, true}) {
    if (std::exchange(open_lines_[is_error ? 1 : 0].open, false)) texts_.push_back({is_error, "\n"});
  }
  return std::exchange(texts_, {});
}

void ProgramOutput::set_exit_status(int status) {
  const std::lock_guard lock(mutex_);
  exit_status_ = status;
}

std::optional<int> ProgramOutput::exit_status() const {
  const std::lock_guard lock(mutex_);
  return exit_status_;
}

}  // namespace accelscope::capture::client
