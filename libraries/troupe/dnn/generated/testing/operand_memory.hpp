// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tests/numerics/random.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <vector>

namespace troupe::dnn::generated::testing {

/// Memory for the operands of a kernel.
struct operand_memory {
  std::vector<std::vector<std::byte>> memory;  // contents before the kernel runs
  std::vector<std::size_t> begin;              // for each operand: the offset of its first byte in its memory
  std::string description;

  /// Adds memory of random numbers for an operand, whose axes are contiguous in this order, the last one the fastest,
  /// but for random gaps. Returns the operand, and appends to `aligned` whether its memory is.
  location add(location l, const std::vector<std::size_t>& order, double largest, numerics::random_source& random,
               std::vector<bool>& aligned) {
    l.number = static_cast<std::uint16_t>(aligned.size());
    std::int64_t stride = random.between(0, 7) == 0 ? 2 : 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      l.shape.strides[order[i]] = stride;
      stride *= l.shape.extents[order[i]];
      if (random.between(0, 7) == 0) stride += random.between(1, 8);
    }
    l.offset = random.one_of({0, 0, 0, 8, 16, 1, 3});
    aligned.push_back(random.between(0, 3) != 0);
    const std::size_t size = bytes_of(l.type);
    auto& bytes = memory.emplace_back((static_cast<std::size_t>(stride + l.offset) + 1) * size + 128);
    const std::size_t first = 64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64;
    begin.push_back(first + (aligned.back() ? 0 : size));
    for (std::size_t at = first % size; at + size <= bytes.size(); at += size)
      epilogue::put_number(bytes.data() + at, l.type, random.value() * random.one_of({1.0, largest}));
    description += cat(description.empty() ? "" : ", ", info(l.type).name);
    return l;
  }
};

}  // namespace troupe::dnn::generated::testing
