// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/checker.hpp>

/// A custom library actor: sampled signals.
namespace dsp {

using troupe::extent;

/// output[i] = the mean of the `window` samples around input[i]; at the ends, of the samples that exist.
template <class T>
struct smooth {
  troupe::in<T> input;
  troupe::out<T> output;
  extent samples;
  extent window = 5;
  TROUPE_REQUEST("dsp.smooth", input, output, samples, window)

  void check(troupe::checker& c) const {
    c.positive(samples);
    c.require(window >= 1 && window.value() % 2 == 1, window, "has no middle", "an odd number of samples");
    c.elements(input, samples);
    c.elements(output, samples);
  }
};

/// Returns the highest sample and its index; of equal samples the first.
template <class T>
struct peak {
  struct found {
    std::int64_t index;
    T value;
  };
  troupe::in<T> input;
  extent samples;
  using reply = found;
  TROUPE_REQUEST("dsp.peak", input, samples)

  void check(troupe::checker& c) const {
    c.positive(samples);
    c.elements(input, samples);
  }
};

/// Multiplies each signal by the gain. The gain can be computed on the device: a buffer of one number works too.
template <class T>
struct amplify {
  troupe::list<troupe::inout<T>> signals;
  troupe::scalar<T> gain = 1;
  TROUPE_REQUEST("dsp.amplify", signals, gain)

  void check(troupe::checker& c) const { c.number(gain); }  // the signals are always touched as a whole
};

}  // namespace dsp
