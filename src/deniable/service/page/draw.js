// Figures: bars, the curve over ε, and the neighbourhood of a word. Colours come from the style sheet.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const percent = (share) => {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 0.1) return "< 0.1\u00a0%";
  return `${hundred >= 9.95 || hundred === 0 ? Math.round(hundred) : hundred.toFixed(1)}\u00a0%`;
};

// One line of a list: a word, a bar, a share. With onclick the word is a button.
export function bar(word, share, { onclick = null, pressed = false, kind = "", most = 1 } = {}) {
  const name = onclick === null
    ? element("span", { class: "name" }, word)
    : element("button", { class: "name", type: "button", "aria-pressed": String(pressed), onclick }, word);
  const width = Math.max(0, Math.min(1, share / most)) * 100;
  const picture = svg("svg", { "aria-hidden": "true", preserveAspectRatio: "none", viewBox: "0 0 100 6" },
    svg("rect", { class: "rail", width: 100, height: 6, rx: 1 }), svg("rect", { class: "fill", width, height: 6, rx: 1 }));
  return element("li", { class: kind }, name, picture, element("span", { class: "value" }, percent(share)));
}

export function curve(place, { epsilons, yours, all, dots, now, share, most }) {
  const width = Math.max(260, place.clientWidth), height = 250;
  const left = 50, right = width - 12, top = 14, bottom = height - 30;
  const x = (value) => left + (right - left) * (value - 1) / (most - 1);
  const y = (value) => bottom - (bottom - top) * value;
  const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  const said = `Share of words that stay unchanged, by ε. At ε = ${now.toFixed(1)}: ${share === null ? "not known" : percent(share)} of your words.`;
  const figure = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said });
  for (const level of [0, 0.25, 0.5, 0.75, 1]) {
    figure.append(svg("line", { class: "axis", x1: left, x2: right, y1: y(level), y2: y(level) }),
      svg("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end" }, `${100 * level} %`));
  }
  for (let value = 1; value <= most; value += most > 12 ? 2 : 1) {
    figure.append(svg("text", { x: x(value), y: height - 9, "text-anchor": "middle" }, String(value)));
  }
  figure.append(svg("text", { x: right, y: height - 9, "text-anchor": "middle", dx: 6 }, ""));
  if (all.length) figure.append(svg("path", { class: "line all", d: path(all.filter(([a]) => a >= 1 && a <= most)) }));
  figure.append(svg("line", { class: "now", x1: x(now), x2: x(now), y1: top - 4, y2: bottom }));
  for (const dot of dots) {
    if (dot.epsilon <= most) {
      figure.append(svg("circle", { class: "dot", cx: x(dot.epsilon), cy: y(dot.named), r: 4.5 },
        svg("title", {}, `${dot.name}, ε = ${dot.epsilon}: ${percent(dot.named)} of the words named`)));
    }
  }
  if (yours !== null) {
    figure.append(svg("path", { class: "line yours", d: path(epsilons.map((value, i) => [value, yours[i]])) }),
      svg("circle", { class: "spot yours", cx: x(now), cy: y(share), r: 6 }));
  }
  place.replaceChildren(figure);
}

// Words at their places along two axes, the word itself in the middle, and the ring that half of the noise stays within.
export function map(place, points, noise) {
  const width = Math.max(260, place.clientWidth), height = Math.min(380, Math.max(280, 0.72 * width));
  const ring = Math.min(noise ?? 0, 1.2 * Math.max(...points.map((point) => Math.hypot(point.x, point.y)), 0.1));
  const span = (values) => [Math.min(...values, -ring), Math.max(...values, ring)];
  const [west, east] = span(points.map((point) => point.x)), [south, north] = span(points.map((point) => point.y));
  const scale = Math.min((width - 90) / (east - west), (height - 44) / (north - south));
  const x = (value) => width / 2 + scale * (value - (west + east) / 2), y = (value) => height / 2 - scale * (value - (south + north) / 2);
  const likely = [...points].sort((a, b) => b.probability - a.probability).slice(0, 8);
  const figure = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${points[0].word} among its neighbours: ${points.slice(1, 9).map((point) => point.word).join(", ")}` });
  if (noise !== null) figure.append(svg("circle", { class: "ring", cx: x(0), cy: y(0), r: scale * noise }));
  // Labels keep clear of one another and of the dots; a word without room has a dot only.
  const boxes = points.map((point) => [x(point.x) - 4, y(point.y) - 4, 8, 8]);
  for (const point of new Set([points[0], ...likely, ...points.slice(1)])) {
    const own = boxes[points.indexOf(point)];
    const kind = point === points[0] ? "self" : likely.includes(point) ? "likely" : "";
    const radius = kind === "self" ? 6 : 3 + 14 * Math.sqrt(Math.min(point.probability, 0.1));
    figure.append(svg("circle", { class: `point ${kind}`, cx: x(point.x), cy: y(point.y), r: radius }));
    const size = (kind === "self" ? 8 : 6.8) * point.word.length;
    for (const [dx, dy, anchor, from] of [[9, 4, "start", 0], [-9, 4, "end", -1], [0, -10, "middle", -0.5], [0, 19, "middle", -0.5]]) {
      const box = [x(point.x) + dx + from * size, y(point.y) + dy - 11, size, 15];
      const inside = box[0] > 0 && box[0] + size < width && box[1] > 0 && box[1] + 15 < height;
      if (inside && !boxes.some((other) => other !== own && overlaps(box, other))) {
        boxes.push(box);
        figure.append(svg("text", { class: `label ${kind}`, x: x(point.x) + dx, y: y(point.y) + dy, "text-anchor": anchor }, point.word));
        break;
      }
    }
  }
  place.replaceChildren(figure);
}

function overlaps(one, other) {
  return one[0] < other[0] + other[2] && other[0] < one[0] + one[2] && one[1] < other[1] + other[3] && other[1] < one[1] + one[3];
}
