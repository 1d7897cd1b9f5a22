// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds the sums of tiles that are divided along k among blocks. Each block stores its sums in memory. These are added
// in slices, which the blocks share; the block that adds the last slice has the tile. Sums are added in the order of
// the parts, whichever block adds them. Blocks wait for each other only a limited time, because some may not have
// begun: the last to arrive waits for none, and adds what is left to add. Included after `variant`, which has sums and
// registers_to_add.
namespace troupe::cutlass::kernels {

// Counters of a tile; 0 before and after.
struct tile_counters {
  unsigned arrived, taken, added, gone;  // parts that have stored their sums; slices; parts that have ended
};

// Writes of all threads before they synchronized are visible to the block that reads the counter, and the reverse.
__device__ __forceinline__ unsigned count_and_publish(unsigned* counter) {
  unsigned before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}
__device__ __forceinline__ unsigned read_published(const unsigned* counter) {
  unsigned now;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
  return now;
}

// `Threads` threads have `All` sums each, and `synchronize()` waits for all of them. `broadcast` is a number in shared
// memory with no other use.
template <int Threads, int All, class Synchronize>
class divided_tile {
 public:
  using sums = variant::sums;

  __device__ divided_tile(const fixed_part& p, i64 tile, int parts, int thread, volatile unsigned* broadcast,
                          const Synchronize& synchronize)
      : memory_(static_cast<uint4*>(p.partial_sums) + tile * p.parts * (count * Threads) + thread),
        counters_(reinterpret_cast<tile_counters*>(p.arrivals) + tile),
        broadcast_(broadcast),
        synchronize_(synchronize),
        parts_(parts),
        slices_(static_cast<unsigned>(min(min(parts, count), (parts * count + reads_of_slice - 1) / reads_of_slice))),
        thread_(thread) {}

  // Returns true for one of the parts: then `d` are the sums of all.
  __device__ __forceinline__ bool collect(int part, bool may_wait, sums* d) const {
    leave(part, d);
    const bool few_sums = count <= few && slices_ == 1;
    unsigned slice = ask([&] { return arrive(may_wait && !few_sums); });
    bool complete = few_sums && slice == 0;
    if (few_sums) {
      if (complete) add_all(d);
    } else {
      for (; slice < slices_; slice = ask([&] { return take_slice_after_another(); }))
        add_slice(static_cast<int>(count * slice / slices_), static_cast<int>(count * (slice + 1) / slices_));
      complete = slice == all_added;
      take(complete, d);
    }
    if (thread_ == 0 && atomicAdd(&counters_->gone, 1u) + 1 == static_cast<unsigned>(parts_))
      *reinterpret_cast<uint4*>(counters_) = uint4{0, 0, 0, 0};
    return complete;
  }

 private:
  struct alignas(16) some_sums {
    static constexpr int count = 16 / sizeof(sums);
    sums x[count];
  };
  static constexpr int count = All / some_sums::count;
  static constexpr int reads_of_slice = 32, few = 16, at_once = variant::registers_to_add / 4;
  static constexpr long long most_wait_cycles = 1 << 17;     // cycles
  static constexpr unsigned nothing = ~0u, all_added = ~1u;  // instead of the number of a slice

  __device__ uint4* at(int part, int i) const { return memory_ + (static_cast<i64>(part) * count + i) * Threads; }
  static __device__ __forceinline__ void add(sums* to, const uint4& raw) {
    const some_sums& s = reinterpret_cast<const some_sums&>(raw);
#pragma unroll
    for (int j = 0; j < some_sums::count; ++j) to[j] += s.x[j];
  }

  __device__ __forceinline__ void leave(int part, const sums* d) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      some_sums s;
#pragma unroll
      for (int j = 0; j < some_sums::count; ++j) s.x[j] = d[i * some_sums::count + j];
      __stcg(at(part, i), *reinterpret_cast<const uint4*>(&s));
    }
  }
  // Calls `f` in one thread, after all have written, and returns its result in all.
  template <class F>
  __device__ __forceinline__ unsigned ask(const F& f) const {
    synchronize_();
    if (thread_ == 0) *broadcast_ = f();
    synchronize_();
    return *broadcast_;
  }
  // Returns the slice to add first.
  __device__ unsigned arrive(bool may_wait) const {
    const auto parts = static_cast<unsigned>(parts_);
    bool all = count_and_publish(&counters_->arrived) + 1 == parts;
    if (!all && may_wait)
      for (const long long begun = clock64(); !all && clock64() - begun < most_wait_cycles;
           all = read_published(&counters_->arrived) == parts)
        __nanosleep(32);
    return all ? atomicAdd(&counters_->taken, 1u) : nothing;
  }
  __device__ unsigned take_slice_after_another() const {
    if (count_and_publish(&counters_->added) + 1 == slices_) return all_added;
    return atomicAdd(&counters_->taken, 1u);
  }
  // The sums replace those of the first part.
  __device__ __forceinline__ void add_slice(int i, int end) const {
    some_sums sum{};
#pragma unroll 1
    for (int part = 0, of = i, from = 0; i < end;) {
      uint4 raw[at_once];
#pragma unroll
      for (int q = 0; q < at_once; ++q) {
        raw[q] = of < end ? __ldcg(at(from, of)) : uint4{0, 0, 0, 0};
        if (++from == parts_) from = 0, ++of;
      }
#pragma unroll
      for (int q = 0; q < at_once; ++q) {
        if (i == end) break;
        add(sum.x, raw[q]);
        if (++part < parts_) continue;
        __stcg(at(0, i++), *reinterpret_cast<const uint4*>(&sum));
        part = 0, sum = {};
      }
    }
  }
  // Incomplete sums are not kept: that would need registers.
  __device__ __forceinline__ void take(bool complete, sums* d) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const uint4 raw = complete ? __ldcg(at(0, i)) : uint4{0, 0, 0, 0};
      const some_sums& s = reinterpret_cast<const some_sums&>(raw);
#pragma unroll
      for (int j = 0; j < some_sums::count; ++j) d[i * some_sums::count + j] = s.x[j];
    }
  }
  // All at once, where they are few.
  __device__ __forceinline__ void add_all(sums* d) const {
    constexpr int most = count <= few ? count : 1;
    take(true, d);
#pragma unroll 1
    for (int part = 1; part < parts_; ++part) {
      uint4 raw[most];
#pragma unroll
      for (int i = 0; i < most; ++i) raw[i] = __ldcg(at(part, i));
#pragma unroll
      for (int i = 0; i < most; ++i) add(d + i * some_sums::count, raw[i]);
    }
  }

  uint4* memory_;  // sums of this thread
  tile_counters* counters_;
  volatile unsigned* broadcast_;
  const Synchronize& synchronize_;
  int parts_;
  unsigned slices_;
  int thread_;
};

}  // namespace troupe::cutlass::kernels
