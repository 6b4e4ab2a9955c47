#include "flopwatt/model/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "flopwatt/model/checkpoint_names.hpp"
#include "flopwatt/model/expert_layout.hpp"
#include "flopwatt/model/quantized_names.hpp"

namespace flopwatt::model {
namespace {

using units::Count;

StoredType stored_type(units::Precision precision) {
  switch (precision) {
    case units::Precision::float32:
    case units::Precision::tf32:
      return StoredType::F32;
    case units::Precision::float16:
      return StoredType::F16;
    case units::Precision::bfloat16:
      return StoredType::BF16;
    case units::Precision::fp8:
      return StoredType::F8_E4M3;
    case units::Precision::fp4:
      return StoredType::F4;
    case units::Precision::int8:
    case units::Precision::int4:
      break;
  }
  return StoredType::I8;
}

/// The type that holds most bytes of a file.
std::optional<StoredType> usual_type(const CheckpointListing& listing) {
  std::map<StoredType, std::uint64_t> bytes;
  for (const ListedTensor& tensor : listing.tensors) {
    if (tensor.stored && !is_integer(tensor.stored->type)) bytes[tensor.stored->type] += tensor.stored->bytes;
  }
  const auto most = std::max_element(bytes.begin(), bytes.end(), [](auto& a, auto& b) { return a.second < b.second; });
  if (most == bytes.end()) return std::nullopt;
  return most->first;
}

Count stored_elements(const StoredTensor& stored) { return Count{stored.bytes} * 8 / bits(stored.type); }

bool same_dims(const Tensor& tensor, const StoredTensor& stored) {
  return std::equal(tensor.dims.begin(), tensor.dims.begin() + tensor.rank, stored.dims.begin(), stored.dims.end());
}

/// All experts in one tensor, its last two axes swapped.
bool turned(const Tensor& tensor, const StoredTensor& stored) {
  return tensor.rank == 3 && tensor.use == Use::product && stored.dims.size() == 3 &&
         stored.dims[0] == tensor.dims[0] && stored.dims[1] == tensor.dims[2] && stored.dims[2] == tensor.dims[1];
}

std::string dims_text(const Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.dims.begin(), tensor.dims.begin() + tensor.rank, ", "));
}

/// Bits of one element of a weight whose elements are packed into integers; nothing if they do not fill them evenly.
std::optional<int> packed_bits(Count each, const StoredTensor& stored) {
  const Count all = Count{stored.bytes} * 8;
  if (!is_integer(stored.type) || each <= Count{0} || all % each != Count{0}) return std::nullopt;
  const Count width = all / each;
  if (width < Count{1} || width > Count{8}) return std::nullopt;
  return static_cast<int>(width.value());
}

/// Tables that are computed, by the names that many models give them.
bool is_usual_buffer(const ListedTensor& listed) {
  for (const std::string_view part : {"inv_freq", ".masked_bias", "position_ids", "cos_cached", "sin_cached"}) {
    if (listed.name.find(part) != std::string::npos) return true;
  }
  for (const std::string_view mask : {".attn.bias", ".attention.bias"}) {
    // A mask is a square; a vector would be a true bias.
    if (listed.name.ends_with(mask) && (!listed.stored || listed.stored->dims.size() >= 2)) return true;
  }
  return false;
}

class Comparison {
 public:
  Comparison(const Architecture& architecture, const CheckpointListing& listing, std::vector<NamedTensor> census)
      : architecture_{architecture},
        listing_{listing},
        census_{std::move(census)},
        finder_{census_, names_of(listing)},
        layouts_{census_, finder_, listing.tensors},
        found_(census_.size(), false) {}

  Verification run() {
    begin();
    std::vector<bool> told(listing_.tensors.size(), false);
    for (const ExpertUnit& unit : layouts_.units()) {
      compare_experts(unit);
      for (const ExpertPart& part : unit.parts) told[part.listed] = true;
    }
    for (std::size_t i = 0; i < told.size(); ++i) {
      const ListedTensor& listed = listing_.tensors[i];
      if (listed.stored) result_.stored_elements += stored_elements(*listed.stored);
      if (!told[i]) compare(listed);
    }
    report_missing();
    report_prefixes();
    report_files();
    report_totals();
    finish();
    return std::move(result_);
  }

 private:
  static std::vector<std::string_view> names_of(const CheckpointListing& listing) {
    std::vector<std::string_view> names;
    names.reserve(listing.tensors.size());
    for (const ListedTensor& tensor : listing.tensors) names.push_back(tensor.name);
    return names;
  }

  void begin() {
    result_.source = listing_.source;
    result_.tensors_listed = listing_.tensors.size();
    result_.type_assumed = !architecture_.dtype;
    result_.type =
        architecture_.dtype ? stored_type(*architecture_.dtype) : usual_type(listing_).value_or(StoredType::BF16);
    for (const NamedTensor& named : census_) {
      if (named.tensor->tied) continue;
      ++result_.tensors_census;
      result_.parameters += elements(*named.tensor);
      result_.census_bytes += bytes(*named.tensor);
    }
    if (listing_.files_read > 0) {
      result_.payload_bytes = listing_.payload_bytes;
      result_.header_bytes = listing_.header_bytes;
    }
    result_.index_total_bytes = listing_.index_total_bytes;
  }

  /// Of one tensor in the type of the census; half a byte counts as one.
  [[nodiscard]] Count bytes(const Tensor& tensor) const { return bytes(elements(tensor)); }
  [[nodiscard]] Count bytes(Count each) const { return (each * bits(result_.type) + 7) / 8; }

  struct Delta {
    Count elements, bytes;
  };
  /// What a tensor that the census does not count adds.
  static Delta all_of(const ListedTensor& listed) {
    if (!listed.stored) return {};
    return {stored_elements(*listed.stored), Count{listed.stored->bytes}};
  }

  /// Tensors that differ alike are one difference: alike in kind, cause and `group`.
  Difference& differ(DifferenceKind kind, std::string cause, std::string group, std::string_view tensor, Delta delta,
                     bool contradicts = false) {
    const auto [place, fresh] = groups_.try_emplace({kind, std::move(group), cause}, result_.differences.size());
    if (fresh) {
      result_.differences.push_back(
          {.kind = kind, .tensor = std::string{tensor}, .cause = std::move(cause), .contradicts = contradicts});
    }
    Difference& difference = result_.differences[place->second];
    ++difference.tensors;
    difference.elements += delta.elements;
    difference.bytes += delta.bytes;
    return difference;
  }

  void compare(const ListedTensor& listed) {
    std::optional<std::size_t> place = finder_.find(listed.name);
    if (!place) place = renamed(listed);
    if (!place) return explain(listed);
    if (found_[*place]) {
      differ(DifferenceKind::unexpected, "the checkpoint holds a second tensor of this name",
             without_indices(listed.name), listed.name, all_of(listed), true);
      return;
    }
    found_[*place] = true;
    const Tensor& tensor = *census_[*place].tensor;
    if (tensor.tied) return tied_copy(listed, tensor);
    if (listed.stored) return compare_stored(*listed.stored, tensor);
    ++result_.tensors_equal;
    ++result_.tensors_by_name;
    unread_bytes_ += bytes(tensor);
  }

  void tied_copy(const ListedTensor& listed, const Tensor& tensor) {
    if (listed.stored && !same_dims(tensor, *listed.stored)) return shape_differs(*listed.stored, tensor, Count{0});
    Delta delta = all_of(listed);
    // An index gives no size, but a copy has its original's.
    if (listing_.files_read == 0) delta = {elements(tensor), bytes(tensor)};
    differ(DifferenceKind::tied_copy, "the tied weight stored a second time: it holds no parameters of its own",
           listed.name, listed.name, delta);
  }

  void compare_stored(const StoredTensor& stored, const Tensor& tensor) {
    if (same_dims(tensor, stored)) {
      ++result_.tensors_equal;
      return compare_type(stored, elements(tensor));
    }
    if (packed_bits(elements(tensor), stored) && stored_elements(stored) < elements(tensor)) {
      return packed(stored, tensor, "packed weights");
    }
    if (tensor.component == Component::experts && turned(tensor, stored)) {
      differ(DifferenceKind::layout, "an expert's inputs and outputs stand the other way round than in the census", {},
             stored.name, {});
      return compare_type(stored, elements(tensor));
    }
    shape_differs(stored, tensor, elements(tensor));
  }

  void compare_type(const StoredTensor& stored, Count each) {
    if (stored.type == result_.type) return;
    const bool quantized = architecture_.quantization && bits(stored.type) <= 8;
    differ(DifferenceKind::stored_type,
           quantized
               ? fmt::format("stored in {} by the quantisation '{}'", name(stored.type),
                             base::excerpt(architecture_.quantization->method))
               : fmt::format("stored in {} where {} {}", name(stored.type),
                             result_.type_assumed ? "most of the file is" : "the config says", name(result_.type)),
           {}, stored.name, {Count{0}, Count{stored.bytes} - bytes(each)});
  }

  /// A tensor beside the experts whose module has another name in the census.
  std::optional<std::size_t> renamed(const ListedTensor& listed) {
    const std::optional<std::string> name = layouts_.census_name(listed.name);
    const std::optional<std::size_t> place = name ? finder_.find(*name) : std::nullopt;
    if (!place || found_[*place]) return std::nullopt;
    differ(DifferenceKind::layout, layouts_.rename_cause(listed.name), {}, listed.name, {});
    return place;
  }

  /// Experts that the file stores in another layout.
  void compare_experts(const ExpertUnit& unit) {
    for (const std::size_t place : unit.census) found_[place] = true;
    for (const ExpertPart& part : unit.parts) {
      const ListedTensor& listed = listing_.tensors[part.listed];
      if (!listed.stored) {
        ++result_.tensors_by_name;
        unread_bytes_ += bytes(part.elements);
      } else if (unit.misfit || (!part.packing.empty() && !packed_bits(part.elements, *listed.stored))) {
        differ(DifferenceKind::shape, unit.cause + ", and one " + unit.misfit.value_or("has another size"),
               without_indices(listed.name), listed.name,
               {stored_elements(*listed.stored) - part.elements, Count{listed.stored->bytes} - bytes(part.elements)},
               true);
        continue;
      } else if (!part.packing.empty()) {
        packed(*listed.stored, part.elements, part.packing);
      } else {
        compare_type(*listed.stored, part.elements);
      }
      differ(DifferenceKind::layout, unit.cause, {}, listed.name, {});
    }
  }

  void packed(const StoredTensor& stored, const Tensor& tensor, std::string_view meaning) {
    if (!packed_bits(elements(tensor), stored)) return shape_differs(stored, tensor, elements(tensor));
    packed(stored, elements(tensor), meaning);
  }

  void packed(const StoredTensor& stored, Count each, std::string_view meaning) {
    const std::optional<int> width = packed_bits(each, stored);
    std::string cause = fmt::format("{}, {} bits each in {}", meaning, *width, name(stored.type));
    if (!architecture_.quantization) {
      cause += ", although the config names no quantisation";
    } else if (const int said = units::bits(architecture_.quantization->precision); said != *width) {
      cause += fmt::format(", where the config says {}", said);
    }
    differ(DifferenceKind::packed, std::move(cause), {}, stored.name,
           {stored_elements(stored) - each, Count{stored.bytes} - bytes(each)});
  }

  void shape_differs(const StoredTensor& stored, const Tensor& tensor, Count counted) {
    std::string cause = fmt::format("has the shape [{}] in the file and {} in the census", fmt::join(stored.dims, ", "),
                                    dims_text(tensor));
    if (stored_elements(stored) == elements(tensor)) cause += ", the same number of elements";
    differ(DifferenceKind::shape, std::move(cause), without_indices(stored.name), stored.name,
           {stored_elements(stored) - counted, Count{stored.bytes} - (tensor.tied ? Count{0} : bytes(tensor))}, true);
  }

  /// A tensor that the census does not have under any spelling of its name.
  void explain(const ListedTensor& listed) {
    if (const Excluded* excluded = excluded_by(listed.name)) {
      differ(DifferenceKind::excluded, fmt::format("{}: {}", excluded->what, excluded->why), {}, listed.name,
             all_of(listed));
      ++unsized_;
      return;
    }
    if (explain_quantized(listed)) return;
    if (is_usual_buffer(listed)) {
      ++unsized_;
      differ(DifferenceKind::buffer, "a table that is computed and not trained", {}, listed.name, all_of(listed));
      return;
    }
    if (listed.name.find(".lora_") != std::string::npos) {
      ++unsized_;
      differ(DifferenceKind::adapter, "a low-rank adapter beside the model", {}, listed.name, all_of(listed));
      return;
    }
    if (is_another_tied_copy(listed)) {
      ++unsized_;
      differ(DifferenceKind::tied_copy, "the tied weight stored a second time: it holds no parameters of its own",
             listed.name, listed.name, all_of(listed));
      return;
    }
    ++unsized_;
    differ(DifferenceKind::unexpected, "the census has no tensor of this name", without_indices(listed.name),
           listed.name, all_of(listed), true);
  }

  [[nodiscard]] const Excluded* excluded_by(std::string_view listed) const {
    for (const std::string& spelling : finder_.spellings(listed)) {
      for (const Excluded& excluded : architecture_.excluded) {
        for (const std::string& pattern : excluded.name_patterns) {
          if (spelling.find(pattern) != std::string::npos) return &excluded;
        }
      }
    }
    return nullptr;
  }

  bool explain_quantized(const ListedTensor& listed) {
    const auto known = quantized_name(listed.name, [&](std::string_view weight) {
      return finder_.find(weight).has_value() || layouts_.has_weight(weight);
    });
    if (!known) return false;
    ++unsized_;
    if (known->part == QuantizedPart::scale) {
      differ(DifferenceKind::scale, std::string{known->meaning}, std::string{known->suffix}, listed.name,
             all_of(listed));
      return true;
    }
    const std::optional<std::size_t> place = finder_.find(known->weight);
    if (!place || found_[*place]) return false;
    found_[*place] = true;
    if (listed.stored) {
      packed(*listed.stored, *census_[*place].tensor, known->meaning);
    } else {
      differ(DifferenceKind::packed, std::string{known->meaning}, {}, listed.name, {});
      ++result_.tensors_by_name;
    }
    return true;
  }

  /// Encoder-decoders store the shared embedding under each user's name: encoder.embed_tokens, lm_head.
  [[nodiscard]] bool is_another_tied_copy(const ListedTensor& listed) const {
    if (!architecture_.tied_embeddings) return false;
    constexpr std::array<std::string_view, 6> kNames{"embed_tokens.weight", "lm_head.weight", "decoder.weight",
                                                     "embed_out.weight",    "wte.weight",     "proj_out.weight"};
    if (std::none_of(kNames.begin(), kNames.end(), [&](auto end) { return listed.name.ends_with(end); })) return false;
    if (!listed.stored) return true;
    const std::vector<Tensor>& outside = architecture_.text().outside;
    return std::any_of(outside.begin(), outside.end(), [&](const Tensor& tensor) {
      return tensor.component == Component::embedding && same_dims(tensor, *listed.stored);
    });
  }

  void report_missing() {
    const bool head_found = std::any_of(result_.differences.begin(), result_.differences.end(), [](const auto& d) {
      return d.kind == DifferenceKind::tied_copy && d.tensors == 1;
    });
    for (std::size_t i = 0; i < census_.size(); ++i) {
      const Tensor& tensor = *census_[i].tensor;
      if (found_[i] || tensor.tied) continue;
      std::string cause = "the checkpoint has no tensor of this name";
      const bool under_other_name = head_found && tensor.use == Use::lookup && tensor.label == "embedding";
      if (under_other_name) cause = "stored under the name of the weight that is tied to it";
      if (tensor.component == Component::lm_head) {
        cause =
            "the checkpoint has no head: it belongs to a class without one, or its head is tied and the config "
            "does not say so";
      }
      differ(DifferenceKind::missing, std::move(cause), without_indices(census_[i].name), census_[i].name,
             {-elements(tensor), -bytes(tensor)}, !under_other_name);
    }
  }

  void report_prefixes() {
    for (const PrefixRule& rule : finder_.rules()) {
      std::string cause =
          rule.census.empty() ? fmt::format("the names have '{}' before those of the census", rule.listed)
          : rule.listed.empty()
              ? fmt::format("the names lack the '{}' of the census", rule.census)
              : fmt::format("the names begin with '{}' where the census has '{}'", rule.listed, rule.census);
      result_.differences.push_back(
          {.kind = DifferenceKind::prefix, .tensor = rule.listed, .tensors = rule.tensors, .cause = std::move(cause)});
    }
  }

  void report_files() {
    if (listing_.files_read > 0 && !listing_.missing_files.empty()) {
      constexpr std::size_t kShown = 4;
      const std::vector<std::string>& files = listing_.missing_files;
      const auto end = files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), kShown));
      result_.differences.push_back(
          {.kind = DifferenceKind::missing_file,
           .tensor = files.front(),
           .tensors = result_.tensors_by_name,
           .bytes = -unread_bytes_,
           .cause =
               fmt::format("{} of the index's files {} not there: {}{}", files.size(), files.size() == 1 ? "is" : "are",
                           fmt::join(files.begin(), end, ", "), files.size() > kShown ? ", …" : ""),
           .contradicts = true});
    }
    if (listing_.disagreements > 0) {
      result_.differences.push_back({.kind = DifferenceKind::index,
                                     .tensors = listing_.disagreements,
                                     .cause = listing_.disagreement_examples.front(),
                                     .contradicts = true});
    }
  }

  void add_total(std::string cause, Count missing_bytes, bool contradicts) {
    result_.differences.push_back(
        {.kind = DifferenceKind::total, .bytes = missing_bytes, .cause = std::move(cause), .contradicts = contradicts});
  }

  void report_totals() {
    if (listing_.index_total_parameters) compare_total_parameters(Count{*listing_.index_total_parameters});
    if (!listing_.index_total_bytes) return;
    const Count total{*listing_.index_total_bytes};
    if (listing_.files_read == 0) return compare_index_total(total);
    if (listing_.missing_files.empty() && total != Count{listing_.payload_bytes}) {
      add_total(fmt::format("the index says {} bytes in all, the headers {}", units::to_grouped_string(total),
                            units::to_grouped_string(listing_.payload_bytes)),
                Count{0}, false);
    }
  }

  void compare_total_parameters(Count total) {
    Count tied;
    for (const NamedTensor& named : census_) tied += named.tensor->tied ? elements(*named.tensor) : Count{0};
    if (total == result_.parameters) return;
    if (total == result_.parameters + tied) {
      return add_total("the index's total_parameters counts the tied weight twice", Count{0}, false);
    }
    const bool stored = listing_.files_read > 0 && total == result_.stored_elements;
    add_total(fmt::format("the index's total_parameters is {}, the census {}", units::to_grouped_string(total),
                          units::to_grouped_string(result_.parameters)),
              Count{0}, !stored && unsized_ == 0);
  }

  /// All that is known of the bytes is their sum.
  void compare_index_total(Count total) {
    Count known = result_.census_bytes, elements = result_.parameters;
    for (const Difference& difference : result_.differences) {
      known += difference.bytes;
      elements += difference.elements;
    }
    const Count rest = total - known;
    if (rest == Count{0}) return;
    for (const StoredType other : {StoredType::F8_E4M3, StoredType::BF16, StoredType::F32, StoredType::F64}) {
      if (total != elements * (bits(other) / 8)) continue;
      result_.differences.push_back(
          {.kind = DifferenceKind::stored_type,
           .tensors = result_.tensors_listed,
           .bytes = rest,
           .cause = fmt::format("the index's total is that of {} bytes a parameter, where "
                                "{} is {}",
                                bits(other) / 8, result_.type_assumed ? "the assumed type" : "the config's",
                                name(result_.type))});
      return;
    }
    const bool beyond = unsized_ > 0 && rest > Count{0};
    const std::string amount = units::to_grouped_string(rest < Count{0} ? -rest : rest);
    const std::string_view direction = rest < Count{0} ? "fewer" : "more";
    if (beyond || has(DifferenceKind::packed)) {
      return add_total(fmt::format("the index's total is {} bytes {} than the census, which falls to the {} tensors "
                                   "whose sizes an index does not give",
                                   amount, direction, unsized_),
                       rest, false);
    }
    add_total(fmt::format("the index's total of {} bytes is {} {} than the census and what is explained",
                          units::to_grouped_string(total), amount, direction),
              rest, true);
  }

  [[nodiscard]] bool has(DifferenceKind kind) const {
    return std::any_of(result_.differences.begin(), result_.differences.end(),
                       [kind](const Difference& difference) { return difference.kind == kind; });
  }

  void finish() {
    std::stable_sort(result_.differences.begin(), result_.differences.end(),
                     [](const Difference& a, const Difference& b) { return a.contradicts && !b.contradicts; });
    if (result_.differences.empty()) {
      result_.verdict = Verdict::equal;
    } else {
      result_.verdict = result_.differences.front().contradicts ? Verdict::contradicts : Verdict::explained;
    }
  }

  const Architecture& architecture_;
  const CheckpointListing& listing_;
  std::vector<NamedTensor> census_;
  NameFinder finder_;
  ExpertLayouts layouts_;
  std::vector<bool> found_;
  std::map<std::tuple<DifferenceKind, std::string, std::string>, std::size_t> groups_;
  std::uint64_t unsized_ = 0;  ///< tensors beyond the census; of those that only an index names, no size is known
  Count unread_bytes_;         ///< by the census, of tensors whose header was not read
  Verification result_;
};

}  // namespace

Result<Verification> verify(const Architecture& architecture, const CheckpointListing& listing) {
  FLOPWATT_TRY(std::vector<NamedTensor> census, checkpoint_tensors(architecture));
  return Comparison{architecture, listing, std::move(census)}.run();
}

}  // namespace flopwatt::model
