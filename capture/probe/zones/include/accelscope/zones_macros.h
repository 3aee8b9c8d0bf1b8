// The macros of zones.h. Those in the first part do something or, where marks are switched off, nothing; all others are
// made of them.
#ifndef ACCELSCOPE_ZONES_MACROS_H
#define ACCELSCOPE_ZONES_MACROS_H

// Zones within zones shadow each other by design: no reason to warn whoever marks a program.
#if defined(__GNUC__)
#pragma GCC system_header
#endif

#ifdef TRACY_ENABLE

#define ACCELSCOPE_PLACE(place, name, function, color)                 \
  static constexpr tracy::SourceLocationData place {                   \
    name, function, TracyFile, static_cast<uint32_t>(TracyLine), color \
  }
#define ACCELSCOPE_LOCK(type, varname, desc)     \
  type varname {                                 \
    []() -> const tracy::SourceLocationData* {   \
      ACCELSCOPE_PLACE(place, nullptr, desc, 0); \
      return &place;                             \
    }()                                          \
  }
#define ACCELSCOPE_TRANSIENT(varname, name, name_size, color, active)                                            \
  tracy::ScopedZone varname(TracyLine, TracyFile, strlen(TracyFile), TracyFunction, strlen(TracyFunction), name, \
                            name_size, color, 0, active)
#define ZoneNamedNC(varname, name, color, active)                                             \
  ACCELSCOPE_PLACE(TracyConcat(accelscope_zone_place_, varname), name, TracyFunction, color); \
  tracy::ScopedZone varname(&TracyConcat(accelscope_zone_place_, varname), active)
#define ZoneTextV(varname, txt, size) varname.Text(txt, size)
#define ZoneNameV(varname, txt, size) varname.Name(txt, size)
#define ZoneColorV(varname, color) varname.Color(color)
#define ZoneValueV(varname, value) varname.Value(value)
#define ZoneTextVF(varname, ...) varname.TextFmt(__VA_ARGS__)
#define ZoneNameVF(varname, ...) varname.NameFmt(__VA_ARGS__)
#define ZoneIsActiveV(varname) varname.IsActive()
#define FrameMarkNamed(name) tracy::Profiler::SendFrameMark(name)
#define FrameMarkStart(name) tracy::Profiler::Frame(ACCELSCOPE_FRAME_START, name)
#define FrameMarkEnd(name) tracy::Profiler::Frame(ACCELSCOPE_FRAME_END, name)
#define FrameImage(image, width, height, offset, flip) \
  tracy::Profiler::SendFrameImage(image, width, height, offset, flip)
#define LockableBase(type) tracy::Lockable<type>
#define SharedLockableBase(type) tracy::SharedLockable<type>
#define LockMark(varname)                                                       \
  ACCELSCOPE_PLACE(accelscope_lock_place_##varname, nullptr, TracyFunction, 0); \
  varname.Mark(&accelscope_lock_place_##varname)
#define LockableName(varname, txt, size) varname.CustomName(txt, size)
#define TracyPlot(name, val) tracy::Profiler::PlotData(name, val)
#define TracyPlotConfig(name, ...) tracy::Profiler::ConfigurePlot(name, __VA_ARGS__)
#define TracyMessageC(txt, size, color) tracy::Profiler::Message(txt, size, color)
#define TracyAppInfo(txt, size) tracy::Profiler::MessageAppInfo(txt, size)
#define TracySetProgramName(name) tracy::Profiler::ProgramName(name)
#define TracyAllocN(ptr, size, name) tracy::Profiler::Allocated(ptr, size, name)
#define TracyFreeN(ptr, name) tracy::Profiler::Freed(ptr, name)
#define TracyFiberEnter(fiber) tracy::Profiler::FiberEntered(fiber)
#define TracyFiberLeave tracy::Profiler::FiberLeft()
#define TracyIsConnected tracy::Profiler::Collecting()
#define TracyIsStarted true
#define TracyParameterRegister(...) (void)0
#define TracyParameterSetup(idx, name, is_bool, val) (void)0
#define TracySourceCallbackRegister(...) (void)0
#define TracyNoop (void)accelscope_zones()

#else

#define ACCELSCOPE_LOCK(type, varname, desc) type varname
#define ACCELSCOPE_TRANSIENT(varname, name, name_size, color, active)
#define ZoneNamedNC(varname, name, color, active)
#define ZoneTextV(varname, txt, size)
#define ZoneNameV(varname, txt, size)
#define ZoneColorV(varname, color)
#define ZoneValueV(varname, value)
#define ZoneTextVF(varname, ...)
#define ZoneNameVF(varname, ...)
#define ZoneIsActiveV(varname) false
#define FrameMarkNamed(name)
#define FrameMarkStart(name)
#define FrameMarkEnd(name)
#define FrameImage(image, width, height, offset, flip)
#define LockableBase(type) type
#define SharedLockableBase(type) type
#define LockMark(varname) (void)varname
#define LockableName(varname, txt, size)
#define TracyPlot(name, val)
#define TracyPlotConfig(name, ...)
#define TracyMessageC(txt, size, color)
#define TracyAppInfo(txt, size)
#define TracySetProgramName(name)
#define TracyAllocN(ptr, size, name)
#define TracyFreeN(ptr, name)
#define TracyFiberEnter(fiber)
#define TracyFiberLeave
#define TracyIsConnected false
#define TracyIsStarted false
#define TracyParameterRegister(...)
#define TracyParameterSetup(idx, name, is_bool, val)
#define TracySourceCallbackRegister(...)
#define TracyNoop

#endif

// Zones
#define ZoneNamed(varname, active) ZoneNamedNC(varname, nullptr, 0, active)
#define ZoneNamedN(varname, name, active) ZoneNamedNC(varname, name, 0, active)
#define ZoneNamedC(varname, color, active) ZoneNamedNC(varname, nullptr, color, active)
#define ZoneTransient(varname, active) ACCELSCOPE_TRANSIENT(varname, nullptr, 0, 0, active)
#define ZoneTransientN(varname, name, active) ACCELSCOPE_TRANSIENT(varname, name, strlen(name), 0, active)
#define ZoneTransientNC(varname, name, color, active) ACCELSCOPE_TRANSIENT(varname, name, strlen(name), color, active)
#define ZoneScoped ZoneNamed(___tracy_scoped_zone, true)
#define ZoneScopedN(name) ZoneNamedN(___tracy_scoped_zone, name, true)
#define ZoneScopedC(color) ZoneNamedC(___tracy_scoped_zone, color, true)
#define ZoneScopedNC(name, color) ZoneNamedNC(___tracy_scoped_zone, name, color, true)
#define ZoneNamedS(varname, depth, active) ZoneNamed(varname, active)
#define ZoneNamedNS(varname, name, depth, active) ZoneNamedN(varname, name, active)
#define ZoneNamedCS(varname, color, depth, active) ZoneNamedC(varname, color, active)
#define ZoneNamedNCS(varname, name, color, depth, active) ZoneNamedNC(varname, name, color, active)
#define ZoneTransientS(varname, depth, active) ZoneTransient(varname, active)
#define ZoneTransientNS(varname, name, depth, active) ZoneTransientN(varname, name, active)
#define ZoneTransientNCS(varname, name, color, depth, active) ZoneTransientNC(varname, name, color, active)
#define ZoneScopedS(depth) ZoneScoped
#define ZoneScopedNS(name, depth) ZoneScopedN(name)
#define ZoneScopedCS(color, depth) ZoneScopedC(color)
#define ZoneScopedNCS(name, color, depth) ZoneScopedNC(name, color)

// What belongs to a zone
#define ZoneText(txt, size) ZoneTextV(___tracy_scoped_zone, txt, size)
#define ZoneName(txt, size) ZoneNameV(___tracy_scoped_zone, txt, size)
#define ZoneColor(color) ZoneColorV(___tracy_scoped_zone, color)
#define ZoneValue(value) ZoneValueV(___tracy_scoped_zone, value)
#define ZoneTextF(...) ZoneTextVF(___tracy_scoped_zone, __VA_ARGS__)
#define ZoneNameF(...) ZoneNameVF(___tracy_scoped_zone, __VA_ARGS__)
#define ZoneIsActive ZoneIsActiveV(___tracy_scoped_zone)

// Others
#define FrameMark FrameMarkNamed(nullptr)
#define TracyLockableN(type, varname, desc) ACCELSCOPE_LOCK(LockableBase(type), varname, desc)
#define TracyLockable(type, varname) ACCELSCOPE_LOCK(LockableBase(type), varname, #type " " #varname)
#define TracySharedLockableN(type, varname, desc) ACCELSCOPE_LOCK(SharedLockableBase(type), varname, desc)
#define TracySharedLockable(type, varname) ACCELSCOPE_LOCK(SharedLockableBase(type), varname, #type " " #varname)
#define TracyMessage(txt, size) TracyMessageC(txt, size, 0)
#define TracyMessageL(txt) TracyMessageC(txt, strlen(txt), 0)
#define TracyMessageLC(txt, color) TracyMessageC(txt, strlen(txt), color)
#define TracyMessageS(txt, size, depth) TracyMessage(txt, size)
#define TracyMessageLS(txt, depth) TracyMessageL(txt)
#define TracyMessageCS(txt, size, color, depth) TracyMessageC(txt, size, color)
#define TracyMessageLCS(txt, color, depth) TracyMessageLC(txt, color)
#define TracyAlloc(ptr, size) TracyAllocN(ptr, size, nullptr)
#define TracyFree(ptr) TracyFreeN(ptr, nullptr)
#define TracyAllocS(ptr, size, depth) TracyAlloc(ptr, size)
#define TracyFreeS(ptr, depth) TracyFree(ptr)
#define TracyAllocNS(ptr, size, depth, name) TracyAllocN(ptr, size, name)
#define TracyFreeNS(ptr, depth, name) TracyFreeN(ptr, name)
#define TracySecureAlloc(ptr, size) TracyAlloc(ptr, size)
#define TracySecureFree(ptr) TracyFree(ptr)
#define TracySecureAllocN(ptr, size, name) TracyAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name) TracyFreeN(ptr, name)
#define TracySecureAllocS(ptr, size, depth) TracyAlloc(ptr, size)
#define TracySecureFreeS(ptr, depth) TracyFree(ptr)
#define TracySecureAllocNS(ptr, size, depth, name) TracyAllocN(ptr, size, name)
#define TracySecureFreeNS(ptr, depth, name) TracyFreeN(ptr, name)
#define TracyFiberEnterHint(fiber, group) TracyFiberEnter(fiber)

#endif
