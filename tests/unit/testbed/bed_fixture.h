// What the tests of the test bed share: one bed a suite, and what they say where this machine allows none.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "testbed/bed.h"

namespace tlstrata::testbed {

// How this program came by its rights, or why there can be no bed here. Decided once, before the first thread.
inline const Checked<Privileges>& rights() {
  static const Checked<Privileges> entered = enter_user_namespace_if_needed();
  return entered;
}

// A machine that allows no bed is a failure with its reason: these tests are there to run.
#define TLSTRATA_NEEDS_BED() \
  ASSERT_TRUE(::tlstrata::testbed::rights()) << ::tlstrata::describe(::tlstrata::testbed::rights().error())

class BedTest : public testing::Test {
 public:
  static void SetUpTestSuite() {
    if (rights()) {
      Checked<Bed> made = Bed::create();
      ASSERT_TRUE(made) << describe(made.error());
      bed_ = std::make_unique<Bed>(std::move(*made));
    }
  }
  static void TearDownTestSuite() { bed_.reset(); }
  void SetUp() override { TLSTRATA_NEEDS_BED(); }

 protected:
  static const Bed& bed() { return *bed_; }

 private:
  static inline std::unique_ptr<Bed> bed_;
};

// The value, or a failure that tells the Complaint.
template <typename T>
T must(Checked<T> checked) {
  if (!checked) {
    ADD_FAILURE() << describe(checked.error());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*checked);
  }
}

// The output of a shell command in a host.
inline std::string shell(const Bed& bed, Host host, const std::string& script, const SpawnOptions& options = {}) {
  return must(bed.run(host, {"sh", "-c", script}, 20 * nanos_per_second, options));
}

}  // namespace tlstrata::testbed
