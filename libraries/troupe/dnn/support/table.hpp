// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/support/case.hpp>
#include <troupe/dnn/support/node_support.hpp>
#include <vector>

namespace troupe::dnn::support {

/// The table of docs/dnn.md. Operations with equal cells share a row.
class table {
 public:
  /// Adds the support of both engines for a case with elements of a type. Add all types of a case before the next case.
  void add(const support_case& c, dtype type, node_support host, node_support cuda);
  /// Returns the table as Markdown.
  std::string text() const;

 private:
  struct cell {
    std::vector<dtype> types;
    node_support host, cuda;
  };
  struct entry {
    std::string name, variant;
    std::vector<cell> cells;
  };
  struct row;
  std::vector<row> rows() const;
  static bool move_largest_to_end(std::vector<cell>& cells);
  std::string names_of(const row& r) const;
  std::vector<dtype> refused_types() const;

  std::vector<entry> entries_;
};

}  // namespace troupe::dnn::support
