// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches/elementwise_arguments.hpp>
#include <troupe/dnn/sets/set_partition.hpp>

namespace troupe::dnn {

static_assert(kernel_arguments::most_threads_of_set >= sets::most_threads);

/// Returns the arguments with which the kernel `interpret_sets` interprets a set kernel. `at(location)` returns the
/// address of a location.
template <class At>
kernel_arguments::set_arguments set_arguments_of(const sets::set_kernel& k, const At& at) {
  const sets::set_partition& p = k.partition;
  kernel_arguments::set_arguments a{};
  a.outer_rank = static_cast<std::int32_t>(k.outside.rank()), a.inner_rank = static_cast<std::int32_t>(k.inside.rank());
  for (std::size_t i = 0; i < k.outside.rank(); ++i) a.outside[i] = k.outside.extent(i);
  for (std::size_t i = 0; i < k.inside.rank(); ++i) a.inside[i] = k.inside.extent(i);
  a.sets = k.count_sets(), a.elements = k.count_elements();
  a.threads = static_cast<std::int32_t>(p.threads), a.vectors = static_cast<std::int32_t>(p.vectors);
  a.width = static_cast<std::int32_t>(p.width), a.operations = static_cast<std::int32_t>(k.operations.size());
  a.chunks = p.chunks, a.parts = p.parts;
  a.partial = p.parts == 1 ? nullptr : static_cast<double*>(at(k.partial));
  for (std::size_t i = 0; i < k.operations.size(); ++i) a.all[i] = operation_of(k.operations[i], k.is_of_set[i]);
  for (std::size_t i = 0; i < k.operands.size(); ++i) {
    a.operands[i].memory = k.operands[i].exists() ? at(k.operands[i]) : nullptr;
    a.operands[i].type = static_cast<std::uint64_t>(k.operands[i].type);
    for (std::size_t n = 0; n < k.outside.rank(); ++n) a.operands[i].outside[n] = k.outer_stride(i, n);
    for (std::size_t n = 0; n < k.inside.rank(); ++n) a.operands[i].inside[n] = k.inner_stride(i, n);
  }
  return a;
}

}  // namespace troupe::dnn
