// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <troupe/async/accepted.hpp>

namespace troupe {
namespace {

class refused_with final : public refuser {
 public:
  explicit refused_with(error why) noexcept : why_(std::move(why)) {}
  error explain(refusal) const override { return why_; }
  void add_ref() const noexcept override { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept override {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  const error why_;
  mutable std::atomic<std::uint32_t> references_{1};
};

class no_receiver final : public refuser {
 public:
  error explain(refusal) const override { return empty_reference(); }
  void add_ref() const noexcept override {}
  void release() const noexcept override {}
};

const no_receiver nowhere{};

}  // namespace

accepted::accepted(class error why)
    : by_(ref<const refuser>::adopt(new refused_with(std::move(why)))),
      word_(static_cast<std::uint64_t>(refusal::other)) {}

accepted::accepted(refusal why, const refuser* by) noexcept
    : by_(ref<const refuser>::share(by != nullptr ? by : &nowhere)), word_(static_cast<std::uint64_t>(why)) {}

error empty_reference() {
  return error(reaction::caller_bug, "actor",
               "the reference is empty (default-constructed or moved from): use a reference that spawn returned");
}

}  // namespace troupe
