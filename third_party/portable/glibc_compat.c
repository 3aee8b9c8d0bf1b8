// What the compiler's libraries and ours call and glibc 2.31 does not have under that name: linked into whatever is to
// run there, and seen by nothing else.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#pragma GCC visibility push(hidden)

// Until 2.33 the functions of this family were macros around others, which newer versions still have.
#if defined(__x86_64__)
enum { kStatVersion = 1 };
#else
enum { kStatVersion = 0 };
#endif
struct stat;
#pragma GCC visibility push(default)
int __xstat(int version, const char* path, struct stat* facts);
int __lxstat(int version, const char* path, struct stat* facts);
int __fxstat(int version, int descriptor, struct stat* facts);
int __fxstatat(int version, int folder, const char* path, struct stat* facts, int flags);
#pragma GCC visibility pop
int stat(const char* path, struct stat* facts) { return __xstat(kStatVersion, path, facts); }
int lstat(const char* path, struct stat* facts) { return __lxstat(kStatVersion, path, facts); }
int fstat(int descriptor, struct stat* facts) { return __fxstat(kStatVersion, descriptor, facts); }
int fstatat(int folder, const char* path, struct stat* facts, int flags) {
  return __fxstatat(kStatVersion, folder, path, facts, flags);
}
// On machines of 64 bits the two are one.
int stat64(const char* path, struct stat* facts) { return stat(path, facts); }
int lstat64(const char* path, struct stat* facts) { return lstat(path, facts); }
int fstat64(int descriptor, struct stat* facts) { return fstat(descriptor, facts); }
int fstatat64(int folder, const char* path, struct stat* facts, int flags) {
  return fstatat(folder, path, facts, flags);
}

// 2.32: whether libstdc++ may count references without the processor's lock. It may not.
char __libc_single_threaded = 0;

// 2.36: libstdc++'s std::random_device.
uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}

// 2.38: numbers from text may begin with 0b, which nothing here relies on. The names are given as the linker knows them:
// the headers may have made the old ones mean the new.
#pragma GCC visibility push(default)
long strtol_2_2(const char* text, char** end, int base) __asm__("strtol");
unsigned long strtoul_2_2(const char* text, char** end, int base) __asm__("strtoul");
long long strtoll_2_2(const char* text, char** end, int base) __asm__("strtoll");
unsigned long long strtoull_2_2(const char* text, char** end, int base) __asm__("strtoull");
int vsscanf_2_7(const char* text, const char* format, va_list values) __asm__("__isoc99_vsscanf");
int vfscanf_2_7(FILE* file, const char* format, va_list values) __asm__("__isoc99_vfscanf");
#pragma GCC visibility pop
long __isoc23_strtol(const char* text, char** end, int base) { return strtol_2_2(text, end, base); }
unsigned long __isoc23_strtoul(const char* text, char** end, int base) { return strtoul_2_2(text, end, base); }
long long __isoc23_strtoll(const char* text, char** end, int base) { return strtoll_2_2(text, end, base); }
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) { return strtoull_2_2(text, end, base); }
int __isoc23_vsscanf(const char* text, const char* format, va_list values) { return vsscanf_2_7(text, format, values); }
int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int read = vsscanf_2_7(text, format, values);
  va_end(values);
  return read;
}
int __isoc23_fscanf(FILE* file, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int read = vfscanf_2_7(file, format, values);
  va_end(values);
  return read;
}

// 2.35: how libgcc finds the tables of the function that an exception passes through. Among the fields, those that it
// reads.
struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct Search* search = data;
  const ElfW(Phdr)* holder = NULL;
  const ElfW(Phdr)* tables = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    if (part->p_type == PT_GNU_EH_FRAME) tables = part;
    if (part->p_type == PT_LOAD && search->address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz) holder = part;
  }
  if (holder == NULL) return 0;
  if (tables == NULL) return -1;
  struct dl_find_object* found = search->found;
  found->dlfo_flags = 0;
  found->dlfo_link_map = NULL;
  found->dlfo_map_start = (void*)(object->dlpi_addr + holder->p_vaddr);
  found->dlfo_map_end = (char*)found->dlfo_map_start + holder->p_memsz;
  found->dlfo_eh_frame = (void*)(object->dlpi_addr + tables->p_vaddr);
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
