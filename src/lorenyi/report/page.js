"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const NS = document.querySelector("svg").namespaceURI;
  const tip = document.getElementById("tip");
  const home = document.getElementById("sections");

  // ---------------------------------------------------------------- elements: text is text, always

  function add(parent, name, attributes = {}, text) {
    const drawn = name === "svg" || (parent instanceof SVGElement);
    const node = drawn ? document.createElementNS(NS, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function short(text, most) {
    const letters = Array.from(text);
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
  }

  function figure(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en");
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString("en");
    if (size >= 100) return value.toFixed(1);
    if (size >= 0.0005) return value.toFixed(Math.abs(value * 100 - Math.round(value * 100)) < 1e-9 ? 2 : 3);
    return value.toExponential(1);
  }

  const bits = (value) => `${figure(value)} bits`;

  // ------------------------------------------------------------------- one tip, one picked column

  function show(lines, x, y) {
    tip.replaceChildren(...lines.filter(Boolean).map((line) => {
      const row = document.createElement("div");
      row.textContent = line;
      return row;
    }));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x + 14), innerWidth - box.width - 8);
    const top = y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18;
    tip.style.left = `${left}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  }

  function hide() { tip.hidden = true; }

  function describe(node, lines, column) {
    node.setAttribute("tabindex", "0");
    node.setAttribute("aria-label", lines.filter(Boolean).join(", "));
    node.addEventListener("pointermove", (event) => show(lines, event.clientX, event.clientY));
    node.addEventListener("pointerleave", hide);
    node.addEventListener("blur", hide);
    node.addEventListener("focus", () => {
      if (!node.matches(":focus-visible")) return;
      const box = node.getBoundingClientRect();
      show(lines, box.left + Math.min(box.width, 200) / 2, box.bottom - 12);
    });
    if (column !== undefined) pickable(node, column);
  }

  let picked = null;

  function pickable(node, column) {
    node.dataset.column = column;
    node.classList.add("mark");
    node.addEventListener("click", () => pick(column));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(column); }
    });
  }

  function pick(column) {
    picked = picked === column ? null : column;
    mark();
  }

  function mark(root = document) {
    for (const node of root.querySelectorAll("[data-column]")) {
      node.classList.toggle("picked", node.dataset.column === picked);
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hide();
    picked = null;
    mark();
  });
  addEventListener("scroll", hide, { passive: true });

  // ------------------------------------------------------------------------------------- sections

  function card(section, wide) {
    const box = add(home, "section", { class: wide ? "card wide" : "card" });
    const body = section.closed ? add(box, "details") : box;
    add(section.closed ? add(body, "summary") : body, "h2", {}, section.title);
    if (section.text) add(body, "p", {}, section.text);
    return body;
  }

  // Draws now and whenever the width changes.
  function redrawn(box, draw) {
    const place = add(box, "div");
    let before = 0;
    const again = () => {
      const width = Math.floor(place.clientWidth);
      if (!width || width === before) return;
      before = width;
      place.replaceChildren();
      draw(place, width);
      mark(place);
    };
    again();
    new ResizeObserver(() => requestAnimationFrame(again)).observe(place);
    return () => { before = 0; again(); };
  }

  function ticks(low, high, count) {
    const raw = (high - low) / Math.max(count, 1) || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-6; i++) found.push(i * step);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return found.map((value) => [value, (value + 0).toFixed(digits)]);
  }

  // -------------------------------------------------- bars: a path of scores, or values and ranges

  function bars(section) {
    const box = card(section, true);
    const list = add(box, "ol", { class: "bars", "aria-label": section.title });
    const rows = section.rows;
    const ends = rows.flatMap((r) => [0, r.value - 2 * (r.error ?? 0), r.value + 2 * (r.error ?? 0)]);
    const low = Math.min(...ends), high = Math.max(...ends, section.most ?? 0, 1e-12);
    const at = (value) => 100 * (value - low) / (high - low);
    const part = (track, kind, from, to) => {
      const piece = add(track, "i", { class: kind });
      piece.style.left = `${at(Math.min(from, to))}%`;
      piece.style.width = `${Math.abs(at(to) - at(from))}%`;
    };
    rows.forEach((row, i) => {
      if (section.stop === i) add(list, "li", { class: "stop" }, section.stopped);
      const item = add(list, "li", row.hollow ? { class: "hollow" } : {});
      const name = add(item, "span", { class: "name" });
      if (section.numbered) add(name, "small", {}, String(i + 1));
      name.append(row.name);
      if (row.note) add(name, "em", {}, row.note);
      const track = add(item, "span", { class: "track" });
      const before = row.from ?? 0;
      if (before > 0 && row.value >= before) {
        part(track, "before", 0, before);
        part(track, "", before, row.value);
      } else part(track, "", 0, row.value);
      if (low < 0) add(track, "i", { class: "zero" }).style.left = `${at(0)}%`;
      if (row.error > 0.001 * (high - low)) part(track, "range", row.value - 2 * row.error, row.value + 2 * row.error);
      if (row.chance !== undefined) add(track, "i", { class: "chance" }).style.left = `${at(Math.max(row.chance, 0))}%`;
      if (section.most !== undefined) add(track, "i", { class: "ceiling" }).style.left = `calc(${at(section.most)}% - 1px)`;
      const value = add(item, "span", { class: "value" }), adds = row.adds ?? row.value - row.from;
      value.append(figure(row.value));
      if (row.from !== undefined) value.append(" "), add(value, "small", {}, `${adds < 0 ? "−" : "+"}${Math.abs(adds).toFixed(3)}`);
      describe(item, [
        row.name,
        `${figure(row.value)} ${section.unit}`,
        row.from > 0 && `adds ${figure(row.value - row.from)}`,
        row.error !== undefined && `standard error ${figure(row.error)}`,
        row.chance !== undefined && `by chance ${figure(row.chance)}`,
        section.most !== undefined && section.most > 0 && `${Math.max(0, Math.round(100 * row.value / section.most))} % of the ceiling, ${bits(section.most)}`,
        ...(row.more ?? []),
      ], row.column ?? row.name);
    });
    if (section.stop === rows.length) add(list, "li", { class: "stop" }, section.stopped);
    if (section.most !== undefined) add(box, "p", { class: "key" }, `Dashed line: ceiling, ${bits(section.most)}.`);
  }

  // ----------------------------------------------------------------- pictures: one small per column

  function pictures(section) {
    const box = card(section, true);
    const classes = section.items.map((item) => item.picture.classes).find(Boolean);
    if (classes) {
      const legend = add(box, "div", { class: "legend" });
      classes.forEach((name, k) => {
        const entry = add(legend, "span");
        add(add(entry, "svg", { width: 14, height: 14, "aria-hidden": "true", class: `series${k}` }), "rect", { width: 14, height: 14, rx: 3, class: "swatch" });
        entry.append(short(name, 40));
      });
    }
    const grid = add(box, "div", { class: "smalls" });
    for (const item of section.items) {
      const cell = add(grid, "figure", { class: "small" });
      add(cell, "figcaption", {}, item.name);
      if (item.note) add(cell, "small", {}, item.note);
      const picture = item.picture;
      const rows = picture.levels ?? picture.means;
      if (rows) levels(cell, picture, rows);
      else redrawn(cell, (place, width) => plane(place, width, item, section));
      describe(cell, [item.name, item.note, ...spoken(picture)], item.name);
    }
  }

  function spoken(picture) {
    if (picture.means) return picture.means.map(([name, value]) => `${name}: mean ${figure(value)}`);
    if (picture.classes && picture.levels) return picture.levels.map(([name, shares]) => `${name}: ${shares.map((v, k) => `${picture.classes[k]} ${Math.round(100 * v)} %`).join(", ")}`);
    if (picture.levels) return picture.levels.map(([name, share]) => `${name}: ${Math.round(100 * share)} %`);
    return picture.ends ? [`from ${picture.ends[0]} to ${picture.ends[1]}`] : [];
  }

  function levels(cell, picture, rows) {
    const list = add(cell, "div", { class: "levels" });
    const [low, high] = picture.range ?? [0, Math.max(...rows.map(([, v]) => typeof v === "number" ? v : 1), 1e-12)];
    for (const [name, value] of rows) {
      add(list, "span", {}, short(name, 24));
      const track = add(list, "span", { class: "track" });
      let at = 0;
      (typeof value === "number" ? [(value - low) / (high - low || 1)] : value).forEach((share, k) => {
        const piece = add(track, "i", { class: typeof value === "number" ? "" : `series${k} segment` });
        piece.style.left = `${100 * at}%`;
        piece.style.width = `${100 * share}%`;
        at += share;
      });
      if (typeof value === "number") add(list, "span", { class: "amount" }, picture.means ? figure(value) : `${Math.round(100 * value)} %`);
      else add(list, "span");
    }
  }

  function plane(place, width, item, section) {
    const { bars: counts, densities, dots, line, ends } = item.picture;
    const height = 84, foot = 16, svg = add(place, "svg", { width, height: height + foot, "aria-hidden": "true" });
    if (counts) {
      const most = Math.max(...counts, 1), step = width / Math.max(counts.length, 1);
      counts.forEach((c, k) => { if (c) add(svg, "rect", { class: "column", x: k * step, width: Math.max(step - 1, 1), y: height - Math.max(height * c / most, 1), height: Math.max(height * c / most, 1) }); });
    }
    if (densities) {
      const most = Math.max(...densities.flat(), 1e-12), n = densities[0].length;
      densities.forEach((values, k) => {
        const points = values.map((v, i) => `${(i / (n - 1) * width).toFixed(1)} ${(height - (height - 3) * v / most).toFixed(1)}`);
        const group = add(svg, "g", { class: `series${k}` });
        add(group, "path", { class: "area", d: `M0 ${height}L${points.join("L")}L${width} ${height}Z` });
        add(group, "path", { class: "curve whole", d: `M${points.join("L")}` });
      });
    }
    if (dots) {
      const xs = dots.map((d) => d[0]), ys = [...dots.map((d) => d[1]), ...line.map((d) => d[1])];
      const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const px = (v) => 3 + (Math.min(Math.max(v, x0), x1) - x0) / (x1 - x0 || 1) * (width - 6), py = (v) => height - 3 - (v - y0) / (y1 - y0 || 1) * (height - 6);
      for (const [x, y] of dots) add(svg, "circle", { class: "faint", cx: px(x).toFixed(1), cy: py(y).toFixed(1), r: 1.6 });
      add(svg, "path", { class: "curve trend", d: `M${line.map(([x, y]) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("L")}` });
    }
    add(svg, "path", { class: "axis", d: `M0 ${height + 0.5}H${width}` });
    if (ends) {
      add(svg, "text", { x: 0, y: height + foot - 2 }, ends[0]);
      add(svg, "text", { x: width, y: height + foot - 2, "text-anchor": "end" }, ends[1]);
    }
  }

  // --------------------------------------------------------------- scatter: two numbers per column

  function scatter(section) {
    const box = card(section, section.wide);
    const legend = add(box, "div", { class: "legend" });
    for (const [kind, label] of [["dot", "chosen, in order"], ["dot hollow", "left out"]]) {
      const entry = add(legend, "span");
      add(add(entry, "svg", { width: 14, height: 14, "aria-hidden": "true" }), "circle", { cx: 7, cy: 7, r: 5, class: kind });
      entry.append(label);
    }
    redrawn(box, (place, width) => {
      const height = Math.min(380, Math.max(250, width * 0.8)), pad = { l: 52, r: 14, t: 10, b: 42 };
      const svg = add(place, "svg", { width, height, role: "group", "aria-label": section.title });
      const span = (values) => {
        const low = Math.min(0, ...values), high = Math.max(...values, 1e-9);
        return [low - (low < 0 ? 0.05 * (high - low) : 0), high + 0.06 * (high - low)];
      };
      const [x0, x1] = span(section.points.map((p) => p.x)), [y0, y1] = span(section.points.map((p) => p.y));
      const px = (v) => pad.l + (v - x0) / (x1 - x0) * (width - pad.l - pad.r);
      const py = (v) => height - pad.b - (v - y0) / (y1 - y0) * (height - pad.t - pad.b);
      for (const [value, label] of ticks(x0, x1, width / 110)) {
        add(svg, "path", { class: "axis", d: `M${px(value)} ${pad.t}V${height - pad.b}` });
        add(svg, "text", { x: px(value), y: height - pad.b + 16, "text-anchor": "middle" }, label);
      }
      for (const [value, label] of ticks(y0, y1, height / 70)) {
        add(svg, "path", { class: "axis", d: `M${pad.l} ${py(value)}H${width - pad.r}` });
        add(svg, "text", { x: pad.l - 7, y: py(value) + 4, "text-anchor": "end" }, label);
      }
      add(svg, "text", { x: (pad.l + width - pad.r) / 2, y: height - 6, "text-anchor": "middle", class: "strong" }, section.x);
      add(svg, "text", { x: 0, y: 0, "text-anchor": "middle", class: "strong", transform: `translate(12 ${(height - pad.b) / 2}) rotate(-90)` }, section.y);
      // Chosen ones last, on top.
      for (const p of [...section.points].sort((a, b) => (a.step ? 1 : 0) - (b.step ? 1 : 0))) {
        const group = add(svg, "g", { role: "img" });
        add(group, "circle", { cx: px(p.x), cy: py(p.y), r: p.step ? 9 : 5, class: p.step ? "dot" : "dot hollow" });
        if (p.step) add(group, "text", { x: px(p.x), y: py(p.y) + 4, "text-anchor": "middle", class: "number" }, String(p.step));
        describe(group, [
          p.name, p.step ? `chosen as number ${p.step}` : "left out",
          `${section.y}: ${figure(p.y)}`, `${section.x}: ${figure(p.x)}`,
        ], p.name);
      }
    });
  }

  // ---------------------------------------------------------------------- heat: a number per pair

  function heat(section) {
    const n = section.names.length;
    const box = card(section, section.wide || n > 12);
    const matrix = section.matrix;
    const off = matrix.flatMap((row, i) => row.filter((v, j) => i !== j && v !== null));
    const most = Math.max(...off.map(Math.abs), 1e-12);
    const tools = add(box, "div", { class: "tools" });
    const label = add(tools, "label", {}, "Order");
    const order = add(label, "select");
    const everyone = section.names.map((_, i) => i);
    const total = matrix.map((row, i) => row.reduce((sum, v, j) => sum + (i === j ? 0 : v ?? 0), 0));
    const orders = { ...section.orders, "by name": [...everyone].sort((a, b) => section.names[a] < section.names[b] ? -1 : 1), "most shared first": [...everyone].sort((a, b) => total[b] - total[a]) };
    for (const name of Object.keys(orders)) add(order, "option", {}, name);
    const again = redrawn(box, (place, width) => {
      const rows = orders[order.value];
      const letters = width > 620 ? 28 : width > 420 ? 22 : 15;
      const left = Math.min(width * 0.42, 14 + 6.6 * Math.max(...section.names.map((name) => Math.min(Array.from(name).length, letters))) + 20);
      const size = Math.max(4, Math.min(n < 9 ? 46 : n < 21 ? 38 : 30, (width - left - 2) / n)), top = 18;
      const svg = add(place, "svg", { width, height: top + n * size + 4, role: "img", tabindex: "0", class: "heat", "aria-label": `${section.title}: ${n} by ${n} pairs. Arrow keys move from pair to pair.` });
      const every = size >= 15 ? 1 : size >= 8 ? 2 : 5;
      const texts = size >= 11 ? 12 : 10;
      rows.forEach((i, r) => {
        const y = top + r * size;
        if (r % (size >= 11 ? 1 : every) === 0) {
          const text = add(svg, "text", { x: left - 6, y: y + size / 2 + 4, "text-anchor": "end" }, `${short(section.names[i], letters)} ${r + 1}`);
          text.style.fontSize = `${texts}px`;
          pickable(text, section.names[i]);
        }
        if (r % every === 0) add(svg, "text", { x: left + r * size + size / 2, y: top - 5, "text-anchor": "middle" }, String(r + 1)).style.fontSize = `${texts - 1}px`;
        rows.forEach((j, c) => {
          const value = matrix[i][j];
          if (i === j || value === null) return;
          const share = Math.sqrt(Math.abs(value) / most);
          add(svg, "rect", { class: value < 0 ? "cell less" : "cell", x: left + c * size, y, width: size - 1, height: size - 1, "fill-opacity": (0.03 + 0.97 * share).toFixed(3) });
        });
      });
      const cursor = add(svg, "rect", { class: "cursor", width: size - 1, height: size - 1, visibility: "hidden" });
      let here = [0, Math.min(1, n - 1)];
      const tell = (r, c, x, y) => {
        here = [r, c];
        cursor.setAttribute("x", left + c * size);
        cursor.setAttribute("y", top + r * size);
        cursor.setAttribute("visibility", "visible");
        const [i, j] = [rows[r], rows[c]];
        show(i === j ? [section.names[i], section.own && `entropy ${bits(section.own[i])}`] : [`${section.names[i]}  ·  ${section.names[j]}`, ...told(i, j)], x, y);
      };
      const told = (i, j) => {
        const value = matrix[i][j];
        if (value === null) return ["not measured"];
        return [
          value < 0 ? section.negative ?? `${bits(value)}` : `share ${bits(value)}${section.chance ? " beyond chance" : ""}`,
          value < 0 && section.negative && `${bits(value)}${section.chance ? " less than chance" : ""}`.replace("-", ""),
          section.errors && `standard error ${figure(section.errors[i][j])}, by chance ${figure(section.chance[i][j])}`,
          section.p && `p = ${figure(section.p[i][j])}`,
        ];
      };
      const away = () => { cursor.setAttribute("visibility", "hidden"); hide(); };
      svg.addEventListener("pointermove", (event) => {
        const frame = svg.getBoundingClientRect();
        const c = Math.floor((event.clientX - frame.left - left) / size), r = Math.floor((event.clientY - frame.top - top) / size);
        if (r >= 0 && c >= 0 && r < n && c < n) tell(r, c, event.clientX, event.clientY); else away();
      });
      svg.addEventListener("pointerleave", away);
      svg.addEventListener("blur", away);
      svg.addEventListener("keydown", (event) => {
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        if (!step) return;
        event.preventDefault();
        const r = Math.min(n - 1, Math.max(0, here[0] + step[0])), c = Math.min(n - 1, Math.max(0, here[1] + step[1]));
        const frame = svg.getBoundingClientRect();
        tell(r, c, frame.left + left + (c + 0.5) * size, frame.top + top + (r + 0.5) * size);
      });
    });
    order.addEventListener("change", again);
    const scale = add(box, "div", { class: "scale" });
    add(scale, "span", {}, "0");
    add(scale, "i");
    add(scale, "span", {}, bits(most));
    if (off.some((v) => v < -1e-9)) {
      add(scale, "i", { class: "less" });
      add(scale, "span", { class: "words" }, `below zero: ${section.negative ?? "possible away from order 1"}`);
    }
  }

  // -------------------------------------------------------------------- curves: eigenvalues in order

  function curves(section) {
    const box = card(section, section.wide);
    const legend = add(box, "div", { class: "legend" });
    if (section.series.length > 1) section.series.forEach((series, s) => {
      const entry = add(legend, "span");
      const svg = add(entry, "svg", { width: 26, height: 10, class: `series${s}`, "aria-hidden": "true" });
      add(svg, "path", { class: "curve", d: "M0 5H26" });
      entry.append(series.name);
    });
    const tools = add(box, "div", { class: "tools" });
    const toggle = add(tools, "button", { type: "button", "aria-pressed": "true" }, "Logarithmic");
    const again = redrawn(box, (place, width) => {
      const logarithmic = toggle.getAttribute("aria-pressed") === "true";
      const height = Math.min(330, Math.max(230, width * 0.62)), pad = { l: 62, r: 12, t: 10, b: 42 };
      const svg = add(place, "svg", { width, height, role: "group", "aria-label": section.title });
      const values = section.series.flatMap((s) => s.values).filter((v) => v > 0);
      const top = Math.max(...values), bottom = logarithmic ? Math.max(Math.min(...values), top * 1e-8) : 0;
      const longest = Math.max(...section.series.map((s) => s.values.length));
      const up = (v) => logarithmic ? (Math.log(Math.max(v, bottom)) - Math.log(bottom)) / (Math.log(top / bottom) || 1) : v / top;
      const px = (k) => pad.l + (longest > 1 ? k / (longest - 1) : 0.5) * (width - pad.l - pad.r);
      const py = (v) => height - pad.b - up(v) * (height - pad.t - pad.b);
      const decades = [];
      const stride = Math.max(1, Math.ceil(Math.log10(top / bottom) / 5));
      for (let e = Math.ceil(Math.log10(bottom || 1)); e <= Math.log10(top) + 1e-9; e += stride) decades.push([10 ** e, e > -4 ? String(+(10 ** e).toPrecision(1)) : `1e${e}`]);
      for (const [value, label] of logarithmic && decades.length > 1 ? decades : ticks(bottom, top, 4)) {
        add(svg, "path", { class: "axis", d: `M${pad.l} ${py(value)}H${width - pad.r}` });
        add(svg, "text", { x: pad.l - 7, y: py(value) + 4, "text-anchor": "end" }, label);
      }
      for (const [value, label] of ticks(1, longest, width / 80).filter(([v]) => v >= 1)) {
        add(svg, "text", { x: px(value - 1), y: height - pad.b + 16, "text-anchor": "middle" }, label);
      }
      add(svg, "text", { x: (pad.l + width - pad.r) / 2, y: height - 6, "text-anchor": "middle", class: "strong" }, section.x);
      add(svg, "text", { x: 0, y: 0, "text-anchor": "middle", class: "strong", transform: `translate(12 ${(height - pad.b) / 2}) rotate(-90)` }, section.y);
      section.series.forEach((series, s) => {
        const group = add(svg, "g", { class: `series${s}` });
        add(group, "path", { class: "curve", d: series.values.map((v, k) => `${k ? "L" : "M"}${px(k).toFixed(1)} ${py(v).toFixed(1)}`).join("") });
        let sum = 0;
        series.values.forEach((v, k) => {
          sum += v;
          const dot = add(group, "circle", { class: "point", cx: px(k), cy: py(v), r: longest > 60 ? 2.2 : 3.2, role: "img" });
          describe(dot, [section.series.length > 1 && series.name, `eigenvalue ${k + 1}: ${figure(v)}`, `the first ${k + 1} hold ${(100 * sum).toFixed(1)} %`]);
          if (k > 0) dot.setAttribute("tabindex", "-1");
          dot.addEventListener("keydown", (event) => {
            const next = { ArrowRight: dot.nextSibling, ArrowLeft: dot.previousSibling }[event.key];
            if (next && next.matches(".point")) { event.preventDefault(); next.focus(); }
          });
        });
      });
    });
    toggle.addEventListener("click", () => {
      const on = toggle.getAttribute("aria-pressed") === "true";
      toggle.setAttribute("aria-pressed", String(!on));
      toggle.textContent = on ? "Linear" : "Logarithmic";
      again();
    });
  }

  // ------------------------------------------------------------------------ tables: sort and filter

  function table(section) {
    const box = card(section, true);
    box.classList.add("long");
    const names = section.columns.indexOf(section.name);
    const numeric = section.columns.map((_, c) => section.rows.every((row) => row[c] === null || typeof row[c] === "number"));
    let most = 12, by = -1, down = false, wanted = "";
    if (section.rows.length > 12) {
      const tools = add(box, "div", { class: "tools" });
      const input = add(add(tools, "label", {}, "Find"), "input", { type: "search" });
      input.addEventListener("input", () => { wanted = input.value.toLowerCase(); fill(); });
    }
    const scroll = add(box, "div", { class: "scroll" });
    const whole = add(scroll, "table");
    const head = add(add(whole, "thead"), "tr");
    const heads = section.columns.map((title, c) => {
      const th = add(head, "th", { scope: "col", class: numeric[c] ? "figure" : "" });
      add(th, "button", { type: "button" }, title).addEventListener("click", () => {
        down = by === c ? !down : numeric[c];
        by = c;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        fill();
      });
      return th;
    });
    const body = add(whole, "tbody");
    const more = add(box, "button", { type: "button", class: "more" });
    more.addEventListener("click", () => { most = Infinity; fill(); });
    const compare = (a, b) => {
      const [x, y] = [a[by], b[by]];
      if (x === null || y === null) return (x === null) - (y === null); // nothing comes last
      const sign = down ? -1 : 1;
      return sign * (numeric[by] ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
    };
    function fill() {
      let rows = section.rows.filter((row) => !wanted || row.some((v) => typeof v === "string" && v.toLowerCase().includes(wanted)));
      if (by >= 0) rows = [...rows].sort(compare);
      body.replaceChildren();
      for (const row of rows.slice(0, most)) {
        const tr = add(body, "tr");
        row.forEach((value, c) => add(tr, "td", { class: numeric[c] ? "figure" : "text" }, figure(value)));
        if (names >= 0) pickable(tr, String(row[names]));
      }
      if (!rows.length) add(add(body, "tr"), "td", { class: "empty", colspan: section.columns.length }, "Nothing found.");
      more.hidden = rows.length <= most;
      more.textContent = `Show all ${rows.length.toLocaleString("en")}`;
      mark(body);
    }
    fill();
  }

  const draw = { bars, pictures, scatter, heat, curves, table };
  for (const section of data.sections) draw[section.kind](section);

  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.dataset.was = d.open; d.open = true; }));
  addEventListener("afterprint", () => document.querySelectorAll("details").forEach((d) => { d.open = d.dataset.was === "true"; }));
  document.documentElement.dataset.ready = "true";
})();
