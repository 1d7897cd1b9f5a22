// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/picture/svg.hpp>
#include <cmath>
#include <cstdio>

namespace demo {
namespace {

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", std::isfinite(v) ? v : 0.0);
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return std::string(" ").append(name).append("=\"").append(escaped(value)).append("\"");
}

std::string steps(const std::vector<point>& points, bool first) {
  std::string out;
  for (const point& p : points) {
    out.append(first ? "M" : "L").append(number(p.x)).append(" ").append(number(p.y));
    first = false;
  }
  return out;
}

}  // namespace

double scale::operator()(double v) const noexcept {
  const double share =
      logarithmic ? std::log(std::clamp(v, low, high) / low) / std::log(high / low) : (v - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> round_steps(double high, int count) {
  const double rough = high / count, unit = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * unit;
  for (const double s : {5.0, 2.5, 2.0, 1.0})
    if (s * unit >= rough * 0.999) step = s * unit;
  std::vector<double> out;
  for (int i = 0; i * step <= high * 1.0001; ++i) out.push_back(i * step);
  return out;
}

std::vector<double> powers_of_ten(double low, double high) {
  std::vector<double> out;
  const bool few = high / low < 1500;
  for (double unit = std::pow(10, std::floor(std::log10(low))); unit <= high; unit *= 10)
    for (const double s : {1.0, 2.0, 5.0})
      if ((few || s == 1) && s * unit >= low * 0.999 && s * unit <= high * 1.001) out.push_back(s * unit);
  return out;
}

svg::svg(double width, double height, std::string_view style, std::string_view title, std::string_view description) {
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" +
         attribute("viewBox", "0 0 " + number(width) + " " + number(height)) + attribute("width", number(width)) +
         attribute("height", number(height)) + ">\n<title>" + escaped(title) + "</title>\n<desc>" +
         escaped(description) + "</desc>\n<style>" + std::string(style) + "</style>\n";
}

void svg::text(double x, double y, std::string_view classes, std::string_view text) {
  out_ += "<text" + attribute("x", number(x)) + attribute("y", number(y)) + attribute("class", classes) + ">" +
          escaped(text) + "</text>\n";
}

void svg::line(point a, point b, std::string_view classes) {
  out_ += "<line" + attribute("x1", number(a.x)) + attribute("y1", number(a.y)) + attribute("x2", number(b.x)) +
          attribute("y2", number(b.y)) + attribute("class", classes) + "/>\n";
}

void svg::rectangle(point corner, double width, double height, std::string_view classes, double radius) {
  out_ += "<rect" + attribute("x", number(corner.x)) + attribute("y", number(corner.y)) +
          attribute("width", number(width)) + attribute("height", number(height)) + attribute("class", classes) +
          (radius > 0 ? attribute("rx", number(radius)) : std::string()) + "/>\n";
}

void svg::circle(point centre, double radius, std::string_view classes) {
  out_ += "<circle" + attribute("cx", number(centre.x)) + attribute("cy", number(centre.y)) +
          attribute("r", number(radius)) + attribute("class", classes) + "/>\n";
}

void svg::path(const std::vector<point>& points, std::string_view classes) {
  out_ += "<path" + attribute("d", steps(points, true)) + attribute("class", classes) + "/>\n";
}

void svg::area(const std::vector<point>& upper, const std::vector<point>& lower, std::string_view classes) {
  const std::vector<point> back(lower.rbegin(), lower.rend());
  out_ +=
      "<path" + attribute("d", steps(upper, true) + steps(back, false) + "Z") + attribute("class", classes) + "/>\n";
}

}  // namespace demo
