// The rays by the instructions that every aarch64 processor has. No ARM machine was at hand: tests/channel/rays/test_emulated_rays.py runs
// this under an emulator, number for number against NumPy. Its speed was never measured.
#include "kernel.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace deniable {
namespace {

struct Test {
    int16x8_t threshold, shift;
    uint16x8_t multiplier, cap;

    explicit Test(const RayTest& test)
        : threshold(vdupq_n_s16(test.threshold)), shift(vdupq_n_s16(std::int16_t(test.shift))), multiplier(vdupq_n_u16(test.multiplier)),
          cap(vdupq_n_u16(test.cap)) {}

    // Eight words, a byte each: all bits set where it passes.
    uint8x8_t eight(const std::int16_t* projection, const std::uint16_t* cost) const {
        const uint16x8_t shifted = vshlq_u16(vminq_u16(vld1q_u16(cost), cap), shift);
        const uint32x4_t low = vmull_u16(vget_low_u16(shifted), vget_low_u16(multiplier)), high = vmull_high_u16(shifted, multiplier);
        const uint16x8_t taken = vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));  // the upper halves
        return vmovn_u16(vcgeq_s16(vqsubq_s16(vld1q_s16(projection), vreinterpretq_s16_u16(taken)), threshold));
    }

    std::uint32_t passing(const std::int16_t* projection, const std::uint16_t* cost) const {
        const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ull));
        const auto sixteen = [&](std::size_t i) {
            return vandq_u8(vcombine_u8(eight(projection + i, cost + i), eight(projection + i + 8, cost + i + 8)), bits);
        };
        uint8x16_t sums = vpaddq_u8(sixteen(0), sixteen(16));  // neighbours are added until a byte holds the bits of eight words
        sums = vpaddq_u8(sums, sums);
        sums = vpaddq_u8(sums, sums);
        return vgetq_lane_u32(vreinterpretq_u32_u8(sums), 0);
    }
};

#include "lines.inc"
#include "products.inc"
#include "scan.inc"

void costs(const float* half, const float* product, float origin_half, std::size_t tiles, std::uint16_t* costs, std::uint16_t* least) {
    const float32x4_t origin = vdupq_n_f32(origin_half);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        // Conversions round towards zero and keep within their range: what is below 0 is 0, what is above 65,535 is that.
        const auto four = [&](std::size_t i) {
            const float32x4_t cost = vsubq_f32(vaddq_f32(vld1q_f32(half + i), origin), vld1q_f32(product + i));
            return vqmovn_u32(vcvtq_u32_f32(vmulq_n_f32(cost, kRayUnitsDown)));
        };
        uint16x8_t smallest = vdupq_n_u16(65535);
        for (std::size_t i = tile * kRayTile; i < (tile + 1) * kRayTile; i += 8) {
            const uint16x8_t whole = vcombine_u16(four(i), four(i + 4));
            vst1q_u16(costs + i, whole);
            smallest = vminq_u16(smallest, whole);
        }
        least[tile] = vminvq_u16(smallest);
    }
}

float32x4_t shifted(const std::int16_t* projection, float shift) {
    return vsubq_f32(vcvtq_f32_s32(vmovl_s16(vld1_s16(projection))), vdupq_n_f32(shift));
}

// The largest value(projection less what it may be under, place of its other numbers) of all words of the tiles; passes over what is no number.
template <class Value>
float largest(const std::int16_t* projections, const RayNear& near, float shift, float so_far, const Value& value) {
    float32x4_t top = vdupq_n_f32(so_far);
    for (std::size_t k = 0; k < near.count; ++k)
        for (std::size_t i = 0; i < kRayTile; i += 4) {
            const float32x4_t least = shifted(projections + near.tiles[k] * kRayTile + i, near.unders[k] + shift);
            top = vmaxnmq_f32(top, value(least, k * kRayTile + i));
        }
    return vmaxnmvq_f32(top);
}

float steepest(const std::int16_t* projections, const RayNear& near, const float* reciprocals, float shift, float so_far) {
    return largest(projections, near, shift, so_far, [&](float32x4_t least, std::size_t i) { return vmulq_f32(least, vld1q_f32(reciprocals + i)); });
}

float highest(const std::int16_t* projections, const RayNear& near, const float* costs, float inverse, float so_far) {
    return largest(projections, near, 0.0f, so_far,
                   [&](float32x4_t least, std::size_t i) { return vfmsq_n_f32(least, vld1q_f32(costs + i), inverse); });
}

const RayKernel kernel = {"neon", scan, products, costs, steepest, highest, difference, half_square, project};

}  // namespace

const RayKernel* ray_kernel_neon() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_RAYS_LEFT_OUT(ray_kernel_neon)
#endif
