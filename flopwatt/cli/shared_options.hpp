#pragma once

#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/cli/command.hpp"
#include "flopwatt/cli/console.hpp"
#include "flopwatt/engine/count.hpp"
#include "flopwatt/engine/facts.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/json.hpp"

/// Options that several verbs have, declared once.

namespace flopwatt::cli {

struct OutputOptions {
  report::Format format = report::Format::text;
  std::string file;  ///< empty: standard output
};
/// --json, --format
void add_format(Command& command, OutputOptions& output);
/// The same and -o.
void add_output(Command& command, OutputOptions& output);

struct DataOptions {
  std::string folder;  ///< --data; FLOPWATT_DATA comes before it
};
void add_data(Command& command, DataOptions& data);
/// FLOPWATT_DATA and --data, the later ones override.
[[nodiscard]] std::vector<std::string> data_folders(const DataOptions& data);
[[nodiscard]] Result<engine::Facts> load_facts(const DataOptions& data);

/// --device, --peak-tflops, --mem-bw-gbs, --tdp-w
void add_device(Command& command, engine::DeviceWords& device);

/// --as and the sizes and dtype of one pass: --seq, --dtype; `batch_flag` names the batch.
void add_model(Command& command, std::string& model, std::string& as_family);
void add_sizes(Command& command, engine::WorkloadWords& words, const std::string& batch_flag,
               const std::string& batch_help);
/// --attention, --kernel, --logits, --body
void add_conventions(Command& command, work::Workload& workload);
/// --recompute, --optimizer and what else a training step may differ in
void add_training(Command& command, work::Workload& workload);

/// Renders an answer in the format that was asked for.
template <class Answer, class... More>
[[nodiscard]] Result<void> present(Console& console, const OutputOptions& output, const Answer& answer,
                                   const More&... more) {
  const bool json = output.format == report::Format::json;
  return console.deliver(
      json ? report::to_json(answer, more...) : report::render(report::to_document(answer, more...), output.format),
      output.file);
}

}  // namespace flopwatt::cli
