// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "strategy.hpp"

#include <array>

namespace adversary {
namespace {

using group = std::span<const strategy> (*)();
constexpr std::array<group, 8> groups{report_strategies,    counter_strategies,    word_strategies,
                                      packet_strategies,    descriptor_strategies, memory_strategies,
                                      handshake_strategies, process_strategies};

}  // namespace

std::vector<strategy> all_strategies() {
  std::vector<strategy> all;
  for (const group g : groups) all.insert(all.end(), g().begin(), g().end());
  return all;
}

const strategy* find_strategy(std::string_view name) {
  for (const group g : groups)
    for (const strategy& s : g())
      if (s.name == name) return &s;
  return nullptr;
}

}  // namespace adversary
