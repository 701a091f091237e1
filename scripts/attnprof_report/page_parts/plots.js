"use strict";
// Draws the figures that the page holds as data, and keeps them right on a phone, in the dark and in print.

const FIGURES = JSON.parse(document.getElementById("figure-data").textContent);
const DARK = matchMedia("(prefers-color-scheme: dark)");
const TOUCH = matchMedia("(pointer: coarse)").matches;
const BLACK = "#000000"; // the one colour of the palette that does not show on a dark page

function pictures() {
  return [...document.querySelectorAll(".picture")];
}

// In the dark black lines are white. Returns the trace, changed.
function inked(trace, dark) {
  const colour = dark ? "#ffffff" : BLACK;
  for (const part of [trace.line, trace.marker, trace.marker && trace.marker.line]) {
    if (part && (part.color === BLACK || part.wasBlack)) {
      part.wasBlack = true;
      part.color = colour;
    }
  }
  return trace;
}

// Lets the style sheet scale a drawn picture to the page that it is printed on.
function makeScalable(picture) {
  const { width, height } = picture._fullLayout;
  for (const svg of picture.querySelectorAll(".main-svg")) {
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("preserveAspectRatio", "xMinYMin meet");
  }
  picture.querySelector(".svg-container").style.aspectRatio = `${width} / ${height}`;
}

function draw(picture) {
  const { data, layout } = FIGURES[picture.dataset.figure];
  layout.dragmode = TOUCH ? false : "zoom"; // a finger scrolls the page
  layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: "#808080", activecolor: "#0072b2" };
  layout.hoverlabel = { font: { size: 12 }, align: "left" };
  const config = { responsive: true, displaylogo: false, displayModeBar: !TOUCH, plotlyServerURL: "",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] }; // by name: the usual set can send data away
  Plotly.newPlot(picture, data.map((trace) => inked(trace, DARK.matches)), layout, config);
  makeScalable(picture);
  picture.on("plotly_afterplot", () => makeScalable(picture));
}

// The pictures one by one, so that the page can be used meanwhile.
function drawAll(left = pictures()) {
  if (left.length === 0) {
    document.documentElement.dataset.drawn = "yes";
    return;
  }
  draw(left[0]);
  setTimeout(drawAll, 0, left.slice(1));
}

function recolour(dark) {
  for (const picture of pictures().filter((one) => one.data)) {
    picture.data.forEach((trace) => inked(trace, dark));
    Plotly.redraw(picture);
  }
}

function usesBlack() {
  return Object.values(FIGURES).some(({ data }) => data.some(({ line, marker }) => (line && line.wasBlack) || (marker && marker.wasBlack)));
}

function toggleLine(name, shown) {
  for (const key of document.querySelectorAll(".key button")) {
    if (key.dataset.line === name) key.setAttribute("aria-pressed", String(shown));
  }
  for (const picture of pictures().filter((one) => one.data)) {
    const traces = picture.data.flatMap((trace, i) => (trace.name === name ? [i] : []));
    if (traces.length) Plotly.restyle(picture, { visible: shown }, traces);
  }
}

for (const key of document.querySelectorAll(".key button")) {
  key.addEventListener("click", () => toggleLine(key.dataset.line, key.getAttribute("aria-pressed") !== "true"));
}
DARK.addEventListener("change", (event) => usesBlack() && recolour(event.matches));
addEventListener("beforeprint", () => DARK.matches && usesBlack() && recolour(false));
addEventListener("afterprint", () => DARK.matches && usesBlack() && recolour(true));
drawAll();
