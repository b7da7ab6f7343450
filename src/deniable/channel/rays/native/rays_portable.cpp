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
#include "products.inc"
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

// The largest value(projection less what it may be under, place of its other numbers) of all words of the tiles.
template <class Value>
float largest(const std::int16_t* projections, const RayNear& near, float shift, float so_far, const Value& value) {
    for (std::size_t k = 0; k < near.count; ++k)
        for (std::size_t i = 0; i < kRayTile; ++i) {
            const float found = value(float(projections[near.tiles[k] * kRayTile + i]) - (near.unders[k] + shift), k * kRayTile + i);
            so_far = found > so_far ? found : so_far;
        }
    return so_far;
}

float steepest(const std::int16_t* projections, const RayNear& near, const float* reciprocals, float shift, float so_far) {
    return largest(projections, near, shift, so_far, [&](float least, std::size_t i) { return least * reciprocals[i]; });
}

float highest(const std::int16_t* projections, const RayNear& near, const float* costs, float inverse, float so_far) {
    return largest(projections, near, 0.0f, so_far, [&](float least, std::size_t i) { return least - costs[i] * inverse; });
}

const RayKernel kernel = {"portable", scan, products, costs, steepest, highest, difference, half_square, project};

}  // namespace

const RayKernel* ray_kernel_portable() { return &kernel; }

}  // namespace deniable
