// Marks in C++ programs: zones, frames, plots, locks, messages, memory. They are the macros of Tracy's client, so that
// programs that are marked for it need another include path and nothing else:
//
//   g++ -std=c++17 -DTRACY_ENABLE -I .../zones/include program.cpp          (older systems: -ldl)
//   accelscope-agent run -o program.accel --kind itt -- ./a.out
//
//   void step() { ZoneScoped; ... ZoneText(name.c_str(), name.size()); FrameMark; TracyPlot("loss", loss); }
//
// Without TRACY_ENABLE (or ACCELSCOPE_ENABLE) everything compiles to nothing. With it a mark costs about a nanosecond
// as long as no agent wants it. Not here: marks of GPU queues, call stacks (depths are accepted and not used),
// parameters that a viewer changes, images of frames (accepted; the session says that they are left out).
#ifndef ACCELSCOPE_ZONES_H
#define ACCELSCOPE_ZONES_H

#if defined(ACCELSCOPE_ENABLE) && !defined(TRACY_ENABLE)
#define TRACY_ENABLE
#endif

#include <stddef.h>
#include <stdint.h>

#include "zone_colours.h"

#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif
#ifndef TracyFunction
#define TracyFunction __FUNCTION__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

#ifdef TRACY_ENABLE
#include "zone_types.h"
#else
namespace tracy {
static inline void SetThreadName(const char*) {}
static inline void SetThreadNameWithHint(const char*, int32_t) {}
enum class PlotFormatType : uint8_t { Number, Memory, Percentage, Watt };
}  // namespace tracy
#endif
#include "zones_macros.h"

#endif
