/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a host image is: an ELF shared object with kernels for the host engine. It exports one table,
 *
 *   const troupe_host_image troupe_host_image_table;
 *
 * The compiler of CUDA C++ writes such images; they can be written by hand as well, in any language that speaks C. A
 * kernel is a function that runs one whole block of threads. Blocks run at the same time on several threads of the
 * system; one block stays on one of them from its beginning to its end. A hand-written kernel usually is a loop:
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
#ifndef TROUPE_KERNEL_HOST_IMAGE_H
#define TROUPE_KERNEL_HOST_IMAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TROUPE_HOST_IMAGE_MAGIC 0x67616d6945707254ull /* "TrpEImag" */
#define TROUPE_HOST_IMAGE_VERSION 1u

/* How a run of a block ended; what a kernel's function returns. */
enum {
  TROUPE_HOST_OK = 0,
  TROUPE_HOST_DIVERGED = 1,  /* threads of a block wait at different barriers, or not all of them come to one */
  TROUPE_HOST_TRAPPED = 2,   /* __trap() */
  TROUPE_HOST_ASSERTION = 3, /* assert() failed */
  TROUPE_HOST_MISPLACED =
      4, /* a barrier or warp operation where threads run one after the other: see troupe_host_kernel.how */
  TROUPE_HOST_NO_MEMORY = 5,   /* stacks or scratch memory could not be had */
  TROUPE_HOST_ON_GPUS_ONLY = 6 /* code was reached that a processor cannot run: the fault's text says why */
};

typedef struct troupe_host_dim {
  uint32_t x, y, z;
} troupe_host_dim;

/* Why a block ended with another status than TROUPE_HOST_OK. Texts live as long as the image or the block's run. */
typedef struct troupe_host_fault {
  const char* file;    /* of the barrier, trap or assertion; null where unknown */
  uint32_t line;       /* 0 where unknown */
  uint32_t other_line; /* of the barrier that other threads wait at; 0: they do not wait, or there is none */
  uint32_t thread;     /* linear number in its block */
  const char* text;    /* the assertion's condition, or a phrase that says more; may be null */
} troupe_host_fault;

/* What the lanes of a warp lay down to exchange values; see `meet`. */
typedef struct troupe_host_warp {
  uint64_t in[32];       /* what each lane brings */
  uint64_t out[32];      /* what each lane gets */
  uint32_t argument[32]; /* for instance, which lane it wants to read */
} troupe_host_warp;

struct troupe_host_services;

/* One block's run. The launcher fills it in; the kernel may write `fault`, `scratch`. */
typedef struct troupe_host_block {
  troupe_host_dim grid, block, index; /* gridDim, blockDim, blockIdx */
  uint32_t threads;                   /* block.x * block.y * block.z */
  uint32_t shared_bytes;              /* of dynamic shared memory */
  void* shared;                       /* dynamic shared memory, aligned to 128 bytes; content undefined */
  char* scratch;                      /* memory for per-thread variables, aligned to 64 bytes; content undefined */
  char* scratch_end;
  void* const* arguments; /* of each parameter the address of its value */
  const struct troupe_host_services* services;
  troupe_host_warp* warps; /* one for each 32 threads; only while threads run as fibers */
  uint32_t thread;         /* linear number of the thread that runs; only while threads run as fibers */
  uint32_t fibers;         /* 1 while threads run as fibers */
  troupe_host_fault fault;
  void* launcher; /* the launcher's own */
} troupe_host_block;

/* What the launcher does for a kernel while a block runs. */
typedef struct troupe_host_services {
  /* More scratch memory, until the block's end: sets scratch and scratch_end to at least `bytes`. Does not return
   * without. */
  void (*more_scratch)(troupe_host_block*, uint64_t bytes);
  /* Runs `thread` once for each thread of the block, each as a fiber with a stack of its own. Returns a status. */
  uint32_t (*run_threads)(troupe_host_block*, void (*thread)(void* context, uint32_t index), void* context);
  /* Only inside run_threads: waits until all live threads of the block are here. Returns the number of threads that
     gave a predicate that is not 0 in the low half, whether all did in bit 32, whether any did in bit 33. */
  uint64_t (*barrier)(troupe_host_block*, uint32_t predicate, const char* file, uint32_t line);
  /* Only inside run_threads: waits until all live threads of `mask` in this warp are here; the last one calls
     `complete` once, with those of `mask` that live. `complete` is the operation: threads that wait for different ones
     do not meet. */
  void (*meet)(troupe_host_block*, uint32_t mask, void (*complete)(troupe_host_warp*, uint32_t mask), const char* file,
               uint32_t line);
  /* Only inside run_threads: the threads of this warp that come here before any of them can go on. */
  uint32_t (*converged)(troupe_host_block*, const char* file, uint32_t line);
  /* Only inside run_threads: this thread has come to the end of the kernel, rather than returned early. */
  void (*fell_off)(troupe_host_block*, uint32_t line);
  /* Ends the block with a status other than TROUPE_HOST_OK. Does not return. No destructor runs. */
  void (*leave)(troupe_host_block*, uint32_t status);
  /* Only inside run_threads: a shuffle, which is a `meet` whose operation the launcher has. Each lane of `mask` has
     laid down its value and, as its argument, the lane that it reads. One that reads a lane which has ended or is
     somewhere else gets 0; one that reads a lane outside of its mask which is in a shuffle at the same place gets that
     lane's value. */
  void (*shuffle)(troupe_host_block*, uint32_t mask, const char* file, uint32_t line);
  /* The threads of a warp go on from here together, those that come here. Of several places that threads wait at, the
     one with the lowest number goes first. Does nothing where threads run one after the other. */
  void (*in_step)(troupe_host_block*, uint32_t place);
} troupe_host_services;

/* Codes of types: those of troupe::dtype. 0: another type. */
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
  TROUPE_HOST_VALUE = 0,         /* passed as it is */
  TROUPE_HOST_CONST_POINTER = 1, /* pointer to what the kernel only reads */
  TROUPE_HOST_POINTER = 2        /* pointer to what it may write */
};

typedef struct troupe_host_parameter {
  uint32_t kind;
  uint32_t dtype;     /* of the value, or of what the pointer points to */
  uint64_t bytes;     /* of the same; 0 for a pointer to void */
  uint64_t alignment; /* of the same */
  const char* type;   /* as C++ spells it: "const float*" */
} troupe_host_parameter;

/* How a kernel runs the threads of its block. */
enum {
  TROUPE_HOST_LOOP = 0,   /* one after the other or in vector lanes: it has no barrier */
  TROUPE_HOST_SPLIT = 1,  /* in loops between its barriers */
  TROUPE_HOST_FIBERS = 2, /* each on a stack of its own */
  TROUPE_HOST_NEVER = 3   /* it cannot: `reason` says why */
};

typedef struct troupe_host_kernel {
  const char* name; /* as it was asked for: "reduce<float, 256>", "ns::scale" */
  const troupe_host_parameter* parameters;
  uint32_t parameter_count;
  uint32_t max_threads;  /* of a block: of __launch_bounds__, else 1024 */
  uint32_t how;          /* TROUPE_HOST_LOOP ... */
  uint32_t shared_bytes; /* of static shared memory, beyond what lies in thread-local variables of `body` */
  const char* reason;    /* why `how`, for people; may be null */
  uint32_t (*run)(troupe_host_block*);
  const void* body; /* the function that the kernel's static shared variables belong to; null: there are none */
} troupe_host_kernel;

typedef struct troupe_host_global {
  const char* name; /* as it was asked for */
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
  const char*
      processor; /* what its code needs of the processor, as __builtin_cpu_supports names it, separated by spaces */
} troupe_host_image;

/* What an image defines. In C++ its linkage comes from this declaration. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const troupe_host_image troupe_host_image_table;

#ifdef __cplusplus
}
#endif

#endif
