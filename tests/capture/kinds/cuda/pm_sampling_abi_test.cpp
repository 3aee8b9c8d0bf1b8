// The structs of PM sampling that are declared here, against the toolkit's own headers. Compiled with them where they
// are installed; there is nothing to run.
#include "capture/kinds/cuda/pm_sampling_abi.h"

#ifdef ACCELSCOPE_CUPTI_HEADERS
#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstddef>
#include <iterator>

namespace accelscope::capture::kinds::cuda {
namespace {

struct FieldPlace {
  std::size_t offset, bytes;
  bool operator==(const FieldPlace&) const = default;
};
struct SameField {
  FieldPlace ours, theirs;
};
// The number of the first that lies elsewhere.
template <std::size_t kCount>
[[nodiscard]] consteval std::size_t first_difference(const SameField (&fields)[kCount]) {
  std::size_t at = 0;
  while (at < kCount && fields[at].ours == fields[at].theirs) ++at;
  return at;
}

#define ACCELSCOPE_FIELD(ours, theirs)                                                               \
  {                                                                                                  \
    {offsetof(Ours, ours), sizeof(Ours::ours)}, { offsetof(Theirs, theirs), sizeof(Theirs::theirs) } \
  }
// A struct of ours, one of theirs, and what of the first is what of the other.
#define ACCELSCOPE_SAME(ours_name, theirs_name, ...)                                              \
  namespace of_##theirs_name {                                                                    \
    using Ours = pm::ours_name;                                                                   \
    using Theirs = theirs_name;                                                                   \
    constexpr SameField kFields[] = {ACCELSCOPE_FIELD(size, structSize),                          \
                                     ACCELSCOPE_FIELD(unused, pPriv) __VA_OPT__(, ) __VA_ARGS__}; \
    static_assert(pm::Sized<Ours>::kBytes == theirs_name##_STRUCT_SIZE &&                         \
                  first_difference(kFields) == std::size(kFields));                               \
  }
#define F ACCELSCOPE_FIELD

ACCELSCOPE_SAME(Initialize, CUpti_Profiler_Initialize_Params)
ACCELSCOPE_SAME(Initialize, CUpti_Profiler_DeInitialize_Params)
ACCELSCOPE_SAME(ChipName, CUpti_Device_GetChipName_Params, F(device, deviceIndex), F(name, pChipName))
ACCELSCOPE_SAME(HostInitialize, CUpti_Profiler_Host_Initialize_Params, F(kind, profilerType), F(chip, pChipName),
                F(availability, pCounterAvailabilityImage), F(host, pHostObject))
ACCELSCOPE_SAME(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params, F(host, pHostObject))
ACCELSCOPE_SAME(AddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, F(host, pHostObject), F(names, ppMetricNames),
                F(count, numMetrics))
ACCELSCOPE_SAME(ConfigSize, CUpti_Profiler_Host_GetConfigImageSize_Params, F(host, pHostObject),
                F(bytes, configImageSize))
ACCELSCOPE_SAME(ConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, F(host, pHostObject), F(bytes, configImageSize),
                F(image, pConfigImage))
ACCELSCOPE_SAME(PassCount, CUpti_Profiler_Host_GetNumOfPasses_Params, F(bytes, configImageSize), F(image, pConfigImage),
                F(passes, numOfPasses))
ACCELSCOPE_SAME(Evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, F(host, pHostObject),
                F(data, pCounterDataImage), F(bytes, counterDataImageSize), F(sample, rangeIndex),
                F(names, ppMetricNames), F(count, numMetrics), F(values, pMetricValues))
ACCELSCOPE_SAME(Availability, CUpti_PmSampling_GetCounterAvailability_Params, F(device, deviceIndex),
                F(bytes, counterAvailabilityImageSize), F(image, pCounterAvailabilityImage))
ACCELSCOPE_SAME(Enable, CUpti_PmSampling_Enable_Params, F(device, deviceIndex), F(sampler, pPmSamplingObject))
ACCELSCOPE_SAME(OfSampler, CUpti_PmSampling_Start_Params, F(sampler, pPmSamplingObject))
ACCELSCOPE_SAME(OfSampler, CUpti_PmSampling_Stop_Params, F(sampler, pPmSamplingObject))
ACCELSCOPE_SAME(OfSampler, CUpti_PmSampling_Disable_Params, F(sampler, pPmSamplingObject))
ACCELSCOPE_SAME(SetConfig, CUpti_PmSampling_SetConfig_Params, F(sampler, pPmSamplingObject), F(bytes, configSize),
                F(image, pConfig), F(buffer_bytes, hardwareBufferSize), F(interval, samplingInterval),
                F(trigger, triggerMode), F(append, hwBufferAppendMode))
ACCELSCOPE_SAME(DataSize, CUpti_PmSampling_GetCounterDataSize_Params, F(sampler, pPmSamplingObject),
                F(names, pMetricNames), F(count, numMetrics), F(most_samples, maxSamples), F(bytes, counterDataSize))
ACCELSCOPE_SAME(InitializeData, CUpti_PmSampling_CounterDataImage_Initialize_Params, F(sampler, pPmSamplingObject),
                F(bytes, counterDataSize), F(data, pCounterData))
ACCELSCOPE_SAME(Decode, CUpti_PmSampling_DecodeData_Params, F(sampler, pPmSamplingObject), F(data, pCounterDataImage),
                F(bytes, counterDataImageSize), F(stop_reason, decodeStopReason), F(overflow, overflow))
ACCELSCOPE_SAME(DataInfo, CUpti_PmSampling_GetCounterDataInfo_Params, F(data, pCounterDataImage),
                F(bytes, counterDataImageSize), F(total, numTotalSamples), F(populated, numPopulatedSamples),
                F(completed, numCompletedSamples))
ACCELSCOPE_SAME(SampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo_Params, F(sampler, pPmSamplingObject),
                F(data, pCounterDataImage), F(bytes, counterDataImageSize), F(sample, sampleIndex),
                F(start, startTimestamp), F(end, endTimestamp))

#undef F

static_assert(pm::kSuccess == CUPTI_SUCCESS);
static_assert(pm::kOutOfMemory == CUPTI_ERROR_OUT_OF_MEMORY);
static_assert(pm::kInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(pm::kPmSampling == CUPTI_PROFILER_TYPE_PM_SAMPLING);
static_assert(pm::kByClockCycles == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
static_assert(pm::kByTime == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
static_assert(pm::kRetainOldest == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
static_assert(pm::kCounterDataFull == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
static_assert(pm::kMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);

}  // namespace
}  // namespace accelscope::capture::kinds::cuda
#endif
