// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attention and its gradient by dnn, compared with cuDNN called directly.
#include <bench/case_list.hpp>
#include <bench/gpu/graph_pair.hpp>
#include <bench/measures.hpp>

namespace troupe::bench {
namespace {

struct shape {
  std::int64_t batch, heads, tokens, width;
  bool causal;

  std::int64_t elements() const noexcept { return batch * heads * tokens * width; }
  // Counts the operations on the scores that are not masked: forward, two products; backward, five.
  double operations() const noexcept {
    return 4. * static_cast<double>(elements()) * static_cast<double>(tokens) / (causal ? 2 : 1);
  }
  // Heads of the same token are adjacent.
  tensor<bfloat16> tensor_of(const buffer<bfloat16>& b) const {
    return tensor<bfloat16>(b, {batch, heads, tokens, width}, {tokens * heads * width, width, heads * width, 1});
  }
  std::string text() const {
    return cat(tokens, " tokens, ", batch, " of ", heads, " heads of ", width, causal ? ", causal" : "");
  }
};

std::vector<shape> shapes(const settings& s) {
  if (s.engine == "host") return {{1, 2, 20, 16, false}, {2, 1, 16, 8, true}};
  // Each case has 32,768 tokens of 2,048 elements in total.
  constexpr std::int64_t all = 32768, numbers = 2048;
  std::vector<shape> out;
  for (const std::int64_t width : {64, 128})
    for (std::int64_t tokens = 1024; tokens <= all; tokens *= s.quick ? 32 : 2)
      for (const bool causal : {false, true}) out.push_back({all / tokens, numbers / width, tokens, width, causal});
  return out;
}

void compare_shape(const settings& s, const dnn_sides& on, const shape& a, case_list& all) {
  const device& gpu = *on.gpu;
  const auto random = [&](std::uint64_t seed) { return a.tensor_of(random_buffer<bfloat16>(gpu, a.elements(), seed)); };
  const auto empty = [&] { return a.tensor_of(gpu.alloc<bfloat16>(static_cast<std::size_t>(a.elements()))); };
  const auto q = random(1), k = random(2), v = random(3), dy = random(4), y = empty(), dq = empty(), dk = empty(),
             dv = empty();
  const tensor<float> statistics(gpu.alloc<float>(static_cast<std::size_t>(a.batch * a.heads * a.tokens)),
                                 {a.batch, a.heads, a.tokens, 1});
  dnn::attention_options how;
  if (a.causal) how.window = dnn::causal;
  const dnn::value read_q = dnn::read(q), read_k = dnn::read(k), read_v = dnn::read(v);
  const auto compare = [&](const char* name, double operations, const dnn::computation& r) {
    add_case(all, name, operations, 1, s, on, r);
  };
  all.begin_line(a.text());
  const dnn::attended of = attention(read_q, read_k, read_v, how);
  compare("forward", a.operations(), {.graph = {write(of.y, y), write(of.statistics, statistics)}});
  const dnn::attention_gradients g =
      attention_gradient(dnn::read(dy), {dnn::read(y), dnn::read(statistics)}, read_q, read_k, read_v, how);
  compare("backward", 2.5 * a.operations(),
          {.graph = {write(g.dq, dq), write(g.dk, dk), write(g.dv, dv)},
           .options = {.repeatability = dnn::repeatability::not_needed}});
}

}  // namespace

figures run_dnn_attention(const settings& s) {
  const dnn_sides on(s);
  case_list all(1e12, "TFLOP/s");
  for (const shape& a : shapes(s)) compare_shape(s, on, a, all);
  return all.total(dnn_attention.goal.limit);
}

}  // namespace troupe::bench
