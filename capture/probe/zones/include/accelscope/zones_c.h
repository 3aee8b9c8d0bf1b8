/* The same marks as zones.h, for programs in C. */
#ifndef ACCELSCOPE_ZONES_C_H
#define ACCELSCOPE_ZONES_C_H

#if defined(ACCELSCOPE_ENABLE) && !defined(TRACY_ENABLE)
#define TRACY_ENABLE
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

enum TracyPlotFormatEnum {
  TracyPlotFormatNumber,
  TracyPlotFormatMemory,
  TracyPlotFormatPercentage,
  TracyPlotFormatWatt
};

#ifdef TRACY_ENABLE

#include "zones_api.h"

/* NOLINTBEGIN(bugprone-reserved-identifier,modernize-use-nullptr): names that programs know, and C */

#define ___tracy_source_location_data accelscope_zones_place
struct ___tracy_c_zone_context {
  uint32_t id;
  int32_t active; /* it was recorded */
};
typedef struct ___tracy_c_zone_context TracyCZoneCtx;

/* As generated code calls them, such as that of bindings for other languages. */
#define ACCELSCOPE_IF_ZONES(call)                                        \
  do {                                                                   \
    const struct accelscope_zones_functions* zones = accelscope_zones(); \
    if (zones != NULL) zones->call;                                      \
  } while (0)

static inline TracyCZoneCtx ___tracy_emit_zone_begin(const struct accelscope_zones_place* place, int32_t active) {
  const struct accelscope_zones_functions* zones = active ? accelscope_zones() : NULL;
  TracyCZoneCtx ctx = {0, 0};
  if (zones != NULL) ctx.active = zones->begin(place);
  return ctx;
}
static inline uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char* file, size_t file_size,
                                                  const char* function, size_t function_size, const char* name,
                                                  size_t name_size, uint32_t color) {
  const struct accelscope_zones_functions* zones = accelscope_zones();
  return zones == NULL ? 0 : zones->site(line, file, file_size, function, function_size, name, name_size, color);
}
static inline uint64_t ___tracy_alloc_srcloc(uint32_t line, const char* file, size_t file_size, const char* function,
                                             size_t function_size, uint32_t color) {
  return ___tracy_alloc_srcloc_name(line, file, file_size, function, function_size, NULL, 0, color);
}
static inline TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t site, int32_t active) {
  const struct accelscope_zones_functions* zones = active && site != 0 ? accelscope_zones() : NULL;
  TracyCZoneCtx ctx = {0, 0};
  if (zones != NULL) ctx.active = zones->begin_site((uint32_t)site);
  return ctx;
}
static inline TracyCZoneCtx ___tracy_emit_zone_begin_callstack(const struct accelscope_zones_place* place,
                                                               int32_t depth, int32_t active) {
  (void)depth;
  return ___tracy_emit_zone_begin(place, active);
}
static inline TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t site, int32_t depth, int32_t active) {
  (void)depth;
  return ___tracy_emit_zone_begin_alloc(site, active);
}
static inline void ___tracy_emit_zone_end(TracyCZoneCtx ctx) {
  if (ctx.active) ACCELSCOPE_IF_ZONES(end());
}
static inline void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char* txt, size_t size) {
  if (ctx.active) ACCELSCOPE_IF_ZONES(text(txt, size));
}
static inline void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char* txt, size_t size) {
  if (ctx.active) ACCELSCOPE_IF_ZONES(name(txt, size));
}
static inline void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t value) {
  if (ctx.active) ACCELSCOPE_IF_ZONES(color(value));
}
static inline void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t number) {
  if (ctx.active) ACCELSCOPE_IF_ZONES(value(number));
}
static inline void ___tracy_emit_memory_alloc_named(const void* address, size_t size, const char* pool) {
  ACCELSCOPE_IF_ZONES(allocated(address, size, pool));
}
static inline void ___tracy_emit_memory_free_named(const void* address, const char* pool) {
  ACCELSCOPE_IF_ZONES(freed(address, pool));
}
static inline void ___tracy_emit_message_color(const char* txt, size_t size, uint32_t colour) {
  ACCELSCOPE_IF_ZONES(message(txt, size, colour, 2));
}
static inline void ___tracy_emit_message(const char* txt, size_t size, int depth) {
  (void)depth;
  ___tracy_emit_message_color(txt, size, 0);
}
static inline void ___tracy_emit_messageL(const char* txt, int depth) {
  ___tracy_emit_message(txt, strlen(txt), depth);
}
static inline void ___tracy_emit_messageC(const char* txt, size_t size, uint32_t colour, int depth) {
  (void)depth;
  ___tracy_emit_message_color(txt, size, colour);
}
static inline void ___tracy_emit_messageLC(const char* txt, uint32_t colour, int depth) {
  ___tracy_emit_messageC(txt, strlen(txt), colour, depth);
}
static inline void ___tracy_emit_frame(int what, const char* name) { ACCELSCOPE_IF_ZONES(frame(what, name)); }
static inline void ___tracy_emit_frame_mark(const char* name) { ___tracy_emit_frame(ACCELSCOPE_FRAME_MARK, name); }
static inline void ___tracy_emit_frame_mark_start(const char* name) {
  ___tracy_emit_frame(ACCELSCOPE_FRAME_START, name);
}
static inline void ___tracy_emit_frame_mark_end(const char* name) { ___tracy_emit_frame(ACCELSCOPE_FRAME_END, name); }
static inline void ___tracy_emit_frame_image(void) { ACCELSCOPE_IF_ZONES(frame_image()); }
static inline void ___tracy_emit_plot(const char* name, double val) { ACCELSCOPE_IF_ZONES(plot_real(name, val)); }
static inline void ___tracy_emit_plot_int(const char* name, int64_t val) {
  ACCELSCOPE_IF_ZONES(plot_integer(name, val));
}
static inline void ___tracy_emit_plot_config(const char* name, int type) {
  ACCELSCOPE_IF_ZONES(plot_format(name, type));
}
static inline void ___tracy_emit_message_appinfo(const char* txt, size_t size) {
  ACCELSCOPE_IF_ZONES(app_info(txt, size));
}
static inline void ___tracy_set_thread_name(const char* name) { ACCELSCOPE_IF_ZONES(thread_name(name)); }
static inline void ___tracy_fiber_enter(const char* fiber) { ACCELSCOPE_IF_ZONES(fiber_entered(fiber)); }
static inline void ___tracy_fiber_leave(void) { ACCELSCOPE_IF_ZONES(fiber_left()); }
static inline int32_t ___tracy_connected(void) {
  const struct accelscope_zones_functions* zones = accelscope_zones();
  return zones != NULL && zones->collecting();
}

#define TracyCSetThreadName(name) ___tracy_set_thread_name(name);
#define TracyCZoneNC(ctx, name, color, active)                                                                        \
  static const struct accelscope_zones_place TracyConcat(accelscope_zone_place_, ctx) = {name, __func__, TracyFile,   \
                                                                                         (uint32_t)TracyLine, color}; \
  TracyCZoneCtx ctx = ___tracy_emit_zone_begin(&TracyConcat(accelscope_zone_place_, ctx), active);
#define TracyCZoneEnd(ctx) ___tracy_emit_zone_end(ctx);
#define TracyCZoneText(ctx, txt, size) ___tracy_emit_zone_text(ctx, txt, size);
#define TracyCZoneName(ctx, txt, size) ___tracy_emit_zone_name(ctx, txt, size);
#define TracyCZoneColor(ctx, color) ___tracy_emit_zone_color(ctx, color);
#define TracyCZoneValue(ctx, value) ___tracy_emit_zone_value(ctx, value);
#define TracyCAllocN(ptr, size, name) ___tracy_emit_memory_alloc_named(ptr, size, name)
#define TracyCFreeN(ptr, name) ___tracy_emit_memory_free_named(ptr, name)
#define TracyCMessageC(txt, size, color) ___tracy_emit_message_color(txt, size, color);
#define TracyCFrameMarkNamed(name) ___tracy_emit_frame(ACCELSCOPE_FRAME_MARK, name);
#define TracyCFrameMarkStart(name) ___tracy_emit_frame(ACCELSCOPE_FRAME_START, name);
#define TracyCFrameMarkEnd(name) ___tracy_emit_frame(ACCELSCOPE_FRAME_END, name);
#define TracyCFrameImage(image, width, height, offset, flip) ___tracy_emit_frame_image();
#define TracyCPlot(name, val) ___tracy_emit_plot(name, val);
#define TracyCPlotI(name, val) ___tracy_emit_plot_int(name, val);
#define TracyCPlotConfig(name, type, step, fill, color) ___tracy_emit_plot_config(name, type);
#define TracyCAppInfo(txt, size) ___tracy_emit_message_appinfo(txt, size);
#define TracyCFiberEnter(fiber) ___tracy_fiber_enter(fiber);
#define TracyCFiberLeave ___tracy_fiber_leave();
#define TracyCIsConnected ___tracy_connected()
#define TracyCIsStarted 1
/* NOLINTEND(bugprone-reserved-identifier,modernize-use-nullptr) */

#else

typedef const void* TracyCZoneCtx;
#define TracyCSetThreadName(name)
#define TracyCZoneNC(ctx, name, color, active)
#define TracyCZoneEnd(ctx)
#define TracyCZoneText(ctx, txt, size)
#define TracyCZoneName(ctx, txt, size)
#define TracyCZoneColor(ctx, color)
#define TracyCZoneValue(ctx, value)
#define TracyCAllocN(ptr, size, name)
#define TracyCFreeN(ptr, name)
#define TracyCMessageC(txt, size, color)
#define TracyCFrameMarkNamed(name)
#define TracyCFrameMarkStart(name)
#define TracyCFrameMarkEnd(name)
#define TracyCFrameImage(image, width, height, offset, flip)
#define TracyCPlot(name, val)
#define TracyCPlotI(name, val)
#define TracyCPlotConfig(name, type, step, fill, color)
#define TracyCAppInfo(txt, size)
#define TracyCFiberEnter(fiber)
#define TracyCFiberLeave
#define TracyCIsConnected 0
#define TracyCIsStarted 0

#endif

/* All others are made of these. */
#define TracyCZone(ctx, active) TracyCZoneNC(ctx, NULL, 0, active)
#define TracyCZoneN(ctx, name, active) TracyCZoneNC(ctx, name, 0, active)
#define TracyCZoneC(ctx, color, active) TracyCZoneNC(ctx, NULL, color, active)
#define TracyCZoneS(ctx, depth, active) TracyCZone(ctx, active)
#define TracyCZoneNS(ctx, name, depth, active) TracyCZoneN(ctx, name, active)
#define TracyCZoneCS(ctx, color, depth, active) TracyCZoneC(ctx, color, active)
#define TracyCZoneNCS(ctx, name, color, depth, active) TracyCZoneNC(ctx, name, color, active)
#define TracyCAlloc(ptr, size) TracyCAllocN(ptr, size, NULL)
#define TracyCFree(ptr) TracyCFreeN(ptr, NULL)
#define TracyCAllocS(ptr, size, depth) TracyCAlloc(ptr, size)
#define TracyCFreeS(ptr, depth) TracyCFree(ptr)
#define TracyCAllocNS(ptr, size, depth, name) TracyCAllocN(ptr, size, name)
#define TracyCFreeNS(ptr, depth, name) TracyCFreeN(ptr, name)
#define TracyCSecureAlloc(ptr, size) TracyCAlloc(ptr, size)
#define TracyCSecureFree(ptr) TracyCFree(ptr)
#define TracyCMessage(txt, size) TracyCMessageC(txt, size, 0)
#define TracyCMessageL(txt) TracyCMessageC(txt, strlen(txt), 0)
#define TracyCMessageLC(txt, color) TracyCMessageC(txt, strlen(txt), color)
#define TracyCMessageS(txt, size, depth) TracyCMessage(txt, size)
#define TracyCMessageLS(txt, depth) TracyCMessageL(txt)
#define TracyCMessageCS(txt, size, color, depth) TracyCMessageC(txt, size, color)
#define TracyCMessageLCS(txt, color, depth) TracyCMessageLC(txt, color)
#define TracyCFrameMark TracyCFrameMarkNamed(NULL)
#define TracyCPlotF(name, val) TracyCPlot(name, (double)(val))

#endif
