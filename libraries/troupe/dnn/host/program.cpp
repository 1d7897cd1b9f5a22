// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/host/planner.hpp>

namespace troupe::dnn::host {
namespace {

// Float does not have all sums of i8, nor all integers of 32 bits.
bool needs_double(const seen_graph& g) noexcept {
  return std::any_of(g.tensors().begin(), g.tensors().end(), [](const seen_tensor& t) {
    return t.where != seen_tensor::place::number &&
           (t.type == dtype::f64 || t.type == dtype::i32 || t.type == dtype::u32);
  });
}

}  // namespace

result<std::shared_ptr<program>> program::make(const seen_graph& g) {
  for (const seen_tensor& t : g.tensors())
    for (std::size_t i = 0; i < t.shape.rank; ++i)
      if (t.shape.extents[i] > std::numeric_limits<std::int32_t>::max())
        return error(
            reaction::unsupported, "dnn",
            cat("dnn: an extent is ", t.shape.extents[i],
                "; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the tensor"));
  auto out = std::make_shared<program>();
  if (needs_double(g))
    planner<double>(g).plan(*out);
  else
    planner<float>(g).plan(*out);
  return out;
}

void program::run(const seen_graph& g, std::byte* scratch, thread_team& team) const {
  const workspace w{g, scratch, buffers_, team};
  for (const auto& step : steps_) step(w);
}

}  // namespace troupe::dnn::host
