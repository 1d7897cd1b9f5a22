// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/kernel_text.hpp>
#include <troupe/dnn/generated/set_text.hpp>
#include <troupe/dnn/generated/source.hpp>

namespace troupe::dnn::generated {
namespace {

class source_writer {
 public:
  source_writer(const step_list& all, const find_set_kernels& set_kernels_of, const std::vector<bool>& aligned)
      : all_(all), set_kernels_of_(set_kernels_of), aligned_(aligned) {}

  source write() {
    bool any_random = false, any_sets = false;
    for (const auto& step : all_.steps) {
      any_random |= is_random(step);
      any_sets |= !set_kernels_of(step).empty();
    }
    out_.text = prelude_of(all_.compute_type, any_random, any_sets);
    for (const auto& step : all_.steps) {
      out_.of_steps.emplace_back();
      if (const auto* const kernel = std::get_if<elementwise_kernel>(&step))
        add(*kernel);
      else
        add(set_kernels_of(step));
    }
    return std::move(out_);
  }

 private:
  using step = decltype(step_list::steps)::value_type;
  static constexpr std::int64_t most_blocks = 0x7fffffff;

  static bool is_random(const step& s) {
    const auto* const kernel = std::get_if<elementwise_kernel>(&s);
    return kernel != nullptr && !kernel->sequences.empty();
  }
  std::span<const sets::set_kernel> set_kernels_of(const step& s) const {
    const auto* const fused = std::get_if<fused_step>(&s);
    return fused != nullptr && set_kernels_of_ ? set_kernels_of_(*fused) : std::span<const sets::set_kernel>();
  }
  void add(const elementwise_kernel& kernel) {
    const thread_partition partition = partition_among_threads(kernel, aligned_);
    if (partition.blocks() > most_blocks) return;
    add_launch(text_of(kernel, partition), prelude_of(all_.compute_type, !kernel.sequences.empty(), false));
  }
  void add(std::span<const sets::set_kernel> kernels) {
    std::vector<std::pair<kernel_text, std::uint16_t>> all;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      for (kernel_text& t : texts_of(kernels[i], aligned_))
        all.emplace_back(std::move(t), static_cast<std::uint16_t>(i));
    if (std::ranges::any_of(all, [](const auto& t) { return t.first.blocks > most_blocks; })) return;
    if (all.empty()) return;
    const std::string prelude = prelude_of(all_.compute_type, false, true);
    for (const auto& [t, i] : all) add_launch(t, prelude, i);
  }
  // Adds a launch to the last step, of a kernel that needs this prelude.
  void add_launch(const kernel_text& t, const std::string& prelude, std::uint16_t set_kernel = 0) {
    const auto [at, is_new] =
        known_.try_emplace(cat(t.threads, " ", t.text), static_cast<std::uint16_t>(out_.kernels.size()));
    if (is_new) {
      const auto with_name = [&](std::string_view name) {
        return cat("\nextern \"C\" __global__ void __launch_bounds__(", t.threads, ") ", name, t.text);
      };
      const std::string name = cat(source::name_alone, "_", at->second);
      out_.kernels.push_back({name, t.threads, prelude + with_name(source::name_alone)});
      out_.text += with_name(name);
    }
    out_.of_steps.back().push_back({at->second, static_cast<std::uint32_t>(t.blocks), t.numbers, set_kernel});
  }

  const step_list& all_;
  const find_set_kernels& set_kernels_of_;
  const std::vector<bool>& aligned_;
  std::map<std::string, std::uint16_t> known_;  // indexes of kernels by their threads and text
  source out_;
};

}  // namespace

source source_of(const step_list& all, const find_set_kernels& set_kernels_of, const std::vector<bool>& aligned) {
  return source_writer(all, set_kernels_of, aligned).write();
}

}  // namespace troupe::dnn::generated
