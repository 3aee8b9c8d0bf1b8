// A logarithmic axis that fits its values, with round figures: no drawing.
#pragma once

#include <cstdint>
#include <vector>

namespace accelscope::app {

class LogAxis {
 public:
  // Widens to hold the value; what is not above 0 is passed over.
  void include(double value) noexcept;
  // Leaves so much room beyond its ends, as a factor of at least 1.
  void widen(double factor) noexcept;

  [[nodiscard]] bool empty() const noexcept { return low_ > high_; }
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  // Where a value above 0 lies: 0 at the low end, 1 at the high one, beyond them outside.
  [[nodiscard]] double place(double value) const noexcept;
  [[nodiscard]] double value_at(double place) const noexcept;

  struct Tick {
    double value = 0;
    bool labelled = false;  // else a fine line
  };
  enum class Steps : std::uint8_t { doubling, decimal };
  // At most about `most` labelled ones, ascending, from the finest steps that allow it: powers of two where they
  // double, else 1 2 5, 1 5, or powers of ten. Lines between them without a label where ten is the step.
  [[nodiscard]] std::vector<Tick> ticks(int most, Steps steps) const;

 private:
  double low_ = 1, high_ = 0;
};

}  // namespace accelscope::app
