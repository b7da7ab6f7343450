// The scan by the ARM dot product (sdot). NEVER RUN: it compiles for aarch64 (Clang), but no ARM machine was at hand.
// It is reached only on aarch64 with the dot product extension.
//
// sdot multiplies signed by signed bytes, so queries need no offset. Four queries share a register.
#include "kernel.hpp"

#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>

namespace deniable {
namespace {

#include "rows.inc"

constexpr int kLanes = 4;
constexpr int kVectors = 2;
constexpr int kOffset = 0;

template <int Vectors>
std::size_t scan_block(const ScanJob& job) {
    const std::size_t tile_bytes = job.groups * kGroup * kTileWords;
    std::size_t found = 0;
    for (std::size_t tile = job.tile_begin; tile < job.tile_end; ++tile) {
        const TileHead& head = job.heads[tile];
        const std::int8_t* codes = job.codes + tile * tile_bytes;
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
            const float32x4_t inverse_step = vld1q_f32(job.inverse_step + v * kLanes);
            float32x4_t best = vdupq_n_f32(-__builtin_inff());
            for (std::size_t w = 0; w < kTileWords; ++w) {
                const float32x4_t dot = vmulq_n_f32(vcvtq_f32_s32(sums[w][v]), head.scale[w]);
                best = vmaxq_f32(best, vfmsq_f32(dot, vdupq_n_f32(half[w]), inverse_step));
            }
            float32x4_t error = vld1q_f32(job.least + v * kLanes);
            error = vfmaq_n_f32(error, vld1q_f32(job.per_half + v * kLanes), head.largest_half);
            error = vfmaq_n_f32(error, vld1q_f32(job.per_residual + v * kLanes), head.residual);
            error = vfmaq_n_f32(error, vld1q_f32(job.per_norm + v * kLanes), head.norm);
            float32x4_t threshold = vld1q_f32(job.threshold + v * kLanes);
            if (job.raise_threshold) {
                threshold = vmaxq_f32(threshold, vsubq_f32(best, error));
                vst1q_f32(job.threshold + v * kLanes, threshold);
            }
            const uint32x4_t reached = vcgeq_f32(vaddq_f32(best, error), threshold);
            const std::uint32_t bits[4] = {1, 2, 4, 8};
            const std::uint32_t lanes = vaddvq_u32(vandq_u32(reached, vld1q_u32(bits)));
            if (lanes) job.survivors[found++] = {std::uint32_t(tile), std::uint32_t(v), lanes};
        }
    }
    return found;
}

std::size_t scan(const ScanJob& job) { return job.vectors == kVectors ? scan_block<kVectors>(job) : scan_block<1>(job); }

void tile_dots(const std::int8_t* tile, const std::uint8_t* query, std::size_t groups, std::int32_t* dots) {
    int32x4_t low = vdupq_n_s32(0), high = vdupq_n_s32(0);
    for (std::size_t g = 0; g < groups; ++g) {
        std::int32_t four;
        __builtin_memcpy(&four, query + g * kGroup, sizeof four);
        const int8x16_t q = vreinterpretq_s8_s32(vdupq_n_s32(four));
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

}  // namespace

const Kernel* kernel_neon() {
    static const Kernel kernel = {"neon", kLanes, kVectors, 127, kOffset, scan, look, row_score, row_squared_distance, peak};
    return &kernel;
}

}  // namespace deniable
#else
namespace deniable {
const Kernel* kernel_neon() { return nullptr; }
}  // namespace deniable
#endif
