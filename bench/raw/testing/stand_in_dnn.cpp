// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/networks/local_graph.hpp>
#include <bench/raw/testing/stand_in_dnn.hpp>

namespace troupe::bench {
namespace {

class graph_by_reference final : public raw_graph {
 public:
  graph_by_reference(std::span<const std::byte> encoded, bool is_wrong) : graph_(encoded), is_wrong_(is_wrong) {}
  void run() override {}
  void synchronize() override {}
  void upload(std::size_t memory, std::span<const std::byte> elements) override {
    std::copy(elements.begin(), elements.end(), graph_.memory(memory).begin());
  }
  void download(std::size_t memory, std::span<std::byte> elements) override {
    graph_.evaluate();
    const auto is = graph_.memory(memory);
    std::copy_n(is.begin(), elements.size(), elements.begin());
    // Changes the high bits of the exponent, which are in the last byte of every type.
    if (is_wrong_) elements[elements.size() - 1] ^= std::byte{0x20};
  }

 private:
  local_graph graph_;
  bool is_wrong_;
};

class dnn_by_reference final : public raw_dnn {
 public:
  explicit dnn_by_reference(bool is_wrong) : is_wrong_(is_wrong) {}
  std::unique_ptr<raw_graph> graph(std::span<const std::byte> encoded, bool) override {
    return std::make_unique<graph_by_reference>(encoded, is_wrong_);
  }
  std::unique_ptr<raw_graph> three_calls(std::span<const std::byte> encoded) override { return graph(encoded, true); }
  double copy_rate(std::size_t, int) override { return 1e12; }

 private:
  bool is_wrong_;
};

}  // namespace

std::unique_ptr<raw_dnn> make_dnn_stand_in(bool is_wrong) { return std::make_unique<dnn_by_reference>(is_wrong); }

}  // namespace troupe::bench
