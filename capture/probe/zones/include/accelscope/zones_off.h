// The macros of zones.h: nothing, where marks are switched off.
#ifndef ACCELSCOPE_ZONES_OFF_H
#define ACCELSCOPE_ZONES_OFF_H

// Zones
#define ZoneNamed(varname, active)
#define ZoneNamedN(varname, name, active)
#define ZoneNamedC(varname, color, active)
#define ZoneNamedNC(varname, name, color, active)
#define ZoneTransient(varname, active)
#define ZoneTransientN(varname, name, active)
#define ZoneTransientNC(varname, name, color, active)
#define ZoneScoped
#define ZoneScopedN(name)
#define ZoneScopedC(color)
#define ZoneScopedNC(name, color)
#define ZoneNamedS(varname, depth, active)
#define ZoneNamedNS(varname, name, depth, active)
#define ZoneNamedCS(varname, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active)
#define ZoneTransientS(varname, depth, active)
#define ZoneTransientNS(varname, name, depth, active)
#define ZoneTransientNCS(varname, name, color, depth, active)
#define ZoneScopedS(depth)
#define ZoneScopedNS(name, depth)
#define ZoneScopedCS(color, depth)
#define ZoneScopedNCS(name, color, depth)

// What belongs to a zone
#define ZoneText(txt, size)
#define ZoneTextV(varname, txt, size)
#define ZoneName(txt, size)
#define ZoneNameV(varname, txt, size)
#define ZoneColor(color)
#define ZoneColorV(varname, color)
#define ZoneValue(value)
#define ZoneValueV(varname, value)
#define ZoneTextF(fmt, ...)
#define ZoneTextVF(varname, fmt, ...)
#define ZoneNameF(fmt, ...)
#define ZoneNameVF(varname, fmt, ...)
#define ZoneIsActive false
#define ZoneIsActiveV(varname) false

// Frames
#define FrameMark
#define FrameMarkNamed(name)
#define FrameMarkStart(name)
#define FrameMarkEnd(name)
#define FrameImage(image, width, height, offset, flip)

// Locks
#define TracyLockable(type, varname) type varname
#define TracyLockableN(type, varname, desc) type varname
#define LockableBase(type) type
#define TracySharedLockable(type, varname) type varname
#define TracySharedLockableN(type, varname, desc) type varname
#define SharedLockableBase(type) type
#define LockMark(varname) (void)varname
#define LockableName(varname, txt, size)

// Plots, messages, facts
#define TracyPlot(name, val)
#define TracyPlotConfig(name, ...)
#define TracyMessage(txt, size)
#define TracyMessageL(txt)
#define TracyMessageC(txt, size, color)
#define TracyMessageLC(txt, color)
#define TracyMessageS(txt, size, depth)
#define TracyMessageLS(txt, depth)
#define TracyMessageCS(txt, size, color, depth)
#define TracyMessageLCS(txt, color, depth)
#define TracyAppInfo(txt, size)
#define TracySetProgramName(name)

// Memory
#define TracyAlloc(ptr, size)
#define TracyFree(ptr)
#define TracyAllocN(ptr, size, name)
#define TracyFreeN(ptr, name)
#define TracyAllocS(ptr, size, depth)
#define TracyFreeS(ptr, depth)
#define TracyAllocNS(ptr, size, depth, name)
#define TracyFreeNS(ptr, depth, name)
#define TracySecureAlloc(ptr, size)
#define TracySecureFree(ptr)
#define TracySecureAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name)
#define TracySecureAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth)
#define TracySecureAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name)

// Others
#define TracyFiberEnter(fiber)
#define TracyFiberEnterHint(fiber, group)
#define TracyFiberLeave
#define TracyIsConnected false
#define TracyIsStarted false
#define TracyParameterRegister(...)
#define TracyParameterSetup(idx, name, is_bool, val)
#define TracySourceCallbackRegister(...)
#define TracyNoop

#endif
