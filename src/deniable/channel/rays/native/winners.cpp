// The word that each ray ends in at one radius: no walk, one search a ray among the words that the tables do not rule out.
#include "block.hpp"

namespace deniable {
namespace {

class Winners : Block {
  public:
    Winners(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t first, std::size_t count,
            const RayEnds& ends, std::int64_t* winners)
        : Block(tables, origins, kernel, first, count), ends_(ends), winners_(winners), thresholds_(count * tables.rays),
          most_(count * kNearTiles * kRayTile) {
        for (std::size_t o = 0; o < count_; ++o)
            for (std::size_t k = 0; k < nears_; ++k)
                for (std::size_t i = 0; i < kRayTile; ++i)
                    most_[(o * kNearTiles + k) * kRayTile + i] = most_cost(o, near_[o * kNearTiles + k], i) * float(1.000001 / kRayUnit);
        for (std::size_t j = 0; j < t_.rays; ++j)
            for (std::size_t o = 0; o < count_; ++o) start(o, j);
        scan([this](std::size_t o, std::size_t j, std::int64_t position) { consider(o, j, position); });
    }

  private:
    std::int64_t& winner(std::size_t o, std::size_t j) { return winners_[(first_ + o) * t_.rays + j]; }

    void start(std::size_t o, std::size_t j) {
        const std::int64_t known = winner(o, j);
        winner(o, j) = start_of(o);
        if (ends_.stays[(first_ + o) * t_.rays + j]) {
            tests_[j * count_ + o] = kClosed;
            return;
        }
        thresholds_[j * count_ + o] = -kInfinity;
        raise(o, j, start_costs_[o]);
        if (known >= 0) {
            consider(o, j, known);
            return;
        }
        const float inverse = float(1.0 / ends_.radii[j]) * (1.0f + 1e-6f);
        if (!(inverse < kLargestInverse)) return;
        const float top = kernel_.highest(projections(0, j), near(o), &most_[o * kNearTiles * kRayTile], inverse, -1e30f);
        // A float32 number of so many units is off by less than the hundredth that units_under leaves.
        if (top > -65536.0f) lift(o, j, double(top) * kRayUnit);
    }

    // Lets the winner so far say what a better word must reach.
    void raise(std::size_t o, std::size_t j, double cost) {
        const std::int64_t best = winner(o, j);
        const double base = projection_of(best, j) - double(slack_of(o, best)), rest = cost / ends_.radii[j];
        lift(o, j, base - rest - kRelative * (rest + std::fabs(base)));
    }

    void lift(std::size_t o, std::size_t j, double threshold) {
        double& mine = thresholds_[j * count_ + o];
        if (!(threshold > mine)) return;
        mine = threshold;
        tests_[j * count_ + o] = test_of(threshold, std::min(float(1.0 / ends_.radii[j]) * kDown, kLargestInverse));
    }

    void consider(std::size_t o, std::size_t j, std::int64_t position) {
        const std::int64_t best = winner(o, j);
        if (position == best || !is_word(position)) return;
        double rise, cost;
        kernel_.difference(vector(position), vector(best), origin(o), direction(j), t_.dimension, &rise, &cost);
        // The steeper line is above from where they cross, as in a walk; of equal ones the lowest id.
        const double radius = ends_.radii[j];
        const bool wins = rise > 0.0   ? cost / rise <= radius
                          : rise < 0.0 ? !(cost / rise <= radius)
                                       : cost < 0.0 || (cost == 0.0 && t_.ids[position] < t_.ids[best]);
        if (!wins) return;
        winner(o, j) = position;
        raise(o, j, cost_of(o, position));
    }

    const RayEnds& ends_;
    std::int64_t* winners_;
    std::vector<double> thresholds_;  // [ray][origin]
    std::vector<float> most_;         // [origin][near tile][32]: costs of the near tiles' words in units, rounded up
};

}  // namespace

void winners_at(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads, const RayEnds& ends,
                std::int64_t* winners) {
    in_blocks(origins.count, threads, [&](std::size_t first, std::size_t count) { Winners(tables, origins, kernel, first, count, ends, winners); });
}

}  // namespace deniable
