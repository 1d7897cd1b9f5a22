// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Intervals that surely hold the result: operators that round outwards, as templates, and a search for the roots of a cubic
 * with a stack for each thread.
 */
#include <stdio.h>
#include <math_constants.h>

// what rounds down and up, for each type
template <class T>
struct directed {
  __device__ T sum_below(const T &x, const T &y);
};
template <>
struct directed<float> {
  __device__ float sum_below(const float &x, const float &y) { return __fadd_rd(x, y); }
  __device__ float sum_above(const float &x, const float &y) { return __fadd_ru(x, y); }
  __device__ float product_below(const float &x, const float &y) { return __fmul_rd(x, y); }
  __device__ float product_above(const float &x, const float &y) { return __fmul_ru(x, y); }
};
template <>
struct directed<double> {
  __device__ double sum_below(const double &x, const double &y) { return __dadd_rd(x, y); }
  __device__ double sum_above(const double &x, const double &y) { return __dadd_ru(x, y); }
  __device__ double product_below(const double &x, const double &y) { return __dmul_rd(x, y); }
  __device__ double product_above(const double &x, const double &y) { return __dmul_ru(x, y); }
};

template <class T>
class range {
 public:
  __device__ __host__ range() {}
  __device__ __host__ range(T const &value) : low(value), high(value) {}
  __device__ __host__ range(T const &l, T const &h) : low(l), high(h) {}
  __device__ __host__ T const &below() const { return low; }
  __device__ __host__ T const &above() const { return high; }
  __device__ T width() const { return high - low; }

 private:
  T low, high;
};

template <class T>
inline __device__ range<T> operator-(range<T> const &x) {
  return range<T>(-x.above(), -x.below());
}
template <class T>
inline __device__ range<T> operator+(range<T> const &x, range<T> const &y) {
  directed<T> rounded;
  return range<T>(rounded.sum_below(x.below(), y.below()), rounded.sum_above(x.above(), y.above()));
}
template <class T>
inline __device__ range<T> operator*(range<T> const &x, range<T> const &y) {
  directed<T> rounded;
  T least = CUDART_INF_F, most = -CUDART_INF_F;
  for (int corner = 0; corner < 4; ++corner) {
    const T a = corner & 1 ? x.above() : x.below(), b = corner & 2 ? y.above() : y.below();
    least = min(least, rounded.product_below(a, b));
    most = max(most, rounded.product_above(a, b));
  }
  return range<T>(least, most);
}

template <class T, int size>
class stack_of {
  T items[size];
  int count;

 public:
  __device__ stack_of() : count(0) {}
  __device__ void push(T const &item) { items[count++] = item; }
  __device__ T pop() { return items[--count]; }
  __device__ operator bool() const { return count > 0; }
};

template <class T>
__device__ range<T> cubic(range<T> const &x, T constant) {
  typedef range<T> R;
  return x * x * x + -(R(T(3)) * x) + R(constant);
}

// The parts of [-3, 3] that may hold a root, halved until they are short.
template <class T>
__global__ void find_roots(range<T> *roots, int *counts, const T *constants, T shortest, int most) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  stack_of<range<T>, 64> open;
  int count = 0;
  open.push(range<T>(T(-3), T(3)));
  while (open) {
    const range<T> x = open.pop(), y = cubic(x, constants[thread]);
    if (y.below() > T(0) || y.above() < T(0)) continue;
    if (x.width() < shortest) {
      if (count < most) roots[thread * most + count++] = x;
      continue;
    }
    const T middle = (x.below() + x.above()) / 2;
    open.push(range<T>(middle, x.above()));
    open.push(range<T>(x.below(), middle));
  }
  counts[thread] = count;
}
