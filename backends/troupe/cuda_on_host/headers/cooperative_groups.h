// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of threads within a block. Kernels that use them run as fibers.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_
#pragma GCC system_header

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(TROUPE_PLACE) { ::troupe_cuda::barrier(0, file, line); }
  static unsigned thread_rank() { return ::troupe_cuda::current->thread; }
  static unsigned size() { return ::troupe_cuda::current->threads; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return ::blockIdx; }
  static dim3 group_dim() { return ::blockDim; }
  static dim3 dim_threads() { return ::blockDim; }
  static dim3 thread_index() {
    const unsigned t = thread_rank(), x = ::blockDim.x, y = ::blockDim.y;
    return dim3(t % x, t / x % y, t / x / y);
  }
};
inline thread_block this_thread_block() { return {}; }

// The common part of tiles and coalesced groups: groups of lanes of one warp.
template <class Self>
class lanes {
 public:
  void sync(TROUPE_PLACE) const { ::__syncwarp(mask(), file, line); }
  int any(int predicate, TROUPE_PLACE) const { return ::__any_sync(mask(), predicate, file, line); }
  int all(int predicate, TROUPE_PLACE) const { return ::__all_sync(mask(), predicate, file, line); }
  unsigned ballot(int predicate, TROUPE_PLACE) const {
    return self().pack(::__ballot_sync(mask(), predicate, file, line));
  }
  template <class T>
  unsigned match_any(T value, TROUPE_PLACE) const {
    return self().pack(::__match_any_sync(mask(), value, file, line));
  }
  template <class T>
  unsigned match_all(T value, int& predicate, TROUPE_PLACE) const {
    return self().pack(::__match_all_sync(mask(), value, &predicate, file, line));
  }
  template <class T>
  T shfl(T value, int rank, TROUPE_PLACE) const {
    return exchange(value, static_cast<unsigned>(rank) % self().size(), file, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, TROUPE_PLACE) const {
    const unsigned rank = self().thread_rank();
    return exchange(value, rank >= delta ? rank - delta : rank, file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, TROUPE_PLACE) const {
    const unsigned rank = self().thread_rank();
    return exchange(value, rank + delta < self().size() ? rank + delta : rank, file, line);
  }
  unsigned num_threads() const { return self().size(); }

 protected:
  unsigned mask() const { return self().lane_mask(); }
  const Self& self() const { return static_cast<const Self&>(*this); }
  // Exchanges values of any size, in pieces of 8 bytes.
  template <class T>
  T exchange(const T& value, unsigned rank, const char* file, unsigned line) const {
    const unsigned from = self().lane_of(rank);
    T out;
    for (size_t at = 0; at < sizeof(T); at += 8) {
      uint64_t word = 0;
      const size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
      __builtin_memcpy(&word, reinterpret_cast<const char*>(&value) + at, bytes);
      word = ::troupe_cuda::read_lane(mask(), word, from, file, line);
      __builtin_memcpy(reinterpret_cast<char*>(&out) + at, &word, bytes);
    }
    return out;
  }
};

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public lanes<thread_block_tile<Size, Parent>> {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0 && Size <= 32,
                "on the host engine a tile has 1, 2, 4, 8, 16 or 32 threads; use the whole block for more");

 public:
  static unsigned thread_rank() { return ::troupe_cuda::current->thread % Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned meta_group_rank() { return ::troupe_cuda::current->thread / Size; }
  static unsigned meta_group_size() { return (::troupe_cuda::current->threads + Size - 1) / Size; }
  template <class T>
  T shfl_xor(T value, unsigned lanes_apart, TROUPE_PLACE) const {
    const unsigned rank = thread_rank() ^ lanes_apart;
    return this->exchange(value, rank < Size ? rank : thread_rank(), file, line);
  }

  static unsigned lane_mask() { return (Size == 32 ? ~0u : (1u << Size) - 1) << first(); }
  static unsigned lane_of(unsigned rank) { return first() + rank; }
  static unsigned pack(unsigned lane_bits) { return lane_bits >> first() & (Size == 32 ? ~0u : (1u << Size) - 1); }

 private:
  static unsigned first() { return ::troupe_cuda::lane_id() / Size * Size; }
};
template <unsigned Size>
thread_block_tile<Size> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned Outer, class Parent>
thread_block_tile<Size, thread_block_tile<Outer, Parent>> tiled_partition(const thread_block_tile<Outer, Parent>&) {
  static_assert(Size <= Outer, "a tile cannot be larger than the tile that contains it");
  return {};
}

class coalesced_group : public lanes<coalesced_group> {
 public:
  explicit coalesced_group(unsigned mask) : mask_(mask) {}
  unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << ::troupe_cuda::lane_id()) - 1)));
  }
  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }

  unsigned lane_mask() const { return mask_; }
  unsigned lane_of(unsigned rank) const {
    unsigned rest = mask_;
    for (; rank > 0; --rank) rest &= rest - 1;
    return static_cast<unsigned>(__builtin_ctz(rest));
  }
  unsigned pack(unsigned lane_bits) const {
    unsigned out = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank)
      out |= (lane_bits >> __builtin_ctz(rest) & 1u) << rank;
    return out;
  }

 private:
  unsigned mask_;
};
inline coalesced_group coalesced_threads(TROUPE_PLACE) { return coalesced_group(::__activemask(file, line)); }

template <class Group>
void sync(const Group& group, TROUPE_PLACE) {
  group.sync(file, line);
}

// The position of a thread in the grid. The threads of a grid cannot wait for each other: its blocks do not all run at
// the same time.
class grid_group {
 public:
  // Returns false, as in a launch that is not cooperative. The host engine refuses cooperative launches.
  static constexpr bool is_valid() { return false; }
  [[noreturn]] static void sync(TROUPE_PLACE) { no_barrier(file, line); }
  [[noreturn]] static unsigned barrier_arrive(TROUPE_PLACE) { no_barrier(file, line); }
  [[noreturn]] static void barrier_wait(unsigned, TROUPE_PLACE) { no_barrier(file, line); }

  static dim3 group_dim() { return ::gridDim; }
  static dim3 dim_blocks() { return ::gridDim; }
  static dim3 dim_threads() {
    return dim3(::gridDim.x * ::blockDim.x, ::gridDim.y * ::blockDim.y, ::gridDim.z * ::blockDim.z);
  }
  static dim3 block_index() { return ::blockIdx; }
  static dim3 thread_index() {
    return dim3(::blockIdx.x * ::blockDim.x + ::threadIdx.x, ::blockIdx.y * ::blockDim.y + ::threadIdx.y,
                ::blockIdx.z * ::blockDim.z + ::threadIdx.z);
  }
  static unsigned long long num_blocks() { return volume(::gridDim); }
  static unsigned long long num_threads() { return volume(::gridDim) * volume(::blockDim); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long block_rank() { return rank(dim3(::blockIdx), ::gridDim); }
  static unsigned long long thread_rank() {
    return block_rank() * volume(::blockDim) + rank(dim3(::threadIdx), ::blockDim);
  }

 private:
  [[noreturn]] static void no_barrier(const char* file, unsigned line) {
    ::troupe_cuda::unsupported(
        "a barrier of the whole grid would need all blocks at once, which the host engine does not run; launch two "
        "kernels",
        file, line);
  }
  static unsigned long long volume(dim3 d) { return static_cast<unsigned long long>(d.x) * d.y * d.z; }
  static unsigned long long rank(dim3 at, dim3 size) {
    return (static_cast<unsigned long long>(at.z) * size.y + at.y) * size.x + at.x;
  }
};
inline grid_group this_grid() { return {}; }

// A cluster of blocks, which only GPUs have. Using one ends the launch.
struct cluster_group : grid_group {};
inline cluster_group this_cluster(TROUPE_PLACE) {
  ::troupe_cuda::unsupported("clusters of blocks exist on GPUs only; use one block, or several launches", file, line);
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

// Combines the values in tree order and gives the first lane's result to all lanes, so that rounding cannot make their
// results differ.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation&& operation, TROUPE_PLACE) {
  const unsigned rank = group.thread_rank(), size = group.size();
  for (unsigned apart = 1; apart < size; apart *= 2) {
    const T other = group.shfl_down(value, apart, file, line);
    if (rank % (2 * apart) == 0 && rank + apart < size) value = operation(value, other);
  }
  return group.shfl(value, 0, file, line);
}

}  // namespace cooperative_groups

#endif
