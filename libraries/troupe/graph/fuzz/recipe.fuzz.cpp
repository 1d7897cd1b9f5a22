// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Reads the recipe of a graph from arbitrary bytes. An accepted recipe must not refer to memory outside of it.
#include <cstdlib>
#include <cstring>
#include <troupe/graph/internal/recipe.hpp>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::graph;
  if (size < sizeof(recipe_head)) return 0;
  std::vector<std::uint64_t> words(size / sizeof(std::uint64_t) + 1);
  std::memcpy(words.data(), data, size);
  auto* const head = reinterpret_cast<recipe_head*>(words.data());
  head->bytes = size;  // the head must have the size of the memory
  const recipe_view recipe(reinterpret_cast<std::uintptr_t>(head));
  if (!recipe.sound()) return 0;
  std::uint64_t sum = 0;  // of everything that is read, so that the compiler keeps the reads
  const auto read = [&sum](const auto* from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum += static_cast<std::uint64_t>(from[i]);
  };
  read(recipe.name().data(), recipe.name().size());
  for (const recipe_node& n : recipe.nodes()) {
    read(recipe.name(n).data(), n.name_bytes);
    read(recipe.payload(n), n.payload_bytes);
    for (const std::uint32_t d : recipe.dependencies(n))
      if (d >= recipe.nodes().size()) std::abort();
    if (n.end > recipe.nodes().size() || n.otherwise > n.end) std::abort();
  }
  volatile std::uint64_t kept = sum;
  (void)kept;
  return 0;
}
