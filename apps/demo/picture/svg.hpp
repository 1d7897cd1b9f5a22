// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace demo {

struct point {
  double x, y;
};

/// Maps values from `low` to `high` to coordinates from `from` to `to`, linearly or by powers of ten.
struct scale {
  double low, high, from, to;
  bool logarithmic = false;

  double operator()(double v) const noexcept;
};

/// Returns round numbers to label an axis: about `count` of them up to `high`; for powers of ten, 1, 10, 100 … with 2
/// and 5 in between if those are few.
std::vector<double> round_steps(double high, int count);
std::vector<double> powers_of_ten(double low, double high);

/// Writes a picture that contains all that it needs. Colors and fonts come from classes of its style.
class svg {
 public:
  svg(double width, double height, std::string_view style, std::string_view title, std::string_view description);

  void text(double x, double y, std::string_view classes, std::string_view text);
  void line(point a, point b, std::string_view classes);
  void rectangle(point corner, double width, double height, std::string_view classes, double radius = 0);
  void circle(point centre, double radius, std::string_view classes);
  void path(const std::vector<point>& points, std::string_view classes);
  /// Fills the area between two lines with the same x.
  void area(const std::vector<point>& upper, const std::vector<point>& lower, std::string_view classes);

  std::string str() const { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

}  // namespace demo
