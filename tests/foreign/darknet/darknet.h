// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DARKNET_STYLE_H
#define DARKNET_STYLE_H
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64
#define SECRET_NUM -1234

typedef enum { LINEAR, LOGISTIC, RELU, LEAKY, ELU, TANH, HARDTAN, STAIR } ACTIVATION;

#ifdef __cplusplus
extern "C" {
#endif
extern int gpu_index;
void error(const char *s);
float *cuda_make_array(float *x, size_t n);
#ifdef GPU
void check_error(cudaError_t status);
dim3 cuda_gridsize(size_t n);
#endif
#ifdef __cplusplus
}
#endif
#endif
