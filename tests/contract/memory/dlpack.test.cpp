// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of memory that is shared with code outside of the device through DLPack.
#include <troupe/device/sealing.hpp>
#include <troupe/device/sharing.hpp>
#include "interop_fixture.hpp"

namespace troupe::whole::interop_tests {
namespace {

using dlpack::abi::managed_tensor;
using dlpack::abi::managed_tensor_versioned;

managed_tensor_versioned& look(DLManagedTensorVersioned* t) { return *reinterpret_cast<managed_tensor_versioned*>(t); }

TEST(dlpack, exports_a_buffer_of_a_host_device_as_a_tensor) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    auto x = gpu.alloc<float>(100).slice(10, 24);
    gpu.upload(x, counting(24));
    const auto lent = dlpack::to_dlpack(gpu, x, {.shape = {2, 3, 4}}).get();
    ASSERT_OK(lent);
    DLManagedTensorVersioned* const raw = lent->managed();
    managed_tensor_versioned& t = look(raw);
    EXPECT_EQ(t.version.major, 1u);
    EXPECT_EQ(t.flags, 0u);
    EXPECT_EQ(t.tensor.device.type, 1);
    EXPECT_EQ(t.tensor.type.code, 2);
    EXPECT_EQ(t.tensor.type.bits, 32);
    EXPECT_EQ(t.tensor.type.lanes, 1);
    ASSERT_EQ(t.tensor.dimensions, 3);
    EXPECT_EQ(std::vector<std::int64_t>(t.tensor.shape, t.tensor.shape + 3), (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(std::vector<std::int64_t>(t.tensor.strides, t.tensor.strides + 3), (std::vector<std::int64_t>{12, 4, 1}));
    auto* const theirs = static_cast<float*>(t.tensor.data);
    EXPECT_EQ(theirs[23], 23);
    theirs[5] = -5;
    ASSERT_OK(take_back(gpu, x).get());
    EXPECT_EQ(gpu.download(x).get().value()[5], -5);
    t.deleter(&t);
  }
}

TEST(dlpack, keeps_memory_alive_while_a_receiver_holds_the_tensor) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  auto x = gpu.alloc<double>(10);
  auto lent = dlpack::to_dlpack(gpu, x).get();
  auto& one = look(lent->managed());
  auto& two = *reinterpret_cast<managed_tensor*>(lent->managed_unversioned());
  *lent = {};
  x = {};
  const auto used = [&] { return gpu.statistics().memory.live_buffers; };
  EXPECT_EQ(used(), 1u);
  static_cast<double*>(one.tensor.data)[9] = 4;
  EXPECT_EQ(static_cast<double*>(two.tensor.data)[9], 4);
  one.deleter(&one);
  EXPECT_EQ(used(), 1u);
  two.deleter(&two);
  EXPECT_EQ(used(), 0u);
}

TEST(dlpack, keeps_a_tensor_valid_after_its_device_is_closed) {
  for (const isolation how : {isolation::process, isolation::thread}) {
    result<dlpack::tensor> lent = error(reaction::fatal, "test", "not lent");
    {
      runtime rt;
      const device gpu = rt.open_device({.isolation = how});
      const auto x = gpu.alloc<float>(3);
      ASSERT_OK(gpu.upload(x, counting(3)).get());
      lent = dlpack::to_dlpack(gpu, x).get();
      ASSERT_OK(lent);
    }
    auto& theirs = look(lent->managed());
    auto* const data = static_cast<float*>(theirs.tensor.data);
    EXPECT_EQ(data[2], 2.f);
    data[2] = 7;
    theirs.deleter(&theirs);
  }
}

TEST(dlpack, exports_a_host_buffer_without_waiting) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto h = gpu.alloc_host<complex64>(6);
  const auto lent = dlpack::to_dlpack(h, {.shape = {2, 2}, .strides = {1, 3}});
  ASSERT_OK(lent);
  auto& t = look(lent->managed());
  EXPECT_EQ(t.tensor.data, h.data());
  EXPECT_EQ(t.tensor.type.code, 5);
  EXPECT_EQ(t.tensor.type.bits, 64);
  EXPECT_EQ(t.tensor.strides[1], 3);
  t.deleter(&t);
}

TEST(dlpack, lends_sealed_buffers_read_only) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(10, {.sealable = true});
  gpu.upload(x, counting(10));
  ASSERT_OK(seal(gpu, x).get());
  const auto lent = dlpack::to_dlpack(gpu, x).get();
  ASSERT_OK(lent);
  auto& t = look(lent->managed());
  EXPECT_EQ(t.flags, dlpack::abi::read_only);
  EXPECT_EQ(static_cast<const float*>(t.tensor.data)[9], 9);
  EXPECT_EQ(lent->managed_unversioned(), nullptr);
  t.deleter(&t);
  EXPECT_TRUE(x.sealed());
}

TEST(dlpack, refuses_a_seal_while_a_receiver_holds_a_writable_tensor) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    const auto x = gpu.alloc<float>(10, {.sealable = true});
    gpu.upload(x, counting(10));
    auto lent = dlpack::to_dlpack(gpu, x).get();
    ASSERT_OK(lent);
    auto& t = look(lent->managed());
    *lent = {};
    static_cast<float*>(t.tensor.data)[9] = -9;
    ASSERT_OK(take_back(gpu, x).get());
    EXPECT_TRUE(is_error(error_of(seal(gpu, x)), reaction::caller_bug, {"can write", "to_dlpack", "copy"}));
    EXPECT_FALSE(x.sealed());
    t.deleter(&t);
    ASSERT_OK(seal(gpu, x).get());
    EXPECT_EQ(gpu.download(x).get().value()[9], -9);
  }
}

TEST(sharing, refuses_a_seal_while_a_writable_address_is_held) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    const auto x = gpu.alloc<float>(10, {.zeroed = true, .sealable = true});
    ASSERT_OK(lend(gpu, x).get());
    {
      const auto at = address(gpu, x);
      ASSERT_OK(at);
      EXPECT_FALSE(at->read_only);
      *reinterpret_cast<float*>(at->data) = 5;
      EXPECT_TRUE(is_error(error_of(seal(gpu, x)), reaction::caller_bug, {"address()"}));
    }
    ASSERT_OK(seal(gpu, x).get());
    const auto at = address(gpu, x);
    ASSERT_OK(at);
    EXPECT_TRUE(at->read_only);
    EXPECT_EQ(*reinterpret_cast<const float*>(at->data), 5);
    EXPECT_TRUE(x.sealed());
  }
}

TEST(dlpack, refuses_layouts_that_do_not_fit_the_buffer) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(24, {.zeroed = true});
  const auto why = [&](dlpack::layout how) { return error_of(dlpack::to_dlpack(gpu, x, std::move(how))); };
  EXPECT_TRUE(is_error(why({.shape = {5, 5}}), reaction::caller_bug, {"{5, 5}", "25 elements", "24"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 2}, .strides = {23, 1}}), reaction::caller_bug, {"25 elements"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 2}, .strides = {-1, 1}}), reaction::caller_bug, {"expected at least 0"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 0}}), reaction::caller_bug, {"at least 1 element"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 2}, .strides = {1}}), reaction::caller_bug,
                       {"there are 1 strides; expected 2, one for each axis"}));
  EXPECT_TRUE(is_error(why({.shape = {INT64_MAX, INT64_MAX}}), reaction::caller_bug, {"64 bits"}));
  EXPECT_TRUE(
      is_error(error_of(dlpack::to_dlpack(gpu, gpu.alloc<float4_e2m1>(2))), reaction::unsupported, {"float4_e2m1x2"}));
  EXPECT_TRUE(is_error(error_of(dlpack::to_dlpack(gpu, buffer<float>())), reaction::caller_bug, {"empty"}));
}

// A tensor of another library.
struct foreign {
  explicit foreign(std::vector<std::int64_t> extents) : shape(std::move(extents)) {
    t.version = {1, 3};
    t.manager = this;
    t.deleter = [](managed_tensor_versioned* self) { ++static_cast<foreign*>(self->manager)->deleted; };
    t.tensor = {.data = values.data(),
                .device = {1, 0},
                .dimensions = static_cast<std::int32_t>(shape.size()),
                .type = {2, 32, 1},
                .shape = shape.data(),
                .strides = nullptr,
                .byte_offset = 0};
  }
  DLManagedTensorVersioned* raw() { return reinterpret_cast<DLManagedTensorVersioned*>(&t); }

  std::vector<float> values = counting(100);
  std::vector<std::int64_t> shape, strides;
  managed_tensor_versioned t{};
  int deleted = 0;
};

TEST(dlpack, lets_a_worker_thread_use_a_tensor_and_releases_it) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  foreign f({3, 5});
  f.strides = {20, 2};
  f.t.tensor.strides = f.strides.data();
  f.t.tensor.byte_offset = 8;
  {
    const auto got = dlpack::from_dlpack<float>(gpu, f.raw());
    ASSERT_OK(got);
    EXPECT_EQ(got->data.size(), extent(49));
    EXPECT_EQ(got->layout.shape, f.shape);
    EXPECT_EQ(got->layout.strides, f.strides);
    EXPECT_OK(gpu.ask(increment{.x = got->data, .n = 1}).get());
    EXPECT_EQ(gpu.download(got->data).get().value()[48], 50);
    EXPECT_EQ(f.deleted, 0);
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(f.values[2], 3);
  EXPECT_EQ(f.deleted, 1);
}

TEST(dlpack, leaves_a_refused_tensor_to_the_caller) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread})),
               apart = rt.open_device(with_test_engines());
  foreign f({10});
  const auto why = [&](auto&& change, const device& on) {
    const managed_tensor_versioned before = f.t;
    change(f.t);
    const error e = error_of(dlpack::from_dlpack<float>(on, f.raw()));
    f.t = before;
    return e;
  };
  const auto as_is = [](auto&) {};
  EXPECT_TRUE(is_error(why(as_is, apart), reaction::unsupported, {"another process", "isolation::thread"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.type.bits = 64; }, gpu), reaction::caller_bug,
                       {"code 2 with 64 bits", "expected code 2 with 32 bits", "f32"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.type.lanes = 4; }, gpu), reaction::caller_bug, {"4 lanes"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.device.type = 2; }, gpu), reaction::unsupported,
                       {"device type 2, id 0", "kDLCPU", "upload"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.version.major = 2; }, gpu), reaction::unsupported, {"DLPack 2.3"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.flags = 1; }, gpu), reaction::unsupported, {"read-only"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.byte_offset = 2; }, gpu), reaction::caller_bug, {"multiple of 4"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.dimensions = -1; }, gpu), reaction::caller_bug, {"-1 axes"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.shape = nullptr; }, gpu), reaction::caller_bug, {"and a shape"}));
  EXPECT_TRUE(is_error(why([&](auto&) { f.shape[0] = 0; }, gpu), reaction::caller_bug, {"at least 1 element"}));
  EXPECT_EQ(f.deleted, 0);
}

TEST(dlpack, imports_unversioned_tensors_and_scalars) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  float one = 7;
  static int deleted;
  deleted = 0;
  managed_tensor t{};
  t.tensor = {.data = &one,
              .device = {1, 0},
              .dimensions = 0,
              .type = {2, 32, 1},
              .shape = nullptr,
              .strides = nullptr,
              .byte_offset = 0};
  t.deleter = [](managed_tensor*) { ++deleted; };
  {
    const auto got = dlpack::from_dlpack<float>(gpu, reinterpret_cast<DLManagedTensor*>(&t));
    ASSERT_OK(got);
    EXPECT_EQ(gpu.download(got->data).get().value(), std::vector<float>{7});
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace troupe::whole::interop_tests
