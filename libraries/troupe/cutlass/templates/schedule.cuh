// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which tiles a block computes. Included after `cell`, which has cluster_m, cluster_n, depth, divides and along_n.
namespace troupe::cutlass::kernels {

// One block's share of one tile.
struct work {
  int batch, tile_row, tile_column;  // in tiles
  int first, steps;                  // in stages along k
  int part, parts, slot;             // if the tile is divided: which part this is, and where the sums are collected
};

// Which tiles a cluster computes, in order. Divided tiles come first, so that others are computed while their sums are
// collected.
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
      // Each that takes part has something, so that the parts of a tile belong to clusters one after the other.
      dividing_ = static_cast<int>(min(units_, static_cast<i64>(clusters)));
      if (cluster < dividing_) unit_ = units_ * cluster / dividing_, end_ = units_ * (cluster + 1) / dividing_;
    }
  }
  __device__ bool next(work& w) {
    if constexpr (cell::divides) {
      if (unit_ < end_) {
        const int tile = static_cast<int>(unit_ / steps_);
        w.first = static_cast<int>(unit_ - static_cast<i64>(tile) * steps_);
        w.steps = static_cast<int>(min(static_cast<i64>(steps_ - w.first), end_ - unit_));
        const auto owner = [&](i64 unit) { return static_cast<int>(((unit + 1) * dividing_ - 1) / units_); };
        const int from = owner(static_cast<i64>(tile) * steps_), to = owner(static_cast<i64>(tile + 1) * steps_ - 1);
        w.part = cluster_ - from, w.parts = to - from + 1, w.slot = tile;
        place(p_.whole_tiles + tile, w);
        unit_ += w.steps;
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
    const int height = cell::along_n ? across_n() : across_m(), length = cell::along_n ? across_m() : across_n();
    const int band = i / (p_.band * length), rest = i - band * p_.band * length;
    const int first = band * p_.band, here = min(p_.band, height - first);
    const int x = first + rest % here, y = rest / here;
    w.tile_row = (cell::along_n ? y : x) * cell::cluster_m, w.tile_column = (cell::along_n ? x : y) * cell::cluster_n;
  }
  const fixed_part& p_;
  int steps_, clusters_, cluster_, whole_;
  // Of divided tiles: stages in all, those of this cluster, and how many clusters share them.
  i64 units_ = 0, unit_ = 0, end_ = 0;
  int dividing_ = 1;
};

}  // namespace troupe::cutlass::kernels
