#include "rays.hpp"

#include <utility>

#include "block.hpp"

namespace deniable {
namespace {

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

class Walks : Block {
  public:
    Walks(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t first, std::size_t count, double furthest)
        : Block(tables, origins, kernel, first, count), furthest_(furthest), rays_(count * tables.rays),
          reciprocals_(count * kNearTiles * kRayTile) {
        for (std::size_t o = 0; o < count_; ++o) weigh_near(o);
        // Origins that lie together have near tiles in common, so each ray is started for all of them.
        for (std::size_t j = 0; j < t_.rays; ++j)
            for (std::size_t o = 0; o < count_; ++o) start(o, j);
    }

    // Finds the next breakpoint of every active ray.
    void advance() {
        scan([this](std::size_t o, std::size_t j, std::int64_t position) { consider(o, j, position); });
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
                go_on(o, j, ray.radius);
            }
        return any;
    }

    const Ray& ray(std::size_t o, std::size_t j) const { return rays_[j * count_ + o]; }

  private:
    Ray& at(std::size_t o, std::size_t j) { return rays_[j * count_ + o]; }
    float cap() const { return furthest_ < kInfinity ? std::min(kLargestInverse, float(1.0 / furthest_) * kDown) : 0.0f; }

    // Lets a ray look for the end of its winner's piece.
    void go_on(std::size_t o, std::size_t j, double reached) {
        Ray& ray = at(o, j);
        ray.reached = reached;
        ray.cost = cost_of(o, ray.winner);
        aim(o, j, projection_of(ray.winner, j), cap());
    }

    // The words of the nearest tiles bound the first breakpoint: one of them takes over there or before.
    void weigh_near(std::size_t o) {
        for (std::size_t k = 0; k < nears_; ++k) {
            const std::size_t tile = near_[o * kNearTiles + k];
            for (std::size_t i = 0; i < kRayTile; ++i) {
                const float most = most_cost(o, tile, i) - float(start_costs_[o]) * kDown;
                // No bound comes from the winner itself, nor from words as near as rounding.
                const bool useful = std::int64_t(tile * kRayTile + i) != start_of(o) && most > 1e-30f && most < 1e30f;
                reciprocals_[(o * kNearTiles + k) * kRayTile + i] = useful ? kDown * float(kRayUnit) / most : 0.0f;
            }
        }
    }

    void start(std::size_t o, std::size_t j) {
        Ray& ray = at(o, j);
        ray.winner = start_of(o);
        ray.cost = start_costs_[o];
        ray.reached = 0.0;
        ray.active = true;
        const double base = projection_of(ray.winner, j), shift = (base + double(slack_of(o, ray.winner))) / kRayUnit;
        const float inverse = kernel_.steepest(projections(0, j), near(o), &reciprocals_[o * kNearTiles * kRayTile], float(shift), cap());
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
        if (position == ray.winner || !is_word(position)) return;
        double rise, cost;
        kernel_.difference(vector(position), vector(ray.winner), origin(o), direction(j), t_.dimension, &rise, &cost);
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

    double furthest_;
    std::vector<Ray> rays_;  // [ray][origin]
    std::vector<float> reciprocals_;
};

}  // namespace

void first_breakpoints(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads, double* radii,
                       std::int64_t* winners) {
    in_blocks(origins.count, threads, [&](std::size_t first, std::size_t count) {
        Walks walks(tables, origins, kernel, first, count, kInfinity);
        walks.advance();
        for (std::size_t o = 0; o < count; ++o)
            for (std::size_t j = 0; j < tables.rays; ++j) {
                radii[(first + o) * tables.rays + j] = walks.ray(o, j).radius;
                winners[(first + o) * tables.rays + j] = walks.ray(o, j).candidate;
            }
    });
}

std::vector<RayPieces> walk_rays(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads,
                                 double furthest) {
    std::vector<RayPieces> found(origins.count);
    in_blocks(origins.count, threads, [&](std::size_t first, std::size_t count) {
        Walks walks(tables, origins, kernel, first, count, furthest);
        std::vector<std::vector<std::pair<std::uint32_t, double>>> pieces(count * tables.rays);
        for (bool any = true; any;) {
            walks.advance();
            any = walks.step();
            for (std::size_t i = 0; any && i < pieces.size(); ++i) {
                const Ray& ray = walks.ray(i / tables.rays, i % tables.rays);
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
