"use strict";
(() => {
  // What was measured on one recording, and what each model predicts, with one range in time.
  const { names, sequences } = JSON.parse($("overlay-data").textContent);
  if (sequences.length === 0) return;
  const shown = names.map(() => true);
  let plots = [];
  let index = 0;

  // A prediction that runs away does not squeeze the others.
  function valueRange(measured) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of measured) if (value != null) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (low > high) return [0, 1];
    const margin = 0.35 * (high - low || 1);
    return [low - margin, high + margin];
  }

  function axis(label, values, size) {
    return { stroke: color("faint"), grid: { stroke: color("grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif", label, labelSize: label ? 14 : 0, size, ...(values && { values }) };
  }

  function plotSignal(card, signal) {
    const curves = signal.curves.map(decodeCurve);
    const output = card.querySelector("output");
    const series = curves.map((_, i) => ({
      stroke: color(i === 0 ? "measured" : `model-${(i - 1) % 8}`), width: i === 0 ? 2.5 : 1.25,
      show: i === 0 || shown[i - 1], points: { show: false }, spanGaps: false,
    }));
    const plot = new uPlot({
      width: card.clientWidth, height: 240, series: [{}, ...series], legend: { show: false }, padding: [6, 8, 0, 0],
      scales: { x: { time: false }, y: { range: valueRange(curves[0]) } },
      axes: [axis("", (u, ticks) => ticks.map((t) => `${t} s`), 30), axis(signal.unit, undefined, 58)],
      cursor: { sync: { key: "overlay", setSeries: false }, drag: { x: true, y: false } },
      hooks: { setCursor: [(u) => {
        const at = u.cursor.idx;
        const values = names.map((name, i) => (shown[i] ? `${name} ${short(u.data[i + 2][at])}` : "")).filter(Boolean);
        output.textContent = at == null || u.cursor.left < 0 ? "" : `${short(u.data[0][at])} s: measured ${short(u.data[1][at])}, ${values.join(", ")} ${signal.unit}`;
      }] },
    }, [decodeTimes(signal.times), ...curves], card.querySelector("div"));
    plots.push(plot);
  }

  function makeCard(signal) {
    const card = document.createElement("div");
    card.className = "signal overlay";
    card.setAttribute("role", "group");
    const errors = names.map((name, i) => `${name} ${short(signal.rmse[i])}`).join(", ");
    card.setAttribute("aria-label", `${signal.name}: measured, and predicted by ${names.join(", ")}`);
    const heading = document.createElement("h3");
    heading.textContent = signal.name;
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = `RMSE [${signal.unit}]: ${errors}`;
    card.append(heading, document.createElement("output"), document.createElement("div"), note);
    return card;
  }

  function show(next) {
    for (const plot of plots) plot.destroy();
    plots = [];
    index = (next + sequences.length) % sequences.length;
    $("overlay-sequence").value = String(index);
    const { signals } = sequences[index];
    $("overlays").replaceChildren(...signals.map(makeCard));
    signals.forEach((signal, i) => plotSignal($("overlays").children[i], signal));
  }

  $("overlay-sequence").addEventListener("change", (event) => show(Number(event.target.value)));
  $("overlay-previous").addEventListener("click", () => show(index - 1));
  $("overlay-next").addEventListener("click", () => show(index + 1));
  for (const box of document.querySelectorAll("[data-model]"))
    box.addEventListener("change", () => {
      const model = Number(box.dataset.model);
      shown[model] = box.checked;
      for (const plot of plots) plot.setSeries(model + 2, { show: box.checked });
    });

  onNewLook(() => show(index));
  show(0);
})();
