#include "exact.hpp"

#include <cfloat>
#include <cmath>
#include <utility>
#include <vector>

static_assert(FLT_EVAL_METHOD == 0, "exact sums need arithmetic that rounds every step to its type");

namespace deniable {
namespace {

// A sum of float64 numbers kept as parts that do not overlap, smallest first (Shewchuk 1997; math.fsum does the same).
// Nothing is ever rounded away, so the sign of the largest part is the sign of the sum.
class ExactSum {
  public:
    void add(double x) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            double y = parts_[i];
            if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
            const double high = x + y;
            const double low = y - (high - x);
            if (low != 0.0) parts_[kept++] = low;
            x = high;
        }
        parts_.resize(kept);
        if (x != 0.0) parts_.push_back(x);
    }

    int sign() const { return parts_.empty() ? 0 : parts_.back() > 0.0 ? 1 : -1; }

  private:
    std::vector<double> parts_;
};

}  // namespace

int compare_exactly(const float* query, const float* u, const float* v, std::size_t dimension) {
    ExactSum sum;
    for (std::size_t i = 0; i < dimension; ++i) {
        if (u[i] == v[i]) continue;
        // Products of two float32 numbers are exact in float64.
        const double q = query[i], a = u[i], b = v[i];
        sum.add(q * a);
        sum.add(-(q * b));
        sum.add(-0.5 * (a * a));
        sum.add(0.5 * (b * b));
    }
    return sum.sign();
}

}  // namespace deniable
