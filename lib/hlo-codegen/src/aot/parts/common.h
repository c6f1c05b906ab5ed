#ifndef HLO_AOT_COMMON
#define HLO_AOT_COMMON
/* Threads, and the seed of random numbers. */
typedef struct hlo_context hlo_context;
/* Complex numbers, laid out as C's and C++'s own. */
typedef struct hlo_c64 { float re, im; } hlo_c64;
typedef struct hlo_c128 { double re, im; } hlo_c128;
#define HLO_OK 0
#define HLO_FAILED 1
#define HLO_BAD_POINTER 2
#endif
