// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A host image made without the translator.
#include <troupe/cuda_on_host/image.h>

static uint32_t scale(troupe_host_block* b) {
  float* data = *static_cast<float* const*>(b->arguments[0]);
  const float factor = *static_cast<const float*>(b->arguments[1]);
  for (uint32_t t = 0; t < b->threads; ++t) data[uint64_t{b->index.x} * b->threads + t] *= factor;
  return TROUPE_HOST_OK;
}

static const troupe_host_parameter parameters[] = {
    {TROUPE_HOST_POINTER, TROUPE_HOST_F32, 4, 4, "float*"},
    {TROUPE_HOST_VALUE, TROUPE_HOST_F32, 4, 4, "float"},
};

static const troupe_host_kernel kernels[] = {
    {"scale", parameters, 2, 1024, TROUPE_HOST_LOOP, 128, nullptr, scale, nullptr},
};

const troupe_host_image troupe_host_image_table = {
    TROUPE_HOST_IMAGE_MAGIC, TROUPE_HOST_IMAGE_VERSION, sizeof(troupe_host_image), kernels, 1, nullptr, 0, ""};
