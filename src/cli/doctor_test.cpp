#include "cli/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/version.hpp"
#include "cli/command_line.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

// An environment variable for the time of a test; an empty value removes it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value, 1);
  }
  ~ScopedVariable() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

const Check* find(const std::vector<Check>& checks, const std::string& topic) {
  for (const Check& check : checks)
    if (check.topic == topic) return &check;
  return nullptr;
}

DoctorOptions options() {
  DoctorOptions chosen;
  chosen.automatic_backend = [] { return std::string("backend sim: no driver"); };
  return chosen;
}

TEST(Doctor, SaysWhatEveryPartIs) {
  const std::vector<Check> checks = examine_all(options());
  for (const char* topic : {"nvcc", "host compiler", "kernels", "kernel cache", "auto"})
    EXPECT_TRUE(find(checks, topic)) << topic;
#if ATTNPROF_WITH_GPU
  for (const char* topic : {"build", "driver", "CUPTI", "counters"})
    EXPECT_TRUE(find(checks, topic)) << topic;
#else
  EXPECT_THAT(find(checks, "build")->text, HasSubstr("sim only"));
#endif
  for (const Check& check : checks) EXPECT_FALSE(check.text.empty()) << check.topic;
}

TEST(Doctor, PrintsTextAndCountsWhatIsMissing) {
  DoctorOptions chosen = options();
  chosen.measure.kernels_dir = "/no/such/kernels";
  std::ostringstream out;
  EXPECT_EQ(run_doctor(chosen, out), 0);
  EXPECT_THAT(out.str(), HasSubstr("attnprof " + std::string(tool_version())));
  EXPECT_THAT(out.str(), testing::ContainsRegex("missing +kernels +.*/no/such/kernels"));
  EXPECT_THAT(out.str(), testing::ContainsRegex("ok +auto +backend sim: no driver"));
  EXPECT_THAT(out.str(), testing::ContainsRegex("[0-9]+ missing\n$"));
}

TEST(Doctor, EndsWithThreeWhereWhatWasAskedForIsMissing) {
  DoctorOptions chosen = options();
  chosen.measure.kernels_dir = "/no/such/kernels";
  chosen.asked = {"kernels"};
  std::ostringstream out, json;
  EXPECT_EQ(run_doctor(chosen, out), 3);
  EXPECT_THAT(out.str(), testing::ContainsRegex("[0-9]+ missing, of what was asked for: kernels\n$"));
  chosen.json = true;
  EXPECT_EQ(run_doctor(chosen, json), 3);
  EXPECT_TRUE(nlohmann::json::accept(json.str()));
  chosen.asked = {"kernel cache"};
  EXPECT_EQ(run_doctor(chosen, json), 0) << "that is there";
}

TEST(Doctor, AsksForWhatAnOptionOrAVariableNames) {
  const auto asked = [](Args args) {
    args.insert(args.begin(), "doctor");
    return dynamic_cast<const CommandOf<DoctorCommand>&>(*parse_command_line(args)).options.asked;
  };
  const ScopedVariable nvcc("CUDACXX", ""), compiler("NVCC_CCBIN", "");
  EXPECT_THAT(asked({}), testing::IsEmpty());
  EXPECT_THAT(asked({"--device", "3"}), testing::ElementsAre("build", "driver", "GPU", "GPU 3"));
  EXPECT_THAT(asked({"--kernels", "k", "--cache-dir", "c"}), testing::ElementsAre("kernels", "kernel cache"));
  const ScopedVariable named("CUDACXX", "/usr/bin/nvcc"), other("NVCC_CCBIN", "g++");
  EXPECT_THAT(asked({}), testing::ElementsAre("nvcc", "host compiler"));
}

TEST(Doctor, ColourIsOfTheStateAlone) {
  DoctorOptions chosen = options();
  chosen.measure.kernels_dir = "/no/such/kernels";
  chosen.color = true;
  std::ostringstream out;
  run_doctor(chosen, out);
  EXPECT_THAT(out.str(), HasSubstr("\x1b[31mmissing \x1b[0m kernels"));
  EXPECT_THAT(out.str(), HasSubstr("\x1b[32mok      \x1b[0m auto"));
}

TEST(Doctor, PrintsJson) {
  DoctorOptions chosen = options();
  chosen.json = true;
  chosen.automatic_backend = []() -> std::string { throw EnvironmentError("no \"backend\""); };
  std::ostringstream out;
  EXPECT_EQ(run_doctor(chosen, out), 0);
  const auto document = nlohmann::json::parse(out.str());
  EXPECT_EQ(document.at("version"), tool_version());
  const auto& last = document.at("findings").back();
  EXPECT_EQ(last.at("topic"), "auto");
  EXPECT_EQ(last.at("state"), "missing");
  EXPECT_EQ(last.at("text"), "no \"backend\"");
}

TEST(Doctor, AHostCompilerThatIsMissingIsNamed) {
  const ScopedVariable variable("NVCC_CCBIN", "/no/such/g++");
  const std::vector<Check> checks = examine_all(options());
  const Check* compiler = find(checks, "host compiler");
  EXPECT_EQ(compiler->state, Check::State::missing);
  EXPECT_THAT(compiler->text, testing::AllOf(HasSubstr("/no/such/g++"), HasSubstr("install g++")));
}

#if ATTNPROF_WITH_GPU
TEST(Doctor, ASelfTestThatCannotRunIsAnEnvironmentError) {
  SelfTestOptions chosen;
  chosen.measure.device = 999;
  std::ostringstream out;
  EXPECT_THROW(run_self_test(chosen, out), EnvironmentError);
}
#endif

}  // namespace
}  // namespace attnprof
