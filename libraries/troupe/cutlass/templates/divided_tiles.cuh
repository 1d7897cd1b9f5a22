// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds the sums of tiles that are divided along k among blocks. Each block stores its sums in memory. The sums are
// added slice by slice, and the slices are shared among the blocks; the block that completes the last slice writes the
// tile. Sums are added in the order of the parts, whichever block adds them. A block waits for the others only a
// limited time, because some may not have begun; the last to arrive does not wait, and adds the remaining slices.
// Included after `variant`, which has sums and registers_to_add.
namespace troupe::cutlass::kernels {

// Counters of a tile; 0 before and after a launch.
struct tile_counters {
  unsigned arrived;       // parts that have stored their sums
  unsigned taken, added;  // slices
  unsigned finished;      // parts that no longer use the counters
};

// Adds 1 and returns the previous value. Releases what all threads of this block have written before they synchronized,
// and acquires what the blocks that counted before have released.
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

// `Threads` threads have `All` sums each, and `synchronize()` waits for all threads. `broadcast` is a word in shared
// memory that is not used otherwise.
template <int Threads, int All, class Synchronize>
class divided_tile {
 public:
  using sums = variant::sums;

  __device__ divided_tile(const fixed_arguments& p, i64 tile, int parts, int thread, volatile unsigned* broadcast,
                          const Synchronize& synchronize)
      : memory_(static_cast<uint4*>(p.partial_sums) + tile * p.parts * (count * Threads) + thread),
        counters_(reinterpret_cast<tile_counters*>(p.arrivals) + tile),
        broadcast_(broadcast),
        synchronize_(synchronize),
        parts_(parts),
        slices_(static_cast<unsigned>(min(min(parts, count), (parts * count + reads_of_slice - 1) / reads_of_slice))),
        thread_(thread) {}

  // Returns true in one of the blocks that share the tile. In that block, `d` becomes the sums of all parts.
  __device__ __forceinline__ bool collect(int part, bool may_wait, sums* d) const {
    store_part(part, d);
    const bool few_sums = count <= few_vectors && slices_ == 1;
    unsigned slice = broadcast_from_one_thread([&] { return arrive(may_wait && !few_sums); });
    bool complete = few_sums && slice == 0;
    if (few_sums) {
      if (complete) add_all(d);
    } else {
      for (; slice < slices_; slice = broadcast_from_one_thread([&] { return finish_slice_and_take_another(); }))
        add_slice(static_cast<int>(count * slice / slices_), static_cast<int>(count * (slice + 1) / slices_));
      complete = slice == all_added;
      read_complete_sums(complete, d);
    }
    if (thread_ == 0 && atomicAdd(&counters_->finished, 1u) + 1 == static_cast<unsigned>(parts_))
      *reinterpret_cast<uint4*>(counters_) = uint4{0, 0, 0, 0};
    return complete;
  }

 private:
  struct alignas(16) vector_of_sums {
    static constexpr int count = 16 / sizeof(sums);
    sums x[count];
  };
  static constexpr int count = All / vector_of_sums::count;
  static constexpr int reads_of_slice = 32, few_vectors = 16, at_once = variant::registers_to_add / 4;
  static constexpr long long most_wait_cycles = 1 << 17;
  static constexpr unsigned nothing = ~0u, all_added = ~1u;  // returned instead of the number of a slice

  __device__ uint4* at(int part, int i) const { return memory_ + (static_cast<i64>(part) * count + i) * Threads; }
  static __device__ __forceinline__ void add(sums* to, const uint4& raw) {
    const vector_of_sums& s = reinterpret_cast<const vector_of_sums&>(raw);
#pragma unroll
    for (int j = 0; j < vector_of_sums::count; ++j) to[j] += s.x[j];
  }

  __device__ __forceinline__ void store_part(int part, const sums* d) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      vector_of_sums s;
#pragma unroll
      for (int j = 0; j < vector_of_sums::count; ++j) s.x[j] = d[i * vector_of_sums::count + j];
      __stcg(at(part, i), *reinterpret_cast<const uint4*>(&s));
    }
  }
  // Calls `f` in one thread, after all threads have written, and returns its result in all threads.
  template <class F>
  __device__ __forceinline__ unsigned broadcast_from_one_thread(const F& f) const {
    synchronize_();
    if (thread_ == 0) *broadcast_ = f();
    synchronize_();
    return *broadcast_;
  }
  // Counts this part. Returns the slice to add first, or `nothing` if some part has not arrived.
  __device__ unsigned arrive(bool may_wait) const {
    const auto parts = static_cast<unsigned>(parts_);
    bool all = count_and_publish(&counters_->arrived) + 1 == parts;
    if (!all && may_wait)
      for (const long long begun = clock64(); !all && clock64() - begun < most_wait_cycles;
           all = read_published(&counters_->arrived) == parts)
        __nanosleep(32);
    return all ? atomicAdd(&counters_->taken, 1u) : nothing;
  }
  __device__ unsigned finish_slice_and_take_another() const {
    if (count_and_publish(&counters_->added) + 1 == slices_) return all_added;
    return atomicAdd(&counters_->taken, 1u);
  }
  // Adds vectors [i, end) of all parts; the sums replace those of the first part in memory.
  __device__ __forceinline__ void add_slice(int i, int end) const {
    vector_of_sums sum{};
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
  // Sets incomplete sums to 0: keeping the part's own sums would take registers.
  __device__ __forceinline__ void read_complete_sums(bool complete, sums* d) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const uint4 raw = complete ? __ldcg(at(0, i)) : uint4{0, 0, 0, 0};
      const vector_of_sums& s = reinterpret_cast<const vector_of_sums&>(raw);
#pragma unroll
      for (int j = 0; j < vector_of_sums::count; ++j) d[i * vector_of_sums::count + j] = s.x[j];
    }
  }
  // Adds all sums in registers. Reads all vectors of a part at once, because a part has few.
  __device__ __forceinline__ void add_all(sums* d) const {
    constexpr int most = count <= few_vectors ? count : 1;
    read_complete_sums(true, d);
#pragma unroll 1
    for (int part = 1; part < parts_; ++part) {
      uint4 raw[most];
#pragma unroll
      for (int i = 0; i < most; ++i) raw[i] = __ldcg(at(part, i));
#pragma unroll
      for (int i = 0; i < most; ++i) add(d + i * vector_of_sums::count, raw[i]);
    }
  }

  uint4* memory_;  // this thread's first vector of part 0; at() adds the part and the vector
  tile_counters* counters_;
  volatile unsigned* broadcast_;
  const Synchronize& synchronize_;
  int parts_;
  unsigned slices_;
  int thread_;
};

}  // namespace troupe::cutlass::kernels
