// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Names that only GPUs provide, so that the rest of a source compiles. Reaching such a use ends the launch.
#pragma once
#pragma GCC system_header

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

#define TROUPE_TEXTURE(name)                                                                 \
  template <class T, class... Where>                                                         \
  T name(cudaTextureObject_t, Where...) {                                                    \
    ::troupe_cuda::unsupported("textures exist on GPUs only; read from memory", nullptr, 0); \
  }                                                                                          \
  template <class T, class... Where>                                                         \
  void name(T*, cudaTextureObject_t, Where...) {                                             \
    ::troupe_cuda::unsupported("textures exist on GPUs only; read from memory", nullptr, 0); \
  }
TROUPE_TEXTURE(tex1Dfetch)
TROUPE_TEXTURE(tex1D)
TROUPE_TEXTURE(tex1DLod)
TROUPE_TEXTURE(tex1DGrad)
TROUPE_TEXTURE(tex1DLayered)
TROUPE_TEXTURE(tex2D)
TROUPE_TEXTURE(tex2DLod)
TROUPE_TEXTURE(tex2DGrad)
TROUPE_TEXTURE(tex2DLayered)
TROUPE_TEXTURE(tex2Dgather)
TROUPE_TEXTURE(tex3D)
TROUPE_TEXTURE(tex3DLod)
TROUPE_TEXTURE(tex3DGrad)
TROUPE_TEXTURE(texCubemap)
TROUPE_TEXTURE(texCubemapLayered)
#undef TROUPE_TEXTURE

#define TROUPE_SURFACE(name)                                                                      \
  template <class T, class... Where>                                                              \
  T name##read(cudaSurfaceObject_t, Where...) {                                                   \
    ::troupe_cuda::unsupported("surfaces exist on GPUs only; read and write memory", nullptr, 0); \
  }                                                                                               \
  template <class T, class... Where>                                                              \
  void name##read(T*, cudaSurfaceObject_t, Where...) {                                            \
    ::troupe_cuda::unsupported("surfaces exist on GPUs only; read and write memory", nullptr, 0); \
  }                                                                                               \
  template <class T, class... Where>                                                              \
  void name##write(T, cudaSurfaceObject_t, Where...) {                                            \
    ::troupe_cuda::unsupported("surfaces exist on GPUs only; read and write memory", nullptr, 0); \
  }
TROUPE_SURFACE(surf1D)
TROUPE_SURFACE(surf1DLayered)
TROUPE_SURFACE(surf2D)
TROUPE_SURFACE(surf2DLayered)
TROUPE_SURFACE(surf3D)
TROUPE_SURFACE(surfCubemap)
#undef TROUPE_SURFACE

// Addresses for PTX code, which cannot run here.
TROUPE_INLINE size_t __cvta_generic_to_shared(const void* at) { return reinterpret_cast<size_t>(at); }
TROUPE_INLINE size_t __cvta_generic_to_global(const void* at) { return reinterpret_cast<size_t>(at); }
TROUPE_INLINE unsigned __nvvm_get_smem_pointer(const void* at) {
  return static_cast<unsigned>(reinterpret_cast<size_t>(at));
}
