"use strict";
// For pages with plots: curves as signal_data.py packs them, colours, and drawing anew.
const MISSING = -32768;
const $ = (id) => document.getElementById(id);

function bytes(text) {
  const binary = atob(text);
  const array = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) array[i] = binary.charCodeAt(i);
  return array.buffer;
}

function decodeTimes(times) {
  if (times.float64 !== undefined) return Array.from(new Float64Array(bytes(times.float64)));
  return Array.from({ length: times.count }, (_, i) => times.start + i * times.step);
}

function decodeCurve({ offset, scale, int16 }) {
  return Array.from(new Int16Array(bytes(int16)), (v) => (v === MISSING ? null : offset + scale * v));
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function short(value, digits = 4) {
  return value == null ? "–" : String(Number(value.toPrecision(digits)));
}

function onNewLook(redraw) {
  let width = innerWidth;
  let resizing;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // phones resize when their address bar moves
    width = innerWidth;
    clearTimeout(resizing);
    resizing = setTimeout(redraw, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
}
