// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/support/case.hpp>
#include <troupe/dnn/support/way.hpp>
#include <vector>

namespace troupe::dnn::support {

/// The table in Markdown, of what was asked. Rows that are alike are one.
class table {
 public:
  /// What both engines do with a case, for elements of a type. Those of a case come after each other.
  void add(const support_case& c, dtype type, way host, way cuda);
  std::string text() const;

 private:
  struct cell {
    std::vector<dtype> types;
    way host, cuda;
  };
  struct entry {
    std::string name, variant;
    std::vector<cell> cells;
  };
  struct row;
  std::vector<row> rows() const;
  static bool put_last_the_largest(std::vector<cell>& cells);
  std::string names_of(const row& r) const;
  std::vector<dtype> refused_types() const;

  std::vector<entry> entries_;
};

}  // namespace troupe::dnn::support
