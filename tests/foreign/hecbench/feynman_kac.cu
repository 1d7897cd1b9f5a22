// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "util.h"

// An equation on an ellipse, solved by random walks that end at the border: one thread for each point, and a sum by atomics.
struct ellipse {
  double a, b;
  __host__ __device__ double level(double x, double y) const { return pow(x / a, 2) + pow(y / b, 2); }
  __host__ __device__ double potential(double x, double y) const
  {
    return 2.0 * (pow(x / (a * a), 2) + pow(y / (b * b), 2)) + 1.0 / (a * a) + 1.0 / (b * b);
  }
};

__global__ void walk (
    const ellipse border,
    const double step,
    const double dt,
    const int walks,
    const int side,
    double *__restrict__ found,
    double *__restrict__ squares,
    int *__restrict__ inside)
{
  const int i = threadIdx.x + blockIdx.x * blockDim.x, j = blockIdx.y;
  if (i >= side) return;
  const double x0 = border.a * (2 * i - side + 1) / (double)(side - 1);
  const double y0 = border.b * (2 * j - side + 1) / (double)(side - 1);
  if (border.level(x0, y0) >= 1.0) return;
  atomicAdd(inside, 1);

  int seed = 1000 * j + i + 1;
  double mean = 0;
  for (int k = 0; k < walks; k++) {
    double x = x0, y = y0, weight = 1;
    do {
      const double here = border.potential(x, y);
      double &axis = chance(&seed) < 0.5 ? x : y;
      axis += chance(&seed) < 0.5 ? -step : step;
      const double there = border.potential(x, y);
      const double guess = (1 - dt * here) * weight;
      weight -= dt / 2 * (there * guess + here * weight);
    } while (border.level(x, y) < 1.0);
    mean += weight / walks;
  }
  found[j * side + i] = mean;
  atomicAdd(squares, pow(mean - exp(border.level(x0, y0) - 1.0), 2));
}
