// Loaded before libc (LD_PRELOAD), this counts what a program asks of the file system below one folder, and lets one of
// these calls fail, all from one on, or ends the process at it. It also keeps what a power cut would leave: the bytes
// of each file as of its last sync, under the names that were synced with their folder.
//
//   ACCELSCOPE_FAULT_FOLDER  calls for paths below it are counted
//   ACCELSCOPE_FAULT_AT      the number of the call, from 1; 0: none
//   ACCELSCOPE_FAULT_KIND    ENOSPC or EIO (that call fails), full (no room from that call on), kill
//   ACCELSCOPE_FAULT_COUNT   file that holds the number of calls so far
//   ACCELSCOPE_FAULT_SHADOW  folder for what a power cut would leave; it must not lie below the first
//
// With ACCELSCOPE_FAULT_MEMORY=BYTES it counts the wishes for so much memory or more instead, and fails that one
// (ACCELSCOPE_FAULT_KIND=once) or all from it on (full).
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace {

enum class Asks { room, other };  // whether it may find the disk full

struct Settings {
  std::string folder, kind, count_file, shadow;
  long at = 0;
  std::size_t memory = 0;
  Settings() {
    const auto read = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    folder = read("ACCELSCOPE_FAULT_FOLDER");
    kind = read("ACCELSCOPE_FAULT_KIND");
    count_file = read("ACCELSCOPE_FAULT_COUNT");
    shadow = read("ACCELSCOPE_FAULT_SHADOW");
    at = std::atol(read("ACCELSCOPE_FAULT_AT").c_str());
    memory = static_cast<std::size_t>(std::atol(read("ACCELSCOPE_FAULT_MEMORY").c_str()));
  }
};

const Settings& settings() {
  static const Settings* const known = new Settings;  // outlives every destructor
  return *known;
}

std::mutex& fault_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

int raw_open(const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

bool below(const std::string& path) {
  const std::string& folder = settings().folder;
  return !folder.empty() && path.compare(0, folder.size(), folder) == 0;
}

std::string path_of(int descriptor) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  return length <= 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}

std::string absolute(int folder, const char* path) {
  if (path == nullptr) return {};
  if (path[0] == '/') return path;
  char here[PATH_MAX];
  const std::string base = folder == AT_FDCWD ? (::getcwd(here, sizeof here) == nullptr ? "" : here) : path_of(folder);
  return base + "/" + path;
}

// The number of calls, of all processes of the program, is kept in the file.
long count_call() {
  const int file = raw_open(settings().count_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return 0;
  long number = 0;
  (void)!::syscall(SYS_pread64, file, &number, sizeof number, 0L);
  ++number;
  (void)!::syscall(SYS_pwrite64, file, &number, sizeof number, 0L);
  (void)::syscall(SYS_close, file);
  return number;
}

// True: the call is to fail, with errno set.
bool fails(const std::string& path, Asks asks) {
  if (!below(path)) return false;
  const std::lock_guard lock(fault_mutex());
  const long number = count_call();
  const Settings& known = settings();
  if (known.at <= 0 || number < known.at) return false;
  if (known.kind == "kill" && number == known.at) (void)::syscall(SYS_kill, ::getpid(), SIGKILL);
  if (known.kind == "full") {
    errno = ENOSPC;
    return asks == Asks::room;
  }
  if (number != known.at) return false;
  errno = known.kind == "EIO" ? EIO : ENOSPC;
  return known.kind == "EIO" || known.kind == "ENOSPC";
}

// Only of large wishes: where a few bytes are refused, no program goes on.
bool lacks_memory(std::size_t bytes) {
  static thread_local bool inside = false;  // what this itself asks for
  if (bytes < 4096 || inside) return false;
  inside = true;
  const Settings& known = settings();
  bool lacks = false;
  if (known.memory > 0 && bytes >= known.memory) {
    const std::lock_guard lock(fault_mutex());
    const long number = count_call();
    lacks = known.at > 0 && (number == known.at || (known.kind == "full" && number > known.at));
  }
  inside = false;
  if (lacks) errno = ENOMEM;
  return lacks;
}

// What lies in a file already has its room.
Asks asks_of_write(int descriptor, std::size_t count, long at) {
  struct stat facts {};
  const bool inside = at >= 0 && ::fstat(descriptor, &facts) == 0 && at + static_cast<long>(count) <= facts.st_size;
  return inside ? Asks::other : Asks::room;
}

void copy_file(const std::string& from, const std::string& to) {
  const int source = raw_open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return;
  const int target = raw_open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  char buffer[65536];
  for (long count; (count = ::syscall(SYS_read, source, buffer, sizeof buffer)) > 0;) {
    (void)!::syscall(SYS_write, target, buffer, count);
  }
  (void)::syscall(SYS_close, source);
  (void)::syscall(SYS_close, target);
}

// The shadow holds bytes by inode, "inode-N", and for each folder that was synced "names-N" with a line per entry.
void keep_synced(int descriptor) {
  const Settings& known = settings();
  const std::string path = path_of(descriptor);
  struct stat facts {};
  if (known.shadow.empty() || !below(path) || ::fstat(descriptor, &facts) != 0) return;
  const std::lock_guard lock(fault_mutex());
  const std::string number = std::to_string(facts.st_ino);
  if (S_ISREG(facts.st_mode)) {
    copy_file("/proc/self/fd/" + std::to_string(descriptor), known.shadow + "/inode-" + number);
    return;
  }
  if (!S_ISDIR(facts.st_mode)) return;
  const std::string draft = known.shadow + "/names-" + number + ".new";
  std::string text = path + "\n";
  if (DIR* folder = ::opendir(path.c_str())) {
    while (const dirent* entry = ::readdir(folder)) {
      if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
      text += std::to_string(entry->d_ino) + " " + (entry->d_type == DT_DIR ? "d" : "f") + " " + entry->d_name + "\n";
    }
    ::closedir(folder);
  }
  const int file = raw_open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  (void)!::syscall(SYS_write, file, text.data(), text.size());
  (void)::syscall(SYS_close, file);
  (void)::syscall(SYS_rename, draft.c_str(), (known.shadow + "/names-" + number).c_str());
}

bool makes(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }

}  // namespace

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) { return lacks_memory(bytes) ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
  return bytes != 0 && lacks_memory(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) { return lacks_memory(bytes) ? nullptr : __libc_realloc(memory, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return lacks_memory(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (fails(absolute(AT_FDCWD, path), makes(flags) ? Asks::room : Asks::other)) return -1;
  return raw_open(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (fails(absolute(folder, path), makes(flags) ? Asks::room : Asks::other)) return -1;
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  const Asks asks = asks_of_write(descriptor, count, ::lseek(descriptor, 0, SEEK_CUR));
  if (descriptor > STDERR_FILENO && fails(path_of(descriptor), asks)) return -1;
  return ::syscall(SYS_write, descriptor, bytes, count);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (descriptor > STDERR_FILENO && fails(path_of(descriptor), Asks::room)) return -1;
  return ::syscall(SYS_writev, descriptor, parts, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t at) {
  if (fails(path_of(descriptor), asks_of_write(descriptor, count, at))) return -1;
  return ::syscall(SYS_pwrite64, descriptor, bytes, count, at);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t at) {
  if (fails(path_of(descriptor), asks_of_write(descriptor, count, at))) return -1;
  return ::syscall(SYS_pwrite64, descriptor, bytes, count, at);
}

int fsync(int descriptor) {
  if (fails(path_of(descriptor), Asks::other)) return -1;
  const auto done = static_cast<int>(::syscall(SYS_fsync, descriptor));
  if (done == 0) keep_synced(descriptor);
  return done;
}

int fdatasync(int descriptor) {
  if (fails(path_of(descriptor), Asks::other)) return -1;
  const auto done = static_cast<int>(::syscall(SYS_fdatasync, descriptor));
  if (done == 0) keep_synced(descriptor);
  return done;
}

int ftruncate(int descriptor, off_t length) {
  if (fails(path_of(descriptor), asks_of_write(descriptor, 0, length))) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
}

int ftruncate64(int descriptor, off64_t length) {
  if (fails(path_of(descriptor), asks_of_write(descriptor, 0, length))) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
}

int fallocate(int descriptor, int mode, off_t at, off_t length) {
  if (fails(path_of(descriptor), Asks::room)) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, at, length));
}

int rename(const char* from, const char* to) {
  if (fails(absolute(AT_FDCWD, to), Asks::room)) return -1;
  return static_cast<int>(::syscall(SYS_rename, from, to));
}

int mkdir(const char* path, mode_t mode) {
  if (fails(absolute(AT_FDCWD, path), Asks::room)) return -1;
  return static_cast<int>(::syscall(SYS_mkdir, path, mode));
}

int unlink(const char* path) {
  if (fails(absolute(AT_FDCWD, path), Asks::other)) return -1;
  return static_cast<int>(::syscall(SYS_unlink, path));
}

void* mmap(void* wanted, size_t length, int protection, int flags, int descriptor, off_t at) {
  if (descriptor >= 0 && fails(path_of(descriptor), Asks::other)) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, wanted, length, protection, flags, descriptor, at));
}
}
