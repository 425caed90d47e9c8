"use strict";
(() => {
  // Signals: measured, initial and fitted, residual underneath, all with one range in time.
  const sequences = JSON.parse($("signal-data").textContent);
  if (!$("plots") || sequences.length === 0) return;

  const state = { index: 0, full: [0, 1], range: [0, 1], shown: { measured: true, initial: true, fitted: true } };
  let plots = [];
  let syncing = false;

  // The range in y follows what was measured and fitted; a start that runs away is cut off.
  function valueRange(plot) {
    const [from, to] = plot.series[0].idxs ?? [0, plot.data[0].length - 1];
    const extent = (numbers) => {
      let low = Infinity;
      let high = -Infinity;
      for (const index of numbers) {
        if (!plot.series[index].show) continue;
        const values = plot.data[index];
        for (let i = Math.max(from, 0); i <= to; i++) {
          const value = values[i];
          if (value == null) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
      return [low, high];
    };
    let [low, high] = extent([1, 3]);
    const [initialLow, initialHigh] = extent([2]);
    if (low > high) [low, high] = [initialLow, initialHigh];
    if (low > high) return [0, 1];
    const span = high - low || Math.abs(high) || 1;
    low = Math.max(Math.min(low, initialLow), low - span);
    high = Math.min(Math.max(high, initialHigh), high + span);
    const margin = 0.04 * (high - low || span);
    return [low - margin, high + margin];
  }

  function residualRange(noise) {
    return (plot, low, high) => {
      if (low == null) return [-1, 1];
      const limit = 1.08 * (Math.max(Math.abs(low), Math.abs(high), noise ? 2 * noise : 0) || 1);
      return [-limit, limit];
    };
  }

  // A simulation starts anew at each window: its curve is interrupted there.
  function windowGaps(windows) {
    return (plot, series, from, to, gaps) => {
      const times = plot.data[0];
      if (windows.length < 2 || to - from > 20000) return gaps;
      const cuts = [];
      let i = from;
      for (const start of windows) {
        while (i <= to && times[i] < start - 1e-9) i++;
        if (i > to) break;
        if (i > from) cuts.push([plot.valToPos(times[i - 1], "x", true), plot.valToPos(times[i], "x", true)]);
      }
      const merged = []; // uPlot wants gaps in order and apart
      for (const gap of gaps.concat(cuts).sort((a, b) => a[0] - b[0])) {
        const last = merged[merged.length - 1];
        if (last && gap[0] <= last[1]) last[1] = Math.max(last[1], gap[1]);
        else merged.push([...gap]);
      }
      return merged;
    };
  }

  function drawWindows(windows) {
    return (plot) => {
      const { left, top, width, height } = plot.bbox;
      const [min, max] = [plot.scales.x.min, plot.scales.x.max];
      const visible = windows.filter((start) => start > min && start < max);
      if (visible.length === 0 || width / visible.length < 12 * devicePixelRatio) return;
      plot.ctx.save();
      plot.ctx.strokeStyle = color("window");
      plot.ctx.lineWidth = devicePixelRatio;
      plot.ctx.beginPath();
      for (const start of visible) {
        const x = Math.round(left + (width * (start - min)) / (max - min)) + 0.5;
        plot.ctx.moveTo(x, top);
        plot.ctx.lineTo(x, top + height);
      }
      plot.ctx.stroke();
      plot.ctx.restore();
    };
  }

  function drawNoise(noise) {
    return (plot) => {
      if (!noise) return;
      const { left, width } = plot.bbox;
      const top = plot.valToPos(2 * noise, "y", true);
      const bottom = plot.valToPos(-2 * noise, "y", true);
      plot.ctx.save();
      plot.ctx.fillStyle = color("band");
      plot.ctx.fillRect(left, top, width, bottom - top);
      plot.ctx.restore();
    };
  }

  function axes(label, withTimes) {
    const stroke = color("faint");
    const grid = { stroke: color("grid"), width: 1 };
    const ticks = { show: false };
    const font = "11px system-ui, sans-serif";
    return [
      { stroke, grid, ticks, font, size: withTimes ? 30 : 0, show: true, values: withTimes ? (u, v) => v.map((t) => `${short(t, 6)} s`) : () => [] },
      { stroke, grid, ticks, font, size: 58, space: withTimes ? 18 : 26, label, labelSize: 14, labelFont: font, labelGap: 0 },
    ];
  }

  function shareRange(plot, key) {
    if (key !== "x" || syncing) return;
    const { min, max } = plot.scales.x;
    if (min === state.range[0] && max === state.range[1]) return;
    setRange(min, max);
  }

  function setRange(min, max) {
    const [start, end] = state.full;
    const width = Math.min(Math.max(max - min, 1e-6 * (end - start)), end - start);
    const low = Math.min(Math.max(min, start), end - width);
    state.range = [low, low + width];
    for (const card of $("plots").children) if (card.near) follow(card);
  }

  // What is out of sight takes part when it comes back: so many long signals stay smooth.
  function follow(card) {
    if (!card.plots || card.range === state.range) return;
    card.range = state.range;
    syncing = true;
    for (const plot of card.plots) plot.setScale("x", { min: state.range[0], max: state.range[1] });
    syncing = false;
  }

  function options(width, height, series, scaleY, axisLabel, withTimes, draw, onCursor) {
    return {
      width,
      height,
      series: [{}, ...series],
      scales: { x: { time: false, min: state.range[0], max: state.range[1], range: (plot, min, max) => [min, max] }, y: { range: scaleY } },
      axes: axes(axisLabel, withTimes),
      legend: { show: false },
      padding: [6, 8, 0, 0],
      cursor: { sync: { key: "signals", setSeries: false }, drag: { x: true, y: false }, points: { size: 5 }, bind: { dblclick: () => () => setRange(...state.full) } },
      hooks: { drawAxes: draw, setScale: [shareRange], setCursor: [onCursor] },
    };
  }

  function line(name, curve, width, gaps) {
    return { label: name, stroke: color(name), width, show: state.shown[curve] ?? true, points: { show: false }, spanGaps: false, ...(gaps && { gaps }) };
  }

  function readout(element, unit) {
    return (plot) => {
      const index = plot.cursor.idx;
      if (index == null || plot.cursor.left < 0) {
        element.textContent = "";
        return;
      }
      const [t, measured, initial, fitted] = plot.data.map((values) => values[index]);
      element.textContent = `${short(t, 6)} s: measured ${short(measured)}, initial ${short(initial)}, fitted ${short(fitted)} ${unit}`;
    };
  }

  function plotSignal(card, signal, windows) {
    const times = decodeTimes(signal.times);
    const [measured, initial, fitted, residual] = ["measured", "initial", "fitted", "residual"].map((name) => decodeCurve(signal.curves[name]));
    const width = card.clientWidth;
    const gaps = signal.reduced ? undefined : windowGaps(windows);
    const unit = signal.unit;
    const upper = new uPlot(
      options(width, 190, [line("measured", "measured", 2.5), line("initial", "initial", 1, gaps), line("fitted", "fitted", 1.25, gaps)],
        valueRange, unit, false, [drawWindows(windows)], readout(card.querySelector("output"), unit)),
      [times, measured, initial, fitted], card.querySelector(".upper"));
    const lower = new uPlot(
      options(width, 110, [line("fitted", "residual", 1, gaps)], residualRange(signal.noise), unit ? `residual [${unit}]` : "residual", true,
        [drawNoise(signal.noise), drawWindows(windows)], () => {}),
      [times, residual], card.querySelector(".lower"));
    card.plots = [upper, lower];
    card.range = state.range;
    plots.push(upper, lower);
  }

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      target.near = isIntersecting;
      if (!isIntersecting) continue;
      drawCard(target);
      follow(target);
    }
  }, { rootMargin: "300px" });

  function drawCard(card) {
    if (card.plots) return;
    const sequence = sequences[state.index];
    plotSignal(card, sequence.signals[Number(card.dataset.signal)], sequence.windows);
  }

  function makeCard(signal, number) {
    const card = document.createElement("div");
    card.className = "signal";
    card.tabIndex = 0;
    card.dataset.signal = number;
    card.setAttribute("role", "group");
    card.setAttribute("aria-label", `${signal.name}: measured, initial and fitted, residual underneath. Arrow keys move, plus and minus zoom, 0 shows the whole length.`);
    const heading = document.createElement("h3");
    heading.textContent = signal.name;
    const output = document.createElement("output");
    const upper = document.createElement("div");
    upper.className = "upper";
    const lower = document.createElement("div");
    lower.className = "lower";
    card.append(heading, output, upper, lower);
    card.addEventListener("keydown", onKey);
    return card;
  }

  function clearPlots() {
    for (const plot of plots) plot.destroy();
    plots = [];
    seen.disconnect();
  }

  function showSequence(index) {
    clearPlots();
    state.index = (index + sequences.length) % sequences.length;
    const sequence = sequences[state.index];
    let [start, end] = [Infinity, -Infinity];
    for (const signal of sequence.signals) {
      const times = decodeTimes(signal.times);
      if (times.length) [start, end] = [Math.min(start, times[0]), Math.max(end, times[times.length - 1])];
    }
    state.full = start < end ? [start, end] : [0, 1];
    state.range = [...state.full];
    $("sequence").value = String(state.index);
    const kind = sequence.role === "validation" ? "Held out of the fit." : "Used in the fit.";
    const reduced = sequence.signals.some((signal) => signal.reduced) ? " Reduced for display: smallest and largest value of each short interval." : "";
    $("signal-note").textContent = `${kind} Vertical lines: the simulation starts anew. Band under the residual: twice the noise level (as given, or what the fit leaves).${reduced} Drag to zoom, double-click for the whole length.`;
    $("plots").className = sequence.role;
    $("plots").replaceChildren(...sequence.signals.map(makeCard));
    for (const card of $("plots").children) seen.observe(card);
  }

  function redraw() {
    const range = [...state.range];
    clearPlots();
    for (const card of $("plots").children) {
      card.plots = undefined;
      card.querySelector(".upper").replaceChildren();
      card.querySelector(".lower").replaceChildren();
      seen.observe(card);
    }
    state.range = range;
  }

  function zoom(factor) {
    const [min, max] = state.range;
    const middle = 0.5 * (min + max);
    const half = 0.5 * factor * (max - min);
    setRange(middle - half, middle + half);
  }

  function pan(share) {
    const [min, max] = state.range;
    setRange(min + share * (max - min), max + share * (max - min));
  }

  function onKey(event) {
    const action = {
      ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), "+": () => zoom(0.5), "=": () => zoom(0.5),
      "-": () => zoom(2), 0: () => setRange(...state.full), Home: () => setRange(...state.full),
    }[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  $("sequence").addEventListener("change", (event) => showSequence(Number(event.target.value)));
  $("previous").addEventListener("click", () => showSequence(state.index - 1));
  $("next").addEventListener("click", () => showSequence(state.index + 1));
  $("zoom-in").addEventListener("click", () => zoom(0.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("pan-left").addEventListener("click", () => pan(-0.25));
  $("pan-right").addEventListener("click", () => pan(0.25));
  $("zoom-reset").addEventListener("click", () => setRange(...state.full));
  for (const button of document.querySelectorAll("[data-sequence]"))
    button.addEventListener("click", () => {
      showSequence(Number(button.dataset.sequence));
      $("plots").scrollIntoView({ block: "start" });
    });
  for (const box of document.querySelectorAll("[data-curve]"))
    box.addEventListener("change", () => {
      state.shown[box.dataset.curve] = box.checked;
      redraw();
    });

  onNewLook(redraw);
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    redraw();
    for (const card of $("plots").children) drawCard(card);
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    redraw();
  });

  showSequence(Number($("sequence").dataset.first));
})();
