// What one instruction set offers to the rays. Each rays_*.cpp fills one RayKernel, and like the kernels of the scan they
// include nothing but this header, intrinsics and C headers.
//
// Projections and costs are whole numbers of kRayUnit: projections rounded up, costs rounded down. So the tests below let
// every word through that can win, and a few that cannot.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deniable {

constexpr std::size_t kRayTile = 32;         // words that are pruned together
constexpr std::size_t kRayTilesAtOnce = 64;  // tiles are tested in groups of this many; tables are padded to it
constexpr double kRayUnit = 1.0 / 32500.0;   // vectors are at most 1 long: projections fit 16 bits, and costs up to 2 without a sign
constexpr float kRayUnitsDown = 32500.0f * (1.0f - 1e-6f);  // makes a float32 product no larger than the real one

// The test of one ray of one origin: projection - ((min(cost, cap) << shift) * multiplier >> 16) >= threshold, saturating.
struct RayTest {
    std::int16_t threshold;
    std::uint16_t multiplier, cap, shift;
};

// The words of one tile that passed the test of one origin, as bits.
struct RayHit {
    std::uint32_t origin, tile, words;
};

// Some tiles, and how many units a projection in each may be under its number.
struct RayNear {
    const std::uint32_t* tiles;
    const float* unders;
    std::size_t count;
};

constexpr std::int16_t kRayClosed = 32767;  // the threshold that no projection reaches: the ray is not looked at

struct RayKernel {
    const char* name;
    // One ray of several origins through `tiles` tiles (a multiple of kRayTilesAtOnce). `highest` and `projections` are the
    // ray's, `least` and `costs` the first origin's; the next origin's lie `stride` tiles further. Returns how many hits.
    std::size_t (*scan)(const std::int16_t* highest, const std::int16_t* projections, const std::uint16_t* least, const std::uint16_t* costs,
                        std::size_t stride, std::size_t tiles, const RayTest* tests, std::size_t origins, RayHit* hits);
    // <x, u> of `count` origins and the 32 words of a tile, [origin][32]; `turned` is room for the tile.
    void (*products)(const float* words, const float* origins, std::size_t count, std::size_t dimension, float* turned, float* products);
    // The (half + origin_half) - product of all words in units, rounded down, and the least of each tile.
    void (*costs)(const float* half, const float* product, float origin_half, std::size_t tiles, std::uint16_t* costs, std::uint16_t* least);
    // The largest (projection - under - shift) * reciprocal of the words of some tiles, or `so_far` if that is larger. `reciprocals` has 32 and
    // `unders` one number for each of the tiles, in their order.
    float (*steepest)(const std::int16_t* projections, const RayNear& near, const float* reciprocals, float shift, float so_far);
    // The largest (projection - under) - cost * inverse of the words of some tiles, or `so_far` if that is larger.
    float (*highest)(const std::int16_t* projections, const RayNear& near, const float* costs, float inverse, float so_far);
    // The difference of the lines of u and c from x along g: s_u - s_c and A_u - A_c.
    void (*difference)(const float* u, const float* c, const float* x, const double* g, std::size_t dimension, double* rise, double* cost);
    double (*half_square)(const float* u, const float* x, std::size_t dimension);  // |u - x|^2 / 2
    double (*project)(const float* u, const double* g, std::size_t dimension);     // <g, u>
};

const RayKernel* ray_kernel_avx512();  // null where the file was compiled for another architecture
const RayKernel* ray_kernel_avx2();
const RayKernel* ray_kernel_neon();
const RayKernel* ray_kernel_portable();

}  // namespace deniable

// What stands in place of a kernel where its file is compiled without its instructions.
#define DENIABLE_RAYS_LEFT_OUT(name) namespace deniable { const RayKernel* name() { return nullptr; } }
