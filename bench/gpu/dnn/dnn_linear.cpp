// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Linear layers of dnn, compared with cuBLASLt called directly, on the same random data.
#include <algorithm>
#include <bench/device_under_test.hpp>
#include <bench/gpu/model_layers.hpp>
#include <bench/gpu/product_pair.hpp>
#include <bench/measures.hpp>
#include <bench/ratio_list.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/dnn.hpp>

namespace troupe::bench {
namespace {

// Returns a layer as a model computes it: its result is rounded to the type in which the next layer reads it.
dnn::computation layer(const product_pair& p) {
  dnn::value y = product(dnn::value(p.a(0)), dnn::value(p.b(0)));
  if (p.problem.epilogue == raw_matmul_epilogue::bias_gelu) y = gelu_tanh(y + dnn::value(p.bias()));
  return {.graph = {dnn::written{convert(y, p.d(0).type()), p.d(0)}}};
}

}  // namespace

figures run_dnn_linear(const settings& s) {
  const device_under_test gpu(s, {.libraries = {"dnn"}, .wait = wait_policy::latency});
  ratio_list all;
  const std::span<const product_extents> layers = layers_for(s);
  for (const product_extents& e : layers.first(std::min<std::size_t>(layers.size(), 12)))
    for (const auto epilogue : {raw_matmul_epilogue::none, raw_matmul_epilogue::bias_gelu}) {
      const product_pair both(s, *gpu,
                              {.type = raw_matmul_type::bf16, .m = e.m, .n = e.n, .k = e.k, .epilogue = epilogue});
      const dnn::computation request = layer(both);
      gpu->ask(dnn::prepare{request}).get().value();
      const auto times = static_cast<int>(std::clamp(4e12 / both.operations(), 5., 200.));
      const pair_of_medians seconds = seconds_of_each(
          s.rounds(7), *gpu, std::span(&request, 1), times, [&](int i) { both.bare->multiply(i); },
          [&] { both.bare->synchronize(); });
      all.add(cat(e.m, " x ", e.n, " x ", e.k, epilogue == raw_matmul_epilogue::none ? "" : ", bias, gelu"),
              {both.operations() / seconds.ours / 1e12, both.operations() / seconds.raw / 1e12}, "", both.difference());
    }
  figures f = all.mean(0.97);
  f.note += all.lines();
  return f;
}

}  // namespace troupe::bench
