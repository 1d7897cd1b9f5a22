/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A host image is an ELF shared object with kernels for the host engine. It exports one table,
 *
 *   const troupe_host_image troupe_host_image_table;
 *
 * The compiler of CUDA C++ writes such images. They can also be written by hand, in any language that can call C. A
 * kernel is a function that runs one whole block of threads. Blocks run concurrently on several system threads; one
 * block stays on one of them from beginning to end. A hand-written kernel usually is a loop:
 *
 *   static uint32_t scale(troupe_host_block* b) {
 *     float* data = *(float* const*)b->arguments[0];
 *     float factor = *(const float*)b->arguments[1];
 *     for (uint32_t t = 0; t < b->threads; ++t) data[(uint64_t)b->index.x * b->threads + t] *= factor;
 *     return TROUPE_HOST_OK;
 *   }
 *
 * Everything in the table is constant, lives as long as the image, and may be read by any thread.
 */
#ifndef TROUPE_CUDA_ON_HOST_IMAGE_H
#define TROUPE_CUDA_ON_HOST_IMAGE_H

#include <stdint.h>

#include "host_block.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TROUPE_HOST_IMAGE_MAGIC 0x67616d6945707254ull /* "TrpEImag" */
#define TROUPE_HOST_IMAGE_VERSION 1u

/* Codes of types, those of troupe::dtype. 0: any other type. */
enum {
  TROUPE_HOST_OTHER = 0,
  TROUPE_HOST_F16 = 1,
  TROUPE_HOST_BF16 = 2,
  TROUPE_HOST_F8E4M3 = 3,
  TROUPE_HOST_F8E5M2 = 4,
  TROUPE_HOST_F32 = 8,
  TROUPE_HOST_F64 = 9,
  TROUPE_HOST_C64 = 10,
  TROUPE_HOST_C128 = 11,
  TROUPE_HOST_I8 = 12,
  TROUPE_HOST_U8 = 13,
  TROUPE_HOST_I16 = 14,
  TROUPE_HOST_U16 = 15,
  TROUPE_HOST_I32 = 16,
  TROUPE_HOST_U32 = 17,
  TROUPE_HOST_I64 = 18,
  TROUPE_HOST_U64 = 19,
  TROUPE_HOST_BOOL = 20
};

enum {
  TROUPE_HOST_VALUE = 0,         /* passed by value */
  TROUPE_HOST_CONST_POINTER = 1, /* pointer to memory that the kernel only reads */
  TROUPE_HOST_POINTER = 2        /* pointer to memory that the kernel may write */
};

typedef struct troupe_host_parameter {
  uint32_t kind;
  uint32_t dtype;     /* of the value, or of the pointer's target */
  uint64_t bytes;     /* of the value or target; 0 for a pointer to void */
  uint64_t alignment; /* of the value or target */
  const char* type;   /* as spelled in C++: "const float*" */
} troupe_host_parameter;

/* How a kernel runs the threads of its block. */
enum {
  TROUPE_HOST_LOOP = 0,   /* one after the other or in vector lanes: for kernels without barriers */
  TROUPE_HOST_SPLIT = 1,  /* in loops between its barriers */
  TROUPE_HOST_FIBERS = 2, /* each on its own stack */
  TROUPE_HOST_NEVER = 3   /* not at all: `reason` says why */
};

typedef struct troupe_host_kernel {
  const char* name; /* as requested: "reduce<float, 256>", "ns::scale" */
  const troupe_host_parameter* parameters;
  uint32_t parameter_count;
  uint32_t max_threads;  /* of a block: from __launch_bounds__, else 1024 */
  uint32_t how;          /* TROUPE_HOST_LOOP ... */
  uint32_t shared_bytes; /* of static shared memory, in addition to thread-local variables of `body` */
  const char* reason;    /* the reason for `how`, for people; may be null */
  uint32_t (*run)(troupe_host_block*);
  const void* body; /* the function that owns the kernel's static shared variables; null: there are none */
} troupe_host_kernel;

typedef struct troupe_host_global {
  const char* name; /* as requested */
  void* address;
  uint64_t bytes;
  uint32_t constant; /* 1: __constant__ */
  uint32_t dtype;    /* of its elements */
} troupe_host_global;

typedef struct troupe_host_image {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes; /* of this struct */
  const troupe_host_kernel* kernels;
  uint64_t kernel_count;
  const troupe_host_global* globals;
  uint64_t global_count;
  /* the processor features that its code needs, named as by __builtin_cpu_supports, separated by spaces */
  const char* processor;
} troupe_host_image;

/* Every image defines this table. In C++, this declaration gives it C linkage. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const troupe_host_image troupe_host_image_table;

#ifdef __cplusplus
}
#endif

#endif
