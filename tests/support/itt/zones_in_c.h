/* The marks of programs in C. */
#pragma once
#ifdef __cplusplus
extern "C"
#endif
    void
    zones_in_c(void);
