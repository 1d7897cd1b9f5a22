// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn::detail {
namespace {

using extents = std::span<const std::int64_t>;

bool equal(extents a, extents b) noexcept { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// Returns true if `some` are the extents `of` with some extents of 1 omitted.
bool is_without_ones(extents some, extents of) noexcept {
  std::size_t i = 0;
  for (const std::int64_t n : of)
    if (i < some.size() && some[i] == n)
      ++i;
    else if (n != 1)
      return false;
  return i == some.size() && !some.empty();
}

std::string or_without_ones(extents e) {
  return cat(node_maker::text_of(e),
             std::find(e.begin(), e.end(), 1) == e.end() ? "" : ", where extents of 1 may be omitted");
}

}  // namespace

expected_extents of_channels(const value& x, std::int64_t channels) noexcept {
  expected_extents out{.rank = x.rank()};
  std::fill_n(out.extents.begin(), out.rank, 1);
  if (out.rank > 1) out.extents[1] = channels;
  return out;
}

void request_builder::refuse(std::string_view field, std::string_view is, std::string expected) {
  if (fine()) refused_ = {cat(field, " ", is), std::move(expected), std::string(field), std::string(is)};
}

value request_builder::read_memory(std::string_view field, const in_any& o) {
  value out(o);
  if (const auto& refused = out.from().refused) refuse(field, refused->is, refused->expected);
  return out;
}

value request_builder::with_extents(std::string_view field, const value& v, const expected_extents& e) {
  if (!fine() || equal(v.extents(), e.all())) return v;
  if (is_without_ones(v.extents(), e.all())) return reshape(v, e.all());
  refuse(field, node_maker::text_of(v), or_without_ones(e.all()));
  return v;
}

void request_builder::write_to(std::string_view field, const value& v, const out_any& to) {
  const extents has(to.shape().extents.data(), to.shape().rank);
  if (auto refused = v.from().refused; refused && fine()) {
    for (const auto& [operation, own] : fields_)
      if (refused->input == operation) refused->input = own;
    refused_ = std::move(refused);
  }
  if (!is_element(to.type())) refuse(field, cat("holds ", to_string(to.type())), std::string(elements));
  if (!fine() || has.empty() || equal(has, v.extents())) return writes_.push_back({v, to});
  if (is_without_ones(has, v.extents())) return writes_.push_back({reshape(v, has), to});
  refuse(field, cat("is ", node_maker::text_of(has)), or_without_ones(v.extents()));
  writes_.push_back({v, to});
}

void request_builder::write(std::string_view field, const value& v, double alpha, double beta, const out_any& to) {
  value out = alpha == 1 ? v : alpha * v;
  if (beta != 0 && fine() && !v.from().refused) {
    out = out + beta * read(field, to, expected_extents::of(v));
  }
  write(field, out, to);
}

void request_builder::require_with(std::string_view field, bool given, std::string_view other, bool other_given) {
  if (other_given && !given) refuse(field, "is not given", cat("a tensor, as ", other, " is given"));
}

computation request_builder::done(const computation_options& options) {
  if (!fine()) {
    auto wrong = std::make_shared<producer>();
    wrong->refused = refused_;
    const value none(std::move(wrong));
    for (written& w : writes_) w.what = none;
  }
  return {.graph = graph(writes_), .options = options};
}

}  // namespace troupe::dnn::detail
