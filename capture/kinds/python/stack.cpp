#include "capture/kinds/python/stack.h"

namespace accelscope::capture::kinds::python {

void CallStack::open(Kind kind, std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool partial) {
  StringId caller = 0;
  for (auto outer = open_.rbegin(); outer != open_.rend() && kind != Kind::line; ++outer) {
    if (outer->kind != Kind::call) continue;
    caller = outer->names.name;
    break;
  }
  open_.push_back(
      {.kind = kind, .partial = partial, .code = code, .names = names, .caller = caller, .begin_ns = now_ns});
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

void CallStack::close(std::int64_t now_ns) {
  const std::size_t depth = open_.size() - 1;
  const Open& entry = open_.back();
  const std::int64_t duration = now_ns - entry.begin_ns;
  if (depth > 0) open_[depth - 1].inner_ns += duration;
  if (reserve_lane(depth)) {
    Row row = session_->writer.begin_event_at(track_, static_cast<std::uint32_t>(depth), entry.begin_ns, duration,
                                              entry.names.name);
    if (entry.names.location != 0) row.string(kLocation, entry.names.location);
    if (entry.names.module != 0) row.string(kModule, entry.names.module);
    row.string(kWhat, entry.names.what);
    if (entry.caller != 0) row.string(kCaller, entry.caller);
    row.integer(kSelf, duration - entry.inner_ns);
    if (entry.raised) row.boolean(kRaised, true);
    if (entry.partial) row.boolean(kPartial, true);
    if (entry.metadata != nullptr) row.text(kMetadata, *entry.metadata);
  }
  open_.pop_back();
}

void CallStack::close_down_to(std::size_t size, std::int64_t now_ns) {
  while (open_.size() > size) {
    if (open_.back().kind == Kind::call) open_.back().partial = true;
    close(now_ns);
  }
}

std::size_t CallStack::find_call(std::uint32_t code) const noexcept {
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (open_[i].kind == Kind::call && open_[i].code == code) return i;
  }
  return kNowhere;
}

void CallStack::call(std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool is_running) {
  open(Kind::call, code, names, now_ns, is_running);
}

void CallStack::leave(std::uint32_t code, std::int64_t now_ns, bool raised) {
  const std::size_t at = find_call(code);
  if (at == kNowhere) return;  // called before the collection
  close_down_to(at + 1, now_ns);
  open_.back().raised = raised;
  close(now_ns);
}

void CallStack::line(std::uint32_t code, const CodeNames& names, std::int64_t now_ns) {
  const std::size_t at = find_call(code);
  if (at == kNowhere) return;
  close_down_to(at + 1, now_ns);
  open(Kind::line, code, names, now_ns, false);
}

void CallStack::begin_collection(const CodeNames& names, std::int64_t now_ns) {
  open(Kind::collection, 0, names, now_ns, false);
}

void CallStack::end_collection(std::int64_t now_ns, std::string_view result) {
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (open_[i].kind != Kind::collection) continue;
    close_down_to(i + 1, now_ns);
    open_.back().metadata = std::make_unique<std::string>(result);
    close(now_ns);
    return;
  }
}

void CallStack::annotate(std::string_view text) {
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (open_[i].kind != Kind::call) continue;
    if (open_[i].metadata == nullptr) open_[i].metadata = std::make_unique<std::string>();
    std::string& metadata = *open_[i].metadata;
    constexpr std::size_t kMaxBytes = 64U << 10;  // of all that a call is given
    if (metadata.size() + text.size() < kMaxBytes) metadata.append(metadata.empty() ? "" : "\n").append(text);
    return;
  }
}

std::uint64_t CallStack::close_all(std::int64_t now_ns) {
  std::uint64_t calls = 0;
  for (const Open& entry : open_) calls += entry.kind == Kind::call ? 1 : 0;
  close_down_to(0, forward(now_ns));
  return calls;
}

}  // namespace accelscope::capture::kinds::python
