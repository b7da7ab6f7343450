// The search without Python, for a processor that is only emulated: reads one case from standard input and writes what was found.
//
// In: five numbers of 64 bits (words, dimension, queries, k, threads), float32 vectors, a byte per word that says whether it shares
// another's vector, float32 queries. Out: the index, then the nearest ids, then the k nearest ids and their distances (float64).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "dispatch.hpp"
#include "index.hpp"
#include "search.hpp"

using namespace deniable;

namespace {

template <class T>
std::vector<T> read(std::size_t count) {
    std::vector<T> values(count);
    if (std::fread(values.data(), sizeof(T), count, stdin) != count) {
        std::fprintf(stderr, "the input ended too soon\n");
        std::exit(1);
    }
    return values;
}

template <class T>
void write(const T* values, std::size_t count) {
    if (std::fwrite(values, sizeof(T), count, stdout) != count) std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string wanted = count == 2 ? arguments[1] : "";
    const Kernel* kernel = nullptr;
    for (const Path& path : paths()) {
        if (path.name == wanted) kernel = path.kernel;
        if (path.name == wanted && !kernel) std::fprintf(stderr, "%s: %s\n", wanted.c_str(), path.obstacle.c_str());
    }
    if (!kernel) return 2;

    const auto sizes = read<std::uint64_t>(5);
    const std::size_t words = sizes[0], dimension = sizes[1], asked = sizes[2], k = sizes[3], threads = sizes[4];
    const auto vectors = read<float>(words * dimension);
    const auto shadowed = read<std::uint8_t>(words);
    const auto queries = read<float>(asked * dimension);

    const Layout layout(words, dimension);
    auto* data = static_cast<unsigned char*>(std::aligned_alloc(kAlignment, layout.bytes));
    if (!data) return 1;
    build_index(layout, vectors.data(), shadowed.data(), data, threads);
    double factor;
    std::memcpy(&factor, data, sizeof factor);
    const IndexView index{layout, data, vectors.data(), factor};

    std::vector<std::int64_t> ids(asked), near(asked * k);
    std::vector<double> distances(asked * k);
    nearest(index, *kernel, queries.data(), asked, threads, ids.data());
    nearest_k(index, *kernel, queries.data(), asked, k, threads, near.data(), distances.data());
    write(data, layout.bytes);
    write(ids.data(), ids.size());
    write(near.data(), near.size());
    write(distances.data(), distances.size());
    std::free(data);
    return 0;
}
