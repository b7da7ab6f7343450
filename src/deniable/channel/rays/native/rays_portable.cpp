#include "kernel.hpp"

namespace deniable {
namespace {

struct Test {
    const RayTest& test;

    explicit Test(const RayTest& test) : test(test) {}

    // Kept free of branches, so that compilers use whatever vectors the machine has.
    std::uint32_t passing(const std::int16_t* projection, const std::uint16_t* cost) const {
        std::uint8_t passes[kRayTile];
        for (std::size_t i = 0; i < kRayTile; ++i) {
            const std::uint32_t capped = cost[i] < test.cap ? cost[i] : test.cap;
            const std::int32_t taken = std::int32_t(((capped << test.shift) * std::uint32_t(test.multiplier)) >> 16);
            const std::int32_t value = std::int32_t(projection[i]) - taken;
            passes[i] = (value < -32768 ? -32768 : value) >= test.threshold;
        }
        std::uint32_t found = 0;
        for (std::size_t i = 0; i < kRayTile; ++i) found |= std::uint32_t(passes[i]) << i;
        return found;
    }
};

#include "lines.inc"
#include "scan.inc"

void costs(const float* half, const float* product, float origin_half, std::size_t tiles, std::uint16_t* costs, std::uint16_t* least) {
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        std::uint16_t smallest = 65535;
        for (std::size_t i = tile * kRayTile; i < (tile + 1) * kRayTile; ++i) {
            const float units = ((half[i] + origin_half) - product[i]) * kRayUnitsDown;
            costs[i] = units > 65535.0f ? 65535 : units > 0.0f ? std::uint16_t(units) : 0;
            smallest = costs[i] < smallest ? costs[i] : smallest;
        }
        least[tile] = smallest;
    }
}

float steepest(const std::int16_t* projection, const float* reciprocal, float shift, float so_far) {
    for (std::size_t i = 0; i < kRayTile; ++i) {
        const float value = (float(projection[i]) - shift) * reciprocal[i];
        so_far = value > so_far ? value : so_far;
    }
    return so_far;
}

float highest(const std::int16_t* projection, const float* cost, float inverse, float shift, float so_far) {
    for (std::size_t i = 0; i < kRayTile; ++i) {
        const float value = (float(projection[i]) - shift) - cost[i] * inverse;
        so_far = value > so_far ? value : so_far;
    }
    return so_far;
}

const RayKernel kernel = {"portable", scan, costs, steepest, highest, difference, half_square, project};

}  // namespace

const RayKernel* ray_kernel_portable() { return &kernel; }

}  // namespace deniable
