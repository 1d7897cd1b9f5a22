// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Bodies that attract each other, in both precisions, by tiles in shared memory.
 */
#include <math.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__constant__ float softeningSquared;
__constant__ double softeningSquared_fp64;

template <class T>
struct SharedMemory {
  __device__ inline operator T *() {
    extern __shared__ int __smem[];
    return (T *)__smem;
  }
};

// vectors of a type
template <typename T>
struct vec3 {
  typedef float Type;
};
template <>
struct vec3<float> {
  typedef float3 Type;
};
template <>
struct vec3<double> {
  typedef double3 Type;
};
template <typename T>
struct vec4 {
  typedef float Type;
};
template <>
struct vec4<float> {
  typedef float4 Type;
};
template <>
struct vec4<double> {
  typedef double4 Type;
};

template <typename T>
__device__ T rsqrt_T(T x) {
  return rsqrt(x);
}
template <>
__device__ float rsqrt_T<float>(float x) {
  return rsqrtf(x);
}
template <>
__device__ double rsqrt_T<double>(double x) {
  return rsqrt(x);
}

template <typename T>
__device__ T softening2() {
  return softeningSquared;
}
template <>
__device__ double softening2<double>() {
  return softeningSquared_fp64;
}

template <typename T>
__device__ typename vec3<T>::Type interact(typename vec3<T>::Type a, typename vec4<T>::Type one, typename vec4<T>::Type other) {
  typename vec3<T>::Type r;
  r.x = other.x - one.x;
  r.y = other.y - one.y;
  r.z = other.z - one.z;
  T inverse = rsqrt_T(r.x * r.x + r.y * r.y + r.z * r.z + softening2<T>());
  T s = other.w * inverse * inverse * inverse;
  a.x += r.x * s;
  a.y += r.y * s;
  a.z += r.z * s;
  return a;
}

template <typename T>
__global__ void integrateBodies(typename vec4<T>::Type *__restrict__ newPos, typename vec4<T>::Type *__restrict__ oldPos,
                                typename vec4<T>::Type *vel, unsigned int bodies, float deltaTime, float damping) {
  cg::thread_block cta = cg::this_thread_block();
  typename vec4<T>::Type *sharedPos = SharedMemory<typename vec4<T>::Type>();
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  typename vec4<T>::Type position = oldPos[index < bodies ? index : 0];
  typename vec3<T>::Type accel = {0.0f, 0.0f, 0.0f};

  for (int tile = 0; tile < (bodies + blockDim.x - 1) / blockDim.x; tile++) {
    const int other = tile * blockDim.x + threadIdx.x;
    sharedPos[threadIdx.x] = other < bodies ? oldPos[other] : typename vec4<T>::Type{0, 0, 0, 0};
    cg::sync(cta);
#pragma unroll 128
    for (unsigned int counter = 0; counter < blockDim.x; counter++) {
      accel = interact<T>(accel, position, sharedPos[counter]);
    }
    cg::sync(cta);
  }
  if (index >= bodies) return;
  typename vec4<T>::Type velocity = vel[index];
  velocity.x = (velocity.x + accel.x * deltaTime) * damping;
  velocity.y = (velocity.y + accel.y * deltaTime) * damping;
  velocity.z = (velocity.z + accel.z * deltaTime) * damping;
  position.x += velocity.x * deltaTime;
  position.y += velocity.y * deltaTime;
  position.z += velocity.z * deltaTime;
  newPos[index] = position;
  vel[index] = velocity;
}
