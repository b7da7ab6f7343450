// The scan by the ARM dot product (sdot). Reached only on aarch64 with the dot product extension.
//
// No ARM machine was at hand: tests/neighbours/test_emulated.py runs it under an emulator, word for word against the oracle. Its speed
// was never measured.
//
// sdot multiplies signed by signed bytes, so queries need no offset. Four queries share a register.
#include "kernel.hpp"

#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>

#include "unrolled.hpp"

namespace deniable {
namespace {

#include "rows.inc"
#include "tiles.inc"

constexpr int kLanes = 4;
constexpr int kVectors = 2;
constexpr int kOffset = 0;

using Numbers = float32x4_t;
inline float32x4_t load(const float* from) { return vld1q_f32(from); }
inline void store(float* to, float32x4_t numbers) { vst1q_f32(to, numbers); }
inline float32x4_t larger(float32x4_t a, float32x4_t b) { return vmaxq_f32(a, b); }
inline float32x4_t fused(float32x4_t a, float b, float32x4_t c) { return vfmaq_n_f32(c, a, b); }

inline std::uint32_t at_least(float32x4_t a, float32x4_t b) {
    const std::uint32_t bits[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgeq_f32(a, b), vld1q_u32(bits)));
}

#include "lanes.inc"

template <int Vectors>
std::size_t scan_block(const ScanJob& job) {
    return scan_tiles(job, [&](const TileHead& head, const std::int8_t* codes, const auto& survive) DENIABLE_INLINED {
        const std::int8_t* queries = reinterpret_cast<const std::int8_t*>(job.packed);
        int32x4_t sums[kTileWords][Vectors];
        for (std::size_t w = 0; w < kTileWords; ++w)
            for (int v = 0; v < Vectors; ++v) sums[w][v] = vdupq_n_s32(0);
        for (std::size_t g = 0; g < job.groups; ++g) {
            const int8x16_t first = vld1q_s8(codes), second = vld1q_s8(codes + 16);
            for (int v = 0; v < Vectors; ++v) {
                const int8x16_t query = vld1q_s8(queries + v * 16);
                sums[0][v] = vdotq_laneq_s32(sums[0][v], query, first, 0);
                sums[1][v] = vdotq_laneq_s32(sums[1][v], query, first, 1);
                sums[2][v] = vdotq_laneq_s32(sums[2][v], query, first, 2);
                sums[3][v] = vdotq_laneq_s32(sums[3][v], query, first, 3);
                sums[4][v] = vdotq_laneq_s32(sums[4][v], query, second, 0);
                sums[5][v] = vdotq_laneq_s32(sums[5][v], query, second, 1);
                sums[6][v] = vdotq_laneq_s32(sums[6][v], query, second, 2);
                sums[7][v] = vdotq_laneq_s32(sums[7][v], query, second, 3);
            }
            queries += Vectors * 16;
            codes += kTileWords * kGroup;
        }

        const float* half = job.with_shadowed ? head.half_all : head.half;
        for (int v = 0; v < Vectors; ++v) {
            const float32x4_t inverse_step = load(job.inverse_step + v * kLanes);
            float32x4_t best = vdupq_n_f32(-__builtin_inff());
            for (std::size_t w = 0; w < kTileWords; ++w) {
                const float32x4_t dot = vmulq_n_f32(vcvtq_f32_s32(sums[w][v]), head.scale[w]);
                best = larger(best, vfmsq_f32(dot, vdupq_n_f32(half[w]), inverse_step));
            }
            survive(v, lanes_reached(job, head, best, v * kLanes));
        }
    });
}

std::size_t scan(const ScanJob& job) { return job.vectors == kVectors ? scan_block<kVectors>(job) : scan_block<1>(job); }

void tile_dots(const std::int8_t* tile, const std::uint8_t* query, std::size_t groups, std::int32_t* dots) {
    int32x4_t low = vdupq_n_s32(0), high = vdupq_n_s32(0);
    for (std::size_t g = 0; g < groups; ++g) {
        const int8x16_t q = vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(query + g * kGroup)));
        low = vdotq_s32(low, q, vld1q_s8(tile + g * 32));
        high = vdotq_s32(high, q, vld1q_s8(tile + g * 32 + 16));
    }
    vst1q_s32(dots, low);
    vst1q_s32(dots + 4, high);
}

double peak(std::uint64_t rounds) {
    int32x4_t sums[16];
    int8x16_t a = vdupq_n_s8(1), b = vdupq_n_s8(2);
    for (auto& sum : sums) sum = vdupq_n_s32(0);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        for (auto& sum : sums) sum = vdotq_s32(sum, a, b);
        __asm__ volatile("" : "+w"(a), "+w"(b));
    }
    int32x4_t total = sums[0];
    for (int i = 1; i < 16; ++i) total = vaddq_s32(total, sums[i]);
    volatile std::int32_t used = vaddvq_s32(total);
    (void)used;
    return double(rounds) * 16 * 16;
}

#include "look.inc"

const Kernel kernel = {"neon", kLanes, kVectors, 127, kOffset, scan, look, row_score, row_squared_distance, peak};

}  // namespace

const Kernel* kernel_neon() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_LEFT_OUT(kernel_neon)
#endif
