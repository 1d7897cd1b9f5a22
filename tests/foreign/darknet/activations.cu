// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define GPU
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

__device__ float linear_of(float x){return x;}
__device__ float logistic_of(float x){return 1.f/(1.f + expf(-x));}
__device__ float relu_of(float x){return x*(x>0);}
__device__ float leaky_of(float x){return (x>0) ? x : .1f*x;}
__device__ float elu_of(float x){return (x >= 0)*x + (x < 0)*(expf(x)-1);}
__device__ float tanh_of(float x){return (2/(1 + expf(-2*x)) - 1);}
__device__ float hardtan_of(float x){if(x < -1) return -1; if(x > 1) return 1; return x;}
__device__ float stair_of(float x)
{
    int n = floorf(x);
    if (n%2 == 0) return floorf(x/2);
    else return (x - n) + floorf(x/2);
}

__device__ float activate(float x, ACTIVATION a)
{
    switch(a){
        case LINEAR:
            return linear_of(x);
        case LOGISTIC:
            return logistic_of(x);
        case RELU:
            return relu_of(x);
        case LEAKY:
            return leaky_of(x);
        case ELU:
            return elu_of(x);
        case TANH:
            return tanh_of(x);
        case HARDTAN:
            return hardtan_of(x);
        case STAIR:
            return stair_of(x);
    }
    return 0;
}

// of what came out
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
