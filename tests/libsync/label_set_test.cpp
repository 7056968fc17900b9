#define CAF_SUITE label_set

#include "libsync/label_set.hpp"

#include <caf/test/dsl.hpp>

#include <string>

using purgatory::label_set;

CAF_TEST(the first texts keep their name and the rest are other) {
  label_set labels{2};
  CAF_CHECK_EQUAL(labels.name_for("a.org"), "a.org");
  CAF_CHECK_EQUAL(labels.name_for("b.org"), "b.org");
  CAF_CHECK_EQUAL(labels.name_for("c.org"), "other");
  CAF_CHECK_EQUAL(labels.name_for("a.org"), "a.org");
}

CAF_TEST(a name once given stays and other never becomes one) {
  label_set labels{20};
  for (int i = 0; i < 1000; ++i)
    labels.name_for("host" + std::to_string(i));
  for (int i = 0; i < 1000; ++i) {
    const auto text = "host" + std::to_string(i);
    CAF_CHECK_EQUAL(labels.name_for(text), i < 20 ? text : "other");
  }
}
