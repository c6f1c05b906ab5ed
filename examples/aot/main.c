/* Prints the Mandelbrot set that mandelbrot.hlo computes. */
#include "mandelbrot.h"
#include <stdio.h>

/* The header defines the sizes and the alignment of the buffers. */
static _Alignas(MANDELBROT_ARENA_ALIGNMENT) unsigned char arena[MANDELBROT_ARENA_BYTES];
static _Alignas(MANDELBROT_ALIGNMENT) int32_t steps[MANDELBROT_RESULT_ELEMENTS];
static _Alignas(MANDELBROT_ALIGNMENT) float left = -2.2f;
static _Alignas(MANDELBROT_ALIGNMENT) float top = 1.0f;
static _Alignas(MANDELBROT_ALIGNMENT) float width = 3.2f;

int main(void) {
  const size_t size[] = MANDELBROT_RESULT_DIMENSIONS;
  const mandelbrot_arguments arguments = {&left, &top, &width};
  const mandelbrot_results results = {steps};
  if (mandelbrot(&arguments, &results, arena, NULL) != HLO_OK) {
    fputs("mandelbrot failed\n", stderr);
    return 1;
  }
  for (size_t row = 0; row < size[0]; ++row) {
    for (size_t column = 0; column < size[1]; ++column) {
      static const char shades[] = " .,:;+*%#@";
      putchar(shades[steps[row * size[1] + column] * 9 / 60]);
    }
    putchar('\n');
  }
  return 0;
}
