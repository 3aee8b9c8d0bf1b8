// The script of a report's page: tables that sort, and the timeline.
#include "core/export/report/report_pages.h"

namespace accelscope::exporting {
namespace {

constexpr std::string_view kScript = R"js(
"use strict";
// Tables sort at a click on a head: numbers the largest first, texts in their order; a missing value comes last.
function sortBy(head, column) {
  const table = head.closest("table"), body = table.tBodies[0];
  const numeric = head.classList.contains("number");
  const was = head.getAttribute("aria-sort");
  const descending = was ? was === "ascending" : numeric;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const rows = Array.from(body.rows, (row, place) => {
    const cell = row.cells[column], value = cell.dataset.value;
    return { row, place, text: cell.textContent, number: value === undefined ? null : Number(value) };
  });
  rows.sort((a, b) => {
    const lost = numeric ? (a.number === null) - (b.number === null) : (a.text === "") - (b.text === "");
    if (lost) return lost;
    const order = numeric ? a.number - b.number || 0 : compare(a.text, b.text);
    return (descending ? -order : order) || a.place - b.place;
  });
  body.append(...rows.map((each) => each.row));
}
for (const head of document.querySelectorAll("th")) {
  head.addEventListener("click", () => sortBy(head, head.cellIndex));
}

// "12.5 µs": four significant digits in the unit of its size.
function duration(ns) {
  const size = Math.abs(ns);
  for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (size >= unit) return String(Number((ns / unit).toPrecision(4))) + " " + name;
  }
  return String(Math.round(ns)) + " ns";
}
function exact(ns) { return Math.round(ns).toLocaleString("en-US") + " ns"; }

const LABELS = 200, RULER = 22, ROW = 18, GAP = 2, HEADING = 20, COUNTER = 28, LEAST_NS = 5;

// The lists of a row as boxes: [begin, length, name or -1, colour, events, per cent busy]. Begins are steps.
function boxesOf(lane) {
  const boxes = [];
  for (let i = 0, at = 0; i + 3 < lane.e.length; i += 4) {
    at += lane.e[i];
    boxes.push([at, lane.e[i + 1], lane.e[i + 2], lane.e[i + 3], 1, 100]);
  }
  for (let i = 0, at = 0; i + 4 < lane.m.length; i += 5) {
    at += lane.m[i];
    boxes.push([at, lane.m[i + 1], -1, lane.m[i + 2], lane.m[i + 3], lane.m[i + 4]]);
  }
  return boxes.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
}
function valuesOf(row) {
  const values = [];
  for (let i = 0, at = 0; i + 3 < row.values.length; i += 4) {
    at += row.values[i];
    values.push([at, row.values[i + 1], row.values[i + 2], row.values[i + 3]]);
  }
  return values;
}

class Timeline {
  constructor(place) {
    this.data = JSON.parse(place.querySelector("script").textContent);
    this.place = place;
    this.canvas = place.querySelector("canvas");
    this.card = place.querySelector(".card");
    this.span = place.querySelector(".span");
    this.length = Math.max(1, this.data.end - this.data.begin);
    this.rows = [];
    let y = RULER;
    for (const row of this.data.rows) {
      const lanes = (row.lanes || []).map(boxesOf), values = row.values ? valuesOf(row) : null;
      const most = values ? values.reduce((top, each) => Math.max(top, each[3]), 0) : 0;
      const least = values ? values.reduce((low, each) => Math.min(low, each[2]), 0) : 0;
      const height = row.head ? HEADING : values ? COUNTER : Math.max(1, lanes.length) * ROW + GAP;
      this.rows.push({ row, lanes, values, most, least, y, height });
      y += height;
    }
    this.height = y + GAP;
    this.hit = null;
    this.width = LABELS + 100;  // until it is painted: a wheel may turn before that
    this.show(...this.data.view);
    this.listen();
  }

  show(from, to) {
    const least = Math.min(LEAST_NS, this.length);
    const length = Math.min(this.length, Math.max(least, to - from));
    const begin = Math.min(Math.max(0, from), this.length - length);
    this.from = begin;
    this.to = begin + length;
    this.draw();
  }
  zoom(factor, at) {
    const length = (this.to - this.from) * factor;
    const least = Math.min(LEAST_NS, this.length);
    if (length < least && factor < 1) factor = least / (this.to - this.from);
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  pan(share) {
    const step = (this.to - this.from) * share;
    this.show(this.from + step, this.to + step);
  }
  x(time) { return LABELS + (time - this.from) / (this.to - this.from) * (this.width - LABELS); }
  time(x) { return this.from + (x - LABELS) / (this.width - LABELS) * (this.to - this.from); }

  draw() {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => { this.wanted = false; this.paint(); });
  }
  colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue("--" + name).trim();
    this.c = { bg1: of("bg1"), bg2: of("bg2"), bg3: of("bg3"), line: of("line1"), text1: of("text1"), text2: of("text2"),
               text3: of("text3"), hatch: of("hatch"), hatchBg: of("hatch-bg"), ink: of("ink"), accent: of("accent") };
  }
  paint() {
    const canvas = this.canvas, scale = window.devicePixelRatio || 1;
    this.width = Math.max(LABELS + 100, canvas.clientWidth);
    canvas.style.height = this.height + "px";
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(this.height * scale);
    this.colours();
    const g = this.g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.textBaseline = "middle";
    g.fillStyle = this.c.bg1;
    g.fillRect(0, 0, this.width, this.height);
    this.paintRuler();
    for (const each of this.rows) this.paintRow(each);
    this.span.textContent = duration(this.to - this.from) + " from " + duration(this.data.begin + this.from);
    this.paintHit();
  }
  paintRuler() {
    const g = this.g, room = (this.width - LABELS) / 110, raw = (this.to - this.from) / room;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = Math.max(1, [1, 2, 5, 10].find((each) => each * power >= raw) * power);
    g.font = '11px "JetBrains Mono", ui-monospace, monospace';
    g.textAlign = "left";
    const origin = this.data.begin;
    for (let at = Math.ceil((origin + this.from) / step) * step; at <= origin + this.to; at += step) {
      const x = Math.round(this.x(at - origin)) + 0.5;
      g.fillStyle = this.c.line;
      g.fillRect(x - 0.5, 0, 1, this.height);
      g.fillStyle = this.c.text3;
      const unit = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "µs"] : [1, "ns"];
      g.fillText(Math.round(at / unit[0]).toLocaleString("en-US") + " " + unit[1], x + 4, RULER / 2);
    }
  }
  paintRow(each) {
    const g = this.g, { row, y, height } = each;
    g.save();
    g.fillStyle = row.head ? this.c.bg3 : this.c.bg2;
    g.fillRect(0, y, row.head ? this.width : LABELS, height);
    g.fillStyle = this.c.line;
    g.fillRect(0, y + height - 1, this.width, 1);
    g.beginPath();
    g.rect(0, y, LABELS - 6, height);
    g.clip();
    g.font = (row.head ? "600 " : "") + "12px Inter, system-ui, sans-serif";
    g.fillStyle = row.head ? this.c.text1 : this.c.text2;
    g.textAlign = "left";
    g.fillText(row.label, 8 + 12 * (row.indent || 0) + (row.head ? 0 : 8), y + (row.head ? height : Math.min(height, ROW)) / 2);
    g.restore();
    if (row.head) return;
    g.save();
    g.beginPath();
    g.rect(LABELS, y, this.width - LABELS, height);
    g.clip();
    if (each.values) this.paintValues(each);
    each.lanes.forEach((boxes, depth) => this.paintLane(boxes, y + depth * ROW + 1));
    g.restore();
  }
  // The boxes in sight; a box before the first that ends in sight may reach in, as boxes of a lane do not overlap.
  firstIn(boxes) {
    let low = 0, high = boxes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (boxes[middle][0] + boxes[middle][1] < this.from) low = middle + 1; else high = middle;
    }
    return low;
  }
  paintLane(boxes, y) {
    const g = this.g, high = ROW - 3;
    let reached = -1;  // pixel up to which is painted, so that thousands in one pixel cost one rectangle
    for (let i = this.firstIn(boxes); i < boxes.length && boxes[i][0] <= this.to; ++i) {
      const [begin, length, name, colour, , busy] = boxes[i];
      const x0 = Math.max(LABELS, this.x(begin)), x1 = Math.max(x0 + 1, Math.min(this.width, this.x(begin + length)));
      if (x1 <= reached) continue;
      reached = Math.floor(x1);
      const wide = x1 - x0;
      if (colour < 0) {
        this.hatch(x0, y + high / 2, wide, high / 2);
        continue;
      }
      g.globalAlpha = name < 0 ? 0.34 + 0.66 * Math.min(100, busy) / 100 : 1;
      g.fillStyle = "#" + colour.toString(16).padStart(6, "0");
      g.fillRect(x0, y, wide > 3 ? wide - 1 : wide, high);
      g.globalAlpha = 1;
      if (wide > 26) this.label(boxes[i], x0, y, wide, high);
    }
  }
  hatch(x, y, wide, high) {
    const g = this.g;
    g.fillStyle = this.c.hatchBg;
    g.fillRect(x, y, wide, high);
    g.fillStyle = this.c.hatch;
    if (wide < 3) return g.fillRect(x, y, wide, high);
    g.save();
    g.beginPath();
    g.rect(x, y, wide, high);
    g.clip();
    g.strokeStyle = this.c.hatch;
    g.beginPath();
    for (let at = Math.floor((x - high) / 6) * 6; at < x + wide; at += 6) {
      g.moveTo(at, y + high);
      g.lineTo(at + high, y);
    }
    g.stroke();
    g.restore();
  }
  label(box, x, y, wide, high) {
    const g = this.g;
    g.font = '11px "JetBrains Mono", ui-monospace, monospace';
    g.textAlign = "left";
    g.fillStyle = this.c.ink;
    const text = box[2] < 0 ? box[4].toLocaleString("en-US") + " events" : this.data.names[box[2]] || "";
    const letters = Math.floor((wide - 8) / 6.7);
    if (letters < 3 || (box[2] < 0 && text.length > letters)) return;
    g.fillText(text.length <= letters ? text : text.slice(0, letters - 1) + "…", x + 4, y + high / 2 + 0.5);
  }
  paintValues({ values, most, least, y, height }) {
    const g = this.g, high = height - 4, top = y + 2, scale = high / (most - least || 1);
    g.fillStyle = this.c.accent;
    for (const [begin, length, low, up] of values) {
      if (begin + length < this.from || begin > this.to) continue;
      const x0 = Math.max(LABELS, this.x(begin)), wide = Math.max(1, this.x(begin + length) - x0);
      const y1 = top + high - (up - least) * scale;
      g.globalAlpha = 0.35;
      g.fillRect(x0, y1, wide, Math.max(0, top + high - y1));
      g.globalAlpha = 1;
      g.fillRect(x0, y1, wide, Math.max(1, (up - low) * scale));
    }
  }

  // What lies at a point of the canvas.
  find(x, y) {
    if (x < LABELS) return null;
    const each = this.rows.find((row) => y >= row.y && y < row.y + row.height && !row.row.head);
    if (!each) return null;
    const time = this.time(x), slack = (this.to - this.from) / (this.width - LABELS);
    if (each.values) {
      const value = each.values.find(([begin, length]) => time >= begin && time < begin + Math.max(length, slack));
      return value ? { each, value } : null;
    }
    const depth = Math.floor((y - each.y) / ROW), boxes = each.lanes[depth];
    if (!boxes) return null;
    let best = null;
    for (let i = this.firstIn(boxes); i < boxes.length && boxes[i][0] <= time + slack; ++i) {
      if (time >= boxes[i][0] - slack && time <= boxes[i][0] + Math.max(boxes[i][1], slack)) best = i;
      if (best !== null && boxes[i][0] > time) break;
    }
    return best === null ? null : { each, depth, boxes, index: best };
  }
  describe(hit) {
    const row = hit.each.row.label;
    if (hit.value) {
      const [begin, length, low, up] = hit.value, unit = hit.each.row.unit ? " " + hit.each.row.unit : "";
      return row + "\n" + (low === up ? String(up) : low + " to " + up) + unit + "\n" + duration(length) + " from " +
             duration(this.data.begin + begin);
    }
    const [begin, length, name, colour, events, busy] = hit.boxes[hit.index];
    const what = name < 0 ? events.toLocaleString("en-US") + " events drawn as one, " + busy + " % busy"
                          : (this.data.names[name] || "(no name)") + (colour < 0 ? " (waits)" : "");
    return what + "\n" + duration(length) + (length >= 1000 ? " (" + exact(length) + ")" : "") + "\nfrom " +
           duration(this.data.begin + begin) + "\n" + row;
  }
  point(hit, x, y) {
    this.hit = hit;
    this.card.hidden = !hit;
    if (hit) {
      this.card.textContent = this.describe(hit);
      const left = x + 16 + this.card.offsetWidth > this.width ? x - 16 - this.card.offsetWidth : x + 16;
      this.card.style.left = Math.max(0, left) + "px";
      this.card.style.top = this.canvas.offsetTop + y + 16 + "px";
    }
    this.draw();
  }
  paintHit() {
    if (!this.hit || this.hit.value) return;
    const box = this.hit.boxes[this.hit.index], g = this.g;
    const x0 = Math.max(LABELS, this.x(box[0])), x1 = Math.min(this.width, this.x(box[0] + box[1]));
    if (x1 < LABELS || x0 > this.width) return;
    g.strokeStyle = this.c.text1;
    g.strokeRect(x0 - 0.5, this.hit.each.y + this.hit.depth * ROW + 0.5, Math.max(2, x1 - x0) + 1, ROW - 2);
  }
  // The next box of the row that was pointed at, for keys; the first in sight where none was.
  step(by) {
    let hit = this.hit && this.hit.boxes ? { ...this.hit, index: this.hit.index + by } : null;
    if (!hit) {
      const each = this.rows.find((row) => row.lanes.some((lane) => lane.length > 0));
      if (!each) return;
      const depth = each.lanes.findIndex((lane) => lane.length > 0), boxes = each.lanes[depth];
      hit = { each, depth, boxes, index: Math.min(this.firstIn(boxes), boxes.length - 1) };
    }
    const box = hit.boxes[hit.index];
    if (!box) return;
    if (box[0] + box[1] < this.from || box[0] > this.to) {
      const half = (this.to - this.from) / 2;
      this.show(box[0] + box[1] / 2 - half, box[0] + box[1] / 2 + half);
    }
    this.point(hit, Math.max(LABELS, Math.min(this.width, this.x(box[0]))), hit.each.y + hit.depth * ROW);
  }

  act(what) {
    const middle = (this.from + this.to) / 2;
    if (what === "in") this.zoom(0.5, middle);
    else if (what === "out") this.zoom(2, middle);
    else if (what === "all") this.show(0, this.length);
    else if (what === "work") this.show(...this.data.view);
    else if (what === "left") this.pan(-0.2);
    else if (what === "right") this.pan(0.2);
    else if (what === "next") this.step(1);
    else if (what === "previous") this.step(-1);
  }
  listen() {
    const canvas = this.canvas, keys = { "+": "in", "=": "in", ArrowUp: "in", "-": "out", ArrowDown: "out", ArrowLeft: "left",
      ArrowRight: "right", 0: "all", Home: "all", w: "work", W: "work", n: "next", N: "next", p: "previous", P: "previous" };
    const at = (event) => { const r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
    let dragged = null;
    canvas.addEventListener("wheel", (event) => {
      const [x] = at(event);
      if (x < LABELS || event.deltaY === 0) return;  // beside the lanes the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), this.time(x));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      dragged = { x: at(event)[0], from: this.from, to: this.to };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (!dragged) return this.point(this.find(x, y), x, y);
      const moved = (dragged.x - x) / (this.width - LABELS) * (dragged.to - dragged.from);
      this.show(dragged.from + moved, dragged.to + moved);
    });
    canvas.addEventListener("pointerup", () => { dragged = null; });
    canvas.addEventListener("pointercancel", () => { dragged = null; });
    canvas.addEventListener("pointerleave", () => { if (!dragged) this.point(null, 0, 0); });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
      event.preventDefault();
      this.act(keys[event.key]);
    });
    for (const button of this.place.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.act(button.dataset.do));
    }
    window.addEventListener("resize", () => this.draw());
    window.matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.draw());
    this.place.closest("details").addEventListener("toggle", () => this.draw());
  }
}
for (const place of document.querySelectorAll(".timeline")) place.view = new Timeline(place);
)js";

}  // namespace

std::string_view report_script() noexcept { return kScript; }

}  // namespace accelscope::exporting
