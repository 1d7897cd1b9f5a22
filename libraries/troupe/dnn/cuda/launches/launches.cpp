// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/launches/attention_launches.hpp>
#include <troupe/dnn/cuda/launches/elementwise_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/cuda/launches/set_arguments.hpp>
#include <troupe/dnn/sets/combining.hpp>

namespace troupe::dnn {
namespace {

// kernel_arguments::operation has the enumerators of elementwise_kernel::operation, with equal values.
using kind = elementwise_kernel::operation::kind;
static_assert(static_cast<int>(kind::read) == kernel_arguments::operation::read &&
              static_cast<int>(kind::number) == kernel_arguments::operation::number &&
              static_cast<int>(kind::apply) == kernel_arguments::operation::apply &&
              static_cast<int>(kind::round) == kernel_arguments::operation::round &&
              static_cast<int>(kind::write) == kernel_arguments::operation::write &&
              static_cast<int>(kind::random) == kernel_arguments::operation::random &&
              static_cast<int>(kind::reduce) == kernel_arguments::operation::reduce &&
              static_cast<int>(kind::multiply_add) == kernel_arguments::operation::multiply_add &&
              static_cast<int>(kind::position) == kernel_arguments::operation::position &&
              static_cast<int>(kind::read_at) == kernel_arguments::operation::read_at);
using reducing = elementwise_kernel::operation::reducing;
static_assert(static_cast<int>(reducing::products) == kernel_arguments::operation::products &&
              static_cast<int>(reducing::moments) == kernel_arguments::operation::moments &&
              static_cast<int>(reducing::squares) == kernel_arguments::operation::squares);

// Launches a generated kernel. `for_each_address(add)` calls `add` for each address of its parameter.
template <class ForEachAddress>
result<void> launch_generated(const generated_kernels_of_plan& all, const generated::source::launch& how,
                              const launch_context& on, const ForEachAddress& for_each_address) {
  thread_local std::vector<std::int64_t> parameter;  // reused, so that requests do not allocate
  parameter.clear();
  for_each_address([](void* address) { parameter.push_back(reinterpret_cast<std::intptr_t>(address)); });
  parameter.insert(parameter.end(), how.numbers.begin(), how.numbers.end());
  return cuda::done_on(on.stream, "dnn", "cuLaunchKernel",
                       cuda::launch(all.kernel(how.kernel), {how.blocks}, {all.from.kernels[how.kernel].threads},
                                    on.stream, *parameter.data()));
}

}  // namespace

const elementwise_limits limits_of_kernels{.operations = kernel_arguments::most_operations,
                                           .operands = kernel_arguments::most_operands,
                                           .sequences = kernel_arguments::most_sequences,
                                           .workspace = [](const operator_step& s) -> std::int64_t {
                                             return s.what == op::attention ? attention_workspace_of(s) : 0;
                                           }};

result<void> enqueue_order_barrier(const launch_context& on) {
  return launch<"order_barrier">(on, 1, 1, kernel_arguments::order_barrier_arguments{});
}

result<void> enqueue(const elementwise_kernel& k, const launch_context& on) {
  const kernel_arguments::elements e = elementwise_arguments(k, [&](const location& l) { return on.at(l); });
  return launch_per_element<"elements">(on, e.count, e);
}

result<void> enqueue(std::span<const sets::set_kernel> all, const launch_context& on) {
  for (const sets::set_kernel& k : all) {
    const kernel_arguments::set_arguments a = set_arguments_of(k, [&](const location& l) { return on.at(l); });
    const auto threads = static_cast<unsigned>(a.threads), block = std::max(threads, kernel_arguments::set_threads);
    TROUPE_TRY(launch<"interpret_sets">(on, kernel_arguments::divided_up(a.sets * a.parts, block / threads), block, a));
    constexpr std::int64_t at_once = kernel_arguments::set_threads / sets::threads_for_parts;
    if (a.parts != 1)
      TROUPE_TRY(launch<"interpret_parts">(on, kernel_arguments::divided_up(a.sets, at_once),
                                           kernel_arguments::set_threads, a));
  }
  return {};
}

result<void> enqueue_generated(const generated_kernels_of_plan& all, std::size_t step, const elementwise_kernel& k,
                               const launch_context& on) {
  return launch_generated(all, all.from.of_steps[step].front(), on, [&](auto&& add) {
    for (const location& l : k.operands) add(l.exists() ? on.at(l) : nullptr);
    for (const elementwise_kernel::sequence& s : k.sequences) add(s.words ? on.at(*s.words) : nullptr);
  });
}

result<void> enqueue_generated(const generated_kernels_of_plan& all, std::size_t step,
                               std::span<const sets::set_kernel> of_step, const launch_context& on) {
  for (const generated::source::launch& how : all.launches_of(step))
    TROUPE_TRY(launch_generated(all, how, on, [&](auto&& add) {
      const sets::set_kernel& k = of_step[how.set_kernel];
      for (const location& l : k.operands) add(l.exists() ? on.at(l) : nullptr);
      add(k.partition.parts == 1 ? nullptr : on.at(k.partial));
    }));
  return {};
}

result<void> enqueue_set_operation(const operator_step& s, const launch_context&) {
  return error(reaction::fatal, "dnn", cat("a plan has a step for ", to_string(s.what), ", which set kernels compute"));
}

result<void> enqueue(const operator_step& s, const launch_context& on) {
  const auto enqueue_operation = enqueue_functions[index_of(s.what)];
  if (enqueue_operation != nullptr) return enqueue_operation(s, on);
  return error(reaction::fatal, "dnn", cat("a plan has a step for ", to_string(s.what), ", which has no kernel"));
}

}  // namespace troupe::dnn
