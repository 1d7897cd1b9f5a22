// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which tiles a block computes. Included after `cell`, which has cluster_m, cluster_n, depth and divides.
namespace troupe::cutlass::kernels {

// One block's share of one tile.
struct work {
  int batch, tile_row, tile_column;  // in tiles
  int first, steps;                  // in stages along k
  int part, parts, slot;             // if the tile is divided: which part this is, and where the sums are collected
};

// Which tiles a cluster computes, in order. Divided tiles come first, so that the wait for their parts is short.
class schedule {
 public:
  __device__ schedule(const fixed_part& p, int cluster, int clusters)
      : p_(p),
        steps_(p.k / cell::depth + (p.k % cell::depth != 0 ? 1 : 0)),
        clusters_(clusters),
        cluster_(cluster),
        whole_(cluster) {
    if constexpr (cell::divides) {
      units_ = static_cast<i64>(count() - p.whole_tiles) * steps_;
      if (cluster < p.sharers) unit_ = units_ * cluster / p.sharers, end_ = units_ * (cluster + 1) / p.sharers;
    }
  }
  // A cluster walks its share of the divided tiles backwards: it begins with the first part of a tile, whose last part
  // another ends with. That one has the higher number, so that it never waits for blocks that have not begun.
  __device__ bool next(work& w) {
    if constexpr (cell::divides) {
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
        return true;
      }
    }
    // Without terms nothing is divided.
    if (whole_ >= (cell::divides && steps_ > 0 ? p_.whole_tiles : count())) return false;
    place(whole_, w);
    whole_ += clusters_;
    w.first = 0, w.steps = steps_, w.part = 0, w.parts = 1;
    return true;
  }
  // How many stages a whole tile has.
  __device__ int steps() const { return steps_; }

 private:
  __device__ int across_m() const { return p_.tiles_m / cell::cluster_m; }
  __device__ int across_n() const { return p_.tiles_n / cell::cluster_n; }
  __device__ int count() const { return across_m() * across_n() * p_.batch; }
  // Tiles of a band are walked column by column, or row by row: neighbours share what is in the second cache.
  __device__ void place(int i, work& w) const {
    const int of_matrix = across_m() * across_n();
    w.batch = i / of_matrix, i -= w.batch * of_matrix;
    const bool along_n = p_.along_n != 0;
    const int height = along_n ? across_n() : across_m(), length = along_n ? across_m() : across_n();
    const int band = i / (p_.band * length), rest = i - band * p_.band * length;
    const int first = band * p_.band, here = min(p_.band, height - first);
    const int x = first + rest % here, y = rest / here;
    w.tile_row = (along_n ? y : x) * cell::cluster_m, w.tile_column = (along_n ? x : y) * cell::cluster_n;
  }
  const fixed_part& p_;
  int steps_, clusters_, cluster_, whole_;
  // Of divided tiles: stages in all, and those of this cluster.
  i64 units_ = 0, unit_ = 0, end_ = 0;
};

}  // namespace troupe::cutlass::kernels
