#include "flopwatt/engine/audit.hpp"

#include "flopwatt/engine/samples.hpp"

namespace flopwatt::engine {

Result<answers::Audit> audit(const Facts& facts, const AuditRequest& request) {
  FLOPWATT_TRY(const std::vector<dataset::Dataset> datasets, read_samples_files(request.files, request.device));
  answers::Audit answer;
  answer.files = request.files;
  answer.result = audit::audit(datasets, facts.devices(), facts.models());
  return answer;
}

}  // namespace flopwatt::engine
