/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * One block's run on the host: what the launcher of a host image passes to a kernel. See image.h.
 */
#ifndef TROUPE_CUDA_ON_HOST_HOST_BLOCK_H
#define TROUPE_CUDA_ON_HOST_HOST_BLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a block ended: the return value of a kernel's function. */
enum {
  TROUPE_HOST_OK = 0,
  TROUPE_HOST_DIVERGED = 1,  /* threads of a block wait at different barriers, or some never reach one */
  TROUPE_HOST_TRAPPED = 2,   /* __trap() */
  TROUPE_HOST_ASSERTION = 3, /* assert() failed */
  /* a barrier or warp operation where threads run one after the other: see troupe_host_kernel.how */
  TROUPE_HOST_MISPLACED = 4,
  TROUPE_HOST_NO_MEMORY = 5,   /* stacks or scratch memory could not be allocated */
  TROUPE_HOST_ON_GPUS_ONLY = 6 /* code was reached that a processor cannot run: the fault's text says why */
};

typedef struct troupe_host_dim {
  uint32_t x, y, z;
} troupe_host_dim;

/* Why a block ended with a status other than TROUPE_HOST_OK. Texts live as long as the image or the block's run. */
typedef struct troupe_host_fault {
  const char* file;    /* of the barrier, trap or assertion; null if unknown */
  uint32_t line;       /* 0 if unknown */
  uint32_t other_line; /* of the barrier at which other threads wait; 0: no other threads wait, or it is unknown */
  uint32_t thread;     /* linear number in its block */
  const char* text;    /* the assertion's condition, or a phrase with details; may be null */
} troupe_host_fault;

/* Where the lanes of a warp store values to exchange; see `meet`. */
typedef struct troupe_host_warp {
  uint64_t in[32];       /* the value of each lane */
  uint64_t out[32];      /* the result of each lane */
  uint32_t argument[32]; /* for example, the lane to read */
} troupe_host_warp;

struct troupe_host_services;

/* One block's run. The launcher fills it in; the kernel may write `fault` and `scratch`. */
typedef struct troupe_host_block {
  troupe_host_dim grid, block, index; /* gridDim, blockDim, blockIdx */
  uint32_t threads;                   /* block.x * block.y * block.z */
  uint32_t shared_bytes;              /* of dynamic shared memory */
  void* shared;                       /* dynamic shared memory, aligned to 128 bytes; content undefined */
  char* scratch;                      /* memory for per-thread variables, aligned to 64 bytes; content undefined */
  char* scratch_end;
  void* const* arguments; /* the address of each parameter's value */
  const struct troupe_host_services* services;
  troupe_host_warp* warps; /* one for each 32 threads; only while threads run as fibers */
  uint32_t thread;         /* linear number of the running thread; only while threads run as fibers */
  uint32_t fibers;         /* 1 while threads run as fibers */
  troupe_host_fault fault;
  void* launcher; /* for the launcher */
} troupe_host_block;

/* Functions of the launcher that a kernel may call while a block runs. */
typedef struct troupe_host_services {
  /* Provides scratch memory until the block ends: sets scratch and scratch_end to at least `bytes`. Returns only on
   * success. */
  void (*more_scratch)(troupe_host_block*, uint64_t bytes);
  /* Runs `thread` once for each thread of the block, each as a fiber with its own stack. Returns a status. */
  uint32_t (*run_threads)(troupe_host_block*, void (*thread)(void* context, uint32_t index), void* context);
  /* Only inside run_threads: waits until all live threads of the block have called it. The low half of the result is
     the number of threads with a nonzero predicate; bit 32 is set if all have one, bit 33 if any has. */
  uint64_t (*barrier)(troupe_host_block*, uint32_t predicate, const char* file, uint32_t line);
  /* Only inside run_threads: waits until all live threads of `mask` in this warp have called it. The last one calls
     `complete` once, with the live threads of `mask`. `complete` identifies the operation: threads that wait for
     different operations do not meet. */
  void (*meet)(troupe_host_block*, uint32_t mask, void (*complete)(troupe_host_warp*, uint32_t mask), const char* file,
               uint32_t line);
  /* Only inside run_threads: returns the threads of this warp that call it before any of them continues. */
  uint32_t (*converged)(troupe_host_block*, const char* file, uint32_t line);
  /* Only inside run_threads: this thread has reached the end of the kernel instead of returning early. */
  void (*reached_end)(troupe_host_block*, uint32_t line);
  /* Ends the block with a status other than TROUPE_HOST_OK. Does not return. No destructor runs. */
  void (*leave)(troupe_host_block*, uint32_t status);
  /* Only inside run_threads: a shuffle, which is a `meet` whose operation the launcher provides. Each lane of `mask`
     has stored its value and, as its argument, the lane to read. Reading a lane that has ended or is elsewhere returns
     0. Reading a lane outside of the mask that is in a shuffle at the same place returns that lane's value. */
  void (*shuffle)(troupe_host_block*, uint32_t mask, const char* file, uint32_t line);
  /* The threads of a warp that reach this place continue together. If threads wait at several places, the place with
     the lowest number continues first. Does nothing where threads run one after the other. */
  void (*in_step)(troupe_host_block*, uint32_t place);
} troupe_host_services;

#ifdef __cplusplus
}
#endif

#endif
