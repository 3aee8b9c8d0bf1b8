# The compiler with the sanitizers and libFuzzer: whichever version of clang install.sh could have.
find_program(ACCELSCOPE_CLANGXX NAMES clang++-16 clang++-19 clang++-18 clang++-17 clang++-20 clang++-21 clang++-22 REQUIRED)
string(REPLACE "clang++" "clang" clang_for_c ${ACCELSCOPE_CLANGXX})
set(CMAKE_CXX_COMPILER ${ACCELSCOPE_CLANGXX})
set(CMAKE_C_COMPILER ${clang_for_c})
