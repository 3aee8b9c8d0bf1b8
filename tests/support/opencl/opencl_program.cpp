// An OpenCL program whose calls are counted by the tests. It prints what it computes and every code that it is given,
// which must be the same with and without the layer.
//
//   opencl_for_tests work | launches COUNT | timed COUNT plain|events | END
//   END: crash, _exit, exec, fork, open, blocked, none (ways to end)
#include <CL/cl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* kSource = R"(
__kernel void scale(__global float* data, float factor, int count) {
  const int i = get_global_id(0);
  if (i < count) data[i] *= factor;
}

kernel void add(global const float* a, global const float* b, global float* c, local float* scratch) {
  const int i = get_global_id(0);
  scratch[get_local_id(0)] = a[i];
  c[i] = scratch[get_local_id(0)] + b[i];
}

__kernel void nothing(void) {}
)";
constexpr std::size_t kCount = 4096;
constexpr std::size_t kBytes = kCount * sizeof(float);

cl_platform_id platform = nullptr;
cl_device_id device = nullptr;
cl_context context = nullptr;
cl_program program = nullptr;

void inform(const char* what, long long value) { std::printf("%s %lld\n", what, value); }

bool set_up() {
  cl_uint platforms = 0;
  if (clGetPlatformIDs(1, &platform, &platforms) != CL_SUCCESS || platforms == 0) return false;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return false;
  cl_int code = 0;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  const char* source = kSource;
  program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  inform("build", clBuildProgram(program, 1, &device, "-DUSED=1", nullptr, nullptr));
  return true;
}

cl_command_queue make_queue(cl_command_queue_properties flags) {
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, 0};
  cl_int code = 0;
  return clCreateCommandQueueWithProperties(context, device, flags == 0 ? nullptr : properties, &code);
}

cl_kernel make_kernel(const char* name) {
  cl_int code = 0;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  inform(name, code);
  return kernel;
}

template <typename Value>
void set(cl_kernel kernel, cl_uint index, const Value& value) {
  if (clSetKernelArg(kernel, index, sizeof value, &value) != CL_SUCCESS) inform("argument", index);
}

void launch(cl_command_queue queue, cl_kernel kernel, std::size_t global, std::size_t local = 0,
            const std::vector<cl_event>& waits = {}, cl_event* event = nullptr) {
  const cl_int code =
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, local == 0 ? nullptr : &local,
                             static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), event);
  if (code != CL_SUCCESS) inform("launch", code);
}

void tell_event(cl_command_queue queue, cl_event event) {
  cl_ulong time = 0;
  clWaitForEvents(1, &event);
  inform("profiling", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr));
  // The driver's threads let go of it a little later.
  cl_uint references = 0;
  for (int i = 0; i < 1'000'000 && references != 1; ++i) {
    clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, nullptr);
  }
  inform("references", references);
  cl_command_queue_properties flags = 0;
  std::size_t bytes = 0;
  inform("queue info", clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof flags, &flags, &bytes));
  inform("properties", static_cast<long long>(flags));
  std::array<cl_queue_properties, 8> list{};
  inform("list", clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, list.data(), &bytes));
  inform("list bytes", static_cast<long long>(bytes));
  for (std::size_t i = 0; i < bytes / sizeof list[0]; ++i) inform("item", static_cast<long long>(list[i]));
  inform("short answer", clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 1, &flags, nullptr));
}

double sum(const float* values) {
  double all = 0;
  for (std::size_t i = 0; i < kCount; ++i) all += values[i];
  return all;
}

// 3 allocations and 1 view; 2 writes, 1 fill, 10 + 5 kernels, 2 copies, 2 reads, 1 map, 1 unmap, 1 marker.
void work_in_order() {
  std::vector<float> host(kCount, 1.5F);
  cl_int code = 0;
  cl_command_queue queue = make_queue(0);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, &code);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, kBytes, host.data(), &code);
  cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, &code);
  const cl_buffer_region region{kBytes / 2, kBytes / 2};
  cl_mem half = clCreateSubBuffer(c, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  inform("sub-buffer", code);
  cl_kernel scale = make_kernel("scale");
  cl_kernel add = make_kernel("add");
  launch(queue, add, kCount, 64);  // without arguments: refused
  cl_event written = nullptr;
  inform("write", clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, kBytes, host.data(), 0, nullptr, &written));
  inform("write", clEnqueueWriteBuffer(queue, b, CL_FALSE, 1024, 2048, host.data(), 1, &written, nullptr));
  const float zero = 0;
  inform("fill", clEnqueueFillBuffer(queue, c, &zero, sizeof zero, 0, kBytes, 0, nullptr, nullptr));
  set(scale, 0, a);
  set(scale, 1, 2.0F);
  set(scale, 2, static_cast<cl_int>(kCount));
  for (int i = 0; i < 10; ++i) launch(queue, scale, kCount, 64);
  set(add, 0, a);
  set(add, 1, b);
  set(add, 2, c);
  clSetKernelArg(add, 3, 64 * sizeof(float), nullptr);
  for (int i = 0; i < 5; ++i) launch(queue, add, kCount, 64);
  inform("copy", clEnqueueCopyBuffer(queue, a, b, 0, 4096, 8192, 0, nullptr, nullptr));
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t box[3] = {64, 8, 2};
  inform("copy", clEnqueueCopyBufferRect(queue, a, b, origin, origin, box, 128, 1024, 128, 1024, 0, nullptr, nullptr));
  inform("read", clEnqueueReadBufferRect(queue, half, CL_TRUE, origin, origin, box, 128, 1024, 128, 1024, host.data(),
                                         0, nullptr, nullptr));
  void* mapped = clEnqueueMapBuffer(queue, c, CL_TRUE, CL_MAP_READ, 0, kBytes, 0, nullptr, nullptr, &code);
  inform("map", code);
  std::printf("sum %.1f\n", sum(static_cast<const float*>(mapped)));
  inform("unmap", clEnqueueUnmapMemObject(queue, c, mapped, 0, nullptr, nullptr));
  inform("marker", clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr));
  inform("read", clEnqueueReadBuffer(queue, c, CL_FALSE, 0, kBytes, host.data(), 0, nullptr, nullptr));
  inform("read too much", clEnqueueReadBuffer(queue, c, CL_FALSE, kBytes, 8, host.data(), 0, nullptr, nullptr));
  inform("finish", clFinish(queue));
  std::printf("sum %.1f\n", sum(host.data()));
  tell_event(queue, written);
  clReleaseEvent(written);
  clReleaseMemObject(c);  // lives on by its half
  clReleaseMemObject(half);
  clReleaseMemObject(a);  // b is never released
  clReleaseKernel(add);
  clReleaseKernel(scale);
  inform("release", clReleaseCommandQueue(queue));
}

// A diamond of four kernels in a queue with times of the program's own.
void work_out_of_order() {
  cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
  cl_int code = 0;
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * kBytes, nullptr, &code);
  cl_kernel kernel = make_kernel("scale");
  set(kernel, 0, memory);
  set(kernel, 1, 1.0F);
  set(kernel, 2, static_cast<cl_int>(kCount));
  cl_event top = nullptr;
  cl_event left = nullptr;
  cl_event right = nullptr;
  launch(queue, kernel, kCount, 64, {}, &top);
  launch(queue, kernel, kCount, 64, {top}, &left);
  launch(queue, kernel, kCount, 64, {top}, &right);
  cl_event bottom = nullptr;
  launch(queue, kernel, kCount, 0, {left, right}, &bottom);
  tell_event(queue, bottom);
  for (cl_event event : {top, left, right, bottom}) clReleaseEvent(event);
  clReleaseKernel(kernel);
  clReleaseMemObject(memory);
  clReleaseCommandQueue(queue);
}

void work_in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] {
      cl_command_queue queue = make_queue(0);
      cl_int code = 0;
      cl_kernel kernel = clCreateKernel(program, "nothing", &code);
      for (int j = 0; j < 20; ++j) launch(queue, kernel, 1);
      clFinish(queue);
      clReleaseKernel(kernel);
      clReleaseCommandQueue(queue);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void build_badly() {
  const char* source = "__kernel void bad(__global int* out) {\n  out[0] = no_such_thing;\n}\n";
  cl_int code = 0;
  cl_program bad = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  inform("bad build", clBuildProgram(bad, 1, &device, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(bad, "bad", &code);
  inform("bad kernel", kernel == nullptr ? code : 1);
  clReleaseProgram(bad);
}

void share_memory() {
  cl_int code = 0;
  cl_command_queue queue = make_queue(0);
  void* one = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  void* two = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  inform("shared", one != nullptr && two != nullptr);
  const cl_uint pattern = 7;
  inform("fill", clEnqueueSVMMemFill(queue, one, &pattern, sizeof pattern, 4096, 0, nullptr, nullptr));
  inform("copy", clEnqueueSVMMemcpy(queue, CL_TRUE, two, one, 4096, 0, nullptr, nullptr));
  inform("map", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, two, 4096, 0, nullptr, nullptr));
  inform("seven", static_cast<const cl_uint*>(two)[1023]);
  inform("unmap", clEnqueueSVMUnmap(queue, two, 0, nullptr, nullptr));
  clFinish(queue);
  clSVMFree(context, one);
  clSVMFree(context, two);
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 16;
  description.image_height = 8;
  cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, nullptr, &code);
  inform("image", code);
  std::vector<float> pixels(16 * 8 * 4, 0.25F);
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {16, 8, 1};
  inform("write", clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, pixels.data(), 0, nullptr, nullptr));
  inform("read", clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, pixels.data(), 0, nullptr, nullptr));
  clReleaseMemObject(image);
  clReleaseCommandQueue(queue);
}

void launch_many(long count) {
  cl_command_queue queue = make_queue(0);
  cl_kernel kernel = make_kernel("nothing");
  for (long i = 0; i < count; ++i) {
    launch(queue, kernel, 1, 1);
    if (i % 4096 == 4095) clFinish(queue);
  }
  inform("finish", clFinish(queue));
}

double now_us(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void time_launches(long count, bool with_events) {
  cl_command_queue queue = make_queue(0);
  cl_kernel kernel = make_kernel("nothing");
  launch(queue, kernel, 1, 1);  // compiles it
  clFinish(queue);
  std::vector<double> wall;
  std::vector<double> thread;
  for (int round = 0; round < 31; ++round) {
    const double begin = now_us(CLOCK_MONOTONIC);
    const double thread_begin = now_us(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < count; ++i) {
      cl_event event = nullptr;
      launch(queue, kernel, 1, 1, {}, with_events ? &event : nullptr);
      if (with_events) clReleaseEvent(event);
    }
    thread.push_back((now_us(CLOCK_THREAD_CPUTIME_ID) - thread_begin) / static_cast<double>(count));
    clFinish(queue);
    wall.push_back((now_us(CLOCK_MONOTONIC) - begin) / static_cast<double>(count));
  }
  std::printf("median wall %.4f thread %.4f us\n", median(wall), median(thread));
}

// 8 kernels that have ended, then the end.
int end(const std::string& way) {
  if (way == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      std::fflush(stdout);
      _exit(set_up() ? (launch_many(8), 0) : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    inform("child", status);
  }
  if (!set_up()) return 1;
  if (way == "open") {  // under way when main returns
    cl_command_queue queue = make_queue(0);
    cl_kernel kernel = make_kernel("nothing");
    for (int i = 0; i < 8; ++i) launch(queue, kernel, 1, 1);
    return 3;
  }
  launch_many(8);
  if (way == "blocked") {  // 3 more wait for what never comes
    cl_int code = 0;
    cl_event never = clCreateUserEvent(context, &code);
    cl_command_queue queue = make_queue(0);
    cl_kernel kernel = make_kernel("nothing");
    for (int i = 0; i < 3; ++i) launch(queue, kernel, 1, 1, {never});
    clFlush(queue);
  }
  std::fflush(stdout);
  if (way == "crash") raise(SIGSEGV);
  if (way == "_exit" || way == "blocked") _exit(4);
  if (way == "exec") execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string what = argument_count > 1 ? arguments[1] : "";
  if (what == "work") {
    if (!set_up()) return 1;
    work_in_order();
    work_out_of_order();
    work_in_threads();
    build_badly();
    share_memory();
    return 0;
  }
  if (what == "launches") {
    if (!set_up()) return 1;
    launch_many(argument_count > 2 ? std::atol(arguments[2]) : 0);
    return 0;
  }
  if (what == "timed" && argument_count > 3) {
    if (!set_up()) return 1;
    time_launches(std::atol(arguments[2]), std::strcmp(arguments[3], "events") == 0);
    return 0;
  }
  return end(what);
}
