// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the tiles that a block computes. Included after `variant`, which has cluster_m, cluster_n, depth and divides.
namespace troupe::cutlass::kernels {

// One block's share of one tile.
struct work {
  int batch, tile_row, tile_column;  // row and column counted in tiles
  int first, steps;                  // the first stage along k, and the number of stages
  int part, parts, slot;             // of a divided tile: this part, the number of parts, the number of the tile
  bool may_wait;                     // true if this block has no part of another tile, and may wait for other parts
  int first_row, end_row;            // rows of the product, or of the group of rows
  int row_batch;             // batch index of operands with an element per row: 0 if groups are consecutive rows
  int first_part, end_part;  // range of partial results, one for each 16 rows: see results.cuh
};

// Returns the number of parts of 16 rows that blocks write for `rows` rows.
__device__ __forceinline__ int parts_of(int rows) {
  return (rows / variant::part_rows + (rows % variant::part_rows != 0 ? 1 : 0)) * (variant::part_rows / 16);
}

// Enumerates the tiles that a cluster computes. Divided tiles come first, so that blocks wait little for their parts.
class plain_schedule {
 public:
  __device__ plain_schedule(const fixed_arguments& p, int cluster, int clusters)
      : p_(p),
        steps_(p.k / variant::depth + (p.k % variant::depth != 0 ? 1 : 0)),
        clusters_(clusters),
        cluster_(cluster),
        undivided_(cluster) {
    if constexpr (variant::divides) {
      units_ = static_cast<i64>(count() - p.undivided_tiles) * steps_;
      if (cluster < p.sharers) unit_ = units_ * cluster / p.sharers, end_ = units_ * (cluster + 1) / p.sharers;
    }
  }
  // Sets `w` to the next tile; returns false if there is none. A cluster computes its share of the divided tiles
  // backwards: it ends with the last part of a tile, whose first part another cluster has computed at the beginning.
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
        locate_tile(p_.undivided_tiles + tile, w);
        end_ -= w.steps;
        w.may_wait = unit_ >= end_;
        return true;
      }
    }
    // If k is 0, tiles are not divided.
    if (undivided_ >= static_cast<unsigned>(variant::divides && steps_ > 0 ? p_.undivided_tiles : count()))
      return false;
    locate_tile(static_cast<int>(undivided_), w);
    undivided_ += clusters_;
    w.first = 0, w.steps = steps_, w.part = 0, w.parts = 1;
    return true;
  }
  // Returns the number of stages of an undivided tile.
  __device__ int steps() const { return steps_; }

 private:
  __device__ int across_m() const { return p_.tiles_m / variant::cluster_m; }
  __device__ int across_n() const { return p_.tiles_n / variant::cluster_n; }
  __device__ int count() const { return across_m() * across_n() * p_.batch; }
  // Sets the row, column and batch of tile number i. The tiles of a band are computed column by column, or row by row,
  // so that adjacent tiles share data in the L2 cache.
  __device__ void locate_tile(int i, work& w) const {
    const int tiles_per_matrix = across_m() * across_n();
    w.batch = i / tiles_per_matrix, i -= w.batch * tiles_per_matrix;
    const bool along_n = p_.along_n != 0;
    const int height = along_n ? across_n() : across_m(), length = along_n ? across_m() : across_n();
    const int band = i / (p_.band * length), rest = i - band * p_.band * length;
    const int first = band * p_.band, here = min(p_.band, height - first);
    const int x = first + rest % here, y = rest / here;
    w.tile_row = (along_n ? y : x) * variant::cluster_m, w.tile_column = (along_n ? x : y) * variant::cluster_n;
    w.first_row = 0, w.end_row = p_.m, w.row_batch = w.batch;
    w.first_part = w.batch * parts_of(p_.m), w.end_part = w.first_part + parts_of(p_.m);
  }
  const fixed_arguments& p_;
  int steps_, clusters_, cluster_;
  unsigned undivided_;  // the next undivided tile; exceeds the last tile by at most the number of clusters
  // The stages of all divided tiles, and this cluster's share [unit_, end_) of them.
  i64 units_ = 0, unit_ = 0, end_ = 0;
};

// Iterates over the groups of rows; ends at the first group of a wrong size.
struct row_groups {
  const fixed_arguments& p;
  const int* sizes;  // the first `most` sizes, in shared memory
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

// Enumerates the tiles of groups of rows, group after group, in each column by column.
class grouped_schedule {
 public:
  __device__ grouped_schedule(const fixed_arguments& p, int cluster, int clusters, const int* sizes)
      : groups_{p, sizes},
        steps_(p.k / variant::depth + (p.k % variant::depth != 0 ? 1 : 0)),
        clusters_(clusters),
        tile_(cluster) {
    groups_.begin();
  }
  __device__ bool next(work& w) {
    const fixed_arguments& p = groups_.p;
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
// Reads the sizes of the groups, and makes the schedule. All threads of the block call it, before anything else.
__device__ __forceinline__ schedule schedule_of(const fixed_arguments& p, int cluster, int clusters) {
  __shared__ int sizes[row_groups::most];
  for (int i = static_cast<int>(threadIdx.x); i < min(p.batch, row_groups::most); i += static_cast<int>(blockDim.x))
    sizes[i] = p.group_sizes[i];
  __syncthreads();
  return schedule(p, cluster, clusters, sizes);
}
#else
using schedule = plain_schedule;
__device__ __forceinline__ schedule schedule_of(const fixed_arguments& p, int cluster, int clusters) {
  return schedule(p, cluster, clusters);
}
#endif

}  // namespace troupe::cutlass::kernels
