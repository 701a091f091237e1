// A Vega-Lite specification: a view a panel, roofs as lines below the points; points tell their row on hover.
#include <cmath>

#include "base/json_names.hpp"
#include "draw/palette.hpp"
#include "draw/roofline_json.hpp"
#include "draw/roofline_output.hpp"

namespace attnprof {
namespace {

// The points of the picture's panels in their order, with their rows' columns and the name of their series.
OrderedJson points_json(const RooflineData& data, const Picture& picture) {
  const OrderedJson records = records_json(record_columns(data), point_records(data));
  OrderedJson points = OrderedJson::array();
  for (const Panel& panel : picture.panels) {
    size_t next = 0;
    for (size_t i = 0; i < data.points.size(); ++i) {
      if (data.points[i].level != panel.level) continue;
      OrderedJson point = records[i];
      point["series"] = picture.series[panel.points[next++].series];
      points.push_back(std::move(point));
    }
  }
  return points;
}

OrderedJson lines_json(const Picture& picture) {
  OrderedJson ends = OrderedJson::array();
  for (const Panel& panel : picture.panels)
    for (const RoofLine& line : panel.lines)
      for (const bool end : {false, true})
        ends.push_back({{"level", panel.level},
                        {"roof", line.label},
                        {"x", end ? line.x1 : line.x0},
                        {"y", end ? line.y1 : line.y0}});
  return ends;
}

// A peak's name stands at its right end, a bandwidth's left of the middle of its slope.
OrderedJson names_json(const Picture& picture) {
  OrderedJson names = OrderedJson::array();
  for (const Panel& panel : picture.panels)
    for (const RoofLine& line : panel.lines) {
      const bool peak = line.kind == RoofKind::peak;
      names.push_back({{"level", panel.level},
                       {"roof", line.label},
                       {"x", peak ? line.x1 : std::sqrt(line.x0 * line.x1)},
                       {"y", peak ? line.y1 : std::sqrt(line.y0 * line.y1)}});
    }
  return names;
}

OrderedJson log_axis(const char* field, const std::string& title, double low, double high) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"type", "log"}, {"domain", {low, high}}, {"nice", false}}},
          {"axis", {{"format", "~g"}}}};
}

OrderedJson tooltip(const RooflineData& data) {
  OrderedJson fields = OrderedJson::array();
  std::vector<std::string_view> names;
  for (const Column* column : told_identity(data)) names.push_back(column->name);
  names.insert(names.end(), {"device", "bytes_source"});
  for (const std::string_view name : names) fields.push_back({{"field", name}, {"type", "nominal"}});
  for (const char* name :
       {"intensity_flop_per_byte", "useful_tflops_per_s", "executed_tflops_per_s", "roof_tflops_per_s"})
    fields.push_back({{"field", name}, {"type", "quantitative"}, {"format", ".4~g"}});
  return fields;
}

OrderedJson only(const Panel& panel) {
  return OrderedJson::array({{{"filter", {{"field", "level"}, {"equal", panel.level}}}}});
}

OrderedJson roofs_layer(const Panel& panel, const OrderedJson& x, const OrderedJson& y) {
  return {{"data", {{"name", "roofs"}}},
          {"transform", only(panel)},
          {"mark", {{"type", "line"}, {"color", roof_colour}, {"tooltip", {{"content", "data"}}}}},
          {"encoding", {{"x", x}, {"y", y}, {"detail", {{"field", "roof"}}}}}};
}

OrderedJson names_layer(const Panel& panel, const OrderedJson& x, const OrderedJson& y) {
  return {{"data", {{"name", "roof_names"}}},
          {"transform", only(panel)},
          {"mark", {{"type", "text"}, {"align", "right"}, {"dx", -8}, {"dy", -7}, {"color", roof_colour}}},
          {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "roof"}}}}}};
}

// Vega's shapes, as many as there are colours.
constexpr std::array<std::string_view, palette.size()> shapes = {
    "circle",  "square",         "triangle-up",   "cross",
    "diamond", "triangle-right", "triangle-down", "triangle-left"};

OrderedJson points_layer(const Panel& panel, const OrderedJson& x, const OrderedJson& y,
                         const Picture& picture, const OrderedJson& tooltip) {
  OrderedJson colours = OrderedJson::array(), marks = OrderedJson::array();
  for (size_t i = 0; i < picture.series.size(); ++i) {
    colours.push_back(colour_of(i));
    marks.push_back(shapes[shape_of(i)]);
  }
  const auto by_series = [&](const OrderedJson& range) {
    return OrderedJson{
        {"field", "series"}, {"title", "variant"}, {"scale", {{"domain", picture.series}, {"range", range}}}};
  };
  return {{"data", {{"name", "points"}}},
          {"transform", only(panel)},
          {"mark", {{"type", "point"}, {"filled", true}, {"size", 50}}},
          {"encoding",
           {{"x", x},
            {"y", y},
            {"color", by_series(colours)},
            {"shape", by_series(marks)},
            {"tooltip", tooltip}}}};
}

OrderedJson view(const Panel& panel, const Picture& picture, const OrderedJson& tooltip) {
  const auto x = [&](const char* field) { return log_axis(field, panel.x_title, panel.x_low, panel.x_high); };
  const auto y = [&](const char* field) {
    return log_axis(field, "useful TFLOP/s", panel.y_low, panel.y_high);
  };
  return {
      {"title", panel.title},
      {"width", 460},
      {"height", 380},
      {"layer", OrderedJson::array({roofs_layer(panel, x("x"), y("y")), names_layer(panel, x("x"), y("y")),
                                    points_layer(panel, x("intensity_flop_per_byte"),
                                                 y("useful_tflops_per_s"), picture, tooltip)})}};
}

}  // namespace

std::string roofline_vega_lite(const RooflineData& data) {
  const Picture picture = picture_of(data);
  OrderedJson views = OrderedJson::array();
  for (const Panel& panel : picture.panels) views.push_back(view(panel, picture, tooltip(data)));
  const OrderedJson spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                            {"title", picture.title},
                            {"datasets",
                             {{"points", points_json(data, picture)},
                              {"roofs", lines_json(picture)},
                              {"roof_names", names_json(picture)}}},
                            {"hconcat", views}};
  return spec.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
