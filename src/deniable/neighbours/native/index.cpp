#include "index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "pool.hpp"

namespace deniable {
namespace {

constexpr double kUp = 1.0 + 1e-6;  // makes the float32 below no smaller than the float64 it comes from
constexpr double kNegligible = 1e-30;
constexpr std::size_t kTilesAtOnce = 512;

double norm_of(const float* vector, std::size_t dimension) {
    double sum = 0.0;
    for (std::size_t i = 0; i < dimension; ++i) sum += double(vector[i]) * vector[i];
    return std::sqrt(sum);
}

struct Builder {
    const Layout& layout;
    const float* vectors;
    const std::uint8_t* shadowed;
    TileHead* heads;
    std::int8_t* codes;
    double factor = 1.0;

    void word(std::size_t tile, std::size_t slot) const {
        const std::size_t id = tile * kTileWords + slot;
        const float* vector = vectors + id * layout.dimension;
        std::int8_t* code = codes + tile * layout.tile_code_bytes() + slot * kGroup;
        TileHead& head = heads[tile];
        float largest = 0.0f;
        for (std::size_t i = 0; i < layout.dimension; ++i) largest = std::max(largest, std::fabs(vector[i]));
        const double top = largest * factor;
        // A vector that is nothing beside the longest one keeps codes of zero; all of it is residual then.
        const float scale = top < kNegligible ? 0.0f : float(top / 127.0);
        const double step = scale == 0.0f ? 0.0 : factor / scale;
        double squares = 0.0, residual = 0.0;
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < layout.dimension; ++i) {
            const double x = vector[i] * step;
            const int rounded = std::clamp(int(x + (x < 0.0 ? -0.5 : 0.5)), -127, 127);
            code[i / kGroup * kGroup * kTileWords + i % kGroup] = std::int8_t(rounded);
            sum += rounded;
            // Whatever the rounding above did, this is what was left: the bound rests on it alone.
            const double value = vector[i] * factor, left = value - double(scale) * rounded;
            squares += value * value;
            residual += left * left;
        }
        const float norm = float(std::sqrt(squares) * kUp), rest = float(std::sqrt(residual) * kUp), half = float(0.5 * squares);
        head.scale[slot] = scale;
        head.half_all[slot] = half;
        head.half[slot] = shadowed[id] ? std::numeric_limits<float>::infinity() : half;
        head.code_sum[slot] = sum;
        head.norms[slot] = norm;
        head.residuals[slot] = rest;
        head.norm = std::max(head.norm, norm);
        head.residual = std::max(head.residual, rest);
        head.largest_half = std::max(head.largest_half, half);
    }

    void tile(std::size_t number) const {
        TileHead& head = heads[number];
        std::memset(&head, 0, sizeof head);
        std::memset(codes + number * layout.tile_code_bytes(), 0, layout.tile_code_bytes());
        for (std::size_t slot = 0; slot < kTileWords; ++slot) {
            const std::size_t id = number * kTileWords + slot;
            if (id < layout.words)
                word(number, slot);
            else
                head.half[slot] = head.half_all[slot] = std::numeric_limits<float>::infinity();
        }
    }
};

}  // namespace

void build_index(const Layout& layout, const float* vectors, const std::uint8_t* shadowed, unsigned char* data, std::size_t threads) {
    std::memset(data, 0, layout.heads_at);
    Builder builder{layout, vectors, shadowed, reinterpret_cast<TileHead*>(data + layout.heads_at),
                    reinterpret_cast<std::int8_t*>(data + layout.codes_at)};
    const std::size_t parts = (layout.tiles + kTilesAtOnce - 1) / kTilesAtOnce;
    std::vector<double> longest(parts, 0.0);
    run_parallel(parts, threads, [&](std::size_t part) {
        const std::size_t end = std::min((part + 1) * kTilesAtOnce * kTileWords, layout.words);
        for (std::size_t id = part * kTilesAtOnce * kTileWords; id < end; ++id)
            longest[part] = std::max(longest[part], norm_of(vectors + id * layout.dimension, layout.dimension));
    });
    const double norm = *std::max_element(longest.begin(), longest.end());
    int exponent = 0;
    if (norm > 0.0) std::frexp(norm, &exponent);
    builder.factor = std::ldexp(1.0, -exponent);
    std::memcpy(data, &builder.factor, sizeof builder.factor);
    run_parallel(parts, threads, [&](std::size_t part) {
        const std::size_t end = std::min((part + 1) * kTilesAtOnce, layout.tiles);
        for (std::size_t tile = part * kTilesAtOnce; tile < end; ++tile) builder.tile(tile);
    });
}

std::uint64_t checksum(const unsigned char* data, std::size_t bytes) {
    // Eight independent chains, so that the multiplications overlap. The layout keeps sizes to multiples of a line.
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t chains[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (std::size_t at = 0; at + kAlignment <= bytes; at += kAlignment) {
        std::uint64_t values[8];
        std::memcpy(values, data + at, sizeof values);
        for (int i = 0; i < 8; ++i) {
            const std::uint64_t mixed = (chains[i] ^ values[i]) * odd;
            chains[i] = mixed ^ (mixed >> 29);
        }
    }
    std::uint64_t total = bytes;
    for (const std::uint64_t chain : chains) total = (total ^ chain) * odd + (total >> 31);
    return total;
}

}  // namespace deniable
