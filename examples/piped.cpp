// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// An actor that sends a request to a device and handles other messages until the answer arrives.
#include <cstdio>
#include <troupe/actor/stage.hpp>
#include <troupe/async/promise.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

struct query {
  std::vector<float> values;
  promise<float> answer;  // to the caller: set when the device has answered
};
struct computed {  // the device's answer, as a message
  result<float> norm;
  promise<float> answer;
};
struct how_many {};

struct norms {
  norms(actor_context<norms>& context, device d) : self(context), gpu(std::move(d)) {}

  void handle(query q) {
    auto x = gpu.alloc<float>(q.values.size());
    gpu.upload(x, q.values);
    self.pipe(gpu.ask(blas::nrm2<float>{.x = x, .n = x.size()}),
              [answer = std::move(q.answer)](result<float> norm) mutable {
                return computed{std::move(norm), std::move(answer)};
              });
  }  // returns at once: the actor handles the next message
  void handle(computed c) {
    ++served;
    c.answer.set(std::move(c.norm));
  }
  int handle(how_many) const { return served; }

  actor_context<norms>& self;
  device gpu;
  int served = 0;
};

int main() {
  runtime rt;
  stage s;  // declared after the runtime: its actors use the device until they have ended
  auto ref = s.spawn<norms>({.name = "norms"}, rt.open_device());

  std::vector<pending<float>> answers;
  for (int i = 1; i <= 100; ++i) {
    promise<float> answer;
    answers.push_back(answer.get_pending());
    ref.tell(query{std::vector<float>(25, static_cast<float>(i)), std::move(answer)});
  }
  for (int i = 1; i <= 100; ++i) {
    const result<float> norm = answers[static_cast<std::size_t>(i - 1)].get();
    if (!norm) return std::fprintf(stderr, "%s\n", norm.error().to_string().c_str()), 1;
    if (*norm != 5.0f * static_cast<float>(i)) return std::fprintf(stderr, "norm %d is %g\n", i, *norm), 1;
  }
  const result<int> served = ref.ask(how_many{}).get();
  std::printf("served %d\n", served.value_or(-1));
  return served.value_or(-1) == 100 ? 0 : 1;
}
