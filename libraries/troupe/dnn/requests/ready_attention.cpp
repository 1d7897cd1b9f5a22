// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/dnn/requests/ready_attention.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::request_builder;

// Makes a builder that translates names in refusals of attention to fields of the request.
request_builder builder_with_names() {
  return request_builder({{"queries.lengths", "query_lengths"},
                          {"keys.lengths", "key_lengths"},
                          {"queries.offsets", "query_offsets"},
                          {"keys.offsets", "key_offsets"},
                          {"dropout.step", "step"}});
}

template <class R>
attention_options options_of(request_builder& f, const R& r) {
  const auto given = [&f](std::string_view field, const std::optional<in_any>& o) {
    return o ? std::optional(f.read(field, *o)) : std::nullopt;
  };
  attention_options out{.scale = r.scale,
                        .soft_cap = r.soft_cap,
                        .bias = given("bias", r.bias),
                        .alibi = r.alibi,
                        .window = r.window,
                        .queries = {given("query_lengths", r.query_lengths), given("query_offsets", r.query_offsets)},
                        .keys = {given("key_lengths", r.key_lengths), given("key_offsets", r.key_offsets)},
                        .pages = {},
                        .dropout = {}};
  if constexpr (requires { r.pages; }) out.pages = given("pages", r.pages);
  if (r.step && r.dropout == 0) f.refuse("step", "is given", "none, as dropout is 0");
  if (r.dropout != 0) out.dropout = attention_dropout{r.dropout, r.seed, r.offset, given("step", r.step)};
  return out;
}

}  // namespace

computation attention_forward::sent() const {
  request_builder f = builder_with_names();
  const value from = f.read("q", q), to = f.read("k", k), of = f.read("v", v);
  const attended a = attention(from, to, of, options_of(f, *this));
  f.write("y", a.y, y);
  f.write("statistics", a.statistics, statistics);
  return f.done(options);
}

computation attention_backward::sent() const {
  request_builder f = builder_with_names();
  const value from = f.read("q", q), to = f.read("k", k), of = f.read("v", v);
  f.require_with("bias", bias.has_value(), "dbias", dbias.has_value());
  const attention_options o = options_of(f, *this);
  const auto e = from.extents();
  const value sums =
      e.size() == 4 ? f.read("statistics", statistics, {.rank = 4, .extents = {e[0], e[1], e[2], 1}}) : from;
  const attention_gradients g = attention_gradient(f.read("dy", dy), {f.read("y", y), sums}, from, to, of, o);
  f.write("dq", g.dq, dq), f.write("dk", g.dk, dk), f.write("dv", g.dv, dv);
  f.write("dbias", g.dbias, dbias);
  return f.done(options);
}

}  // namespace troupe::dnn
