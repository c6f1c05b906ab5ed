#ifndef HLO_AOT_RUNTIME
#define HLO_AOT_RUNTIME
/* Creates a context of `threads` threads, including the caller's. 0 means as many as the process may use. Returns NULL if
   memory could not be allocated. Programs may share a context, even if they run at the same time: if the threads are
   busy, a loop runs on its calling thread. */
hlo_context *hlo_context_create(size_t threads);
/* Ends the threads and frees the context. No program may be running with the context. NULL is ignored. */
void hlo_context_destroy(hlo_context *context);
/* Sets the seed of the random numbers that programs draw. The initial seed is 0. No program may be running with the
   context. */
void hlo_context_set_seed(hlo_context *context, uint64_t seed);
/* Writes the reason why the last call of a program on this thread returned HLO_FAILED: at most `capacity` bytes of the
   message, including a NUL at the end. Returns the length of the message, or 0 if the last call did not fail. */
size_t hlo_last_error(char *message, size_t capacity);
#endif
