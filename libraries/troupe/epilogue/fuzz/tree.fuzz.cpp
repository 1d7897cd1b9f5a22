// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Reads an epilogue from arbitrary bytes. An accepted tree must refer only to its own nodes, numbers and operands.
#include <cstdlib>
#include <cstring>
#include <troupe/epilogue/tree.hpp>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  std::vector<std::uint64_t> words(size / sizeof(std::uint64_t) + 1);  // aligned, as requests in a worker's memory are
  if (size != 0) std::memcpy(words.data(), data, size);
  const epilogue::tree t(reinterpret_cast<const std::byte*>(words.data()), size);
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  std::size_t before = 0;
  for (const epilogue::node& n : t.nodes()) {
    require(is_known(n.what));
    for (std::size_t a = 0; a < epilogue::info(n.what).arguments; ++a) require(n.arguments[a] < before);
    require(n.what != epilogue::op::number || n.operand < t.numbers().size());
    require(!epilogue::has_memory(n.what) || n.operand < t.memory().size());
    ++before;
  }
  for (const epilogue::memory_operand& m : t.memory()) require(is_known(m.type));
  if (!t.empty()) (void)(t.is_plain() || t.is_paired());
  return 0;
}
