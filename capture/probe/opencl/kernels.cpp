// Kernels and their arguments.
#include <algorithm>
#include <cstring>

#include "capture/probe/opencl/bodies.h"
#include "capture/probe/opencl/layer.h"

namespace accelscope::probe::opencl {
namespace {

template <typename Ask>
[[nodiscard]] std::string text_of(Ask&& ask) {
  std::size_t bytes = 0;
  if (ask(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (ask(bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

[[nodiscard]] std::string argument_text(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  const cl_icd_dispatch& next = layer().next;
  if (next.clGetKernelArgInfo == nullptr) return {};
  return text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetKernelArgInfo(kernel, index, what, size, value, size_ret);
  });
}

[[nodiscard]] std::uint32_t define_kernel(cl_kernel handle, std::uint32_t program, const std::string& name,
                                          cl_uint arguments) {
  const std::uint32_t number = state().new_number();
  BodyWriter body;
  body.number(number).number(program).text(name).number(arguments);
  for (cl_uint i = 0; i < arguments; ++i) {
    body.text(argument_text(handle, i, CL_KERNEL_ARG_TYPE_NAME)).text(argument_text(handle, i, CL_KERNEL_ARG_NAME));
  }
  layer().channel->define(static_cast<std::uint32_t>(DefinitionType::kernel), body.bytes());
  return number;
}

// A kernel of a program that is made again and again, by several threads, keeps its number.
[[nodiscard]] std::uint32_t number_of_kernel(cl_kernel handle, Program* program, const std::string& name,
                                             cl_uint arguments) {
  if (program == nullptr) return define_kernel(handle, 0, name, arguments);
  const std::lock_guard lock(program->mutex);
  std::uint32_t& number = program->kernels[name];
  if (number == 0) number = define_kernel(handle, program->number, name, arguments);
  return number;
}

void add_kernel(cl_kernel handle, const std::vector<ArgumentRecord>& arguments = {}) {
  const cl_icd_dispatch& next = layer().next;
  const std::string name = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, size, value, size_ret);
  });
  cl_uint count = 0;
  (void)next.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  cl_program program = nullptr;
  (void)next.clGetKernelInfo(handle, CL_KERNEL_PROGRAM, sizeof(void*), &program, nullptr);
  auto kernel = std::make_shared<Kernel>();
  kernel->program = state().programs.find(program);
  kernel->number = number_of_kernel(handle, kernel->program.get(), name, count);
  kernel->arguments = arguments;
  kernel->arguments.resize(count);
  state().kernels.set(handle, std::move(kernel));
}

cl_kernel CL_API_CALL create(cl_program program, const char* name, cl_int* result_ret) {
  const std::uint64_t begin = now_ticks();
  cl_int result = CL_SUCCESS;
  cl_kernel kernel = layer().next.clCreateKernel(program, name, &result);
  record_call(Call::CreateKernel, begin, result);
  if (kernel != nullptr) add_kernel(kernel);
  if (result_ret != nullptr) *result_ret = result;
  return kernel;
}

cl_int CL_API_CALL create_all(cl_program program, cl_uint room, cl_kernel* kernels, cl_uint* count_ret) {
  cl_uint count = 0;
  const cl_int result = layer().next.clCreateKernelsInProgram(program, room, kernels, &count);
  if (count_ret != nullptr && result == CL_SUCCESS) *count_ret = count;
  for (cl_uint i = 0; result == CL_SUCCESS && kernels != nullptr && i < count; ++i) add_kernel(kernels[i]);
  return result;
}

cl_kernel CL_API_CALL clone(cl_kernel source, cl_int* result_ret) {
  cl_kernel kernel = layer().next.clCloneKernel(source, result_ret);
  if (kernel == nullptr) return kernel;
  const std::shared_ptr<Kernel> known = state().kernels.find(source);
  add_kernel(kernel, known == nullptr ? std::vector<ArgumentRecord>{} : known->arguments);
  return kernel;
}

cl_int CL_API_CALL retain(cl_kernel handle) {
  const cl_int result = layer().next.clRetainKernel(handle);
  const std::shared_ptr<Kernel> kernel = result == CL_SUCCESS ? state().kernels.find(handle) : nullptr;
  if (kernel != nullptr) ++kernel->references;
  return result;
}

cl_int CL_API_CALL release(cl_kernel handle) {
  const std::shared_ptr<Kernel> kernel = state().kernels.find(handle);
  // Forgotten before the driver may give the handle to another one.
  if (kernel != nullptr && --kernel->references == 0) state().kernels.take(handle);
  return layer().next.clReleaseKernel(handle);
}

void keep(cl_kernel handle, cl_uint index, const ArgumentRecord& argument) {
  const std::shared_ptr<Kernel> kernel = state().kernels.find(handle);
  if (kernel != nullptr && index < kernel->arguments.size()) kernel->arguments[index] = argument;
}

// Handles look like any value of their size; those that are known are memory.
[[nodiscard]] ArgumentRecord argument_of(std::size_t bytes, const void* value) {
  ArgumentRecord argument{};
  argument.bytes = static_cast<std::uint32_t>(bytes);
  argument.kind = value == nullptr ? ArgumentKind::local : ArgumentKind::value;
  if (value == nullptr) return argument;
  std::memcpy(&argument.value, value, std::min(bytes, sizeof argument.value));
  if (bytes != sizeof(cl_mem)) return argument;
  const std::shared_ptr<Memory> memory = state().memories.find(reinterpret_cast<cl_mem>(argument.value));
  if (memory == nullptr) return argument;
  argument.kind = ArgumentKind::memory;
  argument.value = memory->number;
  return argument;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
  const cl_int result = layer().next.clSetKernelArg(kernel, index, bytes, value);
  if (result == CL_SUCCESS && layer().keeps_arguments) keep(kernel, index, argument_of(bytes, value));
  return result;
}

cl_int CL_API_CALL set_shared_pointer(cl_kernel kernel, cl_uint index, const void* pointer) {
  const cl_int result = layer().next.clSetKernelArgSVMPointer(kernel, index, pointer);
  if (result != CL_SUCCESS || !layer().keeps_arguments) return result;
  ArgumentRecord argument{};
  argument.kind = ArgumentKind::shared_pointer;
  argument.bytes = sizeof pointer;
  argument.value = reinterpret_cast<std::uintptr_t>(pointer);
  keep(kernel, index, argument);
  return result;
}

}  // namespace

void fill_kernels(cl_icd_dispatch& table) {
  if (table.clCreateKernel != nullptr) table.clCreateKernel = create;
  if (table.clCreateKernelsInProgram != nullptr) table.clCreateKernelsInProgram = create_all;
  if (table.clCloneKernel != nullptr) table.clCloneKernel = clone;
  if (table.clRetainKernel != nullptr) table.clRetainKernel = retain;
  if (table.clReleaseKernel != nullptr) table.clReleaseKernel = release;
  if (table.clSetKernelArg != nullptr) table.clSetKernelArg = set_argument;
  if (table.clSetKernelArgSVMPointer != nullptr) table.clSetKernelArgSVMPointer = set_shared_pointer;
}

}  // namespace accelscope::probe::opencl
