// What Python sees: see _native.pyi. Sizes are checked here, values by the caller.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "../../channel/rays/native/binding.hpp"
#include "dispatch.hpp"
#include "index.hpp"
#include "pool.hpp"
#include "search.hpp"

namespace nb = nanobind;
using namespace deniable;

namespace {

template <class T, std::size_t Axes>
using Array = nb::ndarray<T, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;

const Kernel& kernel_called(const std::string& name) {
    for (const Path& path : paths())
        if (path.name == name) {
            if (!path.kernel) throw std::invalid_argument("the path " + name + " cannot be used: " + path.obstacle);
            return *path.kernel;
        }
    throw std::invalid_argument("there is no path called " + name);
}

Layout checked_layout(std::size_t words, std::size_t dimension) {
    if (words == 0 || words >= (std::size_t(1) << 32) - kTileWords || dimension == 0 || dimension > kMostDimensions)
        throw std::invalid_argument("the scan takes 1 to 2^32 words of at most 65,536 dimensions");
    return Layout(words, dimension);
}

const unsigned char* checked_data(const Layout& layout, const unsigned char* data, std::size_t size) {
    if (size != layout.bytes) throw std::invalid_argument("the index has the wrong size");
    if (reinterpret_cast<std::uintptr_t>(data) % kAlignment) throw std::invalid_argument("the index must begin at a multiple of 64 bytes");
    return data;
}

// Read once: what is computed from it must not change while the file below it does.
double checked_factor(const unsigned char* data) {
    double factor;
    std::memcpy(&factor, data, sizeof factor);
    int exponent;
    if (!(factor > 0.0 && factor < 0x1p200) || std::frexp(factor, &exponent) != 0.5 || factor < 0x1p-200)
        throw std::invalid_argument("the index is damaged: it is not scaled by a power of two");
    return factor;
}

// Keeps the arrays alive that an IndexView points into.
class Index {
  public:
    Index(Array<const std::uint8_t, 1> data, Array<const float, 2> vectors)
        : data_(data), vectors_(vectors), layout_(checked_layout(vectors.shape(0), vectors.shape(1))),
          view_{layout_, checked_data(layout_, data.data(), data.size()), vectors.data(), checked_factor(data.data())} {}

    void nearest(Array<const float, 2> queries, Array<std::int64_t, 1> ids, const std::string& path, std::size_t threads) const {
        check(queries);
        if (ids.shape(0) != queries.shape(0)) throw std::invalid_argument("ids must have one place per query");
        const Kernel& kernel = kernel_called(path);
        const nb::gil_scoped_release release;
        deniable::nearest(view_, kernel, queries.data(), queries.shape(0), threads, ids.data());
    }

    void nearest_k(Array<const float, 2> queries, Array<std::int64_t, 2> ids, Array<double, 2> distances, const std::string& path,
                   std::size_t threads) const {
        check(queries);
        const std::size_t count = queries.shape(0), k = ids.shape(1);
        if (ids.shape(0) != count || distances.shape(0) != count || distances.shape(1) != k || k == 0 || k > layout_.words)
            throw std::invalid_argument("ids and distances must have one row per query and 1 to all words as columns");
        const Kernel& kernel = kernel_called(path);
        const nb::gil_scoped_release release;
        deniable::nearest_k(view_, kernel, queries.data(), count, k, threads, ids.data(), distances.data());
    }

  private:
    void check(const Array<const float, 2>& queries) const {
        if (queries.shape(1) != layout_.dimension) throw std::invalid_argument("queries must have the dimension of the index");
    }

    Array<const std::uint8_t, 1> data_;
    Array<const float, 2> vectors_;
    Layout layout_;
    IndexView view_;
};

void build(Array<const float, 2> vectors, Array<const std::uint8_t, 1> shadowed, Array<std::uint8_t, 1> data, std::size_t threads) {
    const Layout layout = checked_layout(vectors.shape(0), vectors.shape(1));
    checked_data(layout, data.data(), data.size());
    if (shadowed.shape(0) != layout.words) throw std::invalid_argument("shadowed must have one entry per word");
    const nb::gil_scoped_release release;
    build_index(layout, vectors.data(), shadowed.data(), data.data(), threads);
}

bool is_index(Array<const float, 2> vectors, Array<const std::uint8_t, 1> shadowed, Array<const std::uint8_t, 1> data, std::size_t threads) {
    const Layout layout = checked_layout(vectors.shape(0), vectors.shape(1));
    checked_data(layout, data.data(), data.size());
    if (shadowed.shape(0) != layout.words) throw std::invalid_argument("shadowed must have one entry per word");
    const nb::gil_scoped_release release;
    return is_index_of(layout, vectors.data(), shadowed.data(), data.data(), threads);
}

// Multiply-adds per second of the path's instruction on registers alone, all threads together.
double multiply_peak(const std::string& path, std::size_t threads, double seconds) {
    const Kernel& kernel = kernel_called(path);
    const nb::gil_scoped_release release;
    using Clock = std::chrono::steady_clock;
    std::vector<double> done(threads, 0.0);
    const auto begin = Clock::now();
    run_parallel(threads, threads, [&](std::size_t thread) {
        while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds) done[thread] += kernel.peak(1 << 20);
    });
    double total = 0.0;
    for (const double one : done) total += one;
    return total / std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

NB_MODULE(_native, m) {
    nb::set_leak_warnings(false);  // a thread that is searching when the interpreter ends is no leak
    bind_rays(m);
    m.attr("LAYOUT_VERSION") = kLayoutVersion;
    m.def("index_bytes", [](std::size_t words, std::size_t dimension) { return checked_layout(words, dimension).bytes; });
    m.def("build", &build, nb::arg("vectors").noconvert(), nb::arg("shadowed").noconvert(), nb::arg("data").noconvert(), nb::arg("threads"));
    m.def("is_index_of", &is_index, nb::arg("vectors").noconvert(), nb::arg("shadowed").noconvert(), nb::arg("data").noconvert(),
          nb::arg("threads"));
    m.def("checksum", [](Array<const std::uint8_t, 1> data) {
        const nb::gil_scoped_release release;
        return checksum(data.data(), data.size());
    });
    m.def("cpu_features", &cpu_features);
    m.def("paths", [] {
        std::vector<std::pair<std::string, std::string>> found;
        for (const Path& path : paths()) found.emplace_back(path.name, path.obstacle);
        return found;
    });
    m.def("multiply_peak", &multiply_peak);
    // Arrays are never converted: a converted output would be filled and thrown away.
    nb::class_<Index>(m, "Index")
        .def(nb::init<Array<const std::uint8_t, 1>, Array<const float, 2>>(), nb::arg("data").noconvert(), nb::arg("vectors").noconvert())
        .def("nearest", &Index::nearest, nb::arg("queries").noconvert(), nb::arg("ids").noconvert(), nb::arg("path"), nb::arg("threads"))
        .def("nearest_k", &Index::nearest_k, nb::arg("queries").noconvert(), nb::arg("ids").noconvert(), nb::arg("distances").noconvert(),
             nb::arg("path"), nb::arg("threads"));
}
