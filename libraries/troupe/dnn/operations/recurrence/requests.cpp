// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/recurrence/requests.hpp>
#include <troupe/dnn/operations/recurrence/rnn.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::request_builder;
using extents = std::span<const std::int64_t>;

bool equal(extents a, extents b) noexcept { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
template <access_mode M>
extents extents_of(const any_operand<M>& o) noexcept {
  return {o.shape().extents.data(), o.shape().rank};
}
bool has_c(recurrent_cell c) noexcept { return c == recurrent_cell::lstm; }

// Returns the memory from element `first` along axis 0 on, as an operand of this shape. The memory ends with the last
// element, so that operands that are parts of the same tensor do not overlap.
template <access_mode M>
any_operand<M> part_of(const any_operand<M>& o, std::int64_t first, const tensor_shape& shape) {
  const std::uint64_t of_each = bytes_of(o.type()),
                      before = static_cast<std::uint64_t>(first * o.shape().strides[0]) * of_each;
  memory_range range = o.range();
  range.address += before;
  range.bytes = std::min(range.bytes - std::min(range.bytes, before),
                         static_cast<std::uint64_t>(spanned_elements_of(shape)) * of_each);
  return {std::move(range), shape, o.type()};
}
// Returns element i along axis 0: an operand without that axis.
template <access_mode M>
any_operand<M> element_of(const any_operand<M>& o, std::size_t i) {
  tensor_shape s{.rank = o.shape().rank - 1};
  std::copy_n(o.shape().extents.begin() + 1, s.rank, s.extents.begin());
  std::copy_n(o.shape().strides.begin() + 1, s.rank, s.strides.begin());
  return part_of(o, static_cast<std::int64_t>(i), s);
}
template <access_mode M>
value content(const any_operand<M>& o) {
  return value(in_any(o.range(), o.shape(), o.type()));
}

// The operands that the forward and the backward request read, and the layers that are computed from them.
template <class R>
class layers {
 public:
  layers(request_builder& builder, const R& r)
      : f_(builder),
        r_(r),
        x_(builder.read("x", r.x)),
        options_{.cell = r.cell, .bidirectional = r.bidirectional, .lengths = {}},
        plain_{x_, {}} {
    if (r.lengths) options_.lengths = builder.read("lengths", *r.lengths);
    for (std::size_t i = 0; i < r.weights.size(); ++i) read_weights(i);
    plain_ = rnn(x_, weights_, options_);
    check(plain_);
  }

  std::size_t count() const noexcept { return weights_.size(); }
  const value& x() const noexcept { return x_; }
  const rnn_options& options() const noexcept { return options_; }
  std::span<const recurrent_weights> weights() const noexcept { return weights_; }
  /// Returns the result without initial states. Its extents are those of the result with them.
  const rnn_result& plain() const noexcept { return plain_; }

  /// Requires the extents of states, layers x batch x width. Returns true if they fit.
  template <access_mode M>
  bool fits(std::string_view field, const any_operand<M>& o, bool is_c) {
    if (is_c && !has_c(r_.cell)) f_.refuse(field, "is given", "an LSTM, or none");
    if (!f_.fine()) return false;
    std::vector<std::int64_t> expected{static_cast<std::int64_t>(count())};
    for (const recurrent_result& l : plain_.layers) {
      const extents state = (is_c ? l.c : l.h).extents();
      if (expected.size() == 1) expected.insert(expected.end(), state.begin(), state.end());
      if (!equal(state, extents(expected).subspan(1)))
        f_.refuse(field, "is given", "layers whose states have equal extents, or none");
    }
    if (f_.fine() && !equal(extents_of(o), expected))
      f_.refuse(field, detail::node_maker::text_of(content(o)), detail::node_maker::text_of(expected));
    return f_.fine();
  }
  /// Reads the states of each layer; returns none if they are not given.
  template <access_mode M>
  std::vector<value> read_states(std::string_view field, const std::optional<any_operand<M>>& o, bool is_c) {
    std::vector<value> out;
    if (o && fits(field, *o, is_c))
      for (std::size_t i = 0; i < count(); ++i) out.push_back(f_.read(field, element_of(*o, i)));
    return out;
  }
  template <class F>
  void write_states(std::string_view field, const std::optional<out_any>& o, bool is_c, F&& state) {
    if (!o) return;
    // A view that was refused when it was made has rank 0; the request reports that reason.
    const bool is_view = o->shape().rank != 0;
    if (is_view && fits(field, *o, is_c) && count() > 1 &&
        o->shape().strides[0] < spanned_elements_of(element_of(*o, 0).shape()))
      f_.refuse(field, "has interleaved layers", "each layer's states after those of the layer before it");
    if (!is_view || !f_.fine()) return f_.write(field, x_, *o);
    for (std::size_t i = 0; i < count(); ++i) f_.write(field, state(i), element_of(*o, i));
  }
  std::vector<recurrent_state> states(const std::vector<value>& h, const std::vector<value>& c) const {
    std::vector<recurrent_state> out;
    for (std::size_t i = 0; i < h.size(); ++i) out.push_back({h[i], c.empty() ? std::nullopt : std::optional(c[i])});
    return out;
  }

  std::int64_t reserve_elements() const {
    extent sum = 0;
    each_reserved([&](std::size_t, part, extent, extent elements) { sum = sum + elements; });
    return f_.fine() && !sum.overflowed() ? sum.value() : 0;
  }
  /// A part that the reserve of the request has for a layer: the layer's own reserve, or the layer's y, which is the
  /// input of the next layer.
  using part = value recurrent_result::*;
  /// Calls `f(i, part, first, elements)` for each part of each layer i, at element `first` of the reserve.
  template <class F>
  void each_reserved(F&& f) const {
    extent at = 0;
    const auto put = [&](std::size_t i, part p) {
      extent n = 1;
      for (const std::int64_t e : (plain_.layers[i].*p).extents()) n = n * e;
      f(i, p, at, n);
      at = at + n;
    };
    for (std::size_t i = 0; i < count() && f_.fine(); ++i) {
      put(i, &recurrent_result::reserve);
      if (i + (options_.bidirectional ? 2 : 1) < count()) put(i, &recurrent_result::y);
    }
  }
  /// Requires the reserve to be a vector of `reserve_elements()` elements, and calls `f(i, part, memory)` for each
  /// part.
  template <access_mode M, class F>
  void each_in_memory(const any_operand<M>& reserve, F&& f) {
    const std::int64_t n = reserve_elements();
    if (f_.fine() && (reserve.shape().rank != 1 || reserve.shape().extents[0] != n))
      f_.refuse("reserve", detail::node_maker::text_of(content(reserve)), cat(n, ", see reserve_elements"));
    each_reserved([&](std::size_t i, part p, extent first, extent) {
      const extents e = (plain_.layers[i].*p).extents();
      tensor_shape s{.rank = e.size()};
      std::copy(e.begin(), e.end(), s.extents.begin());
      s.strides = dense_strides(s);
      for (std::size_t k = 0; k < s.rank; ++k) s.strides[k] *= reserve.shape().strides[0];
      f(i, p, part_of(reserve, first.value(), s));
    });
  }

  /// Refuses the request for the same reason as the first layer that is refused, and names the field of its weights.
  void check(const rnn_result& of) {
    for (std::size_t i = 0; i < of.layers.size() && f_.fine(); ++i)
      if (const auto& no = of.layers[i].y.from().refused) f_.refuse(name_of(no->input, i), no->is, no->expected);
    if (const auto& no = of.y.from().refused) f_.refuse(no->input, no->is, no->expected);
  }

 private:
  static std::string name_of(std::string_view input, std::size_t i) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"input weights", "input"},
                                                                       {"recurrent weights", "recurrent"},
                                                                       {"input bias", "input_bias"},
                                                                       {"recurrent bias", "recurrent_bias"},
                                                                       {"projection", "projection"}};
    for (const auto& [operation, own] : names)
      if (input == operation) return cat("weights[", i, "].", own);
    return std::string(input);
  }
  void read_weights(std::size_t i) {
    const rnn_weights& w = r_.weights[i];
    const auto name = [i](std::string_view of) { return cat("weights[", i, "].", of); };
    recurrent_weights out{f_.read(name("input"), w.input), f_.read(name("recurrent"), w.recurrent)};
    if (w.input_bias && !w.recurrent_bias) f_.refuse(name("input_bias"), "is given", "recurrent_bias to be given, too");
    if (w.recurrent_bias && !w.input_bias) f_.refuse(name("recurrent_bias"), "is given", "input_bias to be given, too");
    if (w.input_bias && w.recurrent_bias)
      out.biases = {f_.read(name("input_bias"), *w.input_bias), f_.read(name("recurrent_bias"), *w.recurrent_bias)};
    if (w.projection) out.projection = f_.read(name("projection"), *w.projection);
    weights_.push_back(std::move(out));
  }

  request_builder& f_;
  const R& r_;
  value x_;
  rnn_options options_;
  std::vector<recurrent_weights> weights_;
  rnn_result plain_;
};

void write_weight_gradients(request_builder& builder, const rnn_backward& r, const rnn_gradients& g) {
  for (std::size_t i = 0; i < r.dweights.size(); ++i) {
    const recurrence_gradients* const of = i < g.layers.size() ? &g.layers[i] : nullptr;
    const auto write = [&](std::string_view name, value recurrence_gradients::* which, const out_any& to, bool has) {
      const std::string field = cat("dweights[", i, "].", name);
      if (!has) builder.refuse(field, cat("is given, but weights[", i, "] has none"), "none");
      builder.write(field, of != nullptr ? of->*which : g.dx, to);
    };
    const auto write_given = [&](std::string_view name, value recurrence_gradients::* which,
                                 const std::optional<out_any>& to, std::optional<in_any> rnn_weights::* weight) {
      if (to) write(name, which, *to, i >= r.weights.size() || r.weights[i].*weight);
    };
    const rnn_weight_gradients& to = r.dweights[i];
    write("input", &recurrence_gradients::dinput, to.input, true);
    write("recurrent", &recurrence_gradients::drecurrent, to.recurrent, true);
    write_given("input_bias", &recurrence_gradients::dinput_bias, to.input_bias, &rnn_weights::input_bias);
    write_given("recurrent_bias", &recurrence_gradients::drecurrent_bias, to.recurrent_bias,
                &rnn_weights::recurrent_bias);
    write_given("projection", &recurrence_gradients::dprojection, to.projection, &rnn_weights::projection);
  }
}

}  // namespace

std::int64_t rnn_forward::reserve_elements() const {
  request_builder builder;
  return layers<rnn_forward>(builder, *this).reserve_elements();
}

computation rnn_forward::to_request() const {
  request_builder builder;
  layers<rnn_forward> all(builder, *this);
  builder.require_with("initial_h", initial_h.has_value(), "initial_c", initial_c.has_value());
  if (has_c(cell)) builder.require_with("initial_c", initial_c.has_value(), "initial_h", initial_h.has_value());
  const auto h = all.read_states("initial_h", initial_h, false), c = all.read_states("initial_c", initial_c, true);
  const rnn_result of =
      builder.fine() && initial_h ? rnn(all.x(), all.weights(), all.options(), all.states(h, c)) : all.plain();
  all.check(of);
  builder.write("y", of.y, y);
  all.write_states("last_h", last_h, false, [&](std::size_t i) { return of.layers[i].h; });
  all.write_states("last_c", last_c, true, [&](std::size_t i) { return of.layers[i].c; });
  const bool is_view = reserve && reserve->shape().rank != 0;
  if (is_view)
    all.each_in_memory(*reserve, [&](std::size_t i, auto part, const out_any& to) {
      builder.write("reserve", of.layers[i].*part, to);
    });
  if (!is_view || !builder.fine()) builder.write("reserve", all.x(), reserve);
  return builder.done(options);
}

computation rnn_backward::to_request() const {
  request_builder builder;
  layers<rnn_backward> all(builder, *this);
  const value gradient = builder.read("dy", dy, detail::expected_extents::of(all.plain().y));
  rnn_result of = all.plain();
  all.each_in_memory(reserve, [&](std::size_t i, auto part, const in_any& from) {
    of.layers[i].*part = builder.read("reserve", from);
  });
  const auto h = all.read_states("dlast_h", dlast_h, false), c = all.read_states("dlast_c", dlast_c, true);
  if (dweights.size() != all.count())
    builder.refuse("dweights", "has " + counted(dweights.size(), "element", "elements"),
                   cat(all.count(), ", as weights"));
  // The gradients need only the extents of the initial states, since their values are in the reserve. The last states
  // have the same extents.
  std::vector<recurrent_state> initial;
  std::vector<recurrent_output_gradients> last;
  for (std::size_t i = 0; i < all.count() && builder.fine(); ++i) {
    const recurrent_result& l = all.plain().layers[i];
    if (dinitial_h || dinitial_c) initial.push_back({l.h, has_c(cell) ? std::optional(l.c) : std::nullopt});
    if (!h.empty() || !c.empty())
      last.push_back(
          {.h = h.empty() ? std::nullopt : std::optional(h[i]), .c = c.empty() ? std::nullopt : std::optional(c[i])});
  }
  rnn_gradients g{gradient, {}};
  if (builder.fine()) g = rnn_gradient(gradient, all.x(), all.weights(), of, all.options(), initial, last);
  builder.write("dx", g.dx, dx);
  write_weight_gradients(builder, *this, g);
  all.write_states("dinitial_h", dinitial_h, false, [&](std::size_t i) { return g.layers[i].dh; });
  all.write_states("dinitial_c", dinitial_c, true, [&](std::size_t i) { return g.layers[i].dc; });
  return builder.done(options);
}

}  // namespace troupe::dnn
