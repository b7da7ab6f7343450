// What one instruction set offers to the rays. Each rays_*.cpp fills one RayKernel, and like the kernels of the scan they
// include nothing but this header, intrinsics and C headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deniable {

constexpr std::size_t kRayTile = 32;         // words that are pruned together
constexpr std::size_t kRayTilesAtOnce = 64;  // tiles are tested in groups of this many; tables are padded to it

struct RayKernel {
    const char* name;
    // Writes the numbers i < count of the tiles with highest[i] - least[i] * inverse > threshold; returns how many.
    std::size_t (*tiles)(const float* highest, const float* least, std::size_t count, float inverse, float threshold, std::uint32_t* found);
    // The words of one tile, as bits, with projection - ((half + origin_half) - product) * inverse > threshold.
    std::uint32_t (*words)(const float* projection, const float* half, const float* product, float origin_half, float inverse, float threshold);
    // The least (half + origin_half) - product of each tile.
    void (*least)(const float* half, const float* product, float origin_half, std::size_t tiles, float* least);
    // The largest (projection - shift) * reciprocal of one tile, or `so_far` if that is larger.
    float (*steepest)(const float* projection, const float* reciprocal, float shift, float so_far);
};

const RayKernel* ray_kernel_avx512();  // null where the file was compiled for another architecture
const RayKernel* ray_kernel_avx2();
const RayKernel* ray_kernel_portable();

}  // namespace deniable
