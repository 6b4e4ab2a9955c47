#include "flopwatt/report/report_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/base/version.hpp"
#include "flopwatt/report/document.hpp"
#include "flopwatt/report/figure_data.hpp"
#include "flopwatt/report/phrases.hpp"

namespace flopwatt::report {
namespace {

using power::Form;

constexpr std::size_t kPlacesOnPage = 6;

std::string grouped(std::size_t value) {
  std::string text = fmt::format("{}", value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::size_t found(const fit::FitResult& result, audit::Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(result.audited.findings.begin(), result.audited.findings.end(),
                    [&](const audit::Finding& finding) { return finding.severity == severity; }));
}

/// The class with the smallest error on this device: held out where that is known.
struct Best {
  Form form = Form::linear;
  double mape_pct = 0;
};
std::optional<Best> best(const std::map<Form, double>& errors) {
  std::optional<Best> out;
  for (const auto& [form, error] : errors) {
    if (!out || error < out->mape_pct) out = Best{form, error};
  }
  return out;
}

std::string bars(const std::map<Form, double>& errors, Form best_form) {
  double largest = 0;
  for (const auto& [form, error] : errors) largest = std::max(largest, error);
  std::string out = "<div class=\"bars\">";
  for (const auto& [form, error] : errors) {
    out += fmt::format(
        "<span class=\"name\">{}</span><span class=\"bar{}\" style=\"width:{:.1f}%\"></span><span>{:.1f} %</span>",
        power::name(form), form == best_form ? " best" : "", largest > 0 ? 100 * error / largest : 0, error);
  }
  return out + "</div>";
}

std::string card(const fit::DeviceFit& device) {
  std::map<Form, double> held_out, in_sample;
  for (const auto& [form, folds] : device.leave_one_model_out) held_out[form] = folds.pooled.mape_pct;
  for (const auto& [form, summary] : device.models) in_sample[form] = summary.mape_pct;
  const bool validated = !held_out.empty();
  const auto& errors = validated ? held_out : in_sample;
  const auto winner = best(errors);
  std::string out = fmt::format("<div class=\"device\"><h3>{}</h3>\n", escape_html(device.device));
  if (winner) {
    out += fmt::format("<div class=\"figure\">{:.1f} <small>% off</small></div>\n", winner->mape_pct);
    out += fmt::format("<p>mean error of the {} class {}</p>\n<dl>", power::name(winner->form),
                       validated ? "on models it has not seen" : "in sample: there is no second model to test it on");
    if (validated) {
      out += fmt::format("<dt>one row in twenty beyond</dt><dd>{:.1f} %</dd>",
                         device.leave_one_model_out.at(winner->form).pooled.p95_pct);
      if (const auto coverage = device.coverage_90.find(winner->form); coverage != device.coverage_90.end())
        out += fmt::format("<dt>its 90 % interval held</dt><dd>{:.0f} %</dd>", 100 * coverage->second);
    }
    if (device.residual_sd_pct.repeat_noise)
      out += fmt::format("<dt>repeats differ by</dt><dd>{:.1f} %</dd>", *device.residual_sd_pct.repeat_noise);
    out += "</dl>\n" + bars(errors, winner->form) + "\n";
  }
  return out + "</div>\n";
}

std::string evidence(const audit::Finding& finding) {
  std::string out;
  for (const audit::Evidence& entry : finding.evidence) {
    const std::string value = std::holds_alternative<double>(entry.value)
                                  ? fmt::format("{:.6g}", std::get<double>(entry.value))
                                  : escape_html(std::get<std::string>(entry.value));
    out += fmt::format("{}{} = {}", out.empty() ? "" : " · ", escape_html(entry.key), value);
  }
  return out;
}

std::string item(const audit::Finding& finding) {
  const std::string_view severity = audit::name(finding.severity);
  std::string out = fmt::format("<li><p><span class=\"tag {0}\">{0}</span><code>{1}</code></p>\n<p>{2}</p>\n", severity,
                                escape_html(finding.code), escape_html(finding.text));
  if (!finding.remedy.empty()) out += fmt::format("<p><b>What to do:</b> {}</p>\n", escape_html(finding.remedy));
  std::string line = finding.rows > 0 ? fmt::format("{}: {}", base::counted(finding.rows, "row"),
                                                    escape_html(places_text(finding, kPlacesOnPage)))
                                      : "";
  const std::string numbers = evidence(finding);
  if (!numbers.empty()) line += (line.empty() ? "" : "<br>") + numbers;
  if (!line.empty()) out += fmt::format("<p class=\"evidence\">{}</p>\n", line);
  return out + "</li>\n";
}

}  // namespace

std::string report_title(const answers::Fit& answer) {
  std::string names;
  const auto& devices = answer.result.devices;
  for (std::size_t i = 0; i < devices.size() && i < 4; ++i)
    names += (i == 0 ? "" : i + 1 == devices.size() ? " and " : ", ") + devices[i].device;
  if (devices.size() > 4) names += fmt::format(" and {} more", devices.size() - 4);
  return "Power of " + names;
}

std::string summary_html(const answers::Fit& answer) {
  const fit::FitResult& result = answer.result;
  std::size_t rows = 0, read = 0;
  for (const fit::DeviceFit& device : result.devices) {
    rows += device.rows;
    read += device.rows_read;
  }
  std::string classes;
  for (const FormColumn& form : form_columns(answer)) classes += (classes.empty() ? "" : ", ") + form.name;
  std::string out = fmt::format("<p class=\"eyebrow\">flopwatt {} · fit report</p>\n<h1>{}</h1>\n", base::kVersion,
                                escape_html(report_title(answer)));
  out += fmt::format(
      "<p class=\"lead\">{} of {} measured rows, {}, model classes {}: what power follows, and how far each "
      "class "
      "may be wrong about a job that it has not seen.</p>\n",
      grouped(rows), grouped(read), base::counted(result.devices.size(), "device"), classes);
  out += "<div class=\"devices\">\n";
  for (const fit::DeviceFit& device : result.devices) out += card(device);
  out += "</div>\n";
  const std::size_t errors = found(result, audit::Severity::error), warnings = found(result, audit::Severity::warning);
  if (errors + warnings > 0) {
    out += fmt::format(
        "<p>Before you rely on it: the <a href=\"#audit\">audit</a> found {} and {} in these rows. "
        "They were "
        "fitted as they are.</p>\n",
        base::counted(errors, "error"), base::counted(warnings, "warning"));
  } else {
    out += "<p>The <a href=\"#audit\">audit</a> found no error and no warning in these rows.</p>\n";
  }
  return out;
}

std::string findings_html(const answers::Fit& answer) {
  std::string out;
  for (const fit::DeviceFit& device : answer.result.devices) {
    std::string grave, informative;
    std::size_t for_information = 0;
    for (const audit::Finding& finding : answer.result.audited.findings) {
      if (finding.device != device.calibration.label) continue;
      if (finding.severity == audit::Severity::info) {
        informative += item(finding);
        ++for_information;
      } else {
        grave += item(finding);
      }
    }
    out += fmt::format("<h3>{}</h3>\n", escape_html(device.device));
    if (grave.empty()) out += "<p>No error and no warning.</p>\n";
    if (!grave.empty()) out += "<ul class=\"findings\">\n" + grave + "</ul>\n";
    if (for_information > 0) {
      out +=
          fmt::format("<details><summary>{} for information</summary>\n<ul class=\"findings\">\n{}</ul>\n</details>\n",
                      for_information, informative);
    }
  }
  return out;
}

std::string provenance_html(const answers::Fit& answer, const FigureSet& figures) {
  std::string items;
  const auto add = [&](std::string_view text) { items += fmt::format("<li>{}</li>\n", escape_html(text)); };
  std::string files;
  for (const std::string& file : answer.files)
    files += (files.empty() ? "" : ", ") + file.substr(file.find_last_of('/') + 1);
  add(fmt::format("Read: {}.", files));
  add(fmt::format(
      "Intervals marked ± are half the width of the {:.4g} % percentile interval of {} resamples of the rows, "
      "seed {}; the saturating class states its covariance instead.",
      100 * answer.options.level, grouped(answer.options.resamples), answer.options.seed));
  if (const std::size_t stride = point_stride(answer); stride > 1) {
    add(
        fmt::format("Figures of single rows show one row in {} of each device, to keep this page small; lines, bands, "
                    "distributions and tables are of all rows.",
                    stride));
  }
  for (const std::string& absent : figures.absent) add("Not shown. " + absent);
  for (const fit::DeviceFit& device : answer.result.devices) {
    if (!device.utilization && !device.utilization_absent.empty())
      add(device.device + ": no fit to utilization, it is " + device.utilization_absent + ".");
    for (const std::string& note : device.notes) add(device.device + ": " + note + ".");
  }
  for (const std::string& note : answer.notes) add(note);
  return "<ul class=\"plain\">\n" + items + "</ul>\n";
}

std::string footer_html(std::string_view licences) {
  std::string out = fmt::format(
      "<p>Made by flopwatt {}. MFU, MBU and every other word are defined in its manual; a FLOP is one multiply or one "
      "add "
      "(counting convention 1).</p>\n",
      base::kVersion);
  if (!licences.empty()) {
    out += fmt::format(
        "<details><summary>Figures are drawn by Vega, Vega-Lite and vega-embed: their licences</summary>\n"
        "<pre style=\"white-space:pre-wrap\">{}</pre></details>\n",
        escape_html(licences));
  }
  return out;
}

}  // namespace flopwatt::report
