// A stand-in for the driver's library of management, libnvidia-ml.so.1: one GPU, whose figures never change.
#include <cstring>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
  static int only;
  *device = &only;
  return 0;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned bytes) {
  std::strncpy(text, "GPU-01020304-0506-0708-090a-0b0c0d0e0f10", bytes);
  return 0;
}
struct Utilization {
  unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(void*, Utilization* found) {
  *found = {87, 31};
  return 0;
}
struct Memory {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void*, Memory* found) {
  *found = {80ULL << 30, 60ULL << 30, 20ULL << 30};
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 2619;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 512'500;
  return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
  *celsius = 54;
  return 0;
}
int nvmlDeviceGetPcieThroughput(void*, unsigned counter, unsigned* kib) {
  *kib = counter == 0 ? 1000 : 2000;
  return 0;
}
}
