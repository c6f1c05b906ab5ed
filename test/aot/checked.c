#define _POSIX_C_SOURCE 200112L
#include "checked.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  void *memory[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; ++i) {
    if (posix_memalign(&memory[i], 64, 64) != 0) {
      return 10;
    }
  }
  float *x = memory[1];
  x[0] = 1.0f;
  checked_arguments good = {memory[0], x};
  checked_arguments missing = {NULL, x};
  checked_arguments shifted = {memory[0], x + 1};
  checked_results results = {memory[2]};
  checked_results nowhere = {NULL};
  printf("%d ", checked(&good, &results, NULL, NULL));
  printf("%d ", checked(&missing, &results, NULL, NULL));
  printf("%d ", checked(&shifted, &results, NULL, NULL));
  printf("%d ", checked(&good, &nowhere, NULL, NULL));
  printf("%d ", checked(NULL, &results, NULL, NULL));
  printf("%d ", checked(&good, NULL, NULL, NULL));
  printf("%g\n", results.result[0]);
  return 0;
}
