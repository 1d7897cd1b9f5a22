// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Each options struct with its first field alone and with its last: a field without its own initializer then causes
// a warning (-Wextra) in the user's code.
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/weights.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/events/events.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/fft/fft.hpp>
#include <troupe/graph/graph.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/module/module.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

template <class... Options>
void take(const Options&...) {}

void runtime_and_actors() {
  take(runtime_options{.log = {}});
  take(device_options{.engine = "host"}, device_options{.engine_folders = {}});
  take(call_options{.timeout = std::chrono::seconds(1)}, call_options{.waits_for_room = false});
  take(alloc_options{.alignment = 512}, alloc_options{.sealable = true});
  take(scope_options{.timeout = std::chrono::seconds(1)}, scope_options{.run_timeout = std::chrono::seconds(1)});
  take(stage_options{.threads = 1}, stage_options{.close_timeout = std::chrono::seconds(1)});
  take(actor_options{.mailbox = 1}, actor_options{.name = "a"});
  take(supervisor_options{.strategy = strategy::one_for_all}, supervisor_options{.clock = nullptr});
}

void libraries() {
  take(blas::multiply_options<float>{.alpha = 2}, blas::multiply_options<float>{.math = blas::math_mode::exact});
  take(blas::add_options<float>{.alpha = 2}, blas::add_options<float>{.beta = 2});
  take(blas::solve_options<float>{.side = blas::side::right}, blas::solve_options<float>{.alpha = 2});
  take(fft::complex_options{.dimensions = 1}, fft::complex_options{.normalization = {}});
  take(fft::real_options{.dimensions = 1}, fft::real_options{.normalization = {}});
  take(matmul::product_options{.precision = {}}, matmul::product_options{.workspace = 0});
  take(cutlass::product_options{.precision = {}}, cutlass::product_options{.workspace = 0});
  take(cutlass::plan{.family = {}}, cutlass::plan{.band = 1});
  take(cutlass::weights_options{.type = dtype::f16}, cutlass::weights_options{.quota = {}});
  take(graph::options{.name = "g"}, graph::options{.branches = 1});
  take(events::event_options{.inter_process = true});
  take(faults::storm_options{.kinds = {}}, faults::storm_options{.exhaust_bytes = 1});
  take(jit::recipe{.source = ""}, jit::recipe{.source = "", .log_bytes = 1});
  take(module::load_options{.name = "m"}, module::load_options{.flush_to_zero = true});
}

void networks(const dnn::value& x) {
  using namespace dnn;
  take(computation_options{.precision = dnn::precision::tf32}, computation_options{.workspace = 0});
  take(attention_window{.left = 1}, attention_window{.bottom_right = true});
  take(attention_sequences{.lengths = x}, attention_sequences{.offsets = x});
  take(attention_dropout{.probability = 0.5}, attention_dropout{.step = x});
  take(attention_options{.scale = 1}, attention_options{.dropout = attention_dropout{}});
  take(block_options{.along = 0}, block_options{.along = 0, .scales = dtype::f32});
  take(cross_entropy_options{.label_smoothing = 0.1}, cross_entropy_options{.ignored = 0});
  take(cumulative_options{.exclusive = true}, cumulative_options{.reversed = true});
  take(top_k_options{.smallest = true}, rotary_options{.width = 4}, rotary_options{.base = 50});
  take(convolution_options{.padding = 1}, convolution_options{.groups = 2});
  take(pooling_options{.padding = 1}, pooling_options{.dilation = 2});
  take(recurrence_options{.cell = recurrent_cell::gru}, recurrence_options{.lengths = x});
  take(recurrent_weights{.input = x, .recurrent = x}, recurrent_state{.h = x}, recurrent_output_gradients{.y = x});
  take(rnn_options{.cell = recurrent_cell::gru}, rnn_options{.lengths = x});
  take(resampling_options{.kind = resampling_kind::cubic}, resampling_options{.rounding = nearest_rounding::floor});
  take(response_norm_options{.size = 3}, response_norm_options{.k = 1});
  take(running_averages{.mean = x, .variance = x});
}
