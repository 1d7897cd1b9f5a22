// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/attention/attention.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;

// Checks the arguments of an attention, and finds the extents that follow from them.
struct attention_check {
  node_maker& m;
  const value &q, &k, &v;
  const attention_options& o;
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0;

  bool check();
  attention_attributes attributes() const;

 private:
  void check_extents();
  void check_bias();
  void check_numbers();
  void check_sequences(std::string_view which, const attention_sequences& s, std::int64_t rows);
  void check_integers(std::string_view name, const value& v, std::size_t rank, std::int64_t first);
};

void attention_check::check_extents() {
  const auto of_q = q.extents(), of_k = k.extents(), of_v = v.extents();
  heads = of_q[1], queries = of_q[2], keys = of_k[2];
  for (const auto& [name, t] : {std::pair("q", &q), std::pair("v", &v)})
    if (t->extents()[3] < 1) m.refuse_extents(name, *t, "a width of at least 1");
  if (of_k[1] < 1) m.refuse_extents("k", k, "at least 1 head");
  if (!m.fine()) return;
  if (of_k[3] != of_q[3]) m.refuse_extents("k", k, cat("width ", of_q[3], ", as q has"));
  if (heads % of_k[1] != 0) m.refuse_extents("k", k, cat("heads that divide those of q, ", heads));
  for (std::size_t i = 0; i < 3; ++i)
    if (of_v[i] != of_k[i])
      m.refuse_extents("v", v, cat(of_k[0], " x ", of_k[1], " x ", of_k[2], " x any width, as k has"));
  if (!detail::are_factors(q.type(), k.type()))
    m.refuse("k", cat("holds ", to_string(k.type())), cat(to_string(q.type()), ", as q does; convert one of them"));
  if (!detail::are_factors(k.type(), v.type()))
    m.refuse("v", cat("holds ", to_string(v.type())), cat(to_string(k.type()), ", as k does; convert one of them"));
}

// Requires i32 in memory. Engines read such an input as integers, so needs_double() ignores it.
void attention_check::check_integers(std::string_view name, const value& given, std::size_t rank, std::int64_t first) {
  if (!m.has_rank(name, given, rank, rank)) return;
  if (!given.from().memory)
    m.refuse(name, "is computed", "i32 that are read from memory");
  else if (given.type() != dtype::i32)
    m.refuse(name, cat("holds ", to_string(given.type())), "i32");
  else if (given.extents()[0] != first)
    m.refuse_extents(name, given, cat(first, rank == 1 ? "" : " x the pages of a sequence"));
}

// Checks the lengths or offsets in `s`. `which` is "queries" or "keys". `rows` is the extent of the tensor's batch
// axis; 0 for pages.
void attention_check::check_sequences(std::string_view which, const attention_sequences& s, std::int64_t rows) {
  const std::string name(which);
  if (s.lengths && s.offsets) m.refuse(name + ".lengths", "is given as well as offsets", "at most one of the two");
  if (s.offsets && rows == 0) m.refuse(name + ".offsets", "is given as well as pages", "lengths instead of offsets");
  if (s.offsets && rows != 1) m.refuse(name + ".offsets", cat("is given for a batch of ", rows), "a batch of 1");
  if (s.lengths) check_integers(name + ".lengths", *s.lengths, 1, batch);
  if (s.offsets) check_integers(name + ".offsets", *s.offsets, 1, batch + 1);
}

void attention_check::check_bias() {
  if (!o.bias || !m.fine()) return;
  const std::int64_t all[] = {batch, heads, queries, keys};
  if (o.queries.offsets || o.keys.offsets)
    m.refuse("bias", "is given as well as offsets",
             "lengths instead of offsets, with each sequence in a row of the batch");
  else if (!detail::broadcasts(o.bias->extents(), all))
    m.refuse_extents("bias", *o.bias, cat(node_maker::text_of(all), ", where each extent may be 1"));
}

void attention_check::check_numbers() {
  if (o.scale && !std::isfinite(*o.scale)) m.refuse("scale", "is " + std::to_string(*o.scale), "a finite number");
  if (o.soft_cap && !(*o.soft_cap > 0 && std::isfinite(*o.soft_cap)))
    m.refuse("soft_cap", "is " + std::to_string(*o.soft_cap), "a finite number above 0");
  for (const auto& [name, side] : {std::pair("left", o.window.left), {"right", o.window.right}})
    if (side && *side < 0) m.refuse("window", cat("has ", name, " = ", *side), "at least 0, or no value for no limit");
  if (!o.dropout) return;
  if (!(o.dropout->probability >= 0 && o.dropout->probability < 1))
    m.refuse("dropout", "has the probability " + std::to_string(o.dropout->probability), "at least 0 and less than 1");
  if (o.dropout->step) check_integers("dropout.step", *o.dropout->step, 1, 1);
}

bool attention_check::check() {
  if (!m.has_rank("q", q, 4, 4) || !m.has_rank("k", k, 4, 4) || !m.has_rank("v", v, 4, 4)) return false;
  check_extents();
  batch = q.extents()[0];
  const auto sequences = [&](const value& offsets) { return offsets.rank() == 1 ? offsets.extents()[0] - 1 : 0; };
  if (o.queries.offsets) batch = sequences(*o.queries.offsets);
  if (o.queries.offsets && batch < 1)
    m.refuse("queries.offsets", "has no sequence", "at least 2 offsets: one more than sequences");
  check_sequences("queries", o.queries, q.extents()[0]);
  if (o.pages) {
    check_integers("pages", *o.pages, 2, batch);
    if (m.fine() && __builtin_mul_overflow(keys, o.pages->extents()[1], &keys))
      m.refuse_extents("pages", *o.pages, "fewer than 2^63 keys in all");
  } else if (!o.keys.offsets && k.extents()[0] != batch) {
    m.refuse_extents("k", k, cat("a batch of ", batch, ", as q has"));
  }
  check_sequences("keys", o.keys, o.pages ? 0 : k.extents()[0]);
  check_numbers();
  check_bias();
  return m.fine();
}

attention_attributes attention_check::attributes() const {
  const auto layout = [](const attention_sequences& s) {
    return s.lengths ? sequence_layout::lengths : s.offsets ? sequence_layout::offsets : sequence_layout::whole;
  };
  constexpr std::int64_t unlimited = attention_attributes::unlimited;
  const bool drops = o.dropout && o.dropout->probability > 0;
  return {.scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(q.extents()[3]))),
          .soft_cap = o.soft_cap.value_or(0),
          .left = std::min(o.window.left.value_or(unlimited), unlimited),
          .right = std::min(o.window.right.value_or(unlimited), unlimited),
          .bottom_right = o.window.bottom_right,
          .has_bias = o.bias.has_value(),
          .has_alibi = o.alibi,
          .queries = layout(o.queries),
          .keys = layout(o.keys),
          .has_pages = o.pages.has_value(),
          .has_step = o.dropout && o.dropout->step,
          .dropout = drops ? o.dropout->probability : 0,
          .seed = drops ? o.dropout->seed : 0,
          .offset = drops ? o.dropout->offset : 0};
}

// Returns the inputs of the node, in the order of attention_inputs.
std::vector<value> inputs(std::vector<value> all, const value& q, const value& k, const value& v,
                          const attention_options& o) {
  all.insert(all.end(), {q, k, v});
  const auto add = [&](const std::optional<value>& given) {
    if (given) all.push_back(*given);
  };
  add(o.bias);
  add(o.queries.lengths ? o.queries.lengths : o.queries.offsets);
  add(o.keys.lengths ? o.keys.lengths : o.keys.offsets);
  add(o.pages);
  if (o.dropout) add(o.dropout->step);
  return all;
}

dtype type_of(const value& q, const value& k, const value& v, const attention_options& o) {
  return o.bias ? detail::floating_type({q, k, v, *o.bias}) : detail::floating_type({q, k, v});
}

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
attention_options options_of(request_builder& builder, const R& r) {
  const auto given = [&builder](std::string_view field, const std::optional<in_any>& o) {
    return o ? std::optional(builder.read(field, *o)) : std::nullopt;
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
  if (r.step && r.dropout == 0) builder.refuse("step", "is given", "none, as dropout is 0");
  if (r.dropout != 0) out.dropout = attention_dropout{r.dropout, r.seed, r.offset, given("step", r.step)};
  return out;
}

}  // namespace

attended attention(const value& q, const value& k, const value& v, const attention_options& o) {
  node_maker m(op::attention, "attention", inputs({}, q, k, v, o));
  if (attention_check a{m, q, k, v, o}; a.check()) {
    const auto of_q = q.extents();
    const std::int64_t of_y[] = {of_q[0], of_q[1], of_q[2], v.extents()[3]},
                       of_statistics[] = {of_q[0], of_q[1], of_q[2], 1};
    m.with(a.attributes());
    m.add_output(type_of(q, k, v, o), of_y);
    m.add_output(type_of(q, k, v, o), of_statistics);
  }
  const std::vector<value> all = m.all(2);
  return {all[0], all[1]};
}

attention_gradients attention_gradient(const value& dy, const attended& of, const value& q, const value& k,
                                       const value& v, const attention_options& o) {
  constexpr std::string_view name = "attention_gradient";
  node_maker m(op::attention_gradient, name, inputs({dy, of.y, of.statistics}, q, k, v, o));
  if (o.pages) m.refuse("pages", "is given", "none: an attention with pages has no gradient");
  if (attention_check a{m, q, k, v, o}; a.check()) {
    const auto of_q = q.extents();
    const std::int64_t of_y[] = {of_q[0], of_q[1], of_q[2], v.extents()[3]},
                       of_statistics[] = {of_q[0], of_q[1], of_q[2], 1};
    const auto check = [&](std::string_view input, const value& given, std::span<const std::int64_t> extents) {
      if (m.fine() && !std::equal(given.extents().begin(), given.extents().end(), extents.begin(), extents.end()))
        m.refuse_extents(input, given, cat(node_maker::text_of(extents), ", as the attention's result has"));
    };
    check("dy", dy, of_y);
    check("y", of.y, of_y);
    check("statistics", of.statistics, of_statistics);
    m.with(a.attributes());
    const dtype type = type_of(q, k, v, o);
    for (const value* x : {&q, &k, &v}) m.add_output(type, x->extents());
    if (o.bias) m.add_output(type, o.bias->extents());
  }
  std::vector<value> all = m.all(o.bias ? 4 : 3);
  if (!o.bias) {
    node_maker none(op::attention_gradient, name, std::vector<value>());
    none.refuse("dbias", "is not computed", "a bias to be given");
    all.push_back(none.done());
  }
  return {all[0], all[1], all[2], all[3]};
}

computation attention_forward::to_request() const {
  request_builder builder = builder_with_names();
  const value from = builder.read("q", q), to = builder.read("k", k), of = builder.read("v", v);
  const attended a = attention(from, to, of, options_of(builder, *this));
  builder.write("y", a.y, y);
  builder.write("statistics", a.statistics, statistics);
  return builder.done(options);
}

computation attention_backward::to_request() const {
  request_builder builder = builder_with_names();
  const value from = builder.read("q", q), to = builder.read("k", k), of = builder.read("v", v);
  builder.require_with("bias", bias.has_value(), "dbias", dbias.has_value());
  const attention_options o = options_of(builder, *this);
  const auto e = from.extents();
  const value sums =
      e.size() == 4 ? builder.read("statistics", statistics, {.rank = 4, .extents = {e[0], e[1], e[2], 1}}) : from;
  const attention_gradients g =
      attention_gradient(builder.read("dy", dy), {builder.read("y", y), sums}, from, to, of, o);
  builder.write("dq", g.dq, dq), builder.write("dk", g.dk, dk), builder.write("dv", g.dv, dv);
  builder.write("dbias", g.dbias, dbias);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_attention(node_differentiation& d) {
  if (!d.only_first_has_gradient()) return;
  const auto a = d.attributes<attention_attributes>();
  if (a.has_pages != 0) return d.refuse("attention with pages");
  // cuDNN can compute the gradient only if y, dy and the results are rounded to the half type of the inputs.
  const dtype type = d.in(0).type();
  const bool is_rounded = is_half(type) && d.rounded() && d.rounded()->type() == type;
  const auto as_input_type = [&](const value& v) { return is_rounded ? convert(v, type) : v; };
  std::vector<value> inputs{as_input_type(d.dy()), is_rounded ? *d.rounded() : d.out(0), d.out(1)};
  inputs.insert(inputs.end(), d.node().inputs.begin(), d.node().inputs.end());
  const auto all =
      a.has_bias != 0
          ? d.made(op::attention_gradient, inputs, d.node().attributes, {&d.in(0), &d.in(1), &d.in(2), &d.in(3)})
          : d.made(op::attention_gradient, inputs, d.node().attributes, {&d.in(0), &d.in(1), &d.in(2)});
  for (std::size_t i = 0; i < 3; ++i) d.set(i, [&] { return as_input_type(all[i]); });
  if (a.has_bias != 0) d.set(3, [&] { return all[3]; });
}

// Without keys, y is 0 and the statistics are -infinity.
known_output attention_of_nothing(const producer&, std::size_t output) {
  return {output == 0 ? 0 : -std::numeric_limits<double>::infinity()};
}

}  // namespace troupe::dnn::detail
