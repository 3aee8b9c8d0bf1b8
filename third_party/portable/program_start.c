// The beginning of a program that runs with glibc 2.31 too. Since 2.34 a program leaves its constructors to the
// library; before, it handed over a function that calls them, which newer versions still take.
typedef void (*Step)(int count, char** words, char** environment);
typedef int (*Program)(int count, char** words, char** environment);

#pragma GCC visibility push(hidden)
extern void _init(void);
extern Step __init_array_start[];
extern Step __init_array_end[];
#pragma GCC visibility pop

int __real___libc_start_main(Program program, int count, char** words, Step begin, void (*end)(void),
                             void (*unload)(void), void* stack_end);

static void construct(int count, char** words, char** environment) {
  _init();
  for (Step* step = __init_array_start; step != __init_array_end; ++step) (*step)(count, words, environment);
}

__attribute__((visibility("hidden"))) int __wrap___libc_start_main(Program program, int count, char** words, Step begin,
                                                                   void (*end)(void), void (*unload)(void),
                                                                   void* stack_end) {
  (void)begin;
  return __real___libc_start_main(program, count, words, construct, end, unload, stack_end);
}
