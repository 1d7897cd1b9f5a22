// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Host images with an error in their tables, which TROUPE_FAULT selects.
#include <stdlib.h>
#include <troupe/cuda_on_host/image.h>

__attribute__((constructor)) static void tell() { ::setenv("TROUPE_TEST_CODE_HAS_RUN", "1", 1); }

#if TROUPE_FAULT == 5
namespace ns {
int nobody_has_this(const float*, int);
}
static uint32_t run(troupe_host_block*) { return static_cast<uint32_t>(ns::nobody_has_this(nullptr, 0)); }
#else
static uint32_t run(troupe_host_block*) { return TROUPE_HOST_OK; }
#endif

static int variable;
static const troupe_host_parameter parameters[] = {{TROUPE_FAULT == 1 ? 7u : 0u, 0, 4, 4, "odd"}};
static const troupe_host_kernel kernels[] = {{"k", parameters, 1, 1024, TROUPE_HOST_LOOP, 0, nullptr, run, nullptr}};
static const troupe_host_global globals[] = {{TROUPE_FAULT == 2 ? nullptr : "g", &variable, 4, 0, TROUPE_HOST_I32}};

const troupe_host_image troupe_host_image_table = {TROUPE_HOST_IMAGE_MAGIC,
                                                   TROUPE_HOST_IMAGE_VERSION,
                                                   sizeof(troupe_host_image),
                                                   kernels,
                                                   1,
                                                   TROUPE_FAULT == 4 ? nullptr : globals,
                                                   1,
                                                   TROUPE_FAULT == 3 ? "amx-of-tomorrow" : ""};
