// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The service with CAF: an actor owns the model on the GPU, with a thread of its own. After a fault the actor ends; the
// device is reset, another actor makes everything anew, and the batch is sent again.
#include <caf/all.hpp>
#include <comparison/gpu_model.cuh>

struct batch {
  std::span<const comparison::vector> in;
  std::span<comparison::vector> out;
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(batch)

using answer_atom = caf::atom_constant<caf::atom("answer")>;
using fault_atom = caf::atom_constant<caf::atom("fault")>;
using ready_atom = caf::atom_constant<caf::atom("ready")>;
using model_actor = caf::typed_actor<caf::replies_to<answer_atom, batch>::with<bool>, caf::reacts_to<fault_atom>,
                                     caf::replies_to<ready_atom>::with<std::string>>;

struct model_state {
  std::unique_ptr<comparison::gpu_model> gpu;
};

// An exception in a handler ends the actor, and the actor that waits for its reply gets an error.
model_actor::behavior_type serve(model_actor::stateful_pointer<model_state> self, const comparison::model* m) {
  return {
      [self](answer_atom, const batch& b) {
        self->state.gpu->answer(b.in, b.out);
        return true;
      },
      [self](fault_atom) { self->state.gpu->launch_wild(); },
      [self, m](ready_atom) {
        std::string name = comparison::name_of_gpu();
        self->state.gpu = std::make_unique<comparison::gpu_model>(*m);
        return name;
      },
  };
}

class caf_service {
 public:
  explicit caf_service(const comparison::model& m) : model_(m), system_(config_), self_(system_) {
    if (!start()) throw std::runtime_error("the actor did not start");
  }
  ~caf_service() { self_->send_exit(gpu_, caf::exit_reason::user_shutdown); }

  bool answer(std::span<const comparison::vector> in, std::span<comparison::vector> out) {
    bool done = false;
    while (!done && recoveries_ <= 3) {
      self_->request(gpu_, std::chrono::seconds(10), answer_atom::value, batch{in, out})
          .receive([&](bool) { done = true; }, [&](const caf::error& e) { say("no answer", e); });
      if (!done) recover();
    }
    return done;
  }
  void inject_fault() { self_->send(gpu_, fault_atom::value); }
  std::string where() const { return gpu_name_; }

 private:
  bool start() {
    bool ready = false;
    gpu_ = system_.spawn<caf::detached>(serve, &model_);
    self_->request(gpu_, std::chrono::seconds(30), ready_atom::value)
        .receive([&](std::string name) { gpu_name_ = std::move(name), ready = true; },
                 [&](const caf::error& e) { say("no start", e); });
    return ready;
  }
  void recover() {
    while (++recoveries_ <= 3) {
      self_->wait_for(gpu_);  // its memory is freed
      const cudaError_t status = cudaDeviceReset();
      if (status == cudaSuccess && start()) return;
      if (status != cudaSuccess) std::fprintf(stderr, "caf: cudaDeviceReset: %s\n", cudaGetErrorString(status));
    }
  }
  void say(const char* what, const caf::error& e) const {
    std::fprintf(stderr, "caf: %s: %s\n", what, system_.render(e).c_str());
  }

  const comparison::model& model_;
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  model_actor gpu_;
  std::string gpu_name_;
  int recoveries_ = 0;
};

int main(int argc, char** argv) { return comparison::run<caf_service>("caf", argc, argv); }
