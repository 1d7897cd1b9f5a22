// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attention.cuh"
#include "warps.cuh"

/// Attention of few rows of q, which reads half types as they are stored. The speed of memory limits it.
///
/// Each warp of a block processes 16 keys at a time with a softmax of its own; at the end the block combines the
/// softmaxes of its warps. A warp loads the next 16 keys while it computes with the current ones; k and v are loaded
/// into the registers that the products read. A product multiplies 16 keys by 8 rows of q, or 16 columns of v by the
/// weights of 8 rows. The tensor cores expect scattered elements in each lane, but a product may take its summands and
/// columns in any order. A lane therefore reads 16 contiguous bytes and uses them as they are.
namespace troupe::dnn::on_gpu {

/// Finds the rows of a sequence's keys in k and v.
class key_rows_of_sequence {
 public:
  __device__ key_rows_of_sequence(const attention_geometry& g, const query_tile& t, i64 end)
      : g_(g),
        pages_(g.pages.memory + t.keys.row * g.pages.stride),
        head_(static_cast<unsigned>(t.key_head)),
        first_(g.pool != 0 ? 0 : static_cast<int>(g.key_row(t.keys, t.key_head, 0))),
        last_(static_cast<int>(end)) {}
  __device__ int last() const { return last_; }
  /// Reads the page of a key, which row_of() needs.
  __device__ int page_of(int key) const {
    if (g_.pool == 0 || key >= last_) return -1;
    return pages_[static_cast<unsigned>(key) / page_tokens() * g_.pages.second_stride];
  }
  /// Returns the row of a key; -1 if the key or its page does not exist.
  __device__ int row_of(int key, int page) const {
    if (key >= last_) return -1;
    if (g_.pool == 0) return first_ + key;
    if (page < 0 || page >= static_cast<int>(g_.pool)) return -1;
    const auto offset = static_cast<unsigned>(key) % page_tokens();
    return static_cast<int>((page * static_cast<unsigned>(g_.key_heads) + head_) * page_tokens() + offset);
  }

 private:
  __device__ unsigned page_tokens() const { return static_cast<unsigned>(g_.page_tokens); }
  const attention_geometry& g_;
  const std::int32_t* pages_;  // pages of the sequence
  unsigned head_;
  int first_, last_;
};

/// Shared memory of a block that computes at most `Rows` rows of q. It also holds state of the block for which no
/// registers are free.
template <int Rows, int ValueWidth, int Warps>
struct decoding_memory {
  float y[Rows][ValueWidth + 4], largest[Warps][Rows], sums[Warps][Rows], slopes[Rows];
  int first_key[Rows], last_key[Rows], diagonals[Rows];
  i64 query_rows[Rows];
  query_tile tile;
  key_range keys;
  key_range plain;  // keys that all rows attend to, and whose scores are just scaled products
  i64 row_of_batch, key_head, first_head, token, next, end, part;

  /// Sets the row of the batch, the range of tokens and the part of the keys that this block computes.
  __device__ void begin(const attention_arguments& a) {
    const i64 most_rows = kernel_arguments::rows_of_sequence(a.g);
    const kernel_arguments::query_grid grid(a.g, most_rows);
    const i64 unit = blockIdx.x / a.parts;
    part = blockIdx.x % a.parts;
    key_head = unit / grid.tiles % grid.key_heads, row_of_batch = unit / grid.tiles / grid.key_heads;
    next = unit % grid.tiles * grid.tokens;
    end = next + grid.tokens < a.g.queries ? next + grid.tokens : a.g.queries;
  }
  /// Takes the next tokens that belong to one sequence as the tile, and finds the keys of this block's part.
  __device__ void take(const attention_arguments& a) {
    token = next;
    tile = tile_at(a.g, row_of_batch, token, end);
    tile.key_head = key_head, tile.first_head = key_head * a.g.shared, tile.heads = a.g.shared;
    next += tile.count;
    keys = plain = {};
    if (tile.sequence < 0) return;
    keys = part_of(visible_keys_of(a.g, tile), part, a.parts, 16 * Warps);
    if (a.g.soft_cap != 0 || a.g.has_alibi != 0) return;
    plain = {a.g.visible_keys(tile.first + tile.count - 1, tile.queries.count, tile.keys.count).first,
             a.g.visible_keys(tile.first, tile.queries.count, tile.keys.count).last};
  }
  __device__ void set_row(const attention_arguments& a, int r) {
    query_rows[r] = -1, first_key[r] = last_key[r] = diagonals[r] = 0, slopes[r] = 0;
    if (r >= tile.rows()) return;
    const i64 i = tile.query(r);
    const key_range visible = a.g.visible_keys(i, tile.queries.count, tile.keys.count);
    query_rows[r] = a.g.query_row(tile.queries, tile.head(r), i);
    first_key[r] = static_cast<int>(visible.first), last_key[r] = static_cast<int>(visible.last);
    diagonals[r] = static_cast<int>(a.g.diagonal(i, tile.queries.count, tile.keys.count));
    if (a.g.has_alibi != 0) slopes[r] = static_cast<float>(a.g.alibi_slope(tile.head(r)));
  }
};

/// Computes a tile of queries with a part of their keys. H is the type of q, k and v. A tile has at most 8 * `Eights`
/// rows of q. A warp loads `Ahead` times 16 keys in advance.
template <class H, int Width, int ValueWidth, int Eights, int Warps = kernel_arguments::decoding_warps, int Ahead = 1>
class decoder {
 public:
  static constexpr int rows = 8 * Eights, step = 16 * Warps;
  using memory = decoding_memory<rows, ValueWidth, Warps>;

  __device__ decoder(const attention_arguments& a, memory& m) : a_(a), m_(m) {
    for (int e = 0; e < Eights; ++e) base_[e][0] = base_[e][1] = masked_score<float>();
  }
  __device__ void attend() {
    if (threadIdx.x < rows) m_.set_row(a_, static_cast<int>(threadIdx.x));
    wait_for_block();
    load_queries();
    add_keys(key_rows_of_sequence(a_.g, m_.tile, m_.keys.last), static_cast<int>(m_.keys.first));
    add_warps();
    for (int n = static_cast<int>(threadIdx.x); n < m_.tile.rows() * ValueWidth; n += 32 * Warps) {
      const int r = n / ValueWidth, column = n % ValueWidth;
      const softmax_of_row all(m_, r);
      write_result<float>(a_, m_.part, m_.query_rows[r], column, m_.y[r][column], all.sum);
      if (column == 0) write_statistics<float>(a_, m_.part, m_.query_rows[r], all.largest * ln_2, all.sum);
    }
  }

 private:
  static constexpr int chunks = Width / 32, value_chunks = ValueWidth / 64, slices = ValueWidth / 16;
  static constexpr float log2_e = 1.44269504088896341f, ln_2 = 0.693147180559945309f;
  /// The most by which a row's largest score may exceed the row's base before the base is raised. A weight is 2^(score
  /// - base).
  static constexpr float slack = 8;

  /// The elements of 16 keys that a lane has: of k, keys g and g + 8; of v, keys 2j, 2j + 1, 2j + 8 and 2j + 9.
  struct sixteen_keys {
    eight_halves k[2][chunks], v[4][value_chunks];
    bool exists[2];
  };
  /// The largest score and the sum of weights of a row, combined from all warps.
  struct softmax_of_row {
    float largest = masked_score<float>(), sum = 0;
    __device__ softmax_of_row(const memory& m, int r) {
      for (int w = 0; w < Warps; ++w) largest = m.largest[w][r] > largest ? m.largest[w][r] : largest;
      for (int w = 0; w < Warps; ++w) sum += factor(m.largest[w][r], largest) * m.sums[w][r];
    }
  };

  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
  static __device__ int g() { return lane() / 4; }
  static __device__ int j() { return lane() % 4; }
  /// Returns the factor that converts sums from the base `before` to the base `now`.
  static __device__ float factor(float before, float now) { return before == now ? 1.0f : power_of_two(before - now); }

  __device__ void load_queries() {
    for (int e = 0; e < Eights; ++e) {
      const i64 row = m_.query_rows[8 * e + g()];
      const auto* const from = static_cast<const std::uint16_t*>(a_.q) + row * Width + j() * 8;
      for (int i = 0; i < chunks; ++i) q_[e][i] = row >= 0 ? read_once(from + i * 32) : eight_halves{};
    }
  }
  __device__ void load_k(int row, sixteen_keys& to) const {
    for (int n = 0; n < 2; ++n) {
      const int mine = from_lane(row, g() + 8 * n);
      const auto* const from = static_cast<const std::uint16_t*>(a_.k) + static_cast<i64>(mine) * Width + j() * 8;
      to.exists[n] = mine >= 0;
      for (int i = 0; i < chunks; ++i) to.k[n][i] = mine >= 0 ? read_once(from + i * 32) : eight_halves{};
    }
  }
  __device__ void load_v(int row, sixteen_keys& to) const {
    for (int n = 0; n < 4; ++n) {
      const int mine = from_lane(row, 2 * j() + n % 2 + n / 2 * 8);
      const auto* const from = static_cast<const std::uint16_t*>(a_.v) + static_cast<i64>(mine) * ValueWidth + g() * 8;
      for (int i = 0; i < value_chunks; ++i) to.v[n][i] = mine >= 0 ? read_once(from + i * 64) : eight_halves{};
    }
  }

  /// Processes the keys from `first` on. Lane n finds the row in k and v of key n % 16. It reads the key's page one
  /// iteration earlier.
  __device__ void add_keys(const key_rows_of_sequence& key_rows, int first) {
    sixteen_keys keys[Ahead];
    const int of_lane = lane() % 16;
    int key = first + warp() * 16, next = key + of_lane;
    for (int n = 0; n < Ahead; ++n, next += step) {
      const int row = key_rows.row_of(next, key_rows.page_of(next));
      load_k(row, keys[n]), load_v(row, keys[n]);
    }
    int row = key_rows.row_of(next, key_rows.page_of(next));
    while (key < key_rows.last()) {
      for (int n = 0; n < Ahead; ++n) {
        const int page = key_rows.page_of(next + step);
        float scores[Eights][4];
        find_scores(keys[n], key, scores);
        load_k(row, keys[n]);
        std::uint32_t weights[Eights][2];
        weigh(scores, weights);
        add(keys[n], weights);
        load_v(row, keys[n]);
        next += step, key += step;
        row = key_rows.row_of(next, page);
      }
    }
  }

  /// Computes the scores of keys g and g + 8 for rows 2j and 2j + 1, times log2(e).
  __device__ void find_scores(const sixteen_keys& keys, int first, float (&scores)[Eights][4]) const {
    for (int e = 0; e < Eights; ++e) {
      for (int i = 0; i < 4; ++i) scores[e][i] = 0;
      for (int c = 0; c < chunks; ++c)
        for (int i = 0; i < 4; i += 2)
          multiply_small<H>(
              scores[e],
              {keys.k[0][c].pair[i], keys.k[1][c].pair[i], keys.k[0][c].pair[i + 1], keys.k[1][c].pair[i + 1]},
              q_[e][c].pair[i], q_[e][c].pair[i + 1]);
    }
    if (keys.exists[0] && keys.exists[1] && first >= m_.plain.first && first + 16 <= m_.plain.last) {
      for (int e = 0; e < Eights; ++e)
        for (int i = 0; i < 4; ++i) scores[e][i] *= scale_;
    } else {
      for (int e = 0; e < Eights; ++e)
        for (int i = 0; i < 4; ++i)
          scores[e][i] = score(scores[e][i], 8 * e + 2 * j() + i % 2, first + g() + i / 2 * 8, keys.exists[i / 2]);
    }
  }
  __device__ float score(float product, int r, int key, bool exists) const {
    if (!exists || key < m_.first_key[r] || key >= m_.last_key[r]) return masked_score<float>();
    float s = product * scale_;
    if (a_.g.soft_cap != 0) {
      const float cap = static_cast<float>(a_.g.soft_cap) * log2_e;
      s = cap * std::tanh(s / cap);
    }
    if (a_.g.has_alibi != 0) s -= log2_e * m_.slopes[r] * static_cast<float>(std::abs(key - m_.diagonals[r]));
    return s;
  }

  /// Replaces scores by weights. Also stores them in `weights`, rounded to H and transposed: for row g, keys 2j and 2j
  /// + 1, then keys 2j + 8 and 2j + 9.
  __device__ void weigh(float (&scores)[Eights][4], std::uint32_t (&weights)[Eights][2]) {
    bool grows = false;
    for (int e = 0; e < Eights; ++e)
      for (int i = 0; i < 4; ++i) grows |= scores[e][i] > base_[e][i % 2] + slack;
    if (any_lane(grows)) raise_base(scores);
    for (int e = 0; e < Eights; ++e) {
      for (int i = 0; i < 4; ++i) {
        const float base = base_[e][i % 2];
        scores[e][i] = power_of_two(scores[e][i] - (base == masked_score<float>() ? 0.0f : base));
        sums_[e][i % 2] += scores[e][i];
      }
      weights[e][0] = transposed(pair_of<H>(scores[e][0], scores[e][1]));
      weights[e][1] = transposed(pair_of<H>(scores[e][2], scores[e][3]));
    }
  }
  __device__ void raise_base(const float (&scores)[Eights][4]) {
    TROUPE_UNROLLED
    for (int e = 0; e < Eights; ++e) TROUPE_UNROLLED
    for (int r = 0; r < 2; ++r) {
      const float before = base_[e][r];
      float now = before;
      for (int i = r; i < 4; i += 2) now = scores[e][i] > now ? scores[e][i] : now;
      for (int apart = 4; apart < 32; apart *= 2) {
        const float other = from_lane(now, lane() ^ apart);
        now = other > now ? other : now;
      }
      const float by = factor(before, now);
      base_[e][r] = now, sums_[e][r] *= by;
      TROUPE_UNROLLED
      for (int s = 0; s < slices; ++s) y_[e][s][r] *= by, y_[e][s][r + 2] *= by;
    }
  }

  /// Adds weights * v to y. A lane's columns in a slice are halves of the words of v that it has read, see column_of.
  __device__ void add(const sixteen_keys& keys, const std::uint32_t (&weights)[Eights][2]) {
    TROUPE_UNROLLED
    for (int s = 0; s < slices; ++s) {
      std::uint32_t v[4];
      TROUPE_UNROLLED
      for (int i = 0; i < 4; ++i) {
        const int n = i % 2 * slices + s, of = i / 2 * 2;
        const std::uint32_t first = keys.v[of][n / 8].pair[n % 8 / 2], second = keys.v[of + 1][n / 8].pair[n % 8 / 2];
        v[i] = n % 2 == 0 ? halves_of<false>(first, second) : halves_of<true>(first, second);
      }
      TROUPE_UNROLLED
      for (int e = 0; e < Eights; ++e) multiply_small<H>(y_[e][s], v, weights[e][0], weights[e][1]);
    }
  }
  /// Returns the column of a lane's first two elements in a slice of y, or of its other two if `others` is 1.
  static __device__ int column_of(int slice, int others) {
    const int n = others * slices + slice;
    return n / 8 * 64 + g() * 8 + n % 8;
  }

  /// Adds the y of all warps in shared memory. The warps add one after the other, so that results are the same in each
  /// run.
  __device__ void add_warps() {
    for (int e = 0; e < Eights; ++e)
      for (int r = 0; r < 2; ++r) {
        float sum = sums_[e][r];
        for (int apart = 4; apart < 32; apart *= 2) sum += from_lane(sum, lane() ^ apart);
        const int row = 8 * e + 2 * j() + r;
        if (g() == 0) m_.largest[warp()][row] = base_[e][r], m_.sums[warp()][row] = sum;
      }
    wait_for_block();
    for (int w = 0; w < Warps; ++w) {
      if (w == warp()) add_this_warp(w == 0);
      wait_for_block();
    }
  }
  __device__ void add_this_warp(bool first) {
    TROUPE_UNROLLED
    for (int e = 0; e < Eights; ++e) TROUPE_UNROLLED
    for (int r = 0; r < 2; ++r) {
      const int row = 8 * e + 2 * j() + r;
      float largest = masked_score<float>();
      for (int w = 0; w < Warps; ++w) largest = m_.largest[w][row] > largest ? m_.largest[w][row] : largest;
      const float by = factor(base_[e][r], largest);
      TROUPE_UNROLLED
      for (int s = 0; s < slices; ++s) TROUPE_UNROLLED
      for (int n = 0; n < 2; ++n) {
        float& to = m_.y[row][column_of(s, n)];
        to = (first ? 0.0f : to) + by * y_[e][s][r + 2 * n];
      }
    }
  }

  const attention_arguments& a_;
  memory& m_;
  const float scale_ = static_cast<float>(a_.g.scale) * log2_e;
  eight_halves q_[Eights][chunks];  // row g of each 8 rows
  // Sums, and the base that each sum's weights refer to, of rows 2j and 2j + 1 of each 8 rows.
  float y_[Eights][slices][4] = {}, sums_[Eights][2] = {};
  float base_[Eights][2];
};

/// Computes attention. Each block attends to one of the `a.parts` parts of the keys of its tiles.
template <class H, int Width, int ValueWidth, int Eights, int Warps = kernel_arguments::decoding_warps, int Ahead = 1>
__device__ void decode_attention(const attention_arguments& a) {
  using on_tile = decoder<H, Width, ValueWidth, Eights, Warps, Ahead>;
  __shared__ typename on_tile::memory m;
  if (threadIdx.x == 0) m.begin(a);
  for (bool more = true; more;) {
    if (threadIdx.x == 0) m.take(a);
    wait_for_block();
    if (m.tile.sequence < 0)
      write_nothing<float>(a, m.tile, m.row_of_batch, m.token, m.part, 0, ValueWidth);
    else
      on_tile(a, m).attend();
    more = m.next < m.end;
    wait_for_block();
  }
}

BOUNDED_KERNEL(decode_64_64_8_f16, 128, 3, kernel_arguments::attention_arguments, decode_attention<__half, 64, 64, 1>)
BOUNDED_KERNEL(decode_64_64_16_f16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__half, 64, 64, 2>)
BOUNDED_KERNEL(decode_64_128_8_f16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__half, 64, 128, 1>)
BOUNDED_KERNEL(decode_64_128_16_f16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__half, 64, 128, 2>)
BOUNDED_KERNEL(decode_128_64_8_f16, 128, 3, kernel_arguments::attention_arguments, decode_attention<__half, 128, 64, 1>)
BOUNDED_KERNEL(decode_128_64_16_f16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__half, 128, 64, 2>)
BOUNDED_KERNEL(decode_128_128_8_f16, 128, 3, kernel_arguments::attention_arguments, decode_attention<__half, 128, 128, 1>)
BOUNDED_KERNEL(decode_128_128_16_f16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__half, 128, 128, 2>)
BOUNDED_KERNEL(decode_64_64_8_bf16, 128, 3, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 64, 64, 1>)
BOUNDED_KERNEL(decode_64_64_16_bf16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 64, 64, 2>)
BOUNDED_KERNEL(decode_64_128_8_bf16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 64, 128, 1>)
BOUNDED_KERNEL(decode_64_128_16_bf16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 64, 128, 2>)
BOUNDED_KERNEL(decode_128_64_8_bf16, 128, 3, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 128, 64, 1>)
BOUNDED_KERNEL(decode_128_64_16_bf16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 128, 64, 2>)
BOUNDED_KERNEL(decode_128_128_8_bf16, 128, 3, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 128, 128, 1>)
BOUNDED_KERNEL(decode_128_128_16_bf16, 128, 2, kernel_arguments::attention_arguments, decode_attention<__nv_bfloat16, 128, 128, 2>)

}  // namespace troupe::dnn::on_gpu
