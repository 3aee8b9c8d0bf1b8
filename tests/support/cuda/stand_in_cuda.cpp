// A stand-in for the CUDA driver, libcuda.so.1: it loads what CUDA_INJECTION64_PATH names, as the driver does when a
// program starts it, and says a version.
#include <dlfcn.h>

#include <cstdlib>

extern "C" {

int cuDriverGetVersion(int* version) {
  const char* given = std::getenv("STAND_IN_DRIVER");
  *version = given == nullptr ? 13000 : std::atoi(given);
  return 0;
}

// One GPU, with 132 multiprocessors.
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  for (unsigned char i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i + 1);
  return 0;
}
int cuDeviceGetAttribute(int* value, int, int) {
  *value = 132;
  return 0;
}

int cuInit(unsigned) {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const auto start = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  if (start != nullptr) (void)start();
  return 0;
}
}
