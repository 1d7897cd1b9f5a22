// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
R"cuda(
// C = A * B for half precision on a Hopper GPU: A has M rows of K, B has N columns of K, C has M rows of N.
//
// A block computes 256 x 128 of C. One thread asks the tensor memory accelerator (TMA) for boxes of A and B, 64 wide,
// which it puts into a ring of four stages of shared memory. Two groups of four warps each multiply a stage for 128
// rows of C. Each stage has two barriers: `full`, which the accelerator completes when all bytes have arrived, and
// `empty`, which the eight warps complete when they have read the stage.
#include <cuda_fp16.h>

// The declaration of cuda.h, which NVRTC cannot read.
struct alignas(128) CUtensorMap {
  unsigned long long opaque[16];
};

constexpr int rows = 256, columns = 128, depth = 64;  // of the boxes: 64 halves are 128 bytes, as wide as the swizzle
constexpr int stages = 4, group = 128, consumers = 2;
constexpr unsigned a_bytes = rows * depth * sizeof(__half), b_bytes = columns * depth * sizeof(__half),
                   stage_bytes = a_bytes + b_bytes, swizzle_bytes = 1024;

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void make_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives once, and announces `bytes` that must arrive before the phase ends.
__device__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Waits until the phase of this parity has ended. Before the first phase ends, the one of parity 1 counts as ended.
__device__ void wait(unsigned barrier, unsigned parity) {
  unsigned over;
  do
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
  while (over == 0);
}
// Loads a box of the tensor, starting at element `x` of row `y`. Elements outside the tensor are 0.
__device__ void load(unsigned to, const CUtensorMap& map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

// Describes rows of 128 bytes, swizzled by the accelerator; eight rows, 1024 bytes, form the repeating pattern.
__device__ unsigned long long descriptor(unsigned address) {
  return (address & 0x3ffff) >> 4 | 1ull << 16 | static_cast<unsigned long long>(swizzle_bytes >> 4) << 32 | 1ull << 62;
}

// Multiplies 64 x 16 of A by 16 x 128 of B, with all four warps of a group, and adds the product to d or stores it
// there. Asynchronous.
__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, bool add) {
  asm volatile(
      "{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, accumulate, 1, 1, 0, 0;\n}"
#define EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)
#undef EIGHT
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
// Makes registers ready for multiplications.
__device__ void begin_multiplying() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void end_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most `Pending` groups are outstanding.
template <int Pending>
__device__ void wait_for_groups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

struct ring {
  unsigned data, full, empty;  // addresses in shared memory
  __device__ unsigned a(int step) const { return data + step % stages * stage_bytes; }
  __device__ unsigned b(int step) const { return a(step) + a_bytes; }
  __device__ unsigned full_at(int step) const { return full + step % stages * 8; }
  __device__ unsigned empty_at(int step) const { return empty + step % stages * 8; }
  // Each stage is used every `stages` steps, and the phases of its barriers alternate.
  __device__ static unsigned parity(int step) { return step / stages % 2; }
};

__device__ void produce(const ring& r, const CUtensorMap& a, const CUtensorMap& b, int row, int column, int steps) {
  for (int step = 0; step < steps; ++step) {
    wait(r.empty_at(step), r.parity(step) ^ 1);  // at first no stage holds data to read
    expect(r.full_at(step), stage_bytes);        // boxes that reach beyond the tensor also have all their bytes
    load(r.a(step), a, step * depth, row, r.full_at(step));
    load(r.b(step), b, step * depth, column, r.full_at(step));
  }
}

// Computes 128 of the block's rows, as two times 64.
__device__ void consume(const ring& r, float (&d)[2][64], int which, int steps) {
  for (int step = 0; step < steps; ++step) {
    wait(r.full_at(step), r.parity(step));
    const unsigned a = r.a(step) + which * (a_bytes / consumers), b = r.b(step);
    begin_multiplying();
    #pragma unroll
    for (int k = 0; k < depth; k += 16)
      #pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply(d[half], descriptor(a + half * (a_bytes / consumers / 2) + k * 2), descriptor(b + k * 2), step + k > 0);
    end_group();
    wait_for_groups<1>();  // the previous step has been read, while this one continues
    if (step > 0 && threadIdx.x % 32 == 0) arrive(r.empty_at(step - 1));
  }
  wait_for_groups<0>();
  // Reads of the sums must come after the wait, which the compiler cannot know.
  #pragma unroll
  for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(d[i / 64][i % 64]));
}

// A thread has two of eight columns, in rows eight apart; see the fragments of wgmma in the PTX manual.
__device__ void store(const float (&d)[64], __half* c, int row, int column, int m, int n) {
  const int thread = threadIdx.x % group, lane = thread % 32;
  row += thread / 32 * 16 + lane / 4;
  column += lane % 4 * 2;
  #pragma unroll
  for (int i = 0; i < 64; i += 4) {
    const int at = column + i * 2;
    if (at >= n) continue;  // n is even: both or none
    #pragma unroll
    for (int lower = 0; lower < 2; ++lower)
      if (const int y = row + lower * 8; y < m)
        *reinterpret_cast<__half2*>(c + static_cast<size_t>(y) * n + at) =
            __floats2half2_rn(d[i + lower * 2], d[i + lower * 2 + 1]);
  }
}

__global__ void __launch_bounds__((1 + consumers) * group, 1)
    hopper_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, int m, int n, int k) {
  extern __shared__ char memory[];
  __shared__ unsigned long long barriers[2 * stages];
  const ring r{(shared_address(memory) + swizzle_bytes - 1) / swizzle_bytes * swizzle_bytes, shared_address(barriers),
               shared_address(barriers + stages)};
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      make_barrier(r.full_at(i), 1);               // the thread that expects the bytes
      make_barrier(r.empty_at(i), consumers * 4);  // warps
    }
    // The accelerator must see the barriers too.
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
  }
  __syncthreads();

  const int row = blockIdx.x * rows, column = blockIdx.y * columns, steps = (k + depth - 1) / depth;
  const int who = threadIdx.x / group;
  if (who == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(r, a, b, row, column, steps);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");  // for 128 sums
    float d[2][64];
    consume(r, d, who - 1, steps);
    #pragma unroll  // sums are in registers: each is known when it is compiled
    for (int half = 0; half < 2; ++half)
      store(d[half], c, row + (who - 1) * (rows / consumers) + half * 64, column, m, n);
  }
}
)cuda"
