// Four parallel regions of OpenMP, with LLVM's runtime, which is instrumented as it comes.
#include <cstdio>

int main() {
  double sum = 0;
  for (int round = 0; round < 4; ++round) {
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 30000; ++i) sum += 1.0 / (1 + i);
  }
  std::printf("%.3f\n", sum);
  return 0;
}
