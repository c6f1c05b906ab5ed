#ifndef HLO_AOT_COMMON
#define HLO_AOT_COMMON
/* The threads that programs use, and the seed of random numbers. */
typedef struct hlo_context hlo_context;
/* Complex numbers, with the same memory layout as in C and C++. */
typedef struct hlo_c64 { float re, im; } hlo_c64;
typedef struct hlo_c128 { double re, im; } hlo_c128;
#define HLO_OK 0
#define HLO_FAILED 1
#define HLO_BAD_POINTER 2
#endif
