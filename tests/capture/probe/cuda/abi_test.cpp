// The places of fields and the sizes of records that the collector counts on, against the toolkit's own headers.
// Compiled with them where they are installed; there is nothing to run.
#include <doctest/doctest.h>

#include "capture/probe/cuda/cupti_abi.h"
#include "capture/probe/cuda/nvtx_abi.h"

#ifdef ACCELSCOPE_CUPTI_HEADERS
#include <cuda.h>
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <type_traits>

namespace accelscope::probe::cuda {
namespace {

// clang-format off
#define ACCELSCOPE_SAME(field, Record, member)                                            \
  static_assert((field).offset == offsetof(Record, member));                              \
  static_assert(sizeof(decltype(field)::Type) == sizeof(std::declval<Record>().member))
#define ACCELSCOPE_SIZE(activity, version, Record) \
  static_assert(cupti::record_bytes(cupti::Activity::activity, cupti::version) == sizeof(Record))
// clang-format on

#define KERNEL(field, member) ACCELSCOPE_SAME(cupti::kernel::field, CUpti_ActivityKernel10, member)
KERNEL(cache_config, cacheConfig);
KERNEL(registers, registersPerThread);
KERNEL(start, start);
KERNEL(end, end);
KERNEL(device, deviceId);
KERNEL(context, contextId);
KERNEL(stream, streamId);
KERNEL(grid_x, gridX);
KERNEL(grid_y, gridY);
KERNEL(grid_z, gridZ);
KERNEL(block_x, blockX);
KERNEL(block_y, blockY);
KERNEL(block_z, blockZ);
KERNEL(static_shared, staticSharedMemory);
KERNEL(dynamic_shared, dynamicSharedMemory);
KERNEL(local_per_thread, localMemoryPerThread);
KERNEL(local_total, localMemoryTotal);
KERNEL(correlation, correlationId);
KERNEL(grid_id, gridId);
KERNEL(name, name);
KERNEL(queued, queued);
KERNEL(submitted, submitted);
KERNEL(launch_type, launchType);
KERNEL(carveout_requested, isSharedMemoryCarveoutRequested);
KERNEL(carveout, sharedMemoryCarveoutRequested);
KERNEL(shared_executed, sharedMemoryExecuted);
KERNEL(graph_node, graphNodeId);
KERNEL(shared_limit, shmemLimitConfig);
KERNEL(graph, graphId);
KERNEL(channel, channelID);
KERNEL(channel_type, channelType);
KERNEL(cluster_x, clusterX);
KERNEL(cluster_y, clusterY);
KERNEL(cluster_z, clusterZ);
KERNEL(cluster_policy, clusterSchedulingPolicy);
KERNEL(local_total_wide, localMemoryTotal_v2);
KERNEL(largest_cluster, maxPotentialClusterSize);
KERNEL(active_clusters, maxActiveClusters);
KERNEL(device_launched, isDeviceLaunched);
// In every version that is read the fields lie where they lie in the newest.
ACCELSCOPE_SAME(cupti::kernel::local_total_wide, CUpti_ActivityKernel8, localMemoryTotal_v2);
ACCELSCOPE_SAME(cupti::kernel::name, CUpti_ActivityKernel8, name);
ACCELSCOPE_SAME(cupti::kernel::active_clusters, CUpti_ActivityKernel9, maxActiveClusters);
ACCELSCOPE_SIZE(concurrent_kernel, kVersion11_8, CUpti_ActivityKernel8);
ACCELSCOPE_SIZE(concurrent_kernel, kVersion12_0, CUpti_ActivityKernel9);
ACCELSCOPE_SIZE(concurrent_kernel, kVersion13_0, CUpti_ActivityKernel10);

#define COPY(field, member) ACCELSCOPE_SAME(cupti::copy::field, CUpti_ActivityMemcpy6, member)
COPY(kind, copyKind);
COPY(source_kind, srcKind);
COPY(target_kind, dstKind);
COPY(flags, flags);
COPY(bytes, bytes);
COPY(start, start);
COPY(end, end);
COPY(device, deviceId);
COPY(context, contextId);
COPY(stream, streamId);
COPY(correlation, correlationId);
COPY(graph_node, graphNodeId);
COPY(graph, graphId);
COPY(count, copyCount);
ACCELSCOPE_SAME(cupti::copy::graph, CUpti_ActivityMemcpy5, graphId);
ACCELSCOPE_SIZE(copy, kVersion11_8, CUpti_ActivityMemcpy5);
ACCELSCOPE_SIZE(copy, kVersion12_8, CUpti_ActivityMemcpy6);

#define PEER(space, field, member) ACCELSCOPE_SAME(cupti::space::field, CUpti_ActivityMemcpyPtoP4, member)
PEER(copy, kind, copyKind);
PEER(copy, bytes, bytes);
PEER(copy, start, start);
PEER(copy, end, end);
PEER(copy, device, deviceId);
PEER(copy, context, contextId);
PEER(copy, stream, streamId);
PEER(peer_copy, source_device, srcDeviceId);
PEER(peer_copy, source_context, srcContextId);
PEER(peer_copy, target_device, dstDeviceId);
PEER(peer_copy, target_context, dstContextId);
PEER(peer_copy, correlation, correlationId);
PEER(peer_copy, graph_node, graphNodeId);
PEER(peer_copy, graph, graphId);
ACCELSCOPE_SIZE(peer_copy, kVersion13_0, CUpti_ActivityMemcpyPtoP4);

#define SET(field, member) ACCELSCOPE_SAME(cupti::set::field, CUpti_ActivityMemset4, member)
SET(value, value);
SET(bytes, bytes);
SET(start, start);
SET(end, end);
SET(device, deviceId);
SET(context, contextId);
SET(stream, streamId);
SET(correlation, correlationId);
SET(flags, flags);
SET(memory_kind, memoryKind);
SET(graph_node, graphNodeId);
SET(graph, graphId);
ACCELSCOPE_SIZE(set, kVersion13_0, CUpti_ActivityMemset4);

#define CALL(field, member) ACCELSCOPE_SAME(cupti::call::field, CUpti_ActivityAPI, member)
CALL(id, cbid);
CALL(start, start);
CALL(end, end);
CALL(process, processId);
CALL(thread, threadId);
CALL(correlation, correlationId);
CALL(result, returnValue);
ACCELSCOPE_SIZE(driver_call, kVersion13_0, CUpti_ActivityAPI);
ACCELSCOPE_SIZE(runtime_call, kVersion13_0, CUpti_ActivityAPI);

#define SYNC(field, member) ACCELSCOPE_SAME(cupti::synchronization::field, CUpti_ActivitySynchronization2, member)
SYNC(type, type);
SYNC(start, start);
SYNC(end, end);
SYNC(correlation, correlationId);
SYNC(context, contextId);
SYNC(stream, streamId);
SYNC(event, cudaEventId);
SYNC(event_sync, cudaEventSyncId);
SYNC(result, returnValue);
ACCELSCOPE_SAME(cupti::synchronization::event, CUpti_ActivitySynchronization, cudaEventId);
ACCELSCOPE_SIZE(synchronization, kVersion11_8, CUpti_ActivitySynchronization);
ACCELSCOPE_SIZE(synchronization, kVersion12_8, CUpti_ActivitySynchronization2);

#define EXTERNAL(field, member) \
  ACCELSCOPE_SAME(cupti::external_correlation::field, CUpti_ActivityExternalCorrelation, member)
EXTERNAL(kind, externalKind);
EXTERNAL(id, externalId);
EXTERNAL(correlation, correlationId);
ACCELSCOPE_SIZE(external_correlation, kVersion13_0, CUpti_ActivityExternalCorrelation);

#define GRAPH(field, member) ACCELSCOPE_SAME(cupti::graph::field, CUpti_ActivityGraphTrace2, member)
GRAPH(correlation, correlationId);
GRAPH(start, start);
GRAPH(end, end);
GRAPH(device, deviceId);
GRAPH(graph, graphId);
GRAPH(context, contextId);
GRAPH(stream, streamId);
ACCELSCOPE_SIZE(graph, kVersion13_0, CUpti_ActivityGraphTrace);

#define JIT(field, member) ACCELSCOPE_SAME(cupti::jit::field, CUpti_ActivityJit2, member)
JIT(entry, jitEntryType);
JIT(operation, jitOperationType);
JIT(device, deviceId);
JIT(start, start);
JIT(end, end);
JIT(correlation, correlationId);
JIT(operation_correlation, jitOperationCorrelationId);
JIT(cache_bytes, cacheSize);
JIT(cache_path, cachePath);
JIT(process, processId);
JIT(thread, threadId);
ACCELSCOPE_SIZE(jit, kVersion11_8, CUpti_ActivityJit);
ACCELSCOPE_SIZE(jit, kVersion12_4, CUpti_ActivityJit2);

#define OVERHEAD(field, member) ACCELSCOPE_SAME(cupti::overhead::field, CUpti_ActivityOverhead3, member)
OVERHEAD(kind, overheadKind);
OVERHEAD(object_kind, objectKind);
OVERHEAD(process, objectId.pt.processId);
OVERHEAD(thread, objectId.pt.threadId);
OVERHEAD(start, start);
OVERHEAD(end, end);
OVERHEAD(correlation, correlationId);
ACCELSCOPE_SIZE(overhead, kVersion11_8, CUpti_ActivityOverhead);
ACCELSCOPE_SIZE(overhead, kVersion12_2, CUpti_ActivityOverhead2);
static_assert(cupti::overhead::kThreadObject == CUPTI_ACTIVITY_OBJECT_THREAD);

#define UNIFIED(field, member) \
  ACCELSCOPE_SAME(cupti::unified_memory::field, CUpti_ActivityUnifiedMemoryCounter3, member)
UNIFIED(kind, counterKind);
UNIFIED(value, value);
UNIFIED(start, start);
UNIFIED(end, end);
UNIFIED(address, address);
UNIFIED(source, srcId);
UNIFIED(target, dstId);
UNIFIED(stream, streamId);
UNIFIED(process, processId);
UNIFIED(flags, flags);
ACCELSCOPE_SIZE(unified_memory, kVersion11_8, CUpti_ActivityUnifiedMemoryCounter2);

#define MEMORY(field, member) ACCELSCOPE_SAME(cupti::memory::field, CUpti_ActivityMemory4, member)
MEMORY(operation, memoryOperationType);
MEMORY(kind, memoryKind);
MEMORY(correlation, correlationId);
MEMORY(address, address);
MEMORY(bytes, bytes);
MEMORY(time, timestamp);
MEMORY(pc, PC);
MEMORY(process, processId);
MEMORY(device, deviceId);
MEMORY(context, contextId);
MEMORY(stream, streamId);
MEMORY(name, name);
MEMORY(is_async, isAsync);
MEMORY(pool_type, memoryPoolConfig.memoryPoolType);
MEMORY(pool_address, memoryPoolConfig.address);
MEMORY(pool_threshold, memoryPoolConfig.releaseThreshold);
MEMORY(pool_size, memoryPoolConfig.pool.size);
MEMORY(pool_used, memoryPoolConfig.utilizedSize);
ACCELSCOPE_SIZE(memory, kVersion11_8, CUpti_ActivityMemory3);

#define POOL(field, member) ACCELSCOPE_SAME(cupti::memory_pool::field, CUpti_ActivityMemoryPool3, member)
POOL(operation, memoryPoolOperationType);
POOL(type, memoryPoolType);
POOL(correlation, correlationId);
POOL(process, processId);
POOL(device, deviceId);
POOL(least_bytes, minBytesToKeep);
POOL(address, address);
POOL(size, size);
POOL(threshold, releaseThreshold);
POOL(time, timestamp);
POOL(used, utilizedSize);
ACCELSCOPE_SIZE(memory_pool, kVersion11_8, CUpti_ActivityMemoryPool2);

#define EVENT(field, member) ACCELSCOPE_SAME(cupti::cuda_event::field, CUpti_ActivityCudaEvent2, member)
EVENT(correlation, correlationId);
EVENT(context, contextId);
EVENT(stream, streamId);
EVENT(event, eventId);
EVENT(device, deviceId);
EVENT(device_time, deviceTimestamp);
EVENT(sync, cudaEventSyncId);
ACCELSCOPE_SIZE(cuda_event, kVersion11_8, CUpti_ActivityCudaEvent);
ACCELSCOPE_SIZE(cuda_event, kVersion12_8, CUpti_ActivityCudaEvent2);

#define STREAM(field, member) ACCELSCOPE_SAME(cupti::stream::field, CUpti_ActivityStream, member)
STREAM(context, contextId);
STREAM(stream, streamId);
STREAM(priority, priority);
STREAM(flag, flag);
STREAM(correlation, correlationId);
ACCELSCOPE_SIZE(stream, kVersion13_0, CUpti_ActivityStream);

#define CONTEXT(field, member) ACCELSCOPE_SAME(cupti::context::field, CUpti_ActivityContext3, member)
CONTEXT(context, contextId);
CONTEXT(device, deviceId);
CONTEXT(null_stream, nullStreamId);
CONTEXT(parent, parentContextId);
CONTEXT(is_green, isGreenContext);
CONTEXT(multiprocessors, numMultiprocessors);
ACCELSCOPE_SIZE(context, kVersion11_8, CUpti_ActivityContext);
ACCELSCOPE_SIZE(context, kVersion12_4, CUpti_ActivityContext2);

#define DEVICE(field, member) ACCELSCOPE_SAME(cupti::device::field, CUpti_ActivityDevice5, member)
DEVICE(memory_bandwidth, globalMemoryBandwidth);
DEVICE(memory_bytes, globalMemorySize);
DEVICE(cache_bytes, l2CacheSize);
DEVICE(warp_threads, numThreadsPerWarp);
DEVICE(clock_khz, coreClockRate);
DEVICE(multiprocessors, numMultiprocessors);
DEVICE(warps, maxWarpsPerMultiprocessor);
DEVICE(blocks, maxBlocksPerMultiprocessor);
DEVICE(shared_bytes, maxSharedMemoryPerMultiprocessor);
DEVICE(registers, maxRegistersPerMultiprocessor);
DEVICE(major, computeCapabilityMajor);
DEVICE(minor, computeCapabilityMinor);
DEVICE(id, id);
DEVICE(name, name);
DEVICE(is_mig, isMigEnabled);
DEVICE(gpu_instance, gpuInstanceId);
DEVICE(compute_instance, computeInstanceId);
static_assert(cupti::device::uuid_low.offset == offsetof(CUpti_ActivityDevice5, uuid));
static_assert(cupti::device::uuid_high.offset == offsetof(CUpti_ActivityDevice5, uuid) + 8);
static_assert(cupti::device::mig_uuid_low.offset == offsetof(CUpti_ActivityDevice5, migUuid));
static_assert(cupti::device::mig_uuid_high.offset == offsetof(CUpti_ActivityDevice5, migUuid) + 8);
ACCELSCOPE_SIZE(device, kVersion11_8, CUpti_ActivityDevice4);

static_assert(cupti::environment::device.offset == offsetof(CUpti_ActivityEnvironment, deviceId));
static_assert(cupti::environment::time.offset == offsetof(CUpti_ActivityEnvironment, timestamp));
static_assert(cupti::environment::kind.offset == offsetof(CUpti_ActivityEnvironment, environmentKind));
static_assert(cupti::environment::first.offset == offsetof(CUpti_ActivityEnvironment, data.speed.smClock));
static_assert(cupti::environment::second.offset == offsetof(CUpti_ActivityEnvironment, data.speed.memoryClock));
static_assert(cupti::environment::first.offset == offsetof(CUpti_ActivityEnvironment, data.power.power));
ACCELSCOPE_SIZE(environment, kVersion13_0, CUpti_ActivityEnvironment);

#define KIND(activity, name) static_assert(static_cast<int>(cupti::Activity::activity) == CUPTI_ACTIVITY_KIND_##name)
KIND(copy, MEMCPY);
KIND(set, MEMSET);
KIND(kernel, KERNEL);
KIND(driver_call, DRIVER);
KIND(runtime_call, RUNTIME);
KIND(device, DEVICE);
KIND(context, CONTEXT);
KIND(concurrent_kernel, CONCURRENT_KERNEL);
KIND(overhead, OVERHEAD);
KIND(environment, ENVIRONMENT);
KIND(peer_copy, MEMCPY2);
KIND(unified_memory, UNIFIED_MEMORY_COUNTER);
KIND(cuda_event, CUDA_EVENT);
KIND(stream, STREAM);
KIND(synchronization, SYNCHRONIZATION);
KIND(external_correlation, EXTERNAL_CORRELATION);
KIND(memory, MEMORY2);
KIND(memory_pool, MEMORY_POOL);
KIND(graph, GRAPH_TRACE);
KIND(jit, JIT);

static_assert(cupti::kSuccess == CUPTI_SUCCESS && cupti::kInvalidKind == CUPTI_ERROR_INVALID_KIND &&
              cupti::kInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES &&
              cupti::kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(cupti::kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED &&
              cupti::kSystemThreadIds == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
static_assert(cupti::kDriverApi == CUPTI_CB_DOMAIN_DRIVER_API && cupti::kRuntimeApi == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(cupti::kProfilerStart == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart &&
              cupti::kProfilerStop == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
static_assert(offsetof(cupti::CallbackData, site) == offsetof(CUpti_CallbackData, callbackSite) &&
              offsetof(cupti::CallbackData, correlation) == offsetof(CUpti_CallbackData, correlationId) &&
              CUPTI_API_ENTER == 0 && CUPTI_API_EXIT == 1);
static_assert(
    std::is_same_v<decltype(&cuptiGetStreamIdEx), CUptiResult (*)(CUcontext, CUstream, std::uint8_t, std::uint32_t*)> &&
    std::is_same_v<decltype(&cuptiGetContextId), CUptiResult (*)(CUcontext, std::uint32_t*)>);
static_assert(sizeof(cupti::UnifiedMemoryConfig) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig) &&
              cupti::UnifiedMemoryConfig{}.scope == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);

// NVTX.
static_assert(sizeof(nvtx::Attributes) == sizeof(nvtxEventAttributes_t));
static_assert(offsetof(nvtx::Attributes, category) == offsetof(nvtxEventAttributes_t, category) &&
              offsetof(nvtx::Attributes, color) == offsetof(nvtxEventAttributes_t, color) &&
              offsetof(nvtx::Attributes, payload_type) == offsetof(nvtxEventAttributes_t, payloadType) &&
              offsetof(nvtx::Attributes, payload) == offsetof(nvtxEventAttributes_t, payload) &&
              offsetof(nvtx::Attributes, message_type) == offsetof(nvtxEventAttributes_t, messageType) &&
              offsetof(nvtx::Attributes, message) == offsetof(nvtxEventAttributes_t, message));
static_assert(nvtx::kAscii == NVTX_MESSAGE_TYPE_ASCII && nvtx::kUnicode == NVTX_MESSAGE_TYPE_UNICODE &&
              nvtx::kRegistered == NVTX_MESSAGE_TYPE_REGISTERED && nvtx::kFloat == NVTX_PAYLOAD_TYPE_FLOAT &&
              nvtx::kDouble == NVTX_PAYLOAD_TYPE_DOUBLE && nvtx::kArgb == NVTX_COLOR_ARGB &&
              nvtx::kOfSchemas == NVTX_PAYLOAD_TYPE_EXT);
static_assert(offsetof(nvtx::Attributes, payload_count) == offsetof(nvtxEventAttributes_t, reserved0));
static_assert(sizeof(nvtx::ResourceAttributes) == sizeof(nvtxResourceAttributes_t) &&
              offsetof(nvtx::ResourceAttributes, type) == offsetof(nvtxResourceAttributes_t, identifierType) &&
              offsetof(nvtx::ResourceAttributes, identifier) == offsetof(nvtxResourceAttributes_t, identifier) &&
              offsetof(nvtx::ResourceAttributes, message) == offsetof(nvtxResourceAttributes_t, message));
static_assert(nvtx::kThread == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE &&
              nvtx::kDriverDevice == static_cast<int>(NVTX_RESOURCE_TYPE_CUDA_DEVICE) &&
              nvtx::kDriverContext == static_cast<int>(NVTX_RESOURCE_TYPE_CUDA_CONTEXT) &&
              nvtx::kDriverStream == static_cast<int>(NVTX_RESOURCE_TYPE_CUDA_STREAM) &&
              nvtx::kRuntimeDevice == static_cast<int>(NVTX_RESOURCE_TYPE_CUDART_DEVICE) &&
              nvtx::kRuntimeStream == static_cast<int>(NVTX_RESOURCE_TYPE_CUDART_STREAM));
static_assert(nvtx::kPayloads == NVTX_EXT_PAYLOAD_MODULEID && nvtx::kMark == NVTX3EXT_CBID_nvtxMarkPayload &&
              nvtx::kRegisterSchema == NVTX3EXT_CBID_nvtxPayloadSchemaRegister &&
              nvtx::kRegisterWords == NVTX3EXT_CBID_nvtxPayloadEnumRegister &&
              nvtx::kPush == NVTX3EXT_CBID_nvtxRangePushPayload && nvtx::kPop == NVTX3EXT_CBID_nvtxRangePopPayload &&
              nvtx::kStart == NVTX3EXT_CBID_nvtxRangeStartPayload && nvtx::kEnd == NVTX3EXT_CBID_nvtxRangeEndPayload);
static_assert(sizeof(nvtx::PayloadData) == sizeof(nvtxPayloadData_t) &&
              offsetof(nvtx::PayloadData, bytes) == offsetof(nvtxPayloadData_t, size) &&
              offsetof(nvtx::PayloadData, data) == offsetof(nvtxPayloadData_t, payload));
static_assert(sizeof(nvtx::SchemaEntry) == sizeof(nvtxPayloadSchemaEntry_t) &&
              offsetof(nvtx::SchemaEntry, name) == offsetof(nvtxPayloadSchemaEntry_t, name) &&
              offsetof(nvtx::SchemaEntry, length) == offsetof(nvtxPayloadSchemaEntry_t, arrayOrUnionDetail) &&
              offsetof(nvtx::SchemaEntry, offset) == offsetof(nvtxPayloadSchemaEntry_t, offset));
static_assert(sizeof(nvtx::SchemaAttributes) == sizeof(nvtxPayloadSchemaAttr_t) &&
              offsetof(nvtx::SchemaAttributes, entries) == offsetof(nvtxPayloadSchemaAttr_t, entries) &&
              offsetof(nvtx::SchemaAttributes, alignment) == offsetof(nvtxPayloadSchemaAttr_t, packAlign) &&
              offsetof(nvtx::SchemaAttributes, schema) == offsetof(nvtxPayloadSchemaAttr_t, schemaId));
static_assert(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME == 1 << 1 && NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT == 1 << 7 &&
              NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID == 1 << 8);
static_assert(sizeof(nvtx::Word) == sizeof(nvtxPayloadEnum_t) &&
              sizeof(nvtx::WordsAttributes) == sizeof(nvtxPayloadEnumAttr_t) &&
              offsetof(nvtx::WordsAttributes, bytes) == offsetof(nvtxPayloadEnumAttr_t, sizeOfEnum) &&
              offsetof(nvtx::WordsAttributes, schema) == offsetof(nvtxPayloadEnumAttr_t, schemaId));
static_assert(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE == 1 << 4 && NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID == 1 << 5);
static_assert(nvtx::kFirstGivenSchema == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
static_assert(sizeof(nvtx::ExtensionSegment) == sizeof(nvtxExtModuleSegment_t) &&
              offsetof(nvtx::ExtensionSegment, functions) == offsetof(nvtxExtModuleSegment_t, functionSlots) &&
              offsetof(nvtx::ExtensionModule, module) == offsetof(nvtxExtModuleInfo_t, moduleId) &&
              offsetof(nvtx::ExtensionModule, segments) == offsetof(nvtxExtModuleInfo_t, segments));
static_assert(nvtx::kCuda == NVTX_CB_MODULE_CUDA && nvtx::kCudaRuntime == NVTX_CB_MODULE_CUDART);

}  // namespace
}  // namespace accelscope::probe::cuda
#endif

TEST_CASE("records of CUPTI are read where the toolkit's headers have their fields") {
  using namespace accelscope::probe::cuda;
  CHECK(cupti::record_bytes(cupti::Activity::concurrent_kernel, cupti::kVersion11_8) == 200);
  CHECK(cupti::record_bytes(static_cast<cupti::Activity>(63), cupti::kVersion13_0) == 0);
  CHECK(cupti::cuda_major_of(cupti::kVersion11_8) == 11);
  CHECK(cupti::cuda_major_of(cupti::kVersion12_8) == 12);
  CHECK(cupti::cuda_major_of(130'100) == 13);
  // A field that a record is too short for stays as it was.
  const std::uint8_t bytes[16] = {7};
  std::uint64_t value = 42;
  CHECK_FALSE(cupti::RawRecord{bytes, 12}.read(accelscope::probe::U64{8}, value));
  CHECK(value == 42);
  CHECK(cupti::RawRecord{bytes, 16}.read(accelscope::probe::U64{8}, value));
}
