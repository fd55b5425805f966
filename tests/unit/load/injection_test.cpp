#include "load/injection.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "io/clock.h"

namespace tlstrata::load {
namespace {

TEST(Injection, IsReadFromItsWords) {
  const auto injection = parse_injection("before_finished=cpu:200us");
  ASSERT_TRUE(injection);
  EXPECT_EQ(injection->place, InjectionPlace::before_finished);
  EXPECT_TRUE(injection->cpu);
  EXPECT_EQ(injection->delay_ns, 200'000);
  EXPECT_FALSE(parse_injection("before_hello=sleep:0ns")->cpu);
  for (const char* text : {"", "before_hello", "before_hello=1ms", "nowhere=cpu:1ms", "before_lunch=cpu:1ms",
                           "before_hello=nap:1ms", "before_hello=cpu:1", "before_hello=cpu:11s"}) {
    EXPECT_FALSE(parse_injection(text)) << text;
  }
}

TEST(Injector, DelaysAtItsPlaceAloneAndSaysForHowLong) {
  const std::filesystem::path log = std::filesystem::path(testing::TempDir()) / "injections.csv";
  std::filesystem::remove(log);
  {
    auto injector = Injector::create({InjectionPlace::before_request, false, 2 * nanos_per_millisecond}, log.string());
    ASSERT_TRUE(injector);
    Record record;
    record.start_ns = 42;
    const Nanos before_ns = io::monotonic_ns();
    injector->at(InjectionPlace::before_hello, record);
    EXPECT_EQ(injector->before_finished(), nullptr);
    injector->at(InjectionPlace::before_request, record);
    EXPECT_GE(io::monotonic_ns() - before_ns, 2 * nanos_per_millisecond);
  }
  std::ifstream file(log);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_TRUE(line.starts_with(",42,before_request,")) << line;
  EXPECT_GE(std::stoll(line.substr(line.rfind(',') + 1)), 2'000'000);
  EXPECT_FALSE(std::getline(file, line)) << "once";
}

TEST(Injector, TheHandshakesHookActsOnceAScope) {
  auto injector = Injector::create({InjectionPlace::before_finished, true, nanos_per_millisecond}, "");
  ASSERT_TRUE(injector);
  const Injector::Hook hook = injector->before_finished();
  ASSERT_NE(hook, nullptr);
  hook();  // no transaction: nothing
  const Record record;
  const Nanos before_ns = io::monotonic_ns();
  {
    const Injector::Scope scope(*injector, record);
    hook();
    hook();
  }
  hook();
  const Nanos took_ns = io::monotonic_ns() - before_ns;
  EXPECT_GE(took_ns, nanos_per_millisecond);
}

}  // namespace
}  // namespace tlstrata::load
