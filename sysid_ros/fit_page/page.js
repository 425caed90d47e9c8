"use strict";

const PERIOD = 500; // ms between two questions
const token = document.querySelector("meta[name=token]").content;

let rows = [];

function makeRows(names, units) {
  const body = part("parameters");
  body.replaceChildren();
  rows = names.map((name, i) => {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    const cells = [row.insertCell(), row.insertCell()];
    row.insertCell().textContent = units[i] || "";
    cells.push(row.insertCell());
    const chart = drawn("svg", { viewBox: "0 0 120 24", preserveAspectRatio: "none" });
    chart.setAttribute("aria-hidden", "true");
    const line = chart.appendChild(drawn("polyline"));
    row.insertCell().append(chart);
    return { cells, line };
  });
}

function show(news, steps, begins) {
  if (begins) makeRows(news.names, news.units);
  const running = news.state === "running" || news.state === "canceling";
  part("title").textContent = news.title || "No fit yet";
  document.title = running ? `${Math.round(100 * news.share)} % – ${news.title}` : "sysid_ros";
  say({
    idle: "Waiting for a goal.",
    running: `Running: ${news.stage}.`,
    canceling: "Cancelling; the best parameters so far are kept.",
    ended: news.message,
  }[news.state]);
  part("share").value = news.share;
  const button = part("cancel");
  button.hidden = !running;
  button.disabled = news.state === "canceling";
  if (news.steps.length) draw(steps);
}

function draw(steps) {
  const last = steps[steps.length - 1];
  const time = last.elapsed === null ? "" : `, ${last.elapsed.toFixed(1)} s`;
  part("cost").textContent = `${number(last.cost)} after step ${last.iteration}${time}`;
  const shown = thinned(steps, 600);
  const costs = shown.map((step) => (step.cost > 0 ? Math.log10(step.cost) : null));
  const [low, high] = rangeOf(shown.map((step) => step.cost)).map(number);
  part("cost-ends").textContent = `Step ${steps[0].iteration} to ${last.iteration}; cost ${low} ` +
    `to ${high}, on a logarithmic scale. It is half the sum of squared errors in units of their noise.`;
  part("cost-chart").firstElementChild.setAttribute("points", evenly(costs, 600, 160));
  rows.forEach(({ cells, line }, i) => {
    const [start, now] = [steps[0].values[i], last.values[i]];
    const change = start ? `${(100 * (now / start - 1)).toFixed(1)} %` : "–";
    [number(start), number(now), change].forEach((text, j) => (cells[j].textContent = text));
    line.setAttribute("points", evenly(shown.map((step) => step.values[i]), 120, 24));
  });
}

part("cancel").addEventListener("click", async () => {
  part("cancel").disabled = true;
  await fetch("cancel", { method: "POST", headers: { "X-Sysid-Ros-Token": token } });
});

follow(PERIOD, show, () => {
  say("The fit server does not answer.");
  part("cancel").hidden = true;
});
