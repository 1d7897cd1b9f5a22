// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/numbers/int8_sums.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/windows/check.hpp>

namespace troupe::dnn::detail {

node_maker::node_maker(op what, std::string_view name, std::initializer_list<value> inputs)
    : node_maker(what, name, std::vector<value>(inputs)) {}

node_maker::node_maker(op what, std::string_view name, std::vector<value> inputs) : name_(name) {
  made_.what = what;
  for (const value& v : inputs)
    if (const auto& refused = v.from().refused; refused && !made_.refused) made_.refused = refused;
  if (fine()) made_.inputs = std::move(inputs);
}

void node_maker::refuse(std::string_view input, std::string_view is, std::string expected) {
  if (!fine()) return;
  const bool is_vowel =
      std::string_view("aeiou").find(name_.front()) != std::string_view::npos && !name_.starts_with("one_");
  made_.refused = {cat(is_vowel ? "has an " : "has a ", name_, " whose ", input, " ", is), std::move(expected),
                   std::string(input), std::string(is)};
  made_.inputs = {};
  made_.outputs.clear();
}

bool node_maker::has_rank(std::string_view input, const value& v, std::size_t least, std::size_t most) {
  if (!fine()) return false;
  if (v.rank() < least || v.rank() > most)
    refuse(input, v.rank() == 0 ? "is a number" : cat("has ", axes_text(v.rank())),
           least != most   ? cat(least, " to ", most, v.rank() == 0 ? " axes" : "")
           : v.rank() == 0 ? axes_text(least)
                           : cat(least));
  return fine();
}

bool node_maker::has_numbers(std::string_view option, const windows::per_axis& given, std::size_t spatial,
                             std::int64_t least) {
  if (!fine()) return false;
  if (auto wrong = windows::check_numbers(given, spatial, least)) refuse(option, wrong->is, std::move(wrong->expected));
  return fine();
}

bool node_maker::is_i32_in_memory(std::string_view input, const value& v) {
  if (!v.from().memory)
    refuse(input, "is computed", "i32 that are read from memory");
  else if (v.type() != dtype::i32)
    refuse(input, cat("holds ", to_string(v.type())), "i32");
  return fine();
}

bool node_maker::is_index_in_memory(std::string_view input, const value& v) {
  if (!v.from().memory)
    refuse(input, "is computed", "i32 or i64 that are read from memory");
  else if (v.type() != dtype::i32 && v.type() != dtype::i64)
    refuse(input, cat("holds ", to_string(v.type())), "i32 or i64");
  return fine();
}

void node_maker::add_output(dtype type, std::span<const std::int64_t> extents) {
  if (!fine()) return;
  producer::output out{type, {.rank = extents.size()}};
  std::copy(extents.begin(), extents.end(), out.shape.extents.begin());
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] < 0) return refuse("result", cat("is ", text_of(extents)), "extents of at least 0");
  if (elements_of(out.shape) < 0)
    return refuse("result", cat("is ", text_of(extents)), "a number of elements that fits 64 bits");
  made_.outputs.push_back(out);
}

void node_maker::add_sum_output(dtype type, std::span<const std::int64_t> extents, extent summands) {
  if (type == dtype::i32 && (summands.overflowed() || summands > longest_int8_sum))
    refuse("sums", cat("have ", troupe::detail::text(summands), " summands of i8"),
           cat("at most ", longest_int8_sum, ", so that no sum overflows"));
  add_output(type, extents);
}

std::vector<value> node_maker::all(std::size_t count) {
  const auto made = std::make_shared<const producer>(std::move(made_));
  std::vector<value> out;
  for (std::size_t i = 0; i < count; ++i)
    out.emplace_back(made, static_cast<std::uint8_t>(i < made->outputs.size() ? i : 0));
  return out;
}

std::string node_maker::text_of(std::span<const std::int64_t> extents) { return troupe::detail::extents_text(extents); }
std::string node_maker::text_of(const value& v) { return v.rank() == 0 ? "is a number" : "is " + text_of(v.extents()); }

value not_computed(op what, std::string_view name, std::string_view output, std::string expected) {
  node_maker m(what, name, std::vector<value>());
  m.refuse(output, "is not computed", std::move(expected));
  return m.done();
}

std::string axes_text(std::size_t count) { return counted(count, "axis", "axes"); }

bool is_element(dtype t) noexcept { return epilogue::is_real(t) && t != dtype::f4e2m1x2 && t != dtype::u64; }

dtype floating_type(std::initializer_list<value> of) noexcept {
  for (const value& v : of)
    if (v.type() == dtype::f64 && v.rank() != 0) return dtype::f64;
  return dtype::f32;
}
dtype type_of_sums(const value& a, const value& b) noexcept {
  return a.type() == dtype::i8 && b.type() == dtype::i8 ? dtype::i32 : floating_type({a, b});
}

bool are_factors(dtype a, dtype b) noexcept {
  const auto is_float8 = [](dtype t) { return t == dtype::f8e4m3 || t == dtype::f8e5m2; };
  return a == b || (is_float8(a) && is_float8(b));
}

bool broadcasts(std::span<const std::int64_t> one, std::span<const std::int64_t> to) noexcept {
  if (one.size() != to.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i] != to[i] && one[i] != 1) return false;
  return true;
}

std::int64_t bits_of(std::span<const std::size_t> axes, std::size_t rank) noexcept {
  std::int64_t bits = 0;
  for (const std::size_t i : axes) {
    if (i >= rank || (bits >> i & 1) != 0) return -1;
    bits |= std::int64_t{1} << i;
  }
  return bits;
}

}  // namespace troupe::dnn::detail
