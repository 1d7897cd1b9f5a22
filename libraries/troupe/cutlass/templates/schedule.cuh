// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the tiles that a block computes. Included after `variant`, which has cluster_m, cluster_n, depth and divides.
namespace troupe::cutlass::kernels {

// One block's share of one tile.
struct work {
  int batch, tile_row, tile_column;  // in tiles
  int first, steps;                  // in stages along k
  int part, parts, slot;             // if the tile is divided: this part, all parts, and where sums are collected
  bool may_wait;                     // true if this block may wait for other parts: it has no part of another tile
  int first_row, end_row;            // rows of the product, or of the group of rows
  int row_batch;             // batch of operands with an element per row: 0 where groups of rows are consecutive
  int first_part, end_part;  // partial results, of 16 rows each: see results.cuh
};

// Parts of 16 rows, in as many as a block writes.
__device__ __forceinline__ int parts_of(int rows) {
  return (rows / variant::part_rows + (rows % variant::part_rows != 0 ? 1 : 0)) * (variant::part_rows / 16);
}

// Enumerates the tiles that a cluster computes. Divided tiles come first, so that the wait for their parts is short.
class plain_schedule {
 public:
  __device__ plain_schedule(const fixed_part& p, int cluster, int clusters)
      : p_(p),
        steps_(p.k / variant::depth + (p.k % variant::depth != 0 ? 1 : 0)),
        clusters_(clusters),
        cluster_(cluster),
        whole_(cluster) {
    if constexpr (variant::divides) {
      units_ = static_cast<i64>(count() - p.whole_tiles) * steps_;
      if (cluster < p.sharers) unit_ = units_ * cluster / p.sharers, end_ = units_ * (cluster + 1) / p.sharers;
    }
  }
  // A cluster computes its share of the divided tiles backwards: it ends with the last part of a tile, which another
  // has begun with.
  __device__ bool next(work& w) {
    if constexpr (variant::divides) {
      if (unit_ < end_) {
        const int tile = static_cast<int>((end_ - 1) / steps_);
        const i64 begin = static_cast<i64>(tile) * steps_;
        w.first = static_cast<int>(max(unit_ - begin, i64(0)));
        w.steps = static_cast<int>(end_ - begin) - w.first;
        const auto owner = [&](i64 unit) { return static_cast<int>(((unit + 1) * p_.sharers - 1) / units_); };
        const int from = owner(begin), to = owner(begin + steps_ - 1);
        w.part = cluster_ - from, w.parts = to - from + 1, w.slot = tile;
        place(p_.whole_tiles + tile, w);
        end_ -= w.steps;
        w.may_wait = unit_ >= end_;
        return true;
      }
    }
    // No tile without terms is divided.
    if (whole_ >= static_cast<unsigned>(variant::divides && steps_ > 0 ? p_.whole_tiles : count())) return false;
    place(static_cast<int>(whole_), w);
    whole_ += clusters_;
    w.first = 0, w.steps = steps_, w.part = 0, w.parts = 1;
    return true;
  }
  // Returns the stages of a whole tile.
  __device__ int steps() const { return steps_; }

 private:
  __device__ int across_m() const { return p_.tiles_m / variant::cluster_m; }
  __device__ int across_n() const { return p_.tiles_n / variant::cluster_n; }
  __device__ int count() const { return across_m() * across_n() * p_.batch; }
  // Tiles of a band are computed column by column, or row by row: adjacent tiles share data in the L2 cache.
  __device__ void place(int i, work& w) const {
    const int of_matrix = across_m() * across_n();
    w.batch = i / of_matrix, i -= w.batch * of_matrix;
    const bool along_n = p_.along_n != 0;
    const int height = along_n ? across_n() : across_m(), length = along_n ? across_m() : across_n();
    const int band = i / (p_.band * length), rest = i - band * p_.band * length;
    const int first = band * p_.band, here = min(p_.band, height - first);
    const int x = first + rest % here, y = rest / here;
    w.tile_row = (along_n ? y : x) * variant::cluster_m, w.tile_column = (along_n ? x : y) * variant::cluster_n;
    w.first_row = 0, w.end_row = p_.m, w.row_batch = w.batch;
    w.first_part = w.batch * parts_of(p_.m), w.end_part = w.first_part + parts_of(p_.m);
  }
  const fixed_part& p_;
  int steps_, clusters_, cluster_;
  unsigned whole_;  // goes beyond the last tile by as many as there are clusters
  // Stages of divided tiles in all, and those of this cluster.
  i64 units_ = 0, unit_ = 0, end_ = 0;
};

// The groups of rows whose numbers are known so far. None follows one whose number is wrong.
struct row_groups {
  const fixed_part& p;
  const int* sizes;  // in shared memory, as many as fit
  int group = 0, rows = 0, first_row = 0, first_part = 0;
  static constexpr int most = 1024;

  __device__ void begin() { take(); }
  __device__ bool over() const { return group >= p.batch; }
  __device__ void next() {
    first_part += parts_of(rows);
    first_row = p.packed != 0 ? first_row + rows : first_row;
    ++group;
    take();
  }

 private:
  __device__ void take() {
    if (over()) return;
    rows = group < most ? sizes[group] : p.group_sizes[group];
    if (rows >= 0 && rows <= p.m - first_row) return;
    if (blockIdx.x == 0 && threadIdx.x == 0 && p.wrong_group != nullptr)
      p.wrong_group[0] = group, p.wrong_group[1] = rows, p.wrong_group[2] = p.m - first_row;
    group = p.batch;
  }
};

// Enumerates the tiles of groups of rows: those of one group after the other, column by column.
class grouped_schedule {
 public:
  __device__ grouped_schedule(const fixed_part& p, int cluster, int clusters, const int* sizes)
      : groups_{p, sizes},
        steps_(p.k / variant::depth + (p.k % variant::depth != 0 ? 1 : 0)),
        clusters_(clusters),
        tile_(cluster) {
    groups_.begin();
  }
  __device__ bool next(work& w) {
    const fixed_part& p = groups_.p;
    for (; !groups_.over(); first_tile_ += across_m() * (p.tiles_n / variant::cluster_n), groups_.next()) {
      const int i = static_cast<int>(tile_ - first_tile_), height = across_m();
      if (i >= height * (p.tiles_n / variant::cluster_n)) continue;
      w.batch = groups_.group, w.row_batch = p.packed != 0 ? 0 : w.batch;
      w.tile_row = i % height * variant::cluster_m, w.tile_column = i / height * variant::cluster_n;
      w.first = 0, w.steps = steps_, w.part = 0, w.parts = 1, w.slot = 0;
      w.first_row = groups_.first_row, w.end_row = w.first_row + groups_.rows;
      w.first_part = groups_.first_part, w.end_part = w.first_part + parts_of(groups_.rows);
      tile_ += clusters_;
      return true;
    }
    return false;
  }
  __device__ int steps() const { return steps_; }

 private:
  __device__ int across_m() const {
    constexpr int rows = variant::tile_m * variant::cluster_m;
    return groups_.rows / rows + (groups_.rows % rows != 0 ? 1 : 0);
  }
  row_groups groups_;
  int steps_, clusters_;
  unsigned tile_, first_tile_ = 0;
};

#ifdef TROUPE_GROUPS
using schedule = grouped_schedule;
// Before anything else: reads the numbers of rows. All threads of the block call it.
__device__ __forceinline__ schedule schedule_of(const fixed_part& p, int cluster, int clusters) {
  __shared__ int sizes[row_groups::most];
  for (int i = static_cast<int>(threadIdx.x); i < min(p.batch, row_groups::most); i += static_cast<int>(blockDim.x))
    sizes[i] = p.group_sizes[i];
  __syncthreads();
  return schedule(p, cluster, clusters, sizes);
}
#else
using schedule = plain_schedule;
__device__ __forceinline__ schedule schedule_of(const fixed_part& p, int cluster, int clusters) {
  return schedule(p, cluster, clusters);
}
#endif

}  // namespace troupe::cutlass::kernels
