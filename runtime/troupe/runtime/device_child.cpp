// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/child.hpp>
#include <troupe/runtime/device_child.hpp>

namespace troupe {
namespace {

class child_device final : public child_handle {
 public:
  explicit child_device(const device& d) noexcept : device_(d) {}
  pending<void> started() override { return device_.started(); }
  pending<exit_reason> watch() override {
    return device_.stopped().then([name = device_.name()](result<void> how) -> result<exit_reason> {
      exit_reason why{.kind = how ? exit_kind::shutdown : exit_kind::crashed, .actor = name};
      if (!how) why.cause = how.error();
      return why;
    });
  }
  void stop() noexcept override { (void)device_.close(); }
  void kill() noexcept override { (void)device_.close_now(); }

 private:
  device device_;
};

}  // namespace

std::shared_ptr<child_handle> device_child(device d) { return std::make_shared<child_device>(std::move(d)); }

}  // namespace troupe
