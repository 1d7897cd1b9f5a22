// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cfloat>
#include <cstdio>
#include <cmath>
#include "vec.h"

// Spheres and light, with rays that are reflected a few times: a vector class with operators, and reflections as a loop.
struct Sphere {
  Vec<float> centre, tint;
  float radius, mirror;

  __device__ float meet(const Ray &ray) const
  {
    const Vec<float> away = ray.from - centre;
    const float b = dot(away, ray.along), c = dot(away, away) - radius * radius;
    const float inside = b * b - c;
    if (inside < 0) return FLT_MAX;
    const float near = -b - sqrtf(inside), far = -b + sqrtf(inside);
    return near > 1e-3f ? near : far > 1e-3f ? far : FLT_MAX;
  }
};

__constant__ Sphere scene[8];
__constant__ float light[3];

template <int MAX_BOUNCES>
__device__ Vec<float> colour_of(Ray ray, const int spheres)
{
  Vec<float> colour(0), weight(1);
  for (int bounce = 0; bounce <= MAX_BOUNCES; ++bounce) {
    const Sphere *hit = nullptr;
    float at = FLT_MAX;
    for (const Sphere *s = scene; s != scene + spheres; ++s) {
      const float t = s->meet(ray);
      if (t < at) {
        at = t;
        hit = s;
      }
    }
    if (!hit) {
      const float up = 0.5f * (ray.along.y + 1);
      return colour + weight * (Vec<float>(1) * (1 - up) + Vec<float>(.5f, .7f, 1) * up);
    }
    const Vec<float> point = ray.from + ray.along * at, normal = (point - hit->centre) * (1 / hit->radius);
    const float bright = fmaxf(0.f, dot(normal, Vec<float>(light[0], light[1], light[2])));
    colour += weight * hit->tint * (bright * (1 - hit->mirror));
    weight = weight * hit->mirror;
    ray = Ray{point, ray.along - normal * (2 * dot(ray.along, normal))};
  }
  return colour;
}

__global__ void render(float *__restrict__ image, const int width, const int height, const int spheres)
{
  const int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
  if ((i >= width) || (j >= height)) return;
  const Vec<float> along((i + .5f) / width * 2 - 1, (j + .5f) / height * 2 - 1, -1.5f);
  const Ray ray = {Vec<float>(0, 0, 3), along * (1 / sqrtf(dot(along, along)))};
  const Vec<float> c = colour_of<3>(ray, spheres);
  image += 3 * (j * width + i);
  image[0] = c.x; image[1] = c.y; image[2] = c.z;
}
