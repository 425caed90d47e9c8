"use strict";

// For all pages: asking for news, and lines in boxes of SVG.
const SVG = "http://www.w3.org/2000/svg";
const part = (id) => document.getElementById(id);

// Asks again and again: show is given the news, all steps of their series, and whether it is new.
function follow(period, show, fail) {
  let [series, steps] = ["", []];
  async function ask() {
    try {
      const query = new URLSearchParams({ series, count: steps.length });
      const answer = await fetch(`progress?${query}`);
      if (!answer.ok) throw new Error(answer.statusText);
      const news = await answer.json();
      const begins = news.series !== series;
      if (begins) [series, steps] = [news.series, []];
      steps = steps.slice(0, news.first).concat(news.steps);
      show(news, steps, begins);
    } catch {
      fail();
    }
    setTimeout(ask, period);
  }
  ask();
}

// A status that is the same is not read out again.
function say(text) {
  if (part("status").textContent !== text) part("status").textContent = text;
}

function drawn(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  return element;
}

function number(value) {
  if (value === null || value === undefined) return "–";
  return String(Number(value.toPrecision(5)));
}

function thinned(values, most) {
  const stride = Math.max(1, Math.ceil(values.length / most));
  return values.filter((_, i) => i % stride === 0 || i === values.length - 1);
}

// The least and the greatest of values, of which some may be missing.
function rangeOf(values) {
  const known = values.filter((value) => value !== null);
  return [known.reduce((a, b) => Math.min(a, b), Infinity),
    known.reduce((a, b) => Math.max(a, b), -Infinity)];
}

// Points of a line in a box that shows a range of places and one of values; values that are
// missing are left out.
function points(places, values, [left, right], [low, high], width, height) {
  return places
    .map((place, i) => [place, values[i]])
    .filter(([, value]) => value !== null)
    .map(([place, value]) => {
      const x = right > left ? (place - left) / (right - left) : 0;
      const y = high > low ? (value - low) / (high - low) : 0.5;
      return `${(width * x).toFixed(1)},${(height * (0.95 - 0.9 * y)).toFixed(1)}`;
    })
    .join(" ");
}

// A line that fills its box, one value behind the other.
function evenly(values, width, height) {
  const places = values.map((_, i) => i);
  return points(places, values, [0, Math.max(values.length - 1, 1)], rangeOf(values), width, height);
}
