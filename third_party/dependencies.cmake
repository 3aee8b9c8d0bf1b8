# Where each dependency comes from: Debian packages only, installed by install.sh beside this file. A target that
# uses one links the name defined here. System headers are included as SYSTEM, so our warnings do not reach them.
include(third_party/portable/portable.cmake)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(fmt REQUIRED)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.40)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
find_package(Snappy REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# The first is what programs of this machine link, the others what the portable agent does.
accelscope_dependency(dep_sqlite PkgConfig::SQLITE ${ACCELSCOPE_STATIC_sqlite3})
accelscope_dependency(dep_zstd PkgConfig::ZSTD ${ACCELSCOPE_STATIC_zstd})
accelscope_dependency(dep_lz4 PkgConfig::LZ4 ${ACCELSCOPE_STATIC_lz4})
accelscope_dependency(dep_snappy Snappy::snappy ${ACCELSCOPE_STATIC_snappy})
# Debian's static one goes into programs only.
accelscope_dependency(dep_re2 PkgConfig::RE2
                      $<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,${ACCELSCOPE_STATIC_re2},PkgConfig::RE2>)
accelscope_dependency(dep_xxhash PkgConfig::XXHASH ${ACCELSCOPE_STATIC_xxhash})
accelscope_dependency(dep_openssl OpenSSL::SSL ${ACCELSCOPE_STATIC_ssl} ${ACCELSCOPE_STATIC_crypto}
                      ${ACCELSCOPE_STATIC_jitterentropy})
accelscope_dependency(dep_zlib ZLIB::ZLIB ${ACCELSCOPE_STATIC_z})
add_library(accelscope_fmt STATIC EXCLUDE_FROM_ALL third_party/portable/fmt.cpp)
accelscope_dependency(dep_fmt fmt::fmt accelscope_fmt)

# The portable agent has no simdjson; everything else has.
if(ACCELSCOPE_GUI OR ACCELSCOPE_TESTS OR ACCELSCOPE_BENCH OR NOT ACCELSCOPE_PORTABLE_PROGRAMS)
  find_package(simdjson REQUIRED)
endif()

# Headers only: asio (standalone), CLI11, doctest, protozero.
find_path(PROTOZERO_INCLUDES protozero/pbf_reader.hpp REQUIRED)
add_library(accelscope_asio INTERFACE)
target_compile_definitions(accelscope_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
target_link_libraries(accelscope_asio INTERFACE Threads::Threads)

if(ACCELSCOPE_GUI)
  pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET imgui>=1.86)
  find_package(glfw3 3.3 REQUIRED)
  find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
  find_package(Freetype REQUIRED)
  # Of a viewer that is carried to other desks: it opens GLFW, OpenGL and EGL when it needs them, and finds simdjson and
  # GLFW beside it, for which Debian has no static libraries.
  accelscope_dependency(dep_imgui PkgConfig::IMGUI ${ACCELSCOPE_STATIC_imgui} ${ACCELSCOPE_STATIC_stb})
  accelscope_dependency(dep_freetype Freetype::Freetype ${ACCELSCOPE_STATIC_freetype} ${ACCELSCOPE_STATIC_png16}
                        ${ACCELSCOPE_STATIC_brotlidec} ${ACCELSCOPE_STATIC_brotlicommon} ${ACCELSCOPE_STATIC_bz2}
                        ${ACCELSCOPE_STATIC_z})
  if(ACCELSCOPE_PORTABLE_VIEWER)
    add_library(accelscope_desktop OBJECT third_party/portable/desktop.c)
    target_compile_options(accelscope_desktop PRIVATE -fno-sanitize=all)
  endif()
  accelscope_dependency(dep_glfw glfw $<TARGET_OBJECTS:accelscope_desktop>)
  accelscope_dependency(dep_opengl OpenGL::OpenGL)
  accelscope_dependency(dep_egl OpenGL::EGL)
endif()
