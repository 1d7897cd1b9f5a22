// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace training {

/// Draws the losses of all steps on a logarithmic axis, and marks the steps before which a fault was injected. Returns
/// false if the file cannot be written.
inline bool draw_losses(const std::string& file, const std::vector<float>& losses, const std::vector<int>& faults) {
  constexpr double left = 60, right = 700, top = 30, bottom = 270;
  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  const double low = std::floor(std::log10(std::max(*least, 1e-6f))), high = std::log10(*most) + 0.05;
  const auto x = [&](double step) {
    return left + (right - left) * step / std::max<double>(1, static_cast<double>(losses.size()) - 1);
  };
  const auto y = [&](double loss) {
    return bottom - (bottom - top) * (std::log10(std::max(loss, 1e-6)) - low) / (high - low);
  };
  std::ofstream out(file);
  out.precision(5);
  out << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 310" role="img">
<title>Loss of each step</title>
<style>text{font:12px sans-serif;fill:#555}.axis{stroke:#999;stroke-width:.5}.loss{fill:none;stroke:#2a78d6;stroke-width:1.5}
.fault{stroke:#d0433b;stroke-width:1.5}@media(prefers-color-scheme:dark){text{fill:#bbb}}</style>
<text x="60" y="18">loss)";
  if (!faults.empty()) out << "; red: a fault of the worker";
  out << "</text>\n";
  for (double power = low; power <= high; ++power) {
    const double at = y(std::pow(10, power));
    out << "<line class=\"axis\" x1=\"" << left << "\" x2=\"" << right << "\" y1=\"" << at << "\" y2=\"" << at
        << "\"/><text x=\"52\" y=\"" << at + 4 << "\" text-anchor=\"end\">" << std::pow(10, power) << "</text>\n";
  }
  for (int i = 0; i <= 4; ++i) {
    const auto step = static_cast<int>(losses.size()) * i / 4;
    out << "<text x=\"" << x(step) << "\" y=\"290\" text-anchor=\"middle\">" << step << "</text>\n";
  }
  out << "<text x=\"380\" y=\"306\" text-anchor=\"middle\">steps</text>\n";
  for (const int step : faults)
    out << "<line class=\"fault\" x1=\"" << x(step) << "\" x2=\"" << x(step) << "\" y1=\"" << bottom - 12 << "\" y2=\""
        << bottom << "\"/>\n";
  out << "<polyline class=\"loss\" points=\"";
  for (std::size_t i = 0; i < losses.size(); ++i)
    out << x(static_cast<double>(i)) << ',' << y(static_cast<double>(losses[i])) << ' ';
  out << "\"/>\n</svg>\n";
  return static_cast<bool>(out.flush());
}

}  // namespace training
