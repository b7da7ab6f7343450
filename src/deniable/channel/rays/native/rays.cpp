#include "rays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../../../neighbours/native/pool.hpp"

namespace deniable {
namespace {

// So many origins and rays are taken together through a chunk of tiles: its projections and products stay in the
// second-level cache meanwhile.
constexpr std::size_t kOriginsAtOnce = 96, kRaysAtOnce = 48;
constexpr std::size_t kChunkTiles = 64;      // a multiple of kRayTilesAtOnce
constexpr std::size_t kNearTiles = 32;       // give the first bound on a breakpoint
constexpr std::size_t kLanes = 8;
constexpr float kDown = 1.0f - 1e-6f;        // makes a float32 product no larger than the real one
constexpr float kLargestInverse = 1e30f;
constexpr double kRelative = 1e-6;           // covers what rounding does to the threshold
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums in float64 in a fixed order, so that the numpy form (channel/rays/numpy_rays.py) gets the same bits.
double sum_of_lanes(const double* lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// The difference of the lines of u and c: s_u - s_c and A_u - A_c.
void line_difference(const float* u, const float* c, const float* x, const double* g, std::size_t dimension, double& rise, double& cost) {
    double rises[kLanes] = {}, costs[kLanes] = {};
    const auto add = [&](std::size_t i, std::size_t lane) {
        const double d = double(u[i]) - double(c[i]);
        rises[lane] += g[i] * d;
        costs[lane] += d * (0.5 * (double(u[i]) + double(c[i])) - double(x[i]));
    };
    std::size_t i = 0;
    for (; i + kLanes <= dimension; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
    for (std::size_t lane = 0; i < dimension; ++i, ++lane) add(i, lane);
    rise = sum_of_lanes(rises);
    cost = sum_of_lanes(costs);
}

struct Ray {
    std::int64_t winner;   // c, the winner of the present piece
    double cost;           // A_c
    double reached;        // where the present piece begins
    double radius, rise;   // the best candidate so far: where it takes over, and s_u - s_c
    std::int64_t candidate;
    double base;           // not more than <g, c>
    float inverse;         // not more than 1 / (the next breakpoint)
    bool active;
};

// A test that lets every u through with <g, u> - A_u * inverse >= threshold. A product of A is rounded down, so never too much is taken.
RayTest test_of(double threshold, float inverse) {
    constexpr double most = 32767.0;
    RayTest test{std::int16_t(std::floor(std::min(std::max(threshold / kRayUnit, -32768.0), most))), 0, 65535, 0};
    int shift = 0;
    const double mantissa = std::frexp(double(inverse), &shift);
    if (shift > 15) {
        test.cap = 0;  // all that matters lies within one unit
    } else if (shift > 0) {
        test.shift = std::uint16_t(shift);
        test.multiplier = std::uint16_t(mantissa * 65536.0);
    } else {
        test.multiplier = std::uint16_t(double(inverse) * 65536.0);
    }
    if (inverse > 0.5f) test.cap = std::uint16_t(most / double(inverse));
    return test;
}

constexpr RayTest kClosed = {32767, 0, 0, 0};  // no projection is as large

class Block {
  public:
    Block(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t first, std::size_t count, double furthest)
        : t_(tables), o_(origins), kernel_(kernel), first_(first), count_(count), nears_(std::min(kNearTiles, tables.tiles)), furthest_(furthest),
          rays_(count * tables.rays), tests_(count * tables.rays), hits_(count * kChunkTiles), tile_costs_(count * tables.padded_tiles * kRayTile, 65535),
          least_(count * tables.padded_tiles, 65535), near_(count * kNearTiles), start_costs_(count), reciprocals_(count * kNearTiles * kRayTile) {
        std::vector<std::uint32_t> order(t_.tiles);
        for (std::size_t o = 0; o < count_; ++o) {
            std::uint16_t* least = &least_[o * t_.padded_tiles];
            kernel_.costs(t_.half, product(o, 0), o_.half[first_ + o], t_.tiles, &tile_costs_[o * t_.padded_tiles * kRayTile], least);
            std::iota(order.begin(), order.end(), 0u);
            std::nth_element(order.begin(), order.begin() + std::ptrdiff_t(nears_ - 1), order.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return least[a] < least[b]; });
            std::copy_n(order.begin(), nears_, &near_[o * kNearTiles]);
            weigh_near(o);
        }
        // Origins that lie together have near tiles in common, so each ray is started for all of them.
        for (std::size_t j = 0; j < t_.rays; ++j)
            for (std::size_t o = 0; o < count_; ++o) start(o, j);
    }

    // Finds the next breakpoint of every active ray.
    void advance() {
        for (std::size_t first = 0; first < t_.rays; first += kRaysAtOnce)
            for (std::size_t tile = 0; tile < t_.padded_tiles; tile += kChunkTiles)
                for (std::size_t j = first; j < std::min(first + kRaysAtOnce, t_.rays); ++j)
                    advance(j, tile, std::min(kChunkTiles, t_.padded_tiles - tile));
    }

    // Moves every ray that found a breakpoint on to its next piece, and ends the others. Returns whether any is left.
    bool step() {
        bool any = false;
        for (std::size_t j = 0; j < t_.rays; ++j)
            for (std::size_t o = 0; o < count_; ++o) {
                Ray& ray = at(o, j);
                if (!ray.active) continue;
                ray.active = ray.candidate >= 0 && ray.radius < furthest_;
                if (!ray.active) {
                    tests_[j * count_ + o] = kClosed;
                    continue;
                }
                any = true;
                ray.winner = ray.candidate;
                ray.reached = ray.radius;
                ray.cost = cost_of(o, ray.winner);
                aim(o, j, projection_of(ray.winner, j), cap());
            }
        return any;
    }

    const Ray& ray(std::size_t o, std::size_t j) const { return rays_[j * count_ + o]; }

  private:
    Ray& at(std::size_t o, std::size_t j) { return rays_[j * count_ + o]; }
    const float* product(std::size_t o, std::size_t tile) const { return o_.products + ((first_ + o) * t_.tiles + tile) * kRayTile; }
    const std::int16_t* projections(std::size_t tile, std::size_t j) const { return t_.projections + (j * t_.padded_tiles + tile) * kRayTile; }
    const float* origin(std::size_t o) const { return o_.vectors + (first_ + o) * t_.dimension; }
    const float* vector(std::int64_t position) const { return t_.vectors + std::size_t(position) * t_.dimension; }
    float cap() const { return furthest_ < kInfinity ? std::min(kLargestInverse, float(1.0 / furthest_) * kDown) : 0.0f; }
    float slack_of(std::size_t o, std::int64_t position) const { return t_.slack[std::size_t(position) / kRayTile] + o_.slack[first_ + o]; }

    void advance(std::size_t j, std::size_t tile, std::size_t tiles) {
        const std::size_t hits = kernel_.scan(t_.highest + j * t_.padded_tiles + tile, projections(tile, j), &least_[tile],
                                              &tile_costs_[tile * kRayTile], t_.padded_tiles, tiles, &tests_[j * count_], count_, hits_.data());
        for (std::size_t h = 0; h < hits; ++h)
            for (std::uint32_t words = hits_[h].words; words; words &= words - 1)
                consider(hits_[h].origin, j, std::int64_t((tile + hits_[h].tile) * kRayTile + std::size_t(__builtin_ctz(words))));
    }

    double cost_of(std::size_t o, std::int64_t position) const {
        const float *u = vector(position), *x = origin(o);
        double sum = 0.0;
        for (std::size_t i = 0; i < t_.dimension; ++i) sum += (double(u[i]) - x[i]) * (double(u[i]) - x[i]);
        return 0.5 * sum;
    }

    double projection_of(std::int64_t position, std::size_t j) const {
        const float* u = vector(position);
        const double* g = t_.directions + j * t_.dimension;
        double sum = 0.0;
        for (std::size_t i = 0; i < t_.dimension; ++i) sum += g[i] * double(u[i]);
        return sum;
    }

    // The words of the nearest tiles bound the first breakpoint: one of them takes over there or before.
    void weigh_near(std::size_t o) {
        const std::int64_t winner = o_.starts[first_ + o];
        start_costs_[o] = cost_of(o, winner);
        const float origin_half = o_.half[first_ + o], origin_gap = o_.gaps[first_ + o];
        for (std::size_t k = 0; k < nears_; ++k) {
            const std::size_t tile = near_[o * kNearTiles + k];
            for (std::size_t i = 0; i < kRayTile; ++i) {
                const std::size_t word = tile * kRayTile + i;
                const float most = ((t_.half[word] + origin_half) - product(o, tile)[i]) + t_.gaps[word] + origin_gap - float(start_costs_[o]) * kDown;
                // No bound comes from the winner itself, nor from words as near as rounding.
                const bool useful = std::int64_t(word) != winner && most > 1e-30f && most < 1e30f;
                reciprocals_[(o * kNearTiles + k) * kRayTile + i] = useful ? kDown * float(kRayUnit) / most : 0.0f;
            }
        }
    }

    void start(std::size_t o, std::size_t j) {
        Ray& ray = at(o, j);
        ray.winner = o_.starts[first_ + o];
        ray.cost = start_costs_[o];
        ray.reached = 0.0;
        ray.active = true;
        float inverse = cap();
        const double base = projection_of(ray.winner, j);
        for (std::size_t k = 0; k < nears_; ++k) {
            const std::size_t near = near_[o * kNearTiles + k];
            // A projection is at most one unit and twice the slack under its number of units; the rest covers float32 arithmetic.
            const double shift = (base + double(slack_of(o, ray.winner)) + 2.0 * double(t_.slack[near])) / kRayUnit + 1.02;
            inverse = kernel_.steepest(projections(near, j), &reciprocals_[(o * kNearTiles + k) * kRayTile], float(shift), inverse);
        }
        aim(o, j, base, std::min(inverse, kLargestInverse));
    }

    void aim(std::size_t o, std::size_t j, double projection, float inverse) {
        Ray& ray = at(o, j);
        ray.base = projection - double(slack_of(o, ray.winner));
        ray.candidate = -1;
        ray.radius = kInfinity;
        ray.rise = 0.0;
        ray.inverse = inverse * kDown;
        set_test(o, j);
    }

    void set_test(std::size_t o, std::size_t j) {
        const Ray& ray = at(o, j);
        const double rest = ray.cost * double(ray.inverse);
        tests_[j * count_ + o] = test_of(ray.base - rest - kRelative * (rest + std::fabs(ray.base)), ray.inverse);
    }

    void consider(std::size_t o, std::size_t j, std::int64_t position) {
        Ray& ray = at(o, j);
        // A test so weak that everything passes lets the empty tiles behind the last one through as well.
        if (std::size_t(position) >= t_.tiles * kRayTile || position == ray.winner || !std::isfinite(t_.half[position])) return;
        double rise, cost;
        line_difference(vector(position), vector(ray.winner), origin(o), t_.directions + j * t_.dimension, t_.dimension, rise, cost);
        if (!(rise > 0.0)) return;
        // What rounding puts before the present piece takes over right at its beginning.
        const double radius = std::max(cost / rise, ray.reached);
        if (radius > ray.radius) return;
        if (radius == ray.radius) {
            // At one point the steepest line goes on; of equal ones the lowest id.
            if (rise < ray.rise || (rise == ray.rise && t_.ids[position] > t_.ids[ray.candidate])) return;
        }
        ray.radius = radius;
        ray.rise = rise;
        ray.candidate = position;
        const float inverse = radius > 1e-30 ? std::min(float(1.0 / radius) * kDown, kLargestInverse) : kLargestInverse;
        if (inverse > ray.inverse) {
            ray.inverse = inverse;
            set_test(o, j);
        }
    }

    const RayTables& t_;
    const RayOrigins& o_;
    const RayKernel& kernel_;
    std::size_t first_, count_, nears_;
    double furthest_;
    std::vector<Ray> rays_;       // [ray][origin]
    std::vector<RayTest> tests_;  // [ray][origin]
    std::vector<RayHit> hits_;
    std::vector<std::uint16_t> tile_costs_;  // [origin][padded tile][32]: the costs A in units
    std::vector<std::uint16_t> least_;       // [origin][padded tile]
    std::vector<std::uint32_t> near_;
    std::vector<double> start_costs_;        // [origin]: A of the word each starts in
    std::vector<float> reciprocals_;
};

template <class Task>
void in_blocks(std::size_t count, std::size_t threads, const Task& task) {
    const std::size_t most = std::max<std::size_t>(1, std::min(kOriginsAtOnce, (count + threads - 1) / threads));
    run_parallel((count + most - 1) / most, threads, [&](std::size_t block) { task(block * most, std::min(most, count - block * most)); });
}

}  // namespace

void first_breakpoints(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads, double* radii,
                       std::int64_t* winners) {
    in_blocks(origins.count, threads, [&](std::size_t first, std::size_t count) {
        Block block(tables, origins, kernel, first, count, kInfinity);
        block.advance();
        for (std::size_t o = 0; o < count; ++o)
            for (std::size_t j = 0; j < tables.rays; ++j) {
                radii[(first + o) * tables.rays + j] = block.ray(o, j).radius;
                winners[(first + o) * tables.rays + j] = block.ray(o, j).candidate;
            }
    });
}

std::vector<RayPieces> walk_rays(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads,
                                 double furthest) {
    std::vector<RayPieces> found(origins.count);
    in_blocks(origins.count, threads, [&](std::size_t first, std::size_t count) {
        Block block(tables, origins, kernel, first, count, furthest);
        std::vector<std::vector<std::pair<std::uint32_t, double>>> pieces(count * tables.rays);
        for (bool any = true; any;) {
            block.advance();
            any = block.step();
            for (std::size_t i = 0; any && i < pieces.size(); ++i) {
                const Ray& ray = block.ray(i / tables.rays, i % tables.rays);
                if (ray.active) pieces[i].emplace_back(std::uint32_t(ray.winner), ray.reached);
            }
        }
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            RayPieces& mine = found[first + i / tables.rays];
            mine.counts.push_back(std::uint32_t(pieces[i].size()));
            for (const auto& piece : pieces[i]) {
                mine.winners.push_back(piece.first);
                mine.radii.push_back(piece.second);
            }
        }
    });
    return found;
}

}  // namespace deniable
