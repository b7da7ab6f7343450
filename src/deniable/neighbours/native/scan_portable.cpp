// The scan in plain C++: the same steps as the others, for any machine with a compiler.
#include "kernel.hpp"

#include <cmath>

#include "unrolled.hpp"

namespace deniable {
namespace {

#include "rows.inc"
#include "tiles.inc"

constexpr int kLanes = 8;
constexpr int kOffset = 128;

std::size_t scan(const ScanJob& job) {
    return scan_tiles(job, [&](const TileHead& head, const std::int8_t* codes, const auto& survive) DENIABLE_INLINED {
        const std::uint8_t* queries = job.packed;
        std::int32_t sums[kTileWords][kLanes];
        for (std::size_t w = 0; w < kTileWords; ++w)
            for (int lane = 0; lane < kLanes; ++lane) sums[w][lane] = correction(kOffset, head.code_sum[w]);
        for (std::size_t g = 0; g < job.groups; ++g) {
            for (std::size_t w = 0; w < kTileWords; ++w) {
                const std::int8_t* word = codes + w * kGroup;
                for (int lane = 0; lane < kLanes; ++lane) {
                    const std::uint8_t* query = queries + lane * kGroup;
                    const std::int32_t dot = query[0] * word[0] + query[1] * word[1] + query[2] * word[2] + query[3] * word[3];
                    sums[w][lane] = std::int32_t(std::uint32_t(sums[w][lane]) + std::uint32_t(dot));
                }
            }
            queries += kLanes * kGroup;
            codes += kTileWords * kGroup;
        }

        const float* half = job.with_shadowed ? head.half_all : head.half;
        std::uint32_t lanes = 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            float best = -INFINITY;
            for (std::size_t w = 0; w < kTileWords; ++w) {
                const float score = float(sums[w][lane]) * head.scale[w] - half[w] * job.inverse_step[lane];
                best = score > best ? score : best;
            }
            const float error = job.per_norm[lane] * head.norm + job.per_residual[lane] * head.residual +
                                job.per_half[lane] * head.largest_half + job.least[lane];
            if (job.raise_threshold && best - error > job.threshold[lane]) job.threshold[lane] = best - error;
            if (best + error >= job.threshold[lane]) lanes |= 1u << lane;
        }
        survive(0, lanes);
    });
}

void tile_dots(const std::int8_t* tile, const std::uint8_t* query, std::size_t groups, std::int32_t* dots) {
    for (std::size_t w = 0; w < kTileWords; ++w) dots[w] = 0;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t w = 0; w < kTileWords; ++w)
            for (std::size_t i = 0; i < kGroup; ++i) dots[w] += query[g * kGroup + i] * tile[(g * kTileWords + w) * kGroup + i];
}

double peak(std::uint64_t) { return 0.0; }  // there is no one instruction to measure

#include "look.inc"

const Kernel kernel = {"portable", kLanes, 1, 127, kOffset, scan, look, row_score, row_squared_distance, peak};

}  // namespace

const Kernel* kernel_portable() { return &kernel; }

}  // namespace deniable
