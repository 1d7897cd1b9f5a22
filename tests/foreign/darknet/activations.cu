// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define GPU
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

__device__ float logistic_of(float v){return 1.f/(expf(-v) + 1.f);}
__device__ float relu_of(float v){return (v>0)*v;}
__device__ float leaky_of(float v){return fmaxf(v, .1f*v);}
__device__ float elu_of(float v){return (v < 0)*(expf(v) - 1) + (v >= 0)*v;}
__device__ float tanh_of(float v){return 1 - 2/(1 + expf(2*v));}
__device__ float hardtan_of(float v){if(v > 1) return 1; if(v < -1) return -1; return v;}
__device__ float stair_of(float v)
{
    int step = floorf(v);
    float level = floorf(v/2);
    return step%2 != 0 ? level + (v - step) : level;
}

__device__ float activate(float x, ACTIVATION a)
{
    switch(a){
        case LOGISTIC: x = logistic_of(x); break;
        case RELU: x = relu_of(x); break;
        case LEAKY:
            x = leaky_of(x);
            break;
        case ELU: return elu_of(x);
        case TANH: return tanh_of(x);
        case HARDTAN: x = hardtan_of(x); break;
        case STAIR: x = stair_of(x);
        case LINEAR:
            break;
    }
    return x;
}

// the gradient, given the output x of the activation
__device__ float gradient(float x, ACTIVATION a)
{
    switch(a){
        case LOGISTIC: return (1-x)*x;
        case RELU: return (x>0);
        case LEAKY: return (x>0) ? 1 : .1f;
        case ELU: return (x >= 0) + (x < 0)*(x + 1);
        case TANH: return 1-x*x;
        case HARDTAN: return x > -1 && x < 1;
        case STAIR: return floorf(x) == x ? 0 : 1.0f;
        default: return 1;
    }
}

__global__ void activate_array_kernel(float *x, int n, ACTIVATION a)
{
    int i = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(i < n) x[i] = activate(x[i], a);
}

__global__ void gradient_array_kernel(float *x, int n, ACTIVATION a, float *delta)
{
    int i = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(i < n) delta[i] *= gradient(x[i], a);
}

// Host code
extern "C" void activate_array_gpu(float *x, int n, ACTIVATION a)
{
    activate_array_kernel<<<cuda_gridsize(n), BLOCK>>>(x, n, a);
    check_error(cudaPeekAtLastError());
}
