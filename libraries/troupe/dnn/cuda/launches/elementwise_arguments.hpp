// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/kernels/kernel_arguments.hpp>
#include <troupe/dnn/operations/random/generator.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

template <class At>
kernel_arguments::sequence sequence_of(const elementwise_kernel::sequence& s, const At& at) {
  const bool in_memory = s.words.has_value();
  return {.seed = s.attributes.seed,
          .offset = s.attributes.offset,
          .kind = static_cast<std::uint32_t>(s.attributes.kind),
          .limit = bernoulli_limit(s.attributes.probability),
          .words = in_memory ? static_cast<const std::uint32_t*>(at(*s.words)) : nullptr,
          .word_count = in_memory ? s.words->shape.extents[0] : 0,
          .word_stride = in_memory ? s.words->shape.strides[0] : 0};
}

inline kernel_arguments::operation operation_of(const elementwise_kernel::operation& o, bool is_of_set = false) {
  const bool reduces = o.what == elementwise_kernel::operation::kind::reduce;
  return {.what = static_cast<std::uint8_t>(o.what),
          .function = reduces ? static_cast<std::uint8_t>(o.reduction) : static_cast<std::uint8_t>(o.function),
          .type = reduces ? static_cast<std::uint8_t>(o.form) : static_cast<std::uint8_t>(o.type),
          .operand = static_cast<std::uint8_t>(o.operand),
          .from = {static_cast<std::uint8_t>(o.from[0]), static_cast<std::uint8_t>(o.from[1]),
                   static_cast<std::uint8_t>(o.from[2])},
          .is_of_set = is_of_set,
          .value = o.value};
}

/// Returns the arguments with which the kernel `elements` interprets an elementwise kernel. `at(location)` returns the
/// address of a location.
template <class At>
kernel_arguments::elements elementwise_arguments(const elementwise_kernel& k, const At& at) {
  kernel_arguments::elements e{};
  e.rank = static_cast<std::int64_t>(k.over.rank()), e.count = 1, e.operations = k.operations.size();
  for (std::size_t i = 0; i < k.over.rank(); ++i) e.extents[i] = k.over.extent(i), e.count *= k.over.extent(i);
  for (std::size_t i = 0; i < k.operations.size(); ++i) e.all[i] = operation_of(k.operations[i]);
  for (std::size_t i = 0; i < k.operands.size(); ++i) {
    e.operands[i].memory = k.operands[i].exists() ? at(k.operands[i]) : nullptr;
    e.operands[i].type = static_cast<std::uint64_t>(k.operands[i].type);
    for (std::size_t axis = 0; axis < k.over.rank(); ++axis)
      e.operands[i].strides[axis] = k.over.stride(k.operand_in_space[i], axis);
  }
  for (std::size_t i = 0; i < k.sequences.size(); ++i) e.sequences[i] = sequence_of(k.sequences[i], at);
  return e;
}

}  // namespace troupe::dnn
