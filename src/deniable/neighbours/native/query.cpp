// The bound. Let f be the index's power of two, q' = f·q and φ' = f·φ_u = b·w + r with codes w and ‖r‖ ≤ e, and let the
// step a > 0 and the codes c describe the query: p = q'/a, c ≈ p. The scan works with scores divided by a·f⁻²,
//
//     σ = ⟨p, φ'⟩ - h/a,   h = ‖φ'‖²/2,        computed as   σ̃ = b·⟨c, w⟩ - h·(1/a).
//
// The difference is ⟨p - c, φ'⟩ + ⟨c, r⟩, at most ‖p - c‖·‖φ'‖ + ‖c‖·e by Cauchy–Schwarz. The rest is float32 arithmetic
// (u = 2⁻²⁴): the dot product is exact, turning it into float32, the product with b, the rounded h and 1/a, the last
// multiply-add and the two additions that turn σ̃ into bounds round fewer than sixteen times, each by at most u times
// |b⟨c,w⟩| + h/a ≤ ‖c‖(‖φ'‖ + e) + h/a. So with N, e, h of the word, or the largest of its tile,
//
//     |σ - σ̃| ≤ (‖p - c‖ + 16u‖c‖)·N + (1 + 16u)‖c‖·e + 16u/a·h + least,
//
// where `least` covers numbers so small that float32 rounds them to zero. Factors of 1 + 10⁻⁶ > 1 + 16u make up for
// the rounding of the bound itself.
#include "query.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deniable {
namespace {

constexpr double kRounding = 16.0 / 16777216.0;
constexpr double kUp = 1.0 + 1e-6;
constexpr double kSmallestStep = 1e-30;  // keeps 1/a finite in float32 when the query is (almost) zero
constexpr double kSmallestInverse = 1e-37;
constexpr double kTiny = 1e-36;

}  // namespace

QueryBatch::QueryBatch(const IndexView& index, const Kernel& kernel, const float* queries, std::size_t count)
    : kernel_(kernel), count_(count), row_bytes_(index.layout.groups * kGroup), lanes_((count + kernel.lanes - 1) / kernel.lanes * kernel.lanes),
      codes_(lanes_ * row_bytes_, std::uint8_t(kernel.offset)), packed_(lanes_ * row_bytes_ + kGroupsBehind * kGroup * std::size_t(kernel.lanes) * kernel.most_vectors), inverse_step_(lanes_, 1.0f), per_norm_(lanes_),
      per_residual_(lanes_), per_half_(lanes_), least_(lanes_),
      // Lanes without a query can never reach their threshold.
      threshold_(lanes_, std::numeric_limits<float>::infinity()), units_(count) {
    for (std::size_t i = 0; i < count; ++i) prepare(index, queries + i * index.layout.dimension, i);
    const std::size_t block = std::size_t(kernel.lanes) * kernel.most_vectors;
    for (std::size_t first = 0; first < count; first += block) {
        const std::size_t here = std::min(block, lanes_ - first);
        blocks_.push_back({first, int(here / kernel.lanes)});
        std::uint8_t* packed = packed_.data() + first * row_bytes_;
        for (std::size_t lane = 0; lane < here; ++lane) {
            const std::uint8_t* row = codes_.data() + (first + lane) * row_bytes_;
            for (std::size_t i = 0; i < row_bytes_; ++i) packed[(i / kGroup * here + lane) * kGroup + i % kGroup] = row[i];
        }
    }
}

void QueryBatch::prepare(const IndexView& index, const float* query, std::size_t at) {
    const std::size_t dimension = index.layout.dimension;
    const double factor = index.factor;
    float largest = 0.0f;
    for (std::size_t i = 0; i < dimension; ++i) largest = std::max(largest, std::fabs(query[i]));
    const double step = std::max(largest * factor / kernel_.code_limit, kSmallestStep), per_step = factor / step;
    double missed = 0.0, squares = 0.0;
    std::uint8_t* codes = codes_.data() + at * row_bytes_;
    for (std::size_t i = 0; i < dimension; ++i) {
        const double p = query[i] * per_step;
        const int code = std::clamp(int(p + (p < 0.0 ? -0.5 : 0.5)), -kernel_.code_limit, kernel_.code_limit);
        codes[i] = std::uint8_t(code + kernel_.offset);
        missed += (p - code) * (p - code);
        squares += double(code) * code;
    }
    const double length = std::sqrt(squares), inverse = 1.0 / step;
    const double per_norm = (std::sqrt(missed) + 1e-12 * std::sqrt(double(dimension)) + kRounding * length) * kUp;
    const double per_residual = (1.0 + kRounding) * length * kUp;
    inverse_step_[at] = float(std::max(inverse, kSmallestInverse));
    per_norm_[at] = float(per_norm);
    per_residual_[at] = float(per_residual);
    per_half_[at] = float((kRounding * inverse + kTiny) * kUp);
    least_[at] = float(((per_norm + per_residual + 1.0) * kTiny + 1e-43 * inverse) * kUp);
    threshold_[at] = -std::numeric_limits<float>::infinity();
    units_[at] = factor * per_step;
}

ScanJob QueryBatch::job(std::size_t block) {
    const std::size_t first = blocks_[block].first;
    ScanJob job{};
    job.vectors = blocks_[block].vectors;
    job.packed = packed_.data() + first * row_bytes_;
    job.inverse_step = inverse_step_.data() + first;
    job.per_norm = per_norm_.data() + first;
    job.per_residual = per_residual_.data() + first;
    job.per_half = per_half_.data() + first;
    job.least = least_.data() + first;
    job.threshold = threshold_.data() + first;
    return job;
}

Look QueryBatch::look(std::size_t query) const {
    Look look{};
    look.query = codes_.data() + query * row_bytes_;
    look.inverse_step = inverse_step_[query];
    look.per_norm = per_norm_[query];
    look.per_residual = per_residual_[query];
    look.per_half = per_half_[query];
    look.least = least_[query];
    look.threshold = threshold_[query];
    return look;
}

}  // namespace deniable
