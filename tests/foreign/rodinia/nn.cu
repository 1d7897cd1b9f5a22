// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * The records that are nearest to a place: distances on the device, the rest elsewhere.
 */
#include <stdio.h>
#include <sys/time.h>
#include <float.h>
#include <vector>
#include "cuda.h"

#define min( a, b )			a > b ? b : a
#define ceilDiv( a, b )		( a + b - 1 ) / b
#define print( x )			printf( #x ": %lu\n", (unsigned long) x )

#define DEFAULT_THREADS_PER_BLOCK 256
#define REC_LENGTH 49

typedef struct latLong
{
  float lat;
  float lng;
} LatLong;

typedef struct record
{
  char recString[REC_LENGTH];
  float distance;
} Record;

__global__ void euclid(LatLong *d_locations, float *d_distances, int numRecords,float lat, float lng)
{
	int globalId = blockDim.x * ( gridDim.x * blockIdx.y + blockIdx.x ) + threadIdx.x; // the grid may have more than 65535 blocks
    LatLong *latLong = d_locations+globalId;
    if (globalId < numRecords) {
        float *dist=d_distances+globalId;
        *dist = (float)sqrt((lat-latLong->lat)*(lat-latLong->lat)+(lng-latLong->lng)*(lng-latLong->lng));
	}
}

// Host code
int loadData(char *filename,std::vector<Record> &records,std::vector<LatLong> &locations)
{
    FILE *fp = fopen(filename, "r");
    if(!fp) return 0;
    Record record;
    LatLong latLong;
    while(fgets(record.recString, REC_LENGTH, fp) != NULL) {
        if(sscanf(record.recString + 28, "%f %f", &latLong.lat, &latLong.lng) != 2) continue;
        records.push_back(record);
        locations.push_back(latLong);
    }
    fclose(fp);
    return (int)records.size();
}

int main(int argc, char* argv[])
{
    std::vector<Record> records;
    std::vector<LatLong> locations;
    int numRecords = loadData(argv[1],records,locations);
    LatLong *d_locations;
    float *d_distances;
    cudaMalloc((void **) &d_locations,sizeof(LatLong) * numRecords);
    cudaMalloc((void **) &d_distances,sizeof(float) * numRecords);
    cudaMemcpy( d_locations, &locations[0], sizeof(LatLong) * numRecords, cudaMemcpyHostToDevice);
    size_t blocks = ceilDiv( numRecords, DEFAULT_THREADS_PER_BLOCK );
    size_t gridY = ceilDiv( blocks, 65535 );
    print( gridY );
    dim3 gridDim( ceilDiv( blocks, gridY ), gridY );
    euclid<<< gridDim, DEFAULT_THREADS_PER_BLOCK >>>(d_locations,d_distances,numRecords,30.0f,90.0f);
    cudaDeviceSynchronize();
    std::vector<float> distances(numRecords);
    cudaMemcpy( &distances[0], d_distances, sizeof(float)*numRecords, cudaMemcpyDeviceToHost );
    cudaFree(d_locations);
    cudaFree(d_distances);
    return 0;
}
