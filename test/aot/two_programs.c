#define _POSIX_C_SOURCE 200112L
#include "two_mlp.h"
#include "two_sorting.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes ? bytes : 1) != 0) {
    exit(10);
  }
  return memory;
}

static float *numbers(size_t bytes) {
  float *out = room(bytes);
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    out[i] = (float)((i * 37) % 29) * 0.25f - 3.0f;
  }
  return out;
}

static two_mlp_arguments mlp;
static two_sorting_arguments sorting;
static hlo_context *context;

/* Both programs a hundred times, with a context that both threads share and without: how often they gave the same. */
static void *repeat(void *same) {
  float *y[2] = {room(TWO_MLP_RESULT_BYTES), room(TWO_MLP_RESULT_BYTES)};
  float *keys[2] = {room(TWO_SORTING_RESULT_0_BYTES), room(TWO_SORTING_RESULT_0_BYTES)};
  int32_t *at[2] = {room(TWO_SORTING_RESULT_1_BYTES), room(TWO_SORTING_RESULT_1_BYTES)};
  void *arenas[2] = {room(TWO_MLP_ARENA_BYTES), room(TWO_SORTING_ARENA_BYTES)};
  for (int i = 0; i < 100; ++i) {
    for (int with = 0; with < 2; ++with) {
      two_mlp_results product = {y[with]};
      two_sorting_results sorted = {keys[with], at[with]};
      memset(arenas[0], i, TWO_MLP_ARENA_BYTES);
      memset(arenas[1], i, TWO_SORTING_ARENA_BYTES);
      if (two_mlp(&mlp, &product, arenas[0], with ? context : NULL) != HLO_OK ||
          two_sorting(&sorting, &sorted, arenas[1], with ? context : NULL) != HLO_OK) {
        exit(12);
      }
    }
    *(int *)same += memcmp(y[0], y[1], TWO_MLP_RESULT_BYTES) == 0 &&
                    memcmp(keys[0], keys[1], TWO_SORTING_RESULT_0_BYTES) == 0 &&
                    memcmp(at[0], at[1], TWO_SORTING_RESULT_1_BYTES) == 0;
  }
  return y[0];
}

int main(void) {
  mlp.x = numbers(TWO_MLP_X_BYTES);
  mlp.w1 = numbers(TWO_MLP_W1_BYTES);
  mlp.b1 = numbers(TWO_MLP_B1_BYTES);
  mlp.w2 = numbers(TWO_MLP_W2_BYTES);
  sorting.keys = numbers(TWO_SORTING_KEYS_BYTES);
  context = hlo_context_create(2);
  int same[2] = {0, 0};
  void *results[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    pthread_create(&threads[i], NULL, repeat, &same[i]);
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], &results[i]);
  }
  if (memcmp(results[0], results[1], TWO_MLP_RESULT_BYTES) != 0) {
    return 13;
  }
  hlo_context_destroy(context);
  printf("the same %d times\n", same[0] + same[1]);
  return 0;
}
