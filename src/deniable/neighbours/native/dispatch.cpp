#include "dispatch.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#if defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace deniable {
namespace {

Path path(const char* name, const Kernel* kernel, const std::vector<const char*>& needed) {
    if (!kernel) return {name, "not compiled: made for another architecture, or by a compiler that lacks the instructions", nullptr};
    std::string missing;
    for (const char* feature : needed)
        for (const auto& found : cpu_features())
            if (found.first == feature && !found.second) missing += std::string(missing.empty() ? "" : ", ") + feature;
    if (!missing.empty()) return {name, "the processor lacks " + missing, nullptr};
    return {name, "", kernel};
}

#if defined(__x86_64__)
// Whether the processor multiplies matrices of bytes and the system lets this process do so. Linux has to be asked once: the registers
// are so large that it keeps room for them only where they are wanted.
bool has_amx() {
#if defined(__linux__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool there = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1) && (d >> 25 & 1);  // AMX-TILE and AMX-INT8
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    static const bool allowed = there && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
    return allowed;
#else
    return false;
#endif
}
#endif

}  // namespace

std::vector<std::pair<std::string, bool>> cpu_features() {
#if defined(__x86_64__)
    // The compiler's run-time support asks cpuid, and xgetbv whether the system saves the wide registers.
    __builtin_cpu_init();
    return {{"avx2", bool(__builtin_cpu_supports("avx2"))},
            {"fma", bool(__builtin_cpu_supports("fma"))},
            {"avx512f", bool(__builtin_cpu_supports("avx512f"))},
            {"avx512bw", bool(__builtin_cpu_supports("avx512bw"))},
            {"avx512vl", bool(__builtin_cpu_supports("avx512vl"))},
            {"avx512vnni", bool(__builtin_cpu_supports("avx512vnni"))},
            {"amx_int8", has_amx()}};
#elif defined(__aarch64__) && defined(__linux__)
    return {{"asimddp", bool(getauxval(AT_HWCAP) & (1ul << 20))}};  // HWCAP_ASIMDDP
#elif defined(__aarch64__) && defined(__APPLE__)
    int has = 0;
    std::size_t size = sizeof has;
    sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, nullptr, 0);
    return {{"asimddp", has != 0}};
#else
    return {};
#endif
}

const std::vector<Path>& paths() {
    static const std::vector<Path> found = {
        path("amx", kernel_amx(), {"avx512f", "avx512bw", "avx512vl", "avx512vnni", "fma", "amx_int8"}),
        path("avx512vnni", kernel_avx512vnni(), {"avx512f", "avx512bw", "avx512vl", "avx512vnni", "fma"}),
        path("avx2", kernel_avx2(), {"avx2", "fma"}),
        path("neon", kernel_neon(), {"asimddp"}),
        path("portable", kernel_portable(), {}),
    };
    return found;
}

}  // namespace deniable
