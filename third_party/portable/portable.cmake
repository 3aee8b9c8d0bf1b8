# Programs and libraries that are carried to other hosts run on any Linux with glibc 2.31 or later, and need nothing of
# it but glibc: Debian 11, Ubuntu 20.04, Amazon Linux 2023, RHEL 9 and what came after them.
#
#   accelscope_runs_on_old_glibc(TARGET)     a library, or a program without further libraries
#   accelscope_portable_program(TARGET)      a program: what dependencies.cmake finds is linked into it, too
#
# The linker writes down the version of each symbol that it finds in the libraries before it. So it is given ones that
# have the old versions: made here, from the symbols of this machine's, with nothing behind them.
set(ACCELSCOPE_OLDEST_GLIBC 2.31)
set(portable_libraries ${CMAKE_BINARY_DIR}/portable)

# Debian's static libraries. `fmt` has none; simdjson has none either, and is done without.
set(portable_missing "")
set(portable_static sqlite3 zstd lz4 snappy re2 xxhash ssl crypto z)
if(ACCELSCOPE_PORTABLE_VIEWER)
  list(APPEND portable_static imgui stb freetype png16 brotlidec brotlicommon bz2)
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(CRYPTO REQUIRED libcrypto)
if(CRYPTO_STATIC_LDFLAGS MATCHES jitterentropy)  # Ubuntu 26.04's takes its randomness from there
  list(APPEND portable_static jitterentropy)
endif()
foreach(library IN LISTS portable_static)
  find_library(ACCELSCOPE_STATIC_${library} lib${library}.a)
  mark_as_advanced(ACCELSCOPE_STATIC_${library})
  if(NOT ACCELSCOPE_STATIC_${library})
    list(APPEND portable_missing lib${library}.a)
  endif()
endforeach()

set(ACCELSCOPE_OLD_GLIBC OFF)
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
  set(ACCELSCOPE_OLD_GLIBC ON)
endif()
set(ACCELSCOPE_PORTABLE_PROGRAMS OFF)
if(ACCELSCOPE_OLD_GLIBC AND NOT portable_missing AND NOT ACCELSCOPE_SANITIZE AND NOT ACCELSCOPE_FUZZ)
  set(ACCELSCOPE_PORTABLE_PROGRAMS ON)
elseif(portable_missing)
  message(WARNING "${portable_missing}: missing; the agent that is built runs on hosts like this one only")
endif()

# Where the compiler has a file of the C library.
function(accelscope_find_c_library result file)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${file} OUTPUT_VARIABLE found
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# A library NAME with the symbols of this machine's that old versions have, or with none.
function(accelscope_symbols_only name with_symbols)
  set(source ${portable_libraries}/${name}.s)
  set(nodes ${portable_libraries}/${name}.map)
  file(WRITE ${source} "")
  set(versions "")
  if(with_symbols)
    accelscope_find_c_library(library ${name})
    execute_process(COMMAND ${CMAKE_READELF} --wide --dyn-syms ${library}
                    COMMAND awk -v newest=${ACCELSCOPE_OLDEST_GLIBC} -v nodes=${nodes}
                            -f ${CMAKE_SOURCE_DIR}/third_party/portable/glibc_symbols.awk
                    OUTPUT_FILE ${source} COMMAND_ERROR_IS_FATAL ANY)
    set(versions -Wl,--version-script,${nodes})
  endif()
  execute_process(COMMAND ${CMAKE_C_COMPILER} -nostdlib -shared -Wl,-soname,${name} ${versions} ${source}
                          -o ${portable_libraries}/${name} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(ACCELSCOPE_OLD_GLIBC)
  accelscope_symbols_only(libc.so.6 TRUE)
  accelscope_symbols_only(libm.so.6 TRUE)
  foreach(library libpthread.so.0 libdl.so.2 librt.so.1)  # their symbols are in libc today, and are found anywhere
    accelscope_symbols_only(${library} FALSE)
  endforeach()
  accelscope_find_c_library(c_rest libc_nonshared.a)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    accelscope_find_c_library(c_loader ld-linux-x86-64.so.2)
  else()
    accelscope_find_c_library(c_loader ld-linux-aarch64.so.1)
  endif()
  # What -lc and -lm find first.
  file(WRITE ${portable_libraries}/libc.so
       "GROUP ( ${portable_libraries}/libc.so.6 ${c_rest} AS_NEEDED ( ${c_loader} ) )\n")
  file(WRITE ${portable_libraries}/libm.so "INPUT ( ${portable_libraries}/libm.so.6 )\n")

  add_library(accelscope_glibc_compat OBJECT ${CMAKE_SOURCE_DIR}/third_party/portable/glibc_compat.c)
  add_library(accelscope_program_start OBJECT ${CMAKE_SOURCE_DIR}/third_party/portable/program_start.c)
  # It only passes names on; and nothing of it may be instrumented, as it runs before everything else.
  foreach(part accelscope_glibc_compat accelscope_program_start)
    target_compile_options(${part} PRIVATE -fno-sanitize=all -fno-stack-protector)
  endforeach()
endif()

function(accelscope_runs_on_old_glibc target)
  if(NOT ACCELSCOPE_OLD_GLIBC)
    return()
  endif()
  target_link_options(${target} PRIVATE -L${portable_libraries} -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL
                      -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -l:librt.so.1 -Wl,--pop-state
                      $<$<CONFIG:Release>:-s>)  # a sixth of it, which goes over the network
  target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:accelscope_glibc_compat>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    target_link_options(${target} PRIVATE -Wl,--wrap=__libc_start_main)
    target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:accelscope_program_start>)
  endif()
endfunction()

function(accelscope_portable_program target)
  if(ACCELSCOPE_PORTABLE_PROGRAMS)
    set_target_properties(${target} PROPERTIES ACCELSCOPE_PORTABLE ON)
    accelscope_runs_on_old_glibc(${target})
  endif()
endfunction()

# accelscope_dependency(NAME SHARED STATIC...): what is linked under that name, by what kind of a program links it.
function(accelscope_dependency name shared)
  add_library(${name} INTERFACE)
  if(TARGET ${shared})
    target_include_directories(${name} SYSTEM INTERFACE $<TARGET_PROPERTY:${shared},INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
  set(portable $<BOOL:$<TARGET_PROPERTY:ACCELSCOPE_PORTABLE>>)
  target_link_libraries(${name} INTERFACE $<$<NOT:${portable}>:${shared}>)
  foreach(static ${ARGN})
    target_link_libraries(${name} INTERFACE $<${portable}:${static}>)
  endforeach()
endfunction()
