// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <troupe/base/text/cat.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::detail {

std::string text(extent e) {
  if (e.overflowed()) return "too large for 64 bits";
  return e == tight ? "tight" : std::to_string(e.value());
}

std::string text(double v) {
  char out[32];
  std::snprintf(out, sizeof out, "%g", v);
  return out;
}

std::string text(const std::string& s) {
  constexpr std::size_t most = 40;
  return s.size() <= most ? '"' + s + '"' : cat('"', s.substr(0, most), "…\" (", s.size(), " bytes)");
}

std::string text(std::string_view type, const memory_range& r, std::uint64_t elements) {
  char where[24];
  std::snprintf(where, sizeof where, "]@%llx", static_cast<unsigned long long>(r.address));
  return cat(type, "[", elements, where);
}

std::string index_text(std::size_t i) { return cat('[', i, ']'); }

std::string extents_text(std::span<const std::int64_t> extents) {
  std::string out;
  for (const std::int64_t n : extents) out += cat(out.empty() ? "" : " x ", n);
  return out;
}

std::string extents_text(const matrix_shape& s) { return cat(s.rows, " x ", s.columns); }

std::string extents_text(const tensor_shape& s) { return extents_text({s.extents.data(), s.rank}); }

std::string text(const matrix_shape& s) {
  return cat(extents_text(s), " with strides ", s.row_stride, ", ", s.column_stride);
}

std::string text(const tensor_shape& s) {
  std::string strides;
  for (std::size_t i = 0; i < s.rank; ++i) strides += (i == 0 ? "" : ", ") + std::to_string(s.strides[i]);
  return extents_text(s) + " with strides " + strides;
}

}  // namespace troupe::detail
