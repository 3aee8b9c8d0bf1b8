#include "tests/support/itt/zones_in_c.h"

#include "tracy/TracyC.h"

/* What generated code calls: bindings for other languages, and libraries that name their zones while they run. */
static void bindings(void) {
#ifdef TRACY_ENABLE
  static const struct ___tracy_source_location_data place = {"bound", "bindings", __FILE__, __LINE__, 0};
  const uint64_t made = ___tracy_alloc_srcloc_name(7, "made.py", 7, "forward", 7, "made zone", 9, 0);
  TracyCZoneCtx outer = ___tracy_emit_zone_begin_alloc(made, 1);
  TracyCZoneCtx inner = ___tracy_emit_zone_begin_callstack(&place, 4, 1);
  ___tracy_emit_zone_end(inner);
  ___tracy_emit_zone_end(outer);
  ___tracy_emit_messageC("bound message", 13, 0x00ff00, 0);
  ___tracy_emit_frame_mark_start("bound frame");
  ___tracy_emit_frame_mark_end("bound frame");
#endif
}

void zones_in_c(void) {
  static char block[64];
  TracyCZone(plain, 1);
  TracyCZoneN(named, "C zone", 1);
  TracyCZoneText(named, "from C", 6);
  TracyCZoneValue(named, 42);
  TracyCZoneColor(named, 0x334455);
  TracyCZoneName(named, "named in C", 10);
  TracyCZoneEnd(named);
  TracyCZoneNC(coloured, "coloured in C", 0x112233, 1);
  TracyCZoneEnd(coloured);
  TracyCZoneC(only_coloured, 0x112233, 1);
  TracyCZoneEnd(only_coloured);
  TracyCZoneN(never, "not active in C", 0);
  TracyCZoneEnd(never);
  TracyCZoneEnd(plain);
  TracyCFrameMark;
  TracyCFrameMarkNamed("frame in C");
  TracyCFrameMarkNamed("frame in C");
  TracyCPlot("plot in C", 0.5);
  TracyCPlotI("plot in C", 3);
  TracyCMessageL("message in C");
  TracyCAlloc(block, 64);
  TracyCFree(block);
  TracyCSetThreadName("first again");
  (void)block;
  bindings();
}
