#include "capture/kinds/python/stack.h"

namespace accelscope::capture::kinds::python {

void CallStack::open(Kind kind, std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool partial) {
  const std::size_t caller =
      kind == Kind::line ? calls_.kNone : calls_.find([](const Open& outer) { return outer.kind == Kind::call; });
  calls_.begin({.kind = kind,
                .partial = partial,
                .code = code,
                .names = names,
                .caller = caller == calls_.kNone ? 0 : calls_[caller].names.name,
                .begin_ns = now_ns});
}

bool CallStack::reserve_lane(std::size_t depth) {
  while (lanes_ <= depth) {
    if (lanes_ >= PythonSession::kMaxDepth || !session_->take_lane()) {
      ++session_->deep_calls;
      return false;
    }
    ++lanes_;
  }
  return true;
}

void CallStack::write(const Open& span, std::size_t depth, std::int64_t now_ns) {
  const std::int64_t duration = now_ns - span.begin_ns;
  if (depth > 0) calls_[depth - 1].inner_ns += duration;
  if (!reserve_lane(depth)) return;
  Row row = session_->writer.begin_event_at(track_, static_cast<std::uint32_t>(depth), span.begin_ns, duration,
                                            span.names.name);
  if (span.names.location != 0) row.string(kLocation, span.names.location);
  if (span.names.module != 0) row.string(kModule, span.names.module);
  row.string(kWhat, span.names.what);
  if (span.caller != 0) row.string(kCaller, span.caller);
  row.integer(kSelf, duration - span.inner_ns);
  if (span.raised) row.boolean(kRaised, true);
  if (span.partial) row.boolean(kPartial, true);
  if (span.metadata != nullptr) row.text(kMetadata, *span.metadata);
}

std::size_t CallStack::find(Kind kind, std::uint32_t code) const {
  return calls_.find([=](const Open& span) { return span.kind == kind && span.code == code; });
}

void CallStack::call(std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool is_running) {
  open(Kind::call, code, names, now_ns, is_running);
}

void CallStack::leave(std::uint32_t code, std::int64_t now_ns, bool raised) {
  const std::size_t at = find(Kind::call, code);
  if (at == calls_.kNone) return;  // called before the collection
  calls_[at].raised = raised;
  calls_.end(at, writer_of(now_ns));
}

void CallStack::line(std::uint32_t code, const CodeNames& names, std::int64_t now_ns) {
  const std::size_t at = find(Kind::call, code);
  if (at == calls_.kNone) return;
  calls_.end_inside(at + 1, writer_of(now_ns));
  open(Kind::line, code, names, now_ns, false);
}

void CallStack::begin_collection(const CodeNames& names, std::int64_t now_ns) {
  open(Kind::collection, 0, names, now_ns, false);
}

void CallStack::end_collection(std::int64_t now_ns, std::string_view result) {
  const std::size_t at = find(Kind::collection, 0);
  if (at == calls_.kNone) return;
  calls_[at].metadata = std::make_unique<std::string>(result);
  calls_.end(at, writer_of(now_ns));
}

void CallStack::annotate(std::string_view text) {
  const std::size_t at = calls_.find([](const Open& span) { return span.kind == Kind::call; });
  if (at == calls_.kNone) return;
  if (calls_[at].metadata == nullptr) calls_[at].metadata = std::make_unique<std::string>();
  std::string& metadata = *calls_[at].metadata;
  constexpr std::size_t kMaxBytes = 64U << 10;  // of all that a call is given
  if (metadata.size() + text.size() < kMaxBytes) metadata.append(metadata.empty() ? "" : "\n").append(text);
}

std::uint64_t CallStack::close_all(std::int64_t now_ns) {
  const auto is_call = [](const Open& span) { return span.kind == Kind::call; };
  const auto calls = std::count_if(calls_.all().begin(), calls_.all().end(), is_call);
  calls_.end_inside(0, writer_of(forward(now_ns)));
  return static_cast<std::uint64_t>(calls);
}

}  // namespace accelscope::capture::kinds::python
