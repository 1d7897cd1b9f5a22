// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda.h>

// Neurons that leak, integrate and fire, and then rest for a while; many of them see the same input.
__global__ void fire (
    const int neurons,
    const int of_input,
    const float dt,
    const float tau,
    const float rest,
    const float*__restrict__ inputs,
    const float*__restrict__ bias,
    const float*__restrict__ gain,
          float*__restrict__ voltages,
          float*__restrict__ resting,
          float*__restrict__ spikes)
{
  for (int me = blockIdx.x * blockDim.x + threadIdx.x; me < neurons; me += gridDim.x * blockDim.x)
  {
    const float drive = gain[me % of_input] * inputs[(int)(me / of_input)] + bias[me % of_input];
    const float change = (voltages[me] - drive) * expm1f(-dt / tau);
    float v = voltages[me] + change;
    v = v < 0.f ? 0.f : v;

    // the part of the step in which the neuron is awake
    float awake = 1.f - (resting[me] - dt) / dt;
    awake = __saturatef(awake);
    v *= awake;
    resting[me] -= dt;

    const bool fires = v > 1.f;
    spikes[me] = fires ? 1.f / dt : 0.f;
    if (fires) {
      resting[me] = rest + dt * (1.f - (v - 1.f) / change);
      v = 0.f;
    }
    voltages[me] = v;
  }
}
