"use strict";

const PERIOD = 1000; // ms between two questions
const [WIDTH, HEIGHT] = [300, 120];
const MARGIN = 0.15; // of the range of values, above and below
const NOTHING = 1e-6; // of an interval's width: a value below it reads as zero

let cards = { parameters: [], signals: [] };
let shown = { parameters: "", signals: "" };

// Cards with a chart each, made anew where there are other things to show.
function cardsOf(id, names, shapes) {
  if (shown[id] === names.join("\n")) return cards[id];
  shown[id] = names.join("\n");
  part(id).replaceChildren();
  cards[id] = names.map((name) => {
    const card = document.createElement("article");
    const head = card.appendChild(document.createElement("h3"));
    head.textContent = name;
    const said = card.appendChild(document.createElement("p"));
    const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" };
    const chart = card.appendChild(drawn("svg", { ...box, "aria-label": `${name} over time` }));
    const lines = shapes.map((kind) =>
      chart.appendChild(drawn(kind === "band" ? "path" : "polyline", { class: kind })));
    const ends = card.appendChild(document.createElement("p"));
    ends.className = "ends";
    part(id).append(card);
    return { said, lines, ends };
  });
  return cards[id];
}

// A closed shape for each stretch in which there is an interval.
function band(places, lower, upper, x, y) {
  const stretches = [[]];
  lower.forEach((low, i) => {
    if (low === null || upper[i] === null) stretches.push([]);
    else stretches[stretches.length - 1].push(i);
  });
  return stretches.filter((own) => own.length > 1).map((own) => {
    const edge = (values) =>
      points(own.map((i) => places[i]), own.map((i) => values[i]), x, y, WIDTH, HEIGHT).split(" ");
    return `M${edge(upper).concat(edge(lower).reverse()).join("L")}Z`;
  }).join("");
}

function widened([low, high]) {
  const more = MARGIN * (high - low) || Math.abs(low) * MARGIN || 1;
  return [low - more, high + more];
}

function told(x, [low, high], unit) {
  return `${x[0].toFixed(1)} to ${x[1].toFixed(1)} s; ${number(low)} to ${number(high)} ${unit}`;
}

function drawParameters(parameters, steps, latest) {
  const all = [...steps, latest];
  const times = all.map((step) => step.time);
  const x = rangeOf(times);
  const recent = Math.floor(all.length / 2); // the first intervals would make all others flat
  cardsOf("parameters", parameters.map((one) => one.name), ["band", "start", "line"]).forEach(
    ({ said, lines, ends }, i) => {
      const one = parameters[i];
      const [values, lower, upper] = ["values", "lower", "upper"].map((key) =>
        all.map((step) => step[key][i]));
      const y = widened(rangeOf([...values.slice(recent), ...lower.slice(recent),
        ...upper.slice(recent)]));
      const [low, high] = [latest.lower[i], latest.upper[i]];
      const value = low !== null && Math.abs(latest.values[i]) < NOTHING * (high - low)
        ? 0 : latest.values[i];
      const interval = low === null ? "no interval" : `${number(low)} to ${number(high)}`;
      said.textContent = `${number(value)} ${one.unit} (${interval})` +
        (one.flags.length ? `: ${one.flags.join(", ")}` : "");
      lines[0].setAttribute("d", band(times, lower, upper, x, y));
      lines[1].setAttribute("points", points(x, [one.initial, one.initial], x, y, WIDTH, HEIGHT));
      lines[2].setAttribute("points", points(times, values, x, y, WIDTH, HEIGHT));
      ends.textContent = told(x, y, one.unit);
    });
}

function drawSignals(signals) {
  cardsOf("signals", signals.map((one) => one.name), ["measured", "line"]).forEach(
    ({ said, lines, ends }, i) => {
      const { unit, times, measured, simulated } = signals[i];
      const [x, y] = [rangeOf(times), widened(rangeOf([...measured, ...simulated]))];
      const off = measured.map((value, k) => simulated[k] - value);
      const rms = Math.sqrt(off.reduce((sum, one) => sum + one * one, 0) / Math.max(off.length, 1));
      said.textContent = `difference ${number(Number(rms.toPrecision(3)))} ${unit} (RMS)`;
      lines[0].setAttribute("points", points(times, measured, x, y, WIDTH, HEIGHT));
      lines[1].setAttribute("points", points(times, simulated, x, y, WIDTH, HEIGHT));
      ends.textContent = told(x, y, unit);
    });
}

function show(news, steps) {
  part("title").textContent = news.title || "No estimate yet";
  say(news.problem || news.said || "Nothing is estimated yet.");
  if (news.latest) drawParameters(news.parameters, steps, news.latest);
  drawSignals(news.signals);
}

follow(PERIOD, show, () => say("The estimator does not answer."));
