// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe::testing {

/// A part of a page that a test checks: the lines between `<!-- checked by: test -->` and `<!-- end -->`.
struct page_table {
  std::vector<std::vector<std::string>> rows;  ///< the cells of each row of the table, the header first
  std::vector<std::string> notes;              ///< the texts `in code` of the lines "- (1) `text`", in their order
  std::vector<std::string> other_lines;

  /// Reads the part that this test checks. Throws if there is none.
  page_table(const std::string& page, const std::string& test) {
    std::ifstream in(page);
    bool inside = false;
    for (std::string line; std::getline(in, line) && !(inside && line == "<!-- end -->");) {
      if (line == "<!-- checked by: " + test + " -->")
        inside = true;
      else if (inside && line.starts_with("| "))
        rows.push_back(cells_of(line));
      else if (inside && line.starts_with("- ("))
        notes.push_back(line.substr(line.find('`') + 1, line.rfind('`') - line.find('`') - 1));
      else if (inside)
        other_lines.push_back(line);
    }
    if (rows.size() < 2) throw std::runtime_error(page + " has no table that is checked by " + test);
  }

 private:
  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> out;
    for (std::size_t begin = 2; begin < line.size();) {
      const std::size_t end = std::min(line.find("| ", begin), line.size() - 1);
      const std::string cell = line.substr(begin, end - begin);
      out.push_back(cell.substr(0, cell.find_last_not_of(' ') + 1));
      begin = end + 2;
    }
    return out;
  }
};

}  // namespace troupe::testing
