#include "core/export/json_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/capped.h"
#include "core/base/json.h"
#include "core/scan/column_values.h"

namespace accelscope::exporting {
namespace {

[[nodiscard]] std::string key_text(std::string_view key) { return json_quote(key) + ":"; }

[[nodiscard]] const ColumnJson* form_of(const TableJson& form, std::string_view column) {
  const auto found = std::ranges::find_if(form.columns, [&](const ColumnJson& c) { return c.column == column; });
  return found == form.columns.end() ? nullptr : &*found;
}

// "a, b" -> "a","b"
void append_words(std::string& out, std::string_view text) {
  constexpr std::string_view kBetween = ", ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kBetween), text.size());
    append_json_quoted(out, text.substr(0, end));
    text.remove_prefix(std::min(end + kBetween.size(), text.size()));
    if (!text.empty()) out += ',';
  }
}

}  // namespace

RowPlan make_row_plan(const Schema& schema, const JsonForms& forms, std::string_view table) {
  RowPlan plan;
  plan.schema = &schema;
  for (const TableJson& form : forms.tables) {
    if (form.schema != schema.name) continue;
    plan.form = form;
    plan.has_form = true;
  }
  plan.table = plan.has_form ? std::string(plan.form.table) : std::string(table);
  plan.timed = schema.kind != EventKind::table;
  plan.has_duration = schema.kind == EventKind::slice || schema.kind == EventKind::memory;
  std::string_view name = plan.form.name_key.empty() ? std::string_view(schema.name_column) : plan.form.name_key;
  if (name.empty() && !plan.has_form && !schema.find("name")) name = "name";
  if (plan.form.has_name && !name.empty()) plan.name_key = key_text(name);
  if (const ColumnJson* form = form_of(plan.form, name)) {
    plan.name_form = form->form;
    plan.name_always = form->always;
  }
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (!forms.spliced_column.empty() && column.name == forms.spliced_column) {
      plan.spliced = i;
      continue;
    }
    if (!plan.form.end_key.empty() && column.name == plan.form.end_key && column.type == ColumnType::int64) {
      plan.end_column = i;
      continue;
    }
    RowPlan::Field field{i, column.type, JsonForm::plain, false, key_text(column.name), {}, 0};
    if (const ColumnJson* form = form_of(plan.form, column.name)) {
      field.form = form->form;
      field.always = form->always;
      if (!form->key.empty()) field.key = key_text(form->key);
      field.last_key = key_text(form->last_key);
      field.size_column = schema.find(Role::allocation).value_or(i);
    }
    if (field.form != JsonForm::hidden) plan.fields.push_back(std::move(field));
  }
  return plan;
}

void RowWriter::write_text(std::string& out, std::string_view text, JsonForm form) {
  switch (form) {
    case JsonForm::words:
      out += '[';
      append_words(out, text);
      out += ']';
      return;
    case JsonForm::nested:
      out += "[[";
      append_words(out, text);
      out += "]]";
      return;
    case JsonForm::json:
      if (text.starts_with('[') || text.starts_with('{')) {
        out += text;
        return;
      }
      [[fallthrough]];
    default:
      append_json_quoted(out, text);
  }
}

void RowWriter::write_extent(const ScannedChunk& chunk, const RowPlan::Field& field, std::uint32_t row,
                             std::string& out) const {
  const auto first = static_cast<std::int64_t>(chunk.view.uint64(field.column, row));
  const std::int64_t bytes =
      chunk.view.has_value(field.size_column, row) ? chunk.view.int64(field.size_column, row) : 0;
  out += field.key;
  append_json_integer(out, first);
  out += ',';
  if (bytes <= 0) return;  // where it ends is not known
  out += field.last_key;
  append_json_integer(out, capped_sum(first, bytes - 1));
  out += ',';
}

// Values are unpacked 64 at a time, which is several times as fast as one by one.
void RowWriter::unpack(const ScannedChunk& chunk, const RowPlan& plan, std::uint32_t block) {
  unpacked_.resize(plan.fields.size());
  for (std::size_t i = 0; i < plan.fields.size(); ++i) {
    const RowPlan::Field& field = plan.fields[i];
    const bool is_there =
        field.column < chunk.view.column_count() && (chunk.view.entry(field.column).flags & kAbsent) == 0;
    unpacked_[i].valid = is_there ? chunk.view.validity(field.column, block) : 0;
    if (unpacked_[i].valid == 0 || field.type == ColumnType::text) continue;
    chunk.view.values(field.column, block, unpacked_[i].stored.data());
  }
}

void RowWriter::write_field(const ScannedChunk& chunk, const RowPlan::Field& field, const Unpacked& unpacked,
                            std::uint32_t row, std::string& out) {
  const ChunkView& view = chunk.view;
  if (field.column >= view.column_count()) return;  // of an older schema of the same name
  const bool has = (unpacked.valid >> (row % kBlockEvents) & 1) != 0;
  if (!has && !(field.always && is_text(field.type))) return;
  if (field.form == JsonForm::extent) return write_extent(chunk, field, row, out);
  out += field.key;
  const bool as_text = field.form == JsonForm::number_text;
  const std::uint64_t stored = unpacked.stored[row % kBlockEvents];
  switch (field.type) {
    case ColumnType::int64:
    case ColumnType::uint64:
    case ColumnType::float64:
      if (as_text) out += '"';
      if (field.type == ColumnType::int64)
        append_json_integer(out, static_cast<std::int64_t>(stored ^ (std::uint64_t{1} << 63)));
      if (field.type == ColumnType::uint64) append_json_integer(out, stored);
      if (field.type == ColumnType::float64) append_json_number(out, view.to_float64(field.column, stored));
      if (as_text) out += '"';
      break;
    case ColumnType::boolean: {
      const bool value = stored != 0;
      if (field.form == JsonForm::yes_no) {
        out += value ? "\"yes\"" : "\"no\"";
      } else if (field.form == JsonForm::true_false) {
        out += value ? "\"true\"" : "\"false\"";
      } else {
        out += value ? "true" : "false";
      }
      break;
    }
    case ColumnType::string: {
      const StringId id = has ? chunk.session_string(stored) : 0;
      if (field.form == JsonForm::plain) {
        out += quoted_.quoted(id);
      } else {
        write_text(out, strings_.text(id), field.form);
      }
      break;
    }
    case ColumnType::text:
      write_text(out, has ? view.text(field.column, row) : std::string_view{}, field.form);
      break;
  }
  out += ',';
}

void RowWriter::write_times(const ScannedChunk& chunk, const RowPlan& plan, const ScannedBlock& block,
                            std::uint32_t index, std::string& out) {
  const ClockMap& clock = *chunk.lane.clock;
  const bool as_counted =
      clock.is_identity() || (forms_.keeps_ticks && clock.is_affine() && clock.ns_per_tick() == 1.0);
  const auto time = [&](std::int64_t ticks) { return as_counted ? ticks : clock.to_ns(ticks); };
  const std::int64_t begin = time(block.ticks().begins[index]);
  const std::int64_t end = time(block.ticks().ends[index]);
  const auto put = [&](std::string_view key, std::int64_t value) {
    if (key.empty()) return;
    out += '"';
    out += key;
    out += "\":";
    append_json_integer(out, value);
    out += ',';
  };
  put(plan.form.start_key, begin);
  if (!plan.has_duration) return;
  const std::uint32_t row = block.row(index);
  const bool stated =
      plan.end_column && *plan.end_column < chunk.view.column_count() && chunk.view.has_value(*plan.end_column, row);
  put(plan.form.end_key, stated ? chunk.view.int64(*plan.end_column, row) : end);
  put(plan.form.duration_key, end - begin);
}

void RowWriter::write_row(const ScannedChunk& chunk, const RowPlan& plan, const ScannedBlock& block,
                          std::uint32_t index, std::string& out) {
  const std::uint32_t row = block.row(index);
  if (plan.timed) write_times(chunk, plan, block, index, out);
  if (!plan.name_key.empty()) {
    const StringId name = chunk.session_string(chunk.view.name(row));
    const bool empty = name == 0;
    if (!empty || plan.name_always) {
      out += plan.name_key;
      if (plan.name_form == JsonForm::plain) {
        out += quoted_.quoted(name);
      } else {
        write_text(out, strings_.text(name), plan.name_form);
      }
      out += ',';
    }
  }
  for (std::size_t i = 0; i < plan.fields.size(); ++i) {
    write_field(chunk, plan.fields[i], unpacked_[i], row, out);
  }
  if (plan.spliced && *plan.spliced < chunk.view.column_count() && chunk.view.has_value(*plan.spliced, row)) {
    const std::string_view fields = chunk.view.text(*plan.spliced, row);
    if (fields.size() > 2 && fields.front() == '{' && fields.back() == '}') {
      out += fields.substr(1, fields.size() - 2);
      out += ',';
    }
  }
}

std::uint64_t RowWriter::write(const ScannedChunk& chunk, const RowPlan& plan, const std::string& place,
                               const RowFlows& flows, std::string& out) {
  std::uint64_t rows = 0;
  chunk.for_each_block([&](const ScannedBlock& block) {
    unpack(chunk, plan, block.block);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      out += '{';
      write_row(chunk, plan, block, i, out);
      if (const auto found = flows.find(block.row(i)); found != flows.end()) {
        fmt::format_to(std::back_inserter(out), "\"{}\":[", plan.form.flows_key);
        for (const auto& [source, kind] : found->second) {
          fmt::format_to(std::back_inserter(out), "{{\"id\":{},\"type\":{}}},", source, quoted_.quoted(kind));
        }
        out.back() = ']';
        out += ',';
        flows_written_ += found->second.size();
      }
      if (!plan.form.constant.empty()) {
        out += plan.form.constant;
        out += ',';
      }
      out += place;
      if (out.back() == ',') out.pop_back();
      out += "},\n";
      ++rows;
    }
  });
  return rows;
}

}  // namespace accelscope::exporting
