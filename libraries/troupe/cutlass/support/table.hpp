// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <troupe/base/cat.hpp>
#include <troupe/cutlass/support/kinds.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <vector>

namespace troupe::cutlass::support {

/// Prints a table in Markdown, with a row for each kind and a column for each architecture. `cell(kind, architecture,
/// tree)` returns the text of a cell; `tree` is the epilogue of a plain product.
template <class Cell>
void print_table(const char* first_column, std::span<const kind> rows, Cell&& cell) {
  const epilogue::expression plain = epilogue::product_part{epilogue::op::accumulator};
  std::vector<std::byte> encoded(plain.encoded_bytes());
  plain.encode(encoded.data());
  const epilogue::tree tree(encoded.data(), encoded.size());
  std::string head = cat("| ", first_column, " |"), line = "|---|";
  for (const architecture& a : all_architectures) head += cat(" ", a.name, " |"), line += "---|";
  std::printf("%s\n%s\n", head.c_str(), line.c_str());
  for (const kind& k : rows) {
    std::string row = cat("| ", k.name, " |");
    for (const architecture& a : all_architectures) row += cat(" ", cell(k, a, tree), " |");
    std::printf("%s\n", row.c_str());
  }
}

}  // namespace troupe::cutlass::support
