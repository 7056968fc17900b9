// The main of every test binary. Compiled once: the header costs seconds.
#include <caf/test/unit_test_impl.hpp>
