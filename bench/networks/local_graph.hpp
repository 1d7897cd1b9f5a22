// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <vector>

namespace troupe::bench {

/// Returns the bytes from the first to the last element of a tensor, including both.
inline std::size_t bytes_of_view(const tensor_shape& s, dtype type) noexcept {
  return static_cast<std::size_t>(dnn::spanned_elements_of(s)) * bytes_of(type);
}

/// An encoded graph of dnn whose tensors are in memory of this process, aligned to 64 bytes.
class local_graph {
 public:
  explicit local_graph(std::span<const std::byte> encoded) : words_((encoded.size() + 7) / 8) {
    auto* const bytes = reinterpret_cast<std::byte*>(words_.data());
    std::memcpy(bytes, encoded.data(), encoded.size());
    graph_ = dnn::encoded_graph(bytes, encoded.size());
    memory_.resize(graph_.memory().size());
    for (const dnn::encoded_tensor& t : graph_.tensors())
      if (t.where == dnn::encoded_tensor::place::memory) memory_[t.memory] = block(bytes_of_view(t.shape, t.type));
    // Replaces the device's addresses, which are at the end of the encoding.
    std::byte* at = bytes + encoded.size() - memory_.size() * sizeof(dnn::encoded_memory);
    for (const block& m : memory_) {
      const auto address = reinterpret_cast<std::uint64_t>(m.first.get());
      std::memcpy(at + offsetof(dnn::encoded_memory, address), &address, sizeof address);
      at += sizeof(dnn::encoded_memory);
    }
  }
  const dnn::encoded_graph& graph() const noexcept { return graph_; }
  std::span<std::byte> memory(std::size_t i) const noexcept { return {memory_[i].first.get(), memory_[i].bytes}; }

  /// Computes the graph with the reference, in double, and writes the results to its tensors.
  void evaluate() const {
    const auto numbers = dnn::evaluate(graph_);
    for (const dnn::encoded_node& n : graph_.nodes())
      if (n.what == dnn::op::write) put(numbers[n.outputs[0]], graph_.tensors()[n.outputs[0]]);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct block {
    struct frees {
      void operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }
    };
    block() noexcept = default;
    explicit block(std::size_t size) : first(static_cast<std::byte*>(::operator new(size, alignment))), bytes(size) {
      std::memset(first.get(), 0, size);
    }
    std::unique_ptr<std::byte, frees> first;
    std::size_t bytes = 0;
  };
  void put(const std::vector<double>& numbers, const dnn::encoded_tensor& t) const {
    dnn::axis_values at{};
    for (const double number : numbers) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < t.shape.rank; ++i) place += at[i] * t.shape.strides[i];
      epilogue::put_number(memory_[t.memory].first.get() + static_cast<std::size_t>(place) * bytes_of(t.type), t.type,
                           number);
      for (std::size_t i = t.shape.rank; i-- > 0 && ++at[i] == t.shape.extents[i];) at[i] = 0;
    }
  }
  std::vector<std::uint64_t> words_;
  dnn::encoded_graph graph_;
  std::vector<block> memory_;
};

}  // namespace troupe::bench
