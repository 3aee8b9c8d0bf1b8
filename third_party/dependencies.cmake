# Where each dependency comes from: Debian packages only, installed by install.sh beside this file. A target that
# uses one links the name defined here. System headers are included as SYSTEM, so our warnings do not reach them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.40)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# Headers only: asio (standalone), CLI11, doctest.
add_library(accelscope_asio INTERFACE)
target_compile_definitions(accelscope_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
target_link_libraries(accelscope_asio INTERFACE Threads::Threads)

if(ACCELSCOPE_GUI)
  pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET imgui>=1.86)
  find_package(glfw3 3.3 REQUIRED)
  find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
  find_package(Freetype REQUIRED)
endif()
