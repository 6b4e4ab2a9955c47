#include "flopwatt/workload/torch_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace flopwatt::workload {
namespace {

using testing::HasSubstr;

/// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_{name} {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string folder_with_program(const std::string& name) {
  const std::string folder = testing::TempDir() + name;
  ::mkdir(folder.c_str(), 0755);
  std::ofstream{folder + "/flopwatt-torch"} << "#!/bin/sh\n";
  ::chmod((folder + "/flopwatt-torch").c_str(), 0755);
  return folder;
}

TEST(TorchProgram, TheVariableGoesFirst) {
  const std::string folder = folder_with_program("named");
  const Variable variable{"FLOPWATT_TORCH", folder + "/flopwatt-torch"};
  const Variable path{"PATH", folder_with_program("in_path")};
  EXPECT_EQ(torch_program(), folder + "/flopwatt-torch");
}

TEST(TorchProgram, AVariableThatNamesNothingIsNotPassedOver) {
  const Variable variable{"FLOPWATT_TORCH", "/nowhere/flopwatt-torch"};
  const auto program = torch_program();
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, Errc::unavailable);
  EXPECT_EQ(program.error().where, "FLOPWATT_TORCH");
}

// Beside this test there is none: it lies in a folder of its own.
TEST(TorchProgram, ThePathGoesLast) {
  const Variable variable{"FLOPWATT_TORCH", ""};
  const std::string folder = folder_with_program("in_path");
  const Variable path{"PATH", "/nowhere::relative:" + folder};
  EXPECT_EQ(torch_program(), folder + "/flopwatt-torch");
}

TEST(TorchProgram, WithoutItTheErrorSaysHowToGetIt) {
  const Variable variable{"FLOPWATT_TORCH", ""};
  const Variable path{"PATH", "/nowhere"};
  const auto program = torch_program();
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, Errc::unavailable);
  EXPECT_THAT(program.error().remedy, HasSubstr("libtorch-dev"));
}

}  // namespace
}  // namespace flopwatt::workload
