#include "flopwatt/answers/flag.hpp"

namespace flopwatt::answers {

std::vector<Flag> flags_of(const power::Prediction& prediction) {
  std::vector<Flag> flags;
  for (const power::Flag& flag : prediction.flags) flags.push_back({std::string{power::name(flag.kind)}, flag.text});
  return flags;
}

}  // namespace flopwatt::answers
