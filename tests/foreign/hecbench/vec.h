// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#ifndef VEC_H
#define VEC_H
#include <iostream>

template <typename F>
struct Vec {
  F x, y, z;
  Vec() = default;
  __host__ __device__ explicit Vec(F all) : x(all), y(all), z(all) {}
  __host__ __device__ Vec(F x, F y, F z) : x(x), y(y), z(z) {}
  __host__ __device__ Vec operator+(const Vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
  __host__ __device__ Vec operator-(const Vec &o) const { return {x - o.x, y - o.y, z - o.z}; }
  __host__ __device__ Vec operator*(const Vec &o) const { return {x * o.x, y * o.y, z * o.z}; }
  __host__ __device__ Vec operator*(F by) const { return {x * by, y * by, z * by}; }
  __host__ __device__ Vec &operator+=(const Vec &o) { return *this = *this + o; }
  friend std::ostream &operator<<(std::ostream &out, const Vec &v) { return out << v.x << ' ' << v.y << ' ' << v.z; }
};

template <typename F>
__host__ __device__ inline F dot(const Vec<F> &a, const Vec<F> &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

struct Ray { Vec<float> from, along; };

#endif
