// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instructions of Hopper GPUs (sm_90a) that the templates use: barriers in shared memory, copies by the tensor
// memory accelerator, products of groups of four warps.
namespace troupe::cutlass::kernels::hopper {

constexpr int group_threads = 128;  // threads of a warp group

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// -- barriers

__device__ __forceinline__ void make_barrier(unsigned b, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}
__device__ __forceinline__ void expect(unsigned b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(unsigned b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory");
}
// Arrives at the same barrier of another block of the cluster. Not with `.release.cluster`, which would wait for all
// the memory accesses; the reads of wgmma need no such order.
__device__ __forceinline__ void arrive_in(unsigned b, unsigned block) {
  asm volatile(
      "{.reg .b32 r;\n"
      "mapa.shared::cluster.u32 r, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [r];}" ::"r"(b),
      "r"(block)
      : "memory");
}
__device__ __forceinline__ void wait(unsigned b, unsigned parity) {
  asm volatile(
      "{.reg .pred p;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra.uni over;\n"
      "bra.uni again;\n"
      "over:\n}" ::"r"(b),
      "r"(parity)
      : "memory");
}
// Synchronizes `threads` threads at a numbered barrier of the block; 0 is the barrier of __syncthreads.
__device__ __forceinline__ void synchronize(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void arrive_at_numbered(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void synchronize_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__device__ __forceinline__ unsigned block_in_cluster() {
  unsigned out;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(out));
  return out;
}
// The next two functions order kernels that may begin while the previous kernel is still running, as the launch
// attribute for programmatic stream serialization allows.
__device__ __forceinline__ void wait_for_kernel_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_next_kernel_begin() { asm volatile("griddepcontrol.launch_dependents;"); }
template <int Registers>
__device__ __forceinline__ void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void acquire_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// -- copies. `to` and `barrier` are in this block; with a mask, data goes to the same address in each block of the mask

__device__ __forceinline__ void load(unsigned to, const tensor_map* map, int x, int y, int z, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
          "r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
__device__ __forceinline__ void load(unsigned to, const tensor_map* map, int x, int y, int z, unsigned barrier,
                                     unsigned short mask) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, "
      "%4, %5}], "
      "[%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(mask)
      : "memory");
}
__device__ __forceinline__ void store(const tensor_map* map, unsigned from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from),
               "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until all stores but the last `But` have read shared memory.
template <int But>
__device__ __forceinline__ void wait_until_stores_have_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(But) : "memory");
}
__device__ __forceinline__ void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void publish_shared_memory() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void prefetch(const tensor_map* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// -- products

__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
// Returns the descriptor of a matrix in shared memory, in swizzled rows of 128 bytes. If terms are contiguous, a row is
// a line, and 8 lines are consecutive. If lines are contiguous, a row is one term of 64 lines of 2 bytes, and the next
// 64 lines are `next` bytes further.
template <bool LinesAreNeighbors>
__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned next) {
  const unsigned long long at = (address & 0x3ffffu) >> 4, swizzle = 1ull << 62;
  if constexpr (LinesAreNeighbors)
    return at | static_cast<unsigned long long>(next >> 4) << 16 | static_cast<unsigned long long>(1024 >> 4) << 32 |
           swizzle;
  else
    return at | 1ull << 16 | static_cast<unsigned long long>(1024 >> 4) << 32 | swizzle;
}
// Stores four 8 x 8 matrices of 2-byte elements.
__device__ __forceinline__ void store_matrices(unsigned at, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}
__device__ __forceinline__ void store_two_bytes(unsigned at, unsigned short x) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(at), "h"(x) : "memory");
}

}  // namespace troupe::cutlass::kernels::hopper
