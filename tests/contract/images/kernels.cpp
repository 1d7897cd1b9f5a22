// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A host image written by hand, with a kernel of each kind that the tests need.
#include <troupe/cuda_on_host/image.h>
#include <cstddef>
#include <cstdint>

namespace {

struct affine {
  float scale, offset;
  double extra;
};

template <class T>
T argument(const troupe_host_block* b, std::size_t i) {
  return *static_cast<const T*>(b->arguments[i]);
}

// Calls `f(i)` for each thread's index in the grid.
template <class F>
void for_each_thread(const troupe_host_block* b, F&& f) {
  for (std::uint32_t t = 0; t < b->threads; ++t) f(std::size_t{b->index.x} * b->threads + t);
}

std::uint32_t saxpy(troupe_host_block* b) {
  const auto a = argument<float>(b, 0);
  const auto* x = argument<const float*>(b, 1);
  auto* y = argument<float*>(b, 2);
  const auto n = argument<int>(b, 3);
  for_each_thread(b, [&](std::size_t i) {
    if (i < static_cast<std::size_t>(n)) y[i] += a * x[i];
  });
  return TROUPE_HOST_OK;
}

std::uint32_t apply(troupe_host_block* b) {
  const auto f = argument<affine>(b, 0);
  auto* y = argument<float*>(b, 1);
  for_each_thread(b, [&](std::size_t i) { y[i] = f.scale * y[i] + f.offset + static_cast<float>(f.extra); });
  return TROUPE_HOST_OK;
}

std::uint32_t clear(troupe_host_block* b) {
  auto* to = static_cast<unsigned char*>(argument<void*>(b, 0));
  for_each_thread(b, [&](std::size_t i) { to[i] = 0; });
  return TROUPE_HOST_OK;
}

float table[16] = {1, 2, 3};
int factor = 2;

std::uint32_t accumulate(troupe_host_block* b) {
  const auto* x = argument<const float*>(b, 0);
  for_each_thread(b, [&](std::size_t i) { table[i % 16] += static_cast<float>(factor) * x[i]; });
  return TROUPE_HOST_OK;
}

std::uint32_t nothing(troupe_host_block*) { return TROUPE_HOST_OK; }
std::uint32_t trap(troupe_host_block*) { return TROUPE_HOST_TRAPPED; }
std::uint32_t crash(troupe_host_block*) {
  volatile std::uintptr_t nowhere = 16;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
  return TROUPE_HOST_OK;
}

constexpr troupe_host_parameter f32_value{TROUPE_HOST_VALUE, TROUPE_HOST_F32, 4, 4, "float"};
constexpr troupe_host_parameter f32_read{TROUPE_HOST_CONST_POINTER, TROUPE_HOST_F32, 4, 4, "const float *"};
constexpr troupe_host_parameter f32_write{TROUPE_HOST_POINTER, TROUPE_HOST_F32, 4, 4, "float *"};

constexpr troupe_host_parameter saxpy_parameters[] = {
    f32_value, f32_read, f32_write, {TROUPE_HOST_VALUE, TROUPE_HOST_I32, 4, 4, "int"}};
constexpr troupe_host_parameter apply_parameters[] = {
    {TROUPE_HOST_VALUE, TROUPE_HOST_OTHER, sizeof(affine), alignof(affine), "affine"}, f32_write};
constexpr troupe_host_parameter clear_parameters[] = {{TROUPE_HOST_POINTER, TROUPE_HOST_OTHER, 0, 0, "void *"}};

constexpr troupe_host_kernel kernels[] = {
    {"saxpy", saxpy_parameters, 4, 1024, TROUPE_HOST_LOOP, 0, nullptr, &saxpy, nullptr},
    {"ns::apply<affine, 1>", apply_parameters, 2, 256, TROUPE_HOST_LOOP, 0, nullptr, &apply, nullptr},
    {"clear", clear_parameters, 1, 1024, TROUPE_HOST_LOOP, 64, "written by hand", &clear, nullptr},
    {"accumulate", &f32_read, 1, 1024, TROUPE_HOST_LOOP, 0, nullptr, &accumulate, nullptr},
    {"nothing", nullptr, 0, 1024, TROUPE_HOST_LOOP, 0, nullptr, &nothing, nullptr},
    {"trap", nullptr, 0, 1024, TROUPE_HOST_LOOP, 0, nullptr, &trap, nullptr},
    {"crash", nullptr, 0, 1024, TROUPE_HOST_LOOP, 0, nullptr, &crash, nullptr},
};
constexpr troupe_host_global globals[] = {{"table", table, sizeof table, 0, TROUPE_HOST_F32},
                                          {"factor", &factor, sizeof factor, 1, TROUPE_HOST_I32}};

}  // namespace

extern "C" {
extern __attribute__((visibility("default"))) const troupe_host_image troupe_host_image_table;
const troupe_host_image troupe_host_image_table = {TROUPE_HOST_IMAGE_MAGIC,          TROUPE_HOST_IMAGE_VERSION,
                                                   sizeof(troupe_host_image),        kernels,
                                                   sizeof kernels / sizeof *kernels, globals,
                                                   sizeof globals / sizeof *globals, ""};
}
