// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include "table.hpp"

namespace troupe::foreign {
namespace {

// The same numbers in every run: the test judges the engine, not the tolerance.
std::uint64_t seed() { return std::getenv("TROUPE_SEED") != nullptr ? numerics::seed() : 20261123; }

}  // namespace

source::source(std::string family, std::string name, jit::recipe recipe)
    : family_(std::move(family)), name_(std::move(name)), recipe_(std::move(recipe)), random_(seed()) {}

jit::recipe source::recipe() const {
  jit::recipe r = recipe_;
  const std::filesystem::path file = folder() / family_ / (name_ + ".cu");
  r.source = text_of(file);
  r.name = family_ + "/" + name_ + ".cu";
  r.include_paths.push_back(file.parent_path());
  return r;
}

void source::differs(const char* what, const std::string& got, const std::string& expected) {
  throw failure{.wrong = true,
                .text = std::string(what) + (got.starts_with('[') ? "" : " ") + got + "; expected " + expected +
                        " (TROUPE_SEED=" + std::to_string(seed()) + ")"};
}

std::vector<std::unique_ptr<source>>& all_sources() {
  static std::vector<std::unique_ptr<source>> all;
  return all;
}

}  // namespace troupe::foreign
