// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares attention and its gradients with the reference in double precision.
#include <limits>
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f8e5m2, dtype::i8};

class dnn_attention : public dnn_numerics {
 protected:
  struct sizes {
    std::int64_t batch, heads, key_heads, queries, keys, width, value_width;
  };
  // Returns mostly small extents; some exceed the tiles of the engines.
  sizes any_sizes() {
    const std::int64_t key_heads = random.between(1, 3), longest = random.one_of<std::int64_t>({5, 20, 70, 140});
    return {random.between(1, 3),
            key_heads * random.one_of<std::int64_t>({1, 1, 2, 5}),
            key_heads,
            random.between(1, longest),
            random.between(1, longest),
            any_width(),
            any_width()};
  }
  std::int64_t any_width() { return random.between(0, 9) == 0 ? random.between(120, 160) : random.between(1, 40); }
  bool coin(std::int64_t of = 2) { return random.between(1, of) == 1; }

  value whole(const extents& e, std::vector<std::int32_t> values) {
    stored_tensor& t = stored(dtype::i32, e);
    std::size_t next = 0;
    t.fill([&] { return values[next++]; });
    return value(t.operand<access_mode::read>());
  }
  value some_whole(std::int64_t count, std::int64_t low, std::int64_t high) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(count));
    for (std::int32_t& n : out) n = static_cast<std::int32_t>(random.between(low, high));
    return whole({count}, out);
  }
  // Returns offsets of packed sequences. Some sequences are empty, and some tokens belong to no sequence.
  value some_offsets(std::int64_t batch, std::int64_t tokens) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(batch + 1));
    for (std::int32_t& n : out) n = static_cast<std::int32_t>(random.between(coin(3) ? 1 : 0, tokens));
    std::sort(out.begin(), out.end());
    if (coin()) out.front() = 0, out.back() = static_cast<std::int32_t>(tokens);
    return whole({batch + 1}, out);
  }

  // Returns options that any tensors of q, k and v allow.
  attention_options any_options() {
    attention_options o;
    if (coin(3)) o.scale = random.value();
    if (coin(3)) o.soft_cap = 0.5 + std::fabs(random.value());
    o.alibi = coin(3);
    if (coin()) o.window.right = coin() ? 0 : random.between(0, 20);
    if (coin(3)) o.window.left = random.between(0, 40);
    o.window.bottom_right = coin();
    if (coin(4)) {
      o.dropout = attention_dropout{.probability = 0.1 * static_cast<double>(random.between(1, 8)),
                                    .seed = static_cast<std::uint64_t>(random.between(0, 1ll << 60)),
                                    .offset = static_cast<std::uint32_t>(random.between(0, 0xffffffff))};
      if (coin()) o.dropout->step = some_whole(1, -5, 1000);
    }
    return o;
  }
  void add_lengths(attention_options& o, const sizes& s) {
    if (coin(3)) o.queries.lengths = some_whole(s.batch, -1, s.queries + 2);
    if (coin(3)) o.keys.lengths = some_whole(s.batch, -1, s.keys + 2);
  }
  void add_bias(attention_options& o, const sizes& s, dtype t) {
    const auto one = [&](std::int64_t n) { return coin(3) ? 1 : n; };
    o.bias = given(t, {one(s.batch), one(s.heads), one(s.queries), one(s.keys)});
  }

  struct tensors {
    value q, k, v;
  };
  tensors all(dtype t, const sizes& s) {
    return {given(t, {s.batch, s.heads, s.queries, s.width}), given(t, {s.batch, s.key_heads, s.keys, s.width}),
            given(t, {s.batch, s.key_heads, s.keys, s.value_width})};
  }
  void expect_gradients(const tensors& x, dtype t, const attention_options& o) {
    const attended a = attention(x.q, x.k, x.v, o);
    const auto of_y = a.y.extents();
    const value dy = given(t, {of_y.begin(), of_y.end()});
    const auto g = attention_gradient(dy, a, x.q, x.k, x.v, o);
    std::vector<value> results{a.y, a.statistics, g.dq, g.dk, g.dv};
    if (o.bias) results.push_back(g.dbias);
    expect_as_defined(results, dtype::f32, 4e-4);
  }
};

TEST_F(dnn_attention, attention_with_any_options_and_its_gradients_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 4 && !HasFailure(); ++i) {
      const sizes s = any_sizes();
      attention_options o = any_options();
      add_lengths(o, s);
      if (coin()) add_bias(o, s, t);
      if (t == dtype::i8) o.scale = 0.02;  // products of i8 are large
      expect_gradients(all(t, s), t, o);
    }
}

TEST_F(dnn_attention, attention_of_packed_sequences_matches_the_definition) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    sizes s = any_sizes();
    const std::int64_t sequences = random.between(1, 6);
    attention_options o = any_options();
    o.queries.offsets = some_offsets(sequences, s.queries), o.keys.offsets = some_offsets(sequences, s.keys);
    s.batch = 1;
    expect_gradients(all(dtype::f32, s), dtype::f32, o);
    // Only the queries, or only the keys, are packed.
    attention_options mixed = any_options();
    mixed.queries.offsets = o.queries.offsets;
    mixed.keys.lengths = some_whole(sequences, 0, s.keys);
    const value q = given(dtype::f16, {1, s.heads, s.queries, s.width}),
                k = given(dtype::f16, {sequences, s.key_heads, s.keys, s.width}),
                v = given(dtype::f16, {sequences, s.key_heads, s.keys, s.value_width});
    expect_gradients({q, k, v}, dtype::f32, mixed);
    mixed.queries = {.lengths = some_whole(sequences, 0, s.queries), .offsets = {}}, mixed.keys = o.keys;
    expect_gradients({given(dtype::f32, {sequences, s.heads, s.queries, s.width}),
                      given(dtype::f32, {1, s.key_heads, s.keys, s.width}),
                      given(dtype::f32, {1, s.key_heads, s.keys, s.value_width})},
                     dtype::f32, mixed);
  }
}

TEST_F(dnn_attention, attention_of_pages_matches_the_definition_and_ignores_missing_pages) {
  for (int i = 0; i < 16 && !HasFailure(); ++i) {
    sizes s = any_sizes();
    const std::int64_t pool = random.between(1, 9), of_a_page = random.one_of<std::int64_t>({1, 3, 16, 40}),
                       pages = random.between(1, 8);
    const dtype t = random.one_of({dtype::f32, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f64});
    std::vector<std::int32_t> table(static_cast<std::size_t>(s.batch * pages));
    for (std::int32_t& page : table)
      page = coin(4) ? random.one_of<std::int32_t>({-1, static_cast<std::int32_t>(pool), 0x7fffffff,
                                                    std::numeric_limits<std::int32_t>::min(), 1 << 30})
                     : static_cast<std::int32_t>(random.between(0, pool - 1));
    attention_options o = any_options();
    s.keys = pages * of_a_page;
    add_lengths(o, s);
    if (coin(3)) add_bias(o, s, dtype::f32);
    o.pages = whole({s.batch, pages}, table);
    const attended a =
        attention(given(t, {s.batch, s.heads, s.queries, s.width}), given(t, {pool, s.key_heads, of_a_page, s.width}),
                  given(t, {pool, s.key_heads, of_a_page, s.value_width}), o);
    expect_as_defined({a.y, a.statistics}, dtype::f32, 2e-4);
  }
}

// With few queries and many keys, engines divide the keys into parts.
TEST_F(dnn_attention, attention_of_few_queries_matches_the_definition) {
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    sizes s = any_sizes();
    s.queries = random.between(1, 3), s.keys = random.between(900, 3000), s.batch = random.between(1, 2);
    attention_options o = any_options();
    add_lengths(o, s);
    if (coin(3)) add_bias(o, s, dtype::f32);
    const tensors x = all(random.one_of({dtype::f32, dtype::f16, dtype::f64}), s);
    const attended a = attention(x.q, x.k, x.v, o);
    expect_as_defined({a.y, a.statistics}, dtype::f32, 2e-4);
  }
}

// Extents as in decoding: heads that share keys, dense tensors of half types, keys in rows, packed or in pages.
TEST_F(dnn_attention, attention_of_few_queries_of_half_types_matches_the_definition) {
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    const dtype t = random.one_of({dtype::f16, dtype::bf16});
    sizes s = any_sizes();
    s.heads = s.key_heads * random.one_of<std::int64_t>({1, 2, 4, 5, 8, 16});
    s.queries = random.between(1, std::max<std::int64_t>(1, 17 * s.key_heads / s.heads));
    s.keys = coin() ? random.between(1, 100) : random.between(500, 1100);
    s.width = coin() ? 64 : 128, s.value_width = coin(4) ? 192 - s.width : s.width;
    attention_options o = any_options();
    o.dropout.reset();
    add_lengths(o, s);
    extents of_k{s.batch, s.key_heads, s.keys, s.width};
    if (const std::int64_t kind = random.between(0, 3); kind < 2) {
      const std::int64_t of_a_page = random.one_of<std::int64_t>({1, 7, 16, 24, 64}),
                         pages = (s.keys + of_a_page - 1) / of_a_page, pool = s.batch * pages + 3;
      std::vector<std::int32_t> table(static_cast<std::size_t>(s.batch * pages));
      for (std::int32_t& page : table) page = static_cast<std::int32_t>(random.between(kind == 0 ? 0 : -1, pool));
      s.keys = pages * of_a_page;
      o.pages = whole({s.batch, pages}, table);
      of_k = {pool, s.key_heads, of_a_page, s.width};
    } else if (kind == 2) {
      o.keys = {.lengths = {}, .offsets = some_offsets(s.batch, s.keys)};
      of_k[0] = 1;
    }
    extents of_q{s.batch, s.heads, s.queries, s.width};
    if (coin(4)) {
      o.queries = {.lengths = {}, .offsets = some_offsets(s.batch, s.batch * s.queries)};
      of_q[0] = 1, of_q[2] *= s.batch;
    }
    extents of_v = of_k;
    of_v[3] = s.value_width;
    const value q = given(t, of_q, dense), k = given(t, of_k, dense), v = given(t, of_v, dense);
    SCOPED_TRACE(cat("heads ", s.heads, ", of keys ", s.key_heads, ", queries ", s.queries, ", keys ", s.keys,
                     ", widths ", s.width, " and ", s.value_width));
    const attended a = attention(q, k, v, o);
    expect_as_defined({a.y}, dtype::f32, t == dtype::bf16 ? 1e-2 : 1e-3);
    expect_as_defined({convert(a.y, t)}, t, t == dtype::bf16 ? 2e-2 : 3e-3);
    expect_as_defined({a.statistics}, dtype::f32, 2e-4);
  }
}

TEST_F(dnn_attention, tokens_after_the_end_of_their_sequence_are_ignored) {
  const auto with_nan = [&](const extents& e, std::int64_t tokens, dtype type = dtype::f32) {
    stored_tensor& t = stored(type, e, type == dtype::f32 ? anyhow : dense);
    std::int64_t next = 0;
    const std::int64_t width = e[3], all = e[2];
    t.fill([&] { return next++ / width % all < tokens ? random.value() : std::nan(""); });
    return value(t.operand<access_mode::read>());
  };
  for (const std::int64_t keys : {3, 70, 1500}) {
    const value q = with_nan({1, 4, 9, 8}, 5), k = with_nan({1, 2, keys + 9, 8}, keys),
                v = with_nan({1, 2, keys + 9, 8}, keys);
    const attention_options o{.queries = {.lengths = whole({1}, {5})},
                              .keys = {.lengths = whole({1}, {static_cast<std::int32_t>(keys)})}};
    const attended a = attention(q, k, v, o);
    const auto g = attention_gradient(with_nan({1, 4, 9, 8}, 5), a, q, k, v, o);
    expect_as_defined({a.y, a.statistics, g.dq, g.dk, g.dv}, dtype::f32, 2e-4);
    const attended b = attention(
        with_nan({1, 4, 3, 64}, 2, dtype::f16), with_nan({1, 2, keys + 9, 64}, keys, dtype::f16),
        with_nan({1, 2, keys + 9, 64}, keys, dtype::f16), {.queries = {.lengths = whole({1}, {2})}, .keys = o.keys});
    expect_as_defined({b.y, b.statistics}, dtype::f32, 1e-3);
  }
}

TEST_F(dnn_attention, keys_with_a_bias_of_minus_infinity_are_ignored) {
  stored_tensor& bias = stored(dtype::f32, {1, 1, 7, 90});
  std::int64_t next = 0;
  bias.fill([&] { return next++ / 90 == 3 || coin() ? -std::numeric_limits<double>::infinity() : random.value(); });
  attention_options o;
  o.bias = value(bias.operand<access_mode::read>());
  expect_gradients(all(dtype::f32, {2, 2, 1, 7, 90, 8, 8}), dtype::f32, o);
}

// Attention that vendors' libraries support: q, k, v and y have half types, and there are no options except a window.
TEST_F(dnn_attention, attention_from_half_types_to_half_types_matches_the_definition) {
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    const dtype t = random.one_of({dtype::f16, dtype::bf16});
    sizes s = any_sizes();
    s.width = 8 * random.between(1, 16), s.value_width = coin() ? s.width : 8 * random.between(1, 16);
    attention_options o;
    if (coin()) o.window.right = coin() ? 0 : random.between(0, 20);
    if (coin(3)) o.window.left = random.between(0, 40);
    o.window.bottom_right = coin();
    const tensors x = all(t, s);
    const attended a = attention(x.q, x.k, x.v, o);
    const attended rounded{convert(a.y, t), a.statistics};
    const value dy = given(t, {s.batch, s.heads, s.queries, s.value_width});
    const auto g = attention_gradient(dy, rounded, x.q, x.k, x.v, o);
    SCOPED_TRACE("queries " + std::to_string(s.queries) + ", keys " + std::to_string(s.keys) + ", widths " +
                 std::to_string(s.width) + " and " + std::to_string(s.value_width));
    // Vendors' libraries round the attention weights before they multiply them with v.
    expect_as_defined({rounded.y, g.dq, g.dk, g.dv}, t, t == dtype::bf16 ? 3e-2 : 6e-3);
  }
}

// Tests only that no memory outside the results is written; the results are unspecified.
TEST_F(dnn_attention, invalid_offsets_write_no_memory_outside_the_results) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const sizes s = any_sizes();
    const std::int64_t sequences = random.between(1, 5);
    const auto wild = [&] {
      std::vector<std::int32_t> out(static_cast<std::size_t>(sequences + 1));
      for (std::int32_t& n : out)
        n = coin(3) ? random.one_of<std::int32_t>({std::numeric_limits<std::int32_t>::min(), -1, 0x7fffffff})
                    : static_cast<std::int32_t>(random.between(0, s.keys + s.queries));
      return whole({sequences + 1}, out);
    };
    attention_options o = any_options();
    o.queries.offsets = wild(), o.keys.offsets = wild();
    const tensors x = all(dtype::f32, {1, s.heads, s.key_heads, s.queries, s.keys, s.width, s.value_width});
    const attended a = attention(x.q, x.k, x.v, o);
    const auto g = attention_gradient(given(dtype::f32, {1, s.heads, s.queries, s.value_width}), a, x.q, x.k, x.v, o);
    std::vector<written> to;
    std::vector<stored_tensor*> memory;
    for (const value& v : {a.y, a.statistics, g.dq, g.dk, g.dv}) {
      memory.push_back(
          &stored(dtype::f32, extents(v.extents().begin(), v.extents().end()), stored_tensor::storing::dense));
      to.push_back({v, memory.back()->operand<access_mode::write>()});
    }
    run(computation{.graph = graph(to)});
    for (stored_tensor* t : memory) EXPECT_TRUE(t->untouched_outside());
  }
}

// In some cases, more heads share keys than there are rows in a tile.
TEST_F(dnn_attention, any_number_of_heads_can_share_keys) {
  for (const std::int64_t heads : {63, 64, 65, 130})
    expect_gradients(all(dtype::f32, {1, heads, 1, 3, 5, 4, 4}), dtype::f32, {.alibi = true});
}

}  // namespace
}  // namespace troupe::dnn
