// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Prices of European options in closed form, with fast functions. The normal distribution is a polynomial.
 */
#include <stdio.h>
#include <math.h>

// Abramowitz and Stegun, 26.2.17
__device__ inline float normalDistribution(float x) {
  const float INVERSE_ROOT_2PI = 0.3989422804f;
  const float k = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(x)));
  const float tail = INVERSE_ROOT_2PI * __expf(-0.5f * x * x) *
                     (k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return x > 0 ? 1.0f - tail : tail;
}

// results by reference
__device__ inline void price(float &call, float &put, float spot, float strike, float years, float rate, float volatility) {
  const float deviation = volatility * __fdividef(1.0F, rsqrtf(years));
  const float up = __fdividef(__logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years, deviation);
  const float p = normalDistribution(up), q = normalDistribution(up - deviation);
  const float later = strike * __expf(-rate * years);
  call = spot * p - later * q;
  put = later * (1.0f - q) - spot * (1.0f - p);
}

// two options for each thread
__launch_bounds__(128)
__global__ void priceOptions(float2 *__restrict calls, float2 *__restrict puts, float2 *__restrict spots, float2 *__restrict strikes,
                             float2 *__restrict years, float rate, float volatility, int pairs) {
  const int at = blockDim.x * blockIdx.x + threadIdx.x;
  if (at < pairs) {
    float c1, c2, p1, p2;
    price(c1, p1, spots[at].x, strikes[at].x, years[at].x, rate, volatility);
    price(c2, p2, spots[at].y, strikes[at].y, years[at].y, rate, volatility);
    calls[at] = make_float2(c1, c2);
    puts[at] = make_float2(p1, p2);
  }
}
