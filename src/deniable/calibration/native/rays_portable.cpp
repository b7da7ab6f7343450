#include "kernel.hpp"

namespace deniable {
namespace {

std::size_t tiles(const float* highest, const float* least, std::size_t count, float inverse, float threshold, std::uint32_t* found) {
    std::size_t survivors = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (highest[i] - least[i] * inverse > threshold) found[survivors++] = std::uint32_t(i);
    return survivors;
}

std::uint32_t words(const float* projection, const float* half, const float* product, float origin_half, float inverse, float threshold) {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < kRayTile; ++i)
        if (projection[i] - ((half[i] + origin_half) - product[i]) * inverse > threshold) found |= std::uint32_t(1) << i;
    return found;
}

void least(const float* half, const float* product, float origin_half, std::size_t tiles, float* least) {
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        float smallest = (half[tile * kRayTile] + origin_half) - product[tile * kRayTile];
        for (std::size_t i = 1; i < kRayTile; ++i) {
            const float value = (half[tile * kRayTile + i] + origin_half) - product[tile * kRayTile + i];
            smallest = value < smallest ? value : smallest;
        }
        least[tile] = smallest;
    }
}

float steepest(const float* projection, const float* reciprocal, float shift, float so_far) {
    for (std::size_t i = 0; i < kRayTile; ++i) {
        const float value = (projection[i] - shift) * reciprocal[i];
        so_far = value > so_far ? value : so_far;
    }
    return so_far;
}

const RayKernel kernel = {"portable", tiles, words, least, steepest};

}  // namespace

const RayKernel* ray_kernel_portable() { return &kernel; }

}  // namespace deniable
