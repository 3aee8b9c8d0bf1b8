// OpenGL, EGL and GLFW for a viewer that is carried to other desks: each is opened where it is first called. A program
// that was linked to them could not start, not even to import a file, where there is no display and no driver.
//
// Each function here is a jump to the real one, whatever its arguments are; the first call looks for it. A function that
// is missing in the lists below is an undefined reference when the viewer is linked.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// Called from below with all registers of arguments saved.
__attribute__((used)) static void* accelscope_find(const char* library, const char* name) {
  void* opened = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  void* function = opened != NULL ? dlsym(opened, name) : NULL;
  if (function != NULL) return function;
  fprintf(stderr, "accelscope: %s of %s is missing here: %s; the window and pictures need a driver for OpenGL and X11 "
          "(Debian: libgl1, libegl1, libx11-6)\n", name, library, dlerror());
  exit(1);
}

#if defined(__x86_64__)
__asm__(
    ".text\n"
    "accelscope_find_saved:\n"  // r10: library, r11: name; the function's address in r11
    "  push %rbp\n  mov %rsp, %rbp\n"
    "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"
    "  sub $128, %rsp\n"
    "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
    "  mov %r10, %rdi\n  mov %r11, %rsi\n  call accelscope_find\n  mov %rax, %r11\n"
    "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
    "  add $128, %rsp\n"
    "  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  pop %rbp\n  ret\n");
#define FORWARD(library, name)                                                                  \
  __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n" \
          "  mov 9f(%rip), %r11\n  test %r11, %r11\n  jnz 1f\n"                                 \
          "  lea 7f(%rip), %r10\n  lea 8f(%rip), %r11\n"                                        \
          "  sub $8, %rsp\n  call accelscope_find_saved\n  add $8, %rsp\n  mov %r11, 9f(%rip)\n" \
          "1: jmp *%r11\n"                                                                      \
          ".section .rodata\n7: .asciz \"" library "\"\n8: .asciz \"" #name "\"\n"              \
          ".bss\n.balign 8\n9: .zero 8\n.text\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    "accelscope_find_saved:\n"  // x16: library, x17: name; the function's address in x17
    "  stp x29, x30, [sp, #-16]!\n  mov x29, sp\n"
    "  stp x0, x1, [sp, #-16]!\n  stp x2, x3, [sp, #-16]!\n  stp x4, x5, [sp, #-16]!\n  stp x6, x7, [sp, #-16]!\n"
    "  stp q0, q1, [sp, #-32]!\n  stp q2, q3, [sp, #-32]!\n  stp q4, q5, [sp, #-32]!\n  stp q6, q7, [sp, #-32]!\n"
    "  mov x0, x16\n  mov x1, x17\n  bl accelscope_find\n  mov x17, x0\n"
    "  ldp q6, q7, [sp], #32\n  ldp q4, q5, [sp], #32\n  ldp q2, q3, [sp], #32\n  ldp q0, q1, [sp], #32\n"
    "  ldp x6, x7, [sp], #16\n  ldp x4, x5, [sp], #16\n  ldp x2, x3, [sp], #16\n  ldp x0, x1, [sp], #16\n"
    "  ldp x29, x30, [sp], #16\n  ret\n");
#define FORWARD(library, name)                                                                   \
  __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" \
          "  adrp x16, 9f\n  ldr x17, [x16, :lo12:9f]\n  cbnz x17, 1f\n"                         \
          "  adrp x16, 7f\n  add x16, x16, :lo12:7f\n  adrp x17, 8f\n  add x17, x17, :lo12:8f\n" \
          "  stp x29, x30, [sp, #-16]!\n  bl accelscope_find_saved\n  ldp x29, x30, [sp], #16\n" \
          "  adrp x16, 9f\n  str x17, [x16, :lo12:9f]\n"                                         \
          "1: br x17\n"                                                                          \
          ".section .rodata\n7: .asciz \"" library "\"\n8: .asciz \"" #name "\"\n"               \
          ".bss\n.balign 8\n9: .zero 8\n.text\n");
#endif

#define GL(name) FORWARD("libGL.so.1", name)
#define EGL(name) FORWARD("libEGL.so.1", name)
#define GLFW(name) FORWARD("libglfw.so.3", name)

// clang-format off
EGL(eglBindAPI) EGL(eglChooseConfig) EGL(eglCreateContext) EGL(eglDestroyContext) EGL(eglGetDisplay)
EGL(eglGetProcAddress) EGL(eglInitialize) EGL(eglMakeCurrent) EGL(eglTerminate)
GL(glBindFramebuffer) GL(glBindRenderbuffer) GL(glBindTexture) GL(glCheckFramebufferStatus) GL(glClear)
GL(glClearColor) GL(glDeleteFramebuffers) GL(glDeleteRenderbuffers) GL(glDeleteTextures)
GL(glFramebufferRenderbuffer) GL(glGenFramebuffers) GL(glGenRenderbuffers) GL(glGenTextures) GL(glGetIntegerv)
GL(glGetString) GL(glGetTexLevelParameteriv) GL(glPixelStorei) GL(glReadPixels) GL(glRenderbufferStorage)
GL(glTexImage2D) GL(glTexParameteri) GL(glTexSubImage2D) GL(glViewport)
GLFW(glfwCreateStandardCursor) GLFW(glfwCreateWindow) GLFW(glfwDestroyCursor) GLFW(glfwDestroyWindow)
GLFW(glfwGetClipboardString) GLFW(glfwGetError) GLFW(glfwGetFramebufferSize) GLFW(glfwGetKeyName)
GLFW(glfwGetMonitorWorkarea) GLFW(glfwGetPrimaryMonitor) GLFW(glfwGetTime) GLFW(glfwGetVideoMode)
GLFW(glfwGetWindowContentScale) GLFW(glfwGetWindowFrameSize) GLFW(glfwGetWindowSize)
GLFW(glfwGetWindowUserPointer) GLFW(glfwInit) GLFW(glfwMakeContextCurrent) GLFW(glfwMaximizeWindow)
GLFW(glfwPollEvents) GLFW(glfwPostEmptyEvent) GLFW(glfwSetCharCallback) GLFW(glfwSetClipboardString)
GLFW(glfwSetCursor) GLFW(glfwSetCursorEnterCallback) GLFW(glfwSetCursorPosCallback) GLFW(glfwSetDropCallback)
GLFW(glfwSetFramebufferSizeCallback) GLFW(glfwSetKeyCallback) GLFW(glfwSetMouseButtonCallback)
GLFW(glfwSetScrollCallback) GLFW(glfwSetWindowCloseCallback) GLFW(glfwSetWindowContentScaleCallback)
GLFW(glfwSetWindowFocusCallback) GLFW(glfwSetWindowIcon) GLFW(glfwSetWindowPos)
GLFW(glfwSetWindowRefreshCallback) GLFW(glfwSetWindowShouldClose) GLFW(glfwSetWindowSize)
GLFW(glfwSetWindowUserPointer) GLFW(glfwShowWindow) GLFW(glfwSwapBuffers) GLFW(glfwSwapInterval)
GLFW(glfwTerminate) GLFW(glfwWaitEventsTimeout) GLFW(glfwWindowHint) GLFW(glfwWindowHintString)
// clang-format on
