#include "problem/equal_parts.hpp"

#include "problem/problem_fields.hpp"

namespace attnprof {

std::vector<Problem> equal_parts(const Problem& problem) {
  for (const ProblemField& field : problem_fields())
    if (field.parts && field.tells(problem)) return field.parts(problem);
  return {problem};
}

}  // namespace attnprof
