// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/support/cases.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn::support {
namespace {

const extents square{64, 64};

void add_functions(std::vector<support_case>& to) {
  for (int i = 1; is_known(static_cast<epilogue::op>(i)); ++i) {
    const auto f = static_cast<epilogue::op>(i);
    if (!epilogue::is_function(f)) continue;
    const int arguments = epilogue::info(f).arguments;
    if (f == epilogue::op::convert) continue;
    to.push_back({"functions of elements", std::string(epilogue::to_string(f)), op::pointwise, [=](tensors& t) {
                    const value x = t.given(square), y = arguments > 1 ? t.given(square) : x;
                    const value out = arguments == 1   ? pointwise(f, x)
                                      : arguments == 2 ? pointwise(f, x, y)
                                                       : pointwise(f, x, y, t.given(square));
                    return results{{out}};
                  }});
  }
}

void add_random(std::vector<support_case>& to) {
  const auto add = [&](const char* name, auto make) { to.push_back({name, "", op::random, make}); };
  to.push_back({"gather", "", op::gather,
                [](tensors& t) { return results{{gather(t.given(square), t.of(dtype::i32, {50}), 0)}}; }});
  to.push_back({"scatter_add", "", op::scatter_add, [](tensors& t) {
                  return results{{scatter_add(t.given(square), t.of(dtype::i32, {50}), t.given({50, square[1]}), 0)}};
                }});
  to.push_back({"cumulative_sum", "", op::cumulative_sum,
                [](tensors& t) { return results{{cumulative_sum(t.given(square), 1)}}; }});
  to.push_back({"top_k", "", op::top_k, [](tensors& t) { return results{{top_k(t.given(square), 1, 4).values}}; }});
  to.push_back({"iota", "", op::iota, [](tensors&) { return results{{iota(square, 1)}}; }});
  add("random_uniform", [](tensors&) { return results{{random_uniform(square, 1)}}; });
  add("random_normal", [](tensors&) { return results{{random_normal(square, 1)}}; });
  add("random_bernoulli", [](tensors&) { return results{{random_bernoulli(square, 0.5, 1)}}; });
  add("dropout", [](tensors& t) { return results{{dropout(t.given(square), 0.1, 1)}}; });
  add("dropout_gradient", [](tensors& t) { return results{{dropout_gradient(t.given(square), 0.1, 1)}}; });
}

}  // namespace

std::vector<support_case> cases_of_elements() {
  std::vector<support_case> out;
  add_functions(out);
  out.push_back(
      {"convert", "", op::convert, [](tensors& t) { return results{{convert(t.given(square), dtype::bf16)}}; }});
  out.push_back({"write", "", op::write, [](tensors& t) { return results{{t.given(square)}}; }});
  out.push_back({"concatenate", "", op::concatenation,
                 [](tensors& t) { return results{{concatenate({t.given(square), t.given(square)}, 1)}}; }});
  add_random(out);
  // More than OpenBLAS can count. The host engine refuses it even if the graph does not need OpenBLAS.
  constexpr std::int64_t too_many = std::int64_t{1} << 31;
  out.push_back({cat("tensors with an extent of ", too_many), "", op::pointwise,
                 [](tensors& t) { return results{{-t.given({too_many})}}; }});
  out.push_back({"reshape", "", op::reshape, [](tensors& t) { return results{{reshape(t.given(square), {4096})}}; }});
  out.push_back(
      {"transpose", "", op::transposition, [](tensors& t) { return results{{transpose(t.given(square), {1, 0})}}; }});
  out.push_back({"slice", "", op::slice, [](tensors& t) { return results{{slice(t.given(square), 0, 8, 16)}}; }});
  return out;
}

}  // namespace troupe::dnn::support
