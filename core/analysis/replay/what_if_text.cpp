#include <array>
#include <charconv>
#include <cmath>

#include "core/analysis/replay/what_if.h"
#include "core/base/text.h"

namespace accelscope {
namespace {

using Effect = WhatIfChange::Effect;

// What a change begins with, and what follows: a name, a factor, both.
struct ChangeForm {
  std::string_view words;
  Effect effect;
  bool named, scaled;
};
constexpr std::array<ChangeForm, 24> kChangeForms = {{{"dma bandwidth", Effect::bandwidth, false, true},
                                                      {"dma latency", Effect::dma_latency, false, true},
                                                      {"launch latency", Effect::launch_latency, false, true},
                                                      {"opcode", Effect::name, true, true},
                                                      {"kernel", Effect::name, true, true},
                                                      {"tensor", Effect::name, true, true},
                                                      {"event", Effect::name, true, true},
                                                      {"queue", Effect::track, true, true},
                                                      {"engine", Effect::track, true, true},
                                                      {"stream", Effect::track, true, true},
                                                      {"layer", Effect::layer, true, true},
                                                      {"line", Effect::line, true, true},
                                                      {"host", Effect::host, false, true},
                                                      {"drop reload of", Effect::drop_reload, true, false},
                                                      {"merge dmas of", Effect::merge_transfers, true, true},
                                                      {"merge dmas", Effect::merge_transfers, false, true},
                                                      {"remove wait", Effect::remove_wait, true, false},
                                                      {"double queue", Effect::double_queue, true, false},
                                                      {"drop spills", Effect::drop_spills, false, false},
                                                      {"drop transposes", Effect::drop_transposes, false, false},
                                                      {"lift throttling", Effect::lift_throttling, false, false},
                                                      {"widen tiles", Effect::widen_tiles, false, false},
                                                      {"double buffers of", Effect::double_buffers, true, false},
                                                      {"ask early for", Effect::ask_early, true, false}}};
constexpr std::string_view kForms =
    "'dma bandwidth x1.5', 'dma latency x0.5', 'launch latency x0.5', 'opcode NAME x0.5', 'kernel NAME x0.5', "
    "'tensor NAME x0.5', 'queue NAME x0.5', 'engine NAME x0.5', 'stream NAME x0.5', 'layer PATH x0.5', "
    "'line FILE:LINE x0.5', 'host x0.5', 'drop reload of TENSOR', 'merge dmas x8', 'merge dmas of TENSOR x8', "
    "'remove wait S[5] on ENGINE', 'double queue NAME', 'drop spills', 'drop transposes', 'lift throttling', 'widen "
    "tiles', 'double buffers of NAME after NAME at FILE:LINE', 'ask early for COLLECTIVE at FILE:LINE'";

Error wrong_change(std::string_view text, std::string_view why) {
  return Error{"the change '" + std::string(text) + "' " + std::string(why) + "; there are " + std::string(kForms)};
}

// The factor that a text ends with, "x1.5", which is taken off it.
bool take_factor(std::string_view& text, double& factor) {
  const std::size_t place = text.rfind('x');
  if (place == std::string_view::npos || (place > 0 && text[place - 1] != ' ')) return false;
  const std::string_view number = text.substr(place + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
  if (error != std::errc() || end != number.data() + number.size() || !(factor >= 0) || factor > 1e6) return false;
  text = trimmed(text.substr(0, place));
  return true;
}

// "S[5] on Vector", "S[5]".
bool read_semaphore(WhatIfChange& change) {
  std::string_view text = change.name;
  if (!text.starts_with("S[")) return false;
  text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), change.semaphore);
  if (error != std::errc() || end == text.data() + text.size() || *end != ']') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  text = trimmed(text);
  std::string track;
  if (!text.empty()) {
    if (!text.starts_with("on ")) return false;
    track = trimmed(text.substr(3));
  }
  change.name = track;
  return true;
}

// " at mlp.py:33" at the end of a name, and the like; "" where it has none.
std::string take_last(std::string& name, std::string_view word) {
  const std::size_t place = name.rfind(word);
  if (place == std::string::npos) return {};
  std::string taken = name.substr(place + word.size());
  name.resize(place);
  return taken;
}

}  // namespace

std::string_view change_forms() noexcept { return kForms; }

Result<WhatIfChange> parse_change(std::string_view text) {
  const std::string_view whole = trimmed(text);
  for (const ChangeForm& form : kChangeForms) {
    if (!whole.starts_with(form.words)) continue;
    std::string_view rest = whole.substr(form.words.size());
    if (!rest.empty() && rest.front() != ' ') continue;
    rest = trimmed(rest);
    WhatIfChange change;
    change.effect = form.effect;
    change.text = whole;
    if (form.scaled && !take_factor(rest, change.factor)) return wrong_change(whole, "needs a factor such as x0.5");
    if (form.effect == Effect::bandwidth && change.factor <= 0) return wrong_change(whole, "leaves no bandwidth");
    if (form.effect == Effect::merge_transfers && (change.factor < 2 || change.factor != std::floor(change.factor))) {
      return wrong_change(whole, "needs how many become one, such as x8");
    }
    if (form.named != !rest.empty()) {
      return wrong_change(whole, form.named ? "needs a name" : "has words that are not known");
    }
    change.name = rest;
    if (form.effect == Effect::remove_wait && !read_semaphore(change)) {
      return wrong_change(whole, "names no semaphore such as S[5]");
    }
    if (form.effect == Effect::double_buffers || form.effect == Effect::ask_early) {
      change.line = take_last(change.name, " at ");
      change.after = take_last(change.name, " after ");
    }
    return change;
  }
  return wrong_change(whole, "is not known");
}

}  // namespace accelscope
