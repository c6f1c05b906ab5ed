#define _POSIX_C_SOURCE 200112L
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>

static void *room(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes ? bytes : 1) != 0) {
    exit(10);
  }
  return memory;
}

static void *filled(size_t bytes) {
  void *memory = room(bytes);
  if (fread(memory, 1, bytes, stdin) != bytes) {
    exit(11);
  }
  return memory;
}

int main(int argc, char **argv) {
  NAME_arguments arguments;
  NAME_results results;
/*READ*/
/*ROOM*/
  void *arena = room(UPPER_ARENA_BYTES);
  hlo_context *context = NULL;
#ifdef HLO_AOT_RUNTIME
  if (argc > 1) {
    context = hlo_context_create((size_t)atoi(argv[1]));
  }
#else
  (void)argc;
  (void)argv;
#endif
  int status = NAME(&arguments, &results, arena, context);
#ifdef HLO_AOT_RUNTIME
  if (status == HLO_FAILED) {
    char message[256];
    hlo_last_error(message, sizeof message);
    fprintf(stderr, "%s\n", message);
  }
  hlo_context_destroy(context);
#endif
  if (status != HLO_OK) {
    return status;
  }
/*WRITE*/
  free(arena);
/*FREE*/
  return 0;
}
