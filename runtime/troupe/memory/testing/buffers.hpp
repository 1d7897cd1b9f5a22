// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/buffer.hpp>
#include <troupe/memory/testing/device_memory_fixture.hpp>

namespace troupe {

/// A fixture with buffers of fake memory.
class buffers : public testing::Test {
 protected:
  ~buffers() override { memory_->abandon(); }
  template <class T>
  buffer<T> alloc(std::uint64_t count) {
    auto got = memory_->allocate(memory_kind::device, count * sizeof(T), alignof(T), {});
    EXPECT_TRUE(got);
    const std::uint64_t address = (*got)->address;
    return buffer<T>(memory_range{std::move(*got), address, count * sizeof(T)});
  }
  template <class T>
  static std::string cause(const buffer<T>& b) {
    const auto why = b.cause();
    return why ? why->text() : "";
  }

  memory_tests::fake_source source_;
  device_memory* memory_ = device_memory::make(source_, {.device_bytes = 1 << 20, .host_bytes = 1 << 20});
};

}  // namespace troupe
