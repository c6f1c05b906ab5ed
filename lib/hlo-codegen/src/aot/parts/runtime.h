#ifndef HLO_AOT_RUNTIME
#define HLO_AOT_RUNTIME
/* A context of so many threads, the caller's included; 0 stands for as many as the process may use. NULL if there is no
   memory. Programs may share it, also when they run at once: a loop that finds the threads taken runs on its caller. */
hlo_context *hlo_context_create(size_t threads);
/* Ends the threads. No program may be running with the context. NULL is ignored. */
void hlo_context_destroy(hlo_context *context);
/* Sets the seed of the random numbers that programs draw, which is 0 at first. No program may be running with it. */
void hlo_context_set_seed(hlo_context *context, uint64_t seed);
/* Why the last call of a program on this thread returned HLO_FAILED: writes at most `capacity` bytes of the message, a NUL
   at the end included, and returns its length; 0 if the last call did not fail. */
size_t hlo_last_error(char *message, size_t capacity);
#endif
