// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instructions of GPUs from sm_80 on that the templates use: copies to shared memory, reads of matrices from it,
// and products of a warp. 8-bit types that the tensor cores lack are converted to f16.
namespace troupe::cutlass::kernels::ampere {

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// -- copies

// Copies `Bytes` bytes, of which the first `count` are read and the others become 0.
template <int Bytes>
__device__ __forceinline__ void copy(unsigned to, const void* from, int count) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(count) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(count)
                 : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// Loads an element, or returns 0, without a branch, so that many loads are under way at once.
template <class Bits>
__device__ __forceinline__ Bits load_if(bool here, const Bits* from) {
  static_assert(sizeof(Bits) <= 8);
  if constexpr (sizeof(Bits) <= 2) {
    unsigned short x;
    if constexpr (sizeof(Bits) == 1)
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %2, 0;\nmov.u16 %0, 0;\n@p ld.global.u8 %0, [%1];}"
                   : "=h"(x)
                   : "l"(from), "r"(static_cast<int>(here)));
    else
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %2, 0;\nmov.u16 %0, 0;\n@p ld.global.u16 %0, [%1];}"
                   : "=h"(x)
                   : "l"(from), "r"(static_cast<int>(here)));
    return static_cast<Bits>(x);
  } else {
    return here ? *from : Bits(0);
  }
}
__device__ __forceinline__ void store_word(unsigned to, unsigned x) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}
__device__ __forceinline__ unsigned load_half_word(unsigned at) {
  unsigned short x;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(at) : "memory");
  return x;
}
__device__ __forceinline__ unsigned load_word(unsigned at) {
  unsigned x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
  return x;
}
__device__ __forceinline__ void load_two_words(unsigned at, unsigned& x, unsigned& y) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at) : "memory");
}
__device__ __forceinline__ double load_double(unsigned at) {
  double x;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(at) : "memory");
  return x;
}
__device__ __forceinline__ void load_four(unsigned at, float& a, float& b, float& c, float& d) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(at) : "memory");
}

// Loads four matrices of 8 rows of 16 bytes.
template <bool Transposed>
__device__ __forceinline__ void load_matrices(unsigned at, unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at)
                 : "memory");
}

// -- products of 16 lines of the first factor, 8 of the second, and 32 bytes of terms; they are added to the sums, or
// (`Fresh`) replace them

#define TROUPE_MULTIPLICATION(FIRST, SECOND, SHAPE, NAMES, SUM, LETTER)                                               \
  template <bool Fresh>                                                                                               \
  __device__ __forceinline__ void multiply(FIRST, SECOND, SUM* d, const unsigned(&a)[4], const unsigned(&b)[2]) {     \
    const SUM c[4] = {Fresh ? SUM(0) : d[0], Fresh ? SUM(0) : d[1], Fresh ? SUM(0) : d[2], Fresh ? SUM(0) : d[3]};    \
    asm("mma.sync.aligned." SHAPE ".row.col." NAMES                                                                   \
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                                        \
        : "=" LETTER(d[0]), "=" LETTER(d[1]), "=" LETTER(d[2]), "=" LETTER(d[3])                                      \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), LETTER(c[0]), LETTER(c[1]), LETTER(c[2]), \
          LETTER(c[3]));                                                                                              \
  }
TROUPE_MULTIPLICATION(f16, f16, "m16n8k16", "f32.f16.f16.f32", float, "f")
TROUPE_MULTIPLICATION(bf16, bf16, "m16n8k16", "f32.bf16.bf16.f32", float, "f")
TROUPE_MULTIPLICATION(f32, f32, "m16n8k8", "f32.tf32.tf32.f32", float, "f")
TROUPE_MULTIPLICATION(i8, i8, "m16n8k32", "s32.s8.s8.s32", int, "r")
// For sm_90 and sm_100 the assembler would convert these to f16, again for each product.
#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
TROUPE_MULTIPLICATION(e4m3, e4m3, "m16n8k32", "f32.e4m3.e4m3.f32", float, "f")
TROUPE_MULTIPLICATION(e4m3, e5m2, "m16n8k32", "f32.e4m3.e5m2.f32", float, "f")
TROUPE_MULTIPLICATION(e5m2, e4m3, "m16n8k32", "f32.e5m2.e4m3.f32", float, "f")
TROUPE_MULTIPLICATION(e5m2, e5m2, "m16n8k32", "f32.e5m2.e5m2.f32", float, "f")
constexpr bool has_8_bit_floats = true;
#else
constexpr bool has_8_bit_floats = false;
#endif
#undef TROUPE_MULTIPLICATION

// Rounds to the nearest tf32: the tensor cores would truncate the bits that tf32 lacks.
__device__ __forceinline__ unsigned rounded_to_tf32(unsigned x) {
  unsigned out;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(detail::float_of(x)));
  return out;
}

// Multiplies 8 terms; lane c of each four has terms c and c + 4.
template <bool Fresh>
__device__ __forceinline__ void multiply(f64, f64, double* d, const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[i % 2 * 2]), "+d"(d[i % 2 * 2 + 1])
        : "d"(a[i]), "d"(b[i / 2]));
#endif
}

// -- exact conversions of contiguous elements to pairs of 2-byte floats, the first in the low half

__device__ __forceinline__ unsigned high_halves(float low, float high) {
  return __byte_perm(detail::bits_of(low), detail::bits_of(high), 0x7632);
}
__device__ __forceinline__ unsigned bf16_of_halves(unsigned x) {
  return high_halves(detail::float_of_half(static_cast<unsigned short>(x)),
                     detail::float_of_half(static_cast<unsigned short>(x >> 16)));
}
__device__ __forceinline__ unsigned scaled_halves(unsigned x, unsigned factor) {
  unsigned out;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(x), "r"(factor));
  return out;
}

__device__ __forceinline__ void widen(e4m3, f16, unsigned x, unsigned (&to)[2]) {
  to[0] = detail::halves_of_e4m3(static_cast<unsigned short>(x)),
  to[1] = detail::halves_of_e4m3(static_cast<unsigned short>(x >> 16));
}
__device__ __forceinline__ void widen(e5m2, f16, unsigned x, unsigned (&to)[2]) {
  to[0] = __byte_perm(x, 0, 0x1404), to[1] = __byte_perm(x, 0, 0x3424);
}
__device__ __forceinline__ void widen(i8, f16, unsigned x, unsigned (&to)[2]) {
  // x + 128 are the last bits of the f16 1024 + 128 + x; 1024 + 128 is subtracted.
  const unsigned from_0 = x ^ 0x80808080u;
#pragma unroll
  for (int i = 0; i < 2; ++i)
    asm("sub.rn.f16x2 %0, %1, %2;"
        : "=r"(to[i])
        : "r"(__byte_perm(from_0, 0x64646464u, i == 0 ? 0x4140 : 0x4342)), "r"(0x64806480u));
}
// Converts 4 elements in 16 bits. An f16 with the same bits of exponent and mantissa is 2^14 times too small, because
// its bias is 15 and that of f4e2m1 is 1. So it is multiplied by 2^14, which is 0x7400.
__device__ __forceinline__ void widen(f4x2, f16, unsigned x, unsigned (&to)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned two = (x >> (8 * i) & 0xfu) | (x >> (8 * i + 4) & 0xfu) << 16;
    to[i] = scaled_halves((two & 0x00080008u) << 12 | (two & 0x00070007u) << 9, 0x74007400u);
  }
}
__device__ __forceinline__ void widen(i8, bf16, unsigned x, unsigned (&to)[2]) {
  // x + 128 are the last bits of the float 2^23 + 128 + x; 2^23 + 128 is subtracted.
  const unsigned from_0 = x ^ 0x80808080u;
  float f[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) f[i] = detail::float_of(__byte_perm(from_0, 0x4b000000u, 0x7650 + i)) - 8388736.f;
  to[0] = high_halves(f[0], f[1]), to[1] = high_halves(f[2], f[3]);
}
template <class Narrow>
__device__ __forceinline__ void widen(Narrow, bf16, unsigned x, unsigned (&to)[2]) {
  widen(Narrow{}, f16{}, x, to);
  to[0] = bf16_of_halves(to[0]), to[1] = bf16_of_halves(to[1]);
}

}  // namespace troupe::cutlass::kernels::ampere
