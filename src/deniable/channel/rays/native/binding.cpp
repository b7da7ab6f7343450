// What Python sees of the rays: see neighbours/_native.pyi. Sizes are checked here, values by the caller.
#include "binding.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "../../../neighbours/native/dispatch.hpp"
#include "rays.hpp"

namespace nb = nanobind;

namespace deniable {
namespace {

template <class T, std::size_t Axes>
using Array = nb::ndarray<T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;

const RayKernel* usable(const RayKernel* kernel, const std::vector<const char*>& needed) {
    if (!kernel) return nullptr;
    for (const char* feature : needed)
        for (const auto& found : cpu_features())
            if (found.first == feature && !found.second) return nullptr;
    return kernel;
}

// The kernels this machine can run, fastest first.
const std::vector<const RayKernel*>& ray_kernels() {
    static const std::vector<const RayKernel*> found = [] {
        std::vector<const RayKernel*> kernels;
        for (const RayKernel* kernel : {usable(ray_kernel_avx512(), {"avx512f", "avx512bw", "avx512vl", "fma"}),
                                        usable(ray_kernel_avx2(), {"avx2", "fma"}), ray_kernel_neon(), ray_kernel_portable()})
            if (kernel) kernels.push_back(kernel);
        return kernels;
    }();
    return found;
}

void demand(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> given(const std::vector<T>& values) {
    T* copy = new T[values.size() + 1];
    std::copy(values.begin(), values.end(), copy);
    nb::capsule owner(copy, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy, {values.size()}, owner);
}

// Keeps the arrays alive that the tables point into.
class Rays {
  public:
    Rays(Array<const float, 3> vectors, Array<const std::int64_t, 2> ids, Array<const float, 2> half,
         Array<const float, 1> slack, Array<const std::int16_t, 3> projections, Array<const std::int16_t, 2> highest,
         Array<const double, 2> directions)
        : vectors_(vectors), ids_(ids), half_(half), slack_(slack), projections_(projections), highest_(highest), directions_(directions) {
        const std::size_t tiles = vectors.shape(0), rays = directions.shape(0), dimension = vectors.shape(2), padded = highest.shape(1);
        const auto is_table = [&](const auto& array) { return array.shape(0) == tiles && array.shape(1) == kRayTile; };
        demand(tiles > 0 && rays > 0 && tiles < (std::size_t(1) << 26), "the rays take 1 to 2^31 words");
        demand(vectors.shape(1) == kRayTile && is_table(ids) && is_table(half) && slack.shape(0) == tiles, "tiles differ");
        demand(projections.shape(0) == rays && projections.shape(1) == padded && projections.shape(2) == kRayTile, "projections have another shape");
        demand(highest.shape(0) == rays && padded >= tiles && padded % kRayTilesAtOnce == 0, "highest has another shape");
        demand(directions.shape(1) == dimension && dimension > 0, "directions have another dimension");
        tables_ = {dimension, tiles, padded, rays, vectors.data(), ids.data(), half.data(), slack.data(), projections.data(),
                   highest.data(), directions.data()};
    }

    RayOrigins checked(const Array<const float, 2>& vectors, const Array<const float, 1>& half,
                       const Array<const float, 1>& slack, const Array<const std::int64_t, 1>& starts) const {
        const std::size_t count = vectors.shape(0);
        demand(vectors.shape(1) == tables_.dimension && half.shape(0) == count && slack.shape(0) == count &&
                   starts.shape(0) == count,
               "origins have another shape");
        for (std::size_t o = 0; o < count; ++o)
            demand(starts.data()[o] >= 0 && std::size_t(starts.data()[o]) < tables_.tiles * kRayTile, "a start is no position");
        return {count, vectors.data(), half.data(), slack.data(), starts.data()};
    }

    void first(Array<const float, 2> vectors, Array<const float, 1> half, Array<const float, 1> slack,
               Array<const std::int64_t, 1> starts, Array<double, 2> radii, Array<std::int64_t, 2> winners,
               const std::string& path, std::size_t threads) const {
        const RayOrigins origins = checked(vectors, half, slack, starts);
        demand(radii.shape(0) == origins.count && radii.shape(1) == tables_.rays, "radii must have one place per origin and ray");
        demand(winners.shape(0) == origins.count && winners.shape(1) == tables_.rays, "winners must have one place per origin and ray");
        const RayKernel& kernel = called(path);
        const nb::gil_scoped_release release;
        first_breakpoints(tables_, origins, kernel, threads, radii.data(), winners.data());
    }

    nb::list walk(Array<const float, 2> vectors, Array<const float, 1> half, Array<const float, 1> slack,
                  Array<const std::int64_t, 1> starts, double furthest, const std::string& path,
                  std::size_t threads) const {
        const RayOrigins origins = checked(vectors, half, slack, starts);
        const RayKernel& kernel = called(path);
        std::vector<RayPieces> found;
        {
            const nb::gil_scoped_release release;
            found = walk_rays(tables_, origins, kernel, threads, furthest);
        }
        nb::list answer;
        for (const RayPieces& pieces : found) answer.append(nb::make_tuple(given(pieces.counts), given(pieces.winners), given(pieces.radii)));
        return answer;
    }

    void at(Array<const float, 2> vectors, Array<const float, 1> half, Array<const float, 1> slack,
            Array<const std::int64_t, 1> starts, Array<const double, 1> radii, Array<const std::uint8_t, 2> stays,
            Array<std::int64_t, 2> winners, const std::string& path, std::size_t threads) const {
        const RayOrigins origins = checked(vectors, half, slack, starts);
        demand(radii.shape(0) == tables_.rays, "radii must have one place per ray");
        demand(stays.shape(0) == origins.count && stays.shape(1) == tables_.rays, "stays must have one place per origin and ray");
        demand(winners.shape(0) == origins.count && winners.shape(1) == tables_.rays, "winners must have one place per origin and ray");
        for (std::size_t i = 0; i < origins.count * tables_.rays; ++i)
            demand(winners.data()[i] < std::int64_t(tables_.tiles * kRayTile), "a winner is no position");
        const RayKernel& kernel = called(path);
        const nb::gil_scoped_release release;
        winners_at(tables_, origins, kernel, threads, {radii.data(), stays.data()}, winners.data());
    }

  private:
    static const RayKernel& called(const std::string& path) {
        for (const RayKernel* kernel : ray_kernels())
            if (kernel->name == path) return *kernel;
        throw std::invalid_argument("this machine has no path called " + path);
    }

    Array<const float, 3> vectors_;
    Array<const std::int64_t, 2> ids_;
    Array<const float, 2> half_;
    Array<const float, 1> slack_;
    Array<const std::int16_t, 3> projections_;
    Array<const std::int16_t, 2> highest_;
    Array<const double, 2> directions_;
    RayTables tables_{};
};

}  // namespace

void bind_rays(nb::module_& m) {
    m.attr("RAY_TILE") = kRayTile;
    m.attr("RAY_TILES_AT_ONCE") = kRayTilesAtOnce;
    m.attr("RAY_UNIT") = kRayUnit;
    m.def("ray_paths", [] {
        std::vector<std::string> names;
        for (const RayKernel* kernel : ray_kernels()) names.emplace_back(kernel->name);
        return names;
    });
    nb::class_<Rays>(m, "Rays")
        .def(nb::init<Array<const float, 3>, Array<const std::int64_t, 2>, Array<const float, 2>, Array<const float, 1>,
                      Array<const std::int16_t, 3>, Array<const std::int16_t, 2>, Array<const double, 2>>())
        .def("first", &Rays::first)
        .def("walk", &Rays::walk)
        .def("at", &Rays::at);
}

}  // namespace deniable
