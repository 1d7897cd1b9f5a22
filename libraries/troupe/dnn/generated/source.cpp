// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/kernel_text.hpp>
#include <troupe/dnn/generated/source.hpp>

namespace troupe::dnn::generated {

source source_of(const step_list& all, const std::vector<bool>& aligned) {
  constexpr std::int64_t most_blocks = 0x7fffffff;
  source out;
  std::map<std::string, std::uint16_t> known;  // indexes of kernels by their text after the name
  const bool any_random = std::any_of(all.steps.begin(), all.steps.end(), [](const auto& step) {
    const auto* const kernel = std::get_if<elementwise_kernel>(&step);
    return kernel != nullptr && !kernel->sequences.empty();
  });
  out.text = prelude_of(all.compute_type, any_random);
  for (const auto& step : all.steps) {
    std::uint16_t& which = out.of_steps.emplace_back(source::none);
    const auto* const kernel = std::get_if<elementwise_kernel>(&step);
    if (kernel == nullptr) continue;
    const thread_partition partition = partition_among_threads(*kernel, aligned);
    if (partition.blocks() > most_blocks) continue;
    const std::string rest =
        cat("(const __grid_constant__ operands<", kernel->operands.size() + kernel->sequences.size(), "> at) {\n",
            body_of(*kernel, partition), "}\n");
    const auto [at, is_new] = known.try_emplace(rest, static_cast<std::uint16_t>(out.kernels.size()));
    which = at->second;
    if (!is_new) continue;
    const source::kernel& added = out.kernels.emplace_back(
        source::kernel{cat("troupe_dnn_pass_", which), static_cast<std::uint32_t>(partition.blocks()), block_threads});
    out.text += cat("\nextern \"C\" __global__ void __launch_bounds__(", block_threads, ") ", added.name, rest);
  }
  return out;
}

}  // namespace troupe::dnn::generated
