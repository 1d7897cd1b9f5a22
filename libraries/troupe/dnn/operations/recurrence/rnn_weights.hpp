// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <troupe/base/containers/list.hpp>
#include <troupe/request/encoding/fields.hpp>
#include <troupe/request/operands/any_operand.hpp>

namespace troupe::dnn {

/// The weights of one layer in one direction, see recurrent_weights.
struct rnn_weights {
  in_any input, recurrent;                                     ///< W and R
  std::optional<in_any> input_bias = {}, recurrent_bias = {};  ///< both, or neither
  std::optional<in_any> projection = {};                       ///< only for an LSTM
  template <class W, class F>
  static void visit(W& w, F&& f) {
    f("input", w.input), f("recurrent", w.recurrent);
    f("input_bias", w.input_bias), f("recurrent_bias", w.recurrent_bias), f("projection", w.projection);
  }
};
/// The memory to which the gradients of these weights are written.
struct rnn_weight_gradients {
  out_any input, recurrent;
  std::optional<out_any> input_bias = {}, recurrent_bias = {}, projection = {};  ///< only for weights that are given
  template <class W, class F>
  static void visit(W& w, F&& f) {
    rnn_weights::visit(w, f);
  }
};

}  // namespace troupe::dnn

namespace troupe {

/// The operands of a list of weights. Refusals name them "weights[1].recurrent", for example.
template <class W>
  requires std::same_as<W, dnn::rnn_weights> || std::same_as<W, dnn::rnn_weight_gradients>
struct operands_in<list<W>> : numbered_operands {
  template <class V>
  static void visit(const troupe::list<W>& all, V&& f) {
    each(all, [&]<class O>(std::size_t, std::string_view, const O& o) { operands_in<O>::visit(o, f); });
  }
  static std::string text_of(const troupe::list<W>& all, const void* place) {
    std::string out;
    each(all, [&]<class O>(std::size_t i, std::string_view name, const O& o) {
      operands_in<O>::visit(o, [&](const void* at, const auto&...) {
        if (at == place) out = detail::index_text(i).append(".").append(name);
      });
    });
    return out;
  }

 private:
  template <class F>
  static void each(const troupe::list<W>& all, F&& f) {
    for (std::size_t i = 0; i < all.size(); ++i)
      W::visit(all[i], [&](std::string_view name, const auto& o) { f(i, name, o); });
  }
};

}  // namespace troupe
