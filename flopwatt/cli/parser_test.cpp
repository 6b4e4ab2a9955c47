#include "flopwatt/cli/parser.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace flopwatt::cli {
namespace {

struct Words {
  std::string model;
  std::vector<std::string> data;
  std::int64_t batch = 1;
  bool cache = true;
  bool json = false;
};

/// A command with a positional, a number and two switches.
struct Fixture {
  Words words;
  Command command;
  Fixture() {
    command.positional("MODEL", words.model, "");
    command.whole("--batch", words.batch, {}, "");
    command.flag("--kv-cache,!--no-kv-cache", words.cache, "");
    command.flag("--json", words.json, "");
  }
  Result<Asked> read(std::vector<std::string> line) { return parse(command, "count", std::move(line)); }
};

TEST(Parse, GivesWordsToTheirOptions) {
  Fixture f;
  ASSERT_TRUE(f.read({"--batch", "8", "gpt2", "--no-kv-cache", "--json"}));
  EXPECT_EQ(f.words.model, "gpt2");
  EXPECT_EQ(f.words.batch, 8);
  EXPECT_FALSE(f.words.cache);
  EXPECT_TRUE(f.words.json);
}

TEST(Parse, SeesHelpWhateverElseIsMissing) {
  Fixture f;
  EXPECT_EQ(f.read({"--help"}).value(), Asked::help);
}

TEST(Parse, NamesTheOptionThatIsWrong) {
  struct Case {
    std::vector<std::string> line;
    std::string part;
  };
  for (const Case& c : {Case{{}, "MODEL: is missing"},
                        Case{{"gpt2", "--batch", "0"}, "--batch: '0'"},
                        Case{{"gpt2", "--batch", "-1"}, "--batch: '-1'"},
                        Case{{"gpt2", "--batch=nan"}, "--batch: 'nan'"},
                        Case{{"gpt2", "--batch"}, "--batch"},
                        Case{{"gpt2", "--batch", "1", "--batch", "2"}, "--batch"},
                        Case{{"gpt2", "--bacth", "1"}, "did you mean --batch?"},
                        Case{{"gpt2", "--json=maybe"}, "--json"},
                        Case{{"gpt2", "extra"}, "extra: one argument too many"},
                        Case{{""}, "MODEL: is empty"},
                        Case{{"gpt2", "--batch"}, "--batch: needs a value; see 'flopwatt count --help'"},
                        Case{{"gpt2", "--batch="}, "--batch: needs a value;"},
                        Case{{"gpt2", "--batch", "--json"}, "--batch: needs a value, and --json is an option;"},
                        Case{{"gpt2", "--batch", "--json=true"}, "--batch: needs a value, and --json is an option;"},
                        Case{{"gpt2", "--batch", "1", "--batch=2"}, "--batch: is given more than once; give it once"},
                        Case{{"gpt2", "--json="}, "--json: is a switch and takes no ''"},
                        Case{{"gpt2", "--no-kv-cache=3"}, "--no-kv-cache: is a switch and takes no '3'"},
                        Case{{"gpt2", ""}, "'': one argument too many"},
                        Case{{"gpt2", "--", "--json"}, "--json: one argument too many"},
                        Case{{"gpt2", "--", "--batch"}, "--batch: one argument too many"},
                        Case{{"gpt2", "-"}, "-: unknown option of 'count'"}}) {
    Fixture f;
    const auto read = f.read(c.line);
    ASSERT_FALSE(read) << c.part;
    EXPECT_EQ(read.error().code, Errc::usage);
    EXPECT_NE(read.error().message().find(c.part), std::string::npos) << read.error().message();
    EXPECT_EQ(read.error().message().find('\n'), std::string::npos);
  }
}

TEST(Parse, TakesWhatFollowsTwoDashesAsArguments) {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"--", "gpt2"}, {"gpt2", "--"}, {"--json", "--", "gpt2"}}) {
    Fixture f;
    ASSERT_TRUE(f.read(line)) << line.front();
    EXPECT_EQ(f.words.model, "gpt2");
  }
  Fixture f;
  ASSERT_TRUE(f.read({"--", "--json"}));
  EXPECT_EQ(f.words.model, "--json");
  EXPECT_FALSE(f.words.json);
}

TEST(Parse, RefusesWhatMeansNothingAlone) {
  std::string model;
  std::optional<double> rate, watts;
  const auto read = [&](std::vector<std::string> line) {
    Command command;
    command.optional_positional("MODEL", model, "");
    command.group("Rate").real("--rate", "N", rate, {}, "");
    command.real("--watts", "N", watts, {}, "").only_with("--rate");
    command.group("Other").real("--level", "N", watts, {}, "");
    command.group_only_with("MODEL");
    return parse(command, "power", std::move(line));
  };
  const auto alone = read({"--watts", "1"});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().message(), "--watts: means nothing without --rate; add --rate, or leave it out");
  EXPECT_EQ(read({"--level", "1"}).error().what, "means nothing without MODEL");
  EXPECT_TRUE(read({"--watts", "1", "--rate", "1"}));
  EXPECT_TRUE(read({"--level", "1", "gpt2"}));
  EXPECT_TRUE(read({}));
}

TEST(Parse, TakesSeveralFiles) {
  std::vector<std::string> files;
  Command command;
  command.positionals("DATA", files, "");
  ASSERT_TRUE(parse(command, "fit", {"a.csv", "b.csv", "c.csv"}));
  EXPECT_EQ(files, (std::vector<std::string>{"a.csv", "b.csv", "c.csv"}));
}

}  // namespace
}  // namespace flopwatt::cli
