"use strict";
// Data arrives deflated in base64 (see payload.py). All text is set with textContent: nothing in a trial is markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") node.textContent = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((c) => c !== null));
    return node;
  };
  const unpack = async (id) => {
    const packed = Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const show = (value, digits = 2) =>
    value === null || value === undefined || value === "" ? "-" : typeof value === "number" ? value.toFixed(typeof digits === "function" ? digits(value) : digits) : String(value);
  const options = (select, values, label = (v) => v) =>
    select.append(...values.map((v) => el("option", { value: v, text: label(v) })));

  // ---- theme ----------------------------------------------------------------------------------------------------
  const THEMES = ["system", "light", "dark"];
  const remember = (name) => { try { localStorage.setItem("ireebench-theme", name); } catch { /* a page from a file may not store */ } };
  const remembered = () => { try { return localStorage.getItem("ireebench-theme"); } catch { return null; } };
  const setTheme = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    $("theme").textContent = `Theme: ${name}`;
    $("theme").setAttribute("aria-label", `Theme: ${name}. Press to change.`);
    $("theme").dataset.now = name;
  };
  setTheme(THEMES.includes(remembered()) ? remembered() : "system");
  $("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf($("theme").dataset.now) + 1) % THEMES.length];
    setTheme(next);
    remember(next);
  });
  $("published").addEventListener("change", (e) => document.documentElement.classList.toggle("show-published", e.target.checked));

  // ---- the table ------------------------------------------------------------------------------------------------
  let data, columns, order = [], rank = [], shown = [], sort = { key: "p", down: false }, page = 0;
  const COLUMNS = [
    { key: "p", title: "Problem", cell: (i) => data.problems[columns.p[i]], by: (i) => columns.p[i] },
    { key: "label", title: "Candidate" },
    { key: "ship", title: "Ships" },
    { key: "status", title: "Status" },
    { key: "cache", title: "Cache" },
    { key: "us", title: "Median us", number: true, digits: 2 },
    { key: "iqr", title: "IQR us", number: true, digits: 2 },
    { key: "span", title: "Span us", number: true, digits: 2 },
    { key: "gbs", title: "GB/s", number: true, digits: (v) => (v < 10 ? 2 : v < 100 ? 1 : 0) },
    { key: "ceil", title: "% ceiling", number: true, digits: 1 },
    { key: "vsd", title: "vs stock IREE", number: true, digits: 2 },
    { key: "vsb", title: "vs best baseline", number: true, digits: 2 },
  ];
  const DEVICE = { key: "e", title: "Device", cell: (i) => data.devices[columns.e[i]], by: (i) => data.devices[columns.e[i]] };
  const valueOf = (column, i) => (column.by ? column.by(i) : columns[column.key][i]);
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));

  const header = () => {
    const row = $("table").tHead.rows[0];
    row.replaceChildren(...COLUMNS.map((column) => {
      const button = el("button", { type: "button", text: column.title, onclick: () => sortBy(column.key) });
      return el("th", { scope: "col", "data-key": column.key, class: column.number ? "n" : null }, button);
    }));
  };
  const sortBy = (key) => {
    sort = { key, down: sort.key === key ? !sort.down : false };
    refresh();
  };
  const matches = () => {
    const words = $("q").value.toLowerCase().split(/\s+/).filter(Boolean);
    const exact = ["p", "variant", "status", "ship", "cache"].map((k) => [k, $(`f-${k}`).value]).filter(([, v]) => v !== "");
    return order.filter((i) => exact.every(([k, v]) => String(columns[k][i]) === v) && words.every((w) => columns.text[i].includes(w)));
  };
  const refresh = () => {
    const column = COLUMNS.find((c) => c.key === sort.key);
    const sign = sort.down ? -1 : 1;
    const empty = (v) => v === null || v === "";
    shown = matches().sort((a, b) => {
      const x = valueOf(column, a), y = valueOf(column, b);
      if (empty(x) || empty(y)) return empty(x) - empty(y) || rank[a] - rank[b];
      return sign * compare(x, y) || rank[a] - rank[b];
    });
    page = 0;
    for (const th of $("table").tHead.rows[0].cells) {
      if (th.dataset.key === sort.key) th.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
    draw();
  };
  const draw = () => {
    const size = Number($("size").value), pages = Math.max(1, Math.ceil(shown.length / size));
    page = Math.min(page, pages - 1);
    const body = shown.slice(page * size, (page + 1) * size).map(rowOf);
    $("table").tBodies[0].replaceChildren(...body);
    $("count").textContent = shown.length === order.length ? `${order.length} rows` : `${shown.length} of ${order.length} rows`;
    $("page").textContent = `Page ${page + 1} of ${pages}`;
    $("prev").disabled = page === 0;
    $("next").disabled = page === pages - 1;
  };
  const split = (label) => { if (label.startsWith("baseline ")) return [label, ""]; const at = label.indexOf(" "); return at < 0 ? [label, ""] : [label.slice(0, at), label.slice(at + 1).replaceAll(",", ", ")]; };
  const rowOf = (i) => el("tr", { "data-row": i }, ...COLUMNS.map((column) => {
    if (column.key === "label") {
      const [what, config] = split(columns.label[i]);
      const name = el("button", { type: "button", class: "open", "aria-haspopup": "dialog", "aria-label": columns.label[i], text: what, onclick: () => openDrawer(i) });
      const tags = [columns.best[i] ? el("span", { class: "tag best", text: "best" }) : null, columns.ships[i] ? el("span", { class: "tag ships", text: "best that ships" }) : null];
      return el("td", {}, name, ...tags, el("div", { class: "small", text: config }));
    }
    if (column.key === "p") {
      const [id, rest] = split(data.problems[columns.p[i]]);
      return el("td", {}, id, el("div", { class: "small", text: rest }));
    }
    const value = column.cell ? column.cell(i) : columns[column.key][i];
    const cell = el("td", { class: column.number ? "n" : null, text: show(value, column.digits) });
    if (column.key === "status" && value !== "ok") cell.classList.add("bad");
    if (column.key === "ceil" && columns.doubt[i]) {
      cell.classList.add("bad");
      cell.append(el("span", { class: "tag", text: "implausible" }));
    }
    return cell;
  }));
  const move = (step) => { page += step; draw(); $("table").querySelector(".open")?.focus(); };

  // ---- one problem: heat map and samples ------------------------------------------------------------------------
  const AXES = [["SG", "PR"], ["DIST", "VEC"], ["ST", "TH"]];
  const tileOf = (rows) => { const onAxis = axesOf(rows)?.[0] === "ST"; return (i) => (onAxis ? 0 : columns.config[i].ST ?? 0); };
  const chosen = () => ({ p: Number($("x-problem").value.split("/")[1]), e: Number($("x-problem").value.split("/")[0]), cache: $("x-cache").value, variant: $("x-variant").value });
  const axesOf = (rows) => AXES.find(([x, y]) => rows.some((i) => columns.config[i][x] || columns.config[i][y]));
  const unique = (values) => [...new Set(values)];

  const chooseProblem = () => {
    const { p, e } = chosen();
    const mine = order.filter((i) => columns.p[i] === p && columns.e[i] === e);
    const keep = (select, values) => {
      const before = select.value;
      select.replaceChildren();
      options(select, values);
      if (values.includes(before)) select.value = before;
    };
    keep($("x-cache"), unique(mine.map((i) => columns.cache[i]).filter(Boolean)));
    const tuned = unique(mine.filter((i) => axesOf([i])).map((i) => columns.variant[i]));
    const best = mine.find((i) => columns.best[i] && columns.cache[i] === $("x-cache").value);
    keep($("x-variant"), tuned);
    if (best !== undefined && tuned.includes(columns.variant[best])) $("x-variant").value = columns.variant[best];
    chooseVariant();
    drawSpread();
  };
  const heatRows = () => {
    const { p, e, cache, variant } = chosen();
    return order.filter((i) => columns.p[i] === p && columns.e[i] === e && columns.variant[i] === variant && (columns.cache[i] === cache || columns.cache[i] === "") && axesOf([i]));
  };
  const chooseVariant = () => {
    const rows = heatRows();
    const tiles = unique(rows.map(tileOf(rows)).filter(Boolean)).sort((a, b) => a - b);
    $("x-split-label").hidden = tiles.length === 0;
    $("x-split").replaceChildren();
    options($("x-split"), tiles);
    $("x-split").prepend(el("option", { value: "", text: "all", selected: "" }));
    drawHeat();
  };
  const drawHeat = () => {
    const split = $("x-split").value;
    const rows = heatRows().filter((i) => !split || String(columns.config[i].ST) === split);
    const axes = axesOf(rows);
    if (!axes) { $("heat").replaceChildren(el("p", { text: "No tuned candidate here: nothing to map." })); return; }
    const times = rows.filter((i) => columns.status[i] === "ok").map((i) => columns.us[i]).filter((v) => v !== null);
    const scale = { low: Math.min(...times), high: Math.min(Math.max(...times), Math.min(...times) * 8) };
    const tile = tileOf(rows);
    const maps = unique(rows.map(tile)).sort((a, b) => a - b).map((n) => heatTable(axes, rows.filter((i) => tile(i) === n), scale, n));
    $("heat").replaceChildren(el("p", { class: "note", text: "Best median us over the other knobs; darkest is fastest, and outlined." }), el("div", { class: "maps" }, ...maps));
  };
  const heatTable = ([x, y], rows, scale, tile) => {
    const at = (i, axis) => columns.config[i][axis] ?? 0;
    const xs = unique(rows.map((i) => at(i, x))).sort((a, b) => a - b), ys = unique(rows.map((i) => at(i, y))).sort((a, b) => a - b);
    const corner = ys.length === 1 && ys[0] === 0 ? x : `${y} \\ ${x}`;
    const head = el("tr", {}, el("th", { scope: "col", text: corner }), ...xs.map((v) => el("th", { scope: "col", text: `${x} ${v || "-"}` })));
    const body = ys.map((v) => el("tr", {}, el("th", { scope: "row", text: v ? `${y} ${v}` : "us" }), ...xs.map((w) => heatCell(rows.filter((i) => at(i, x) === w && at(i, y) === v), scale))));
    const caption = el("caption", { class: tile ? null : "sr", text: tile ? `ST ${tile}` : "No split" });
    return el("table", { class: "heat" }, caption, el("thead", {}, head), el("tbody", {}, ...body));
  };
  const heatCell = (rows, { low, high }) => {
    const timed = rows.filter((i) => columns.us[i] !== null && columns.status[i] === "ok").sort((a, b) => columns.us[a] - columns.us[b]);
    if (!timed.length) {
      const ok = rows.some((i) => columns.status[i] === "ok");
      return el("td", { class: "none", text: ok ? "compiled" : rows.length ? "failed" : "", title: rows.length && !ok ? columns.reason[rows[0]] : null });
    }
    const best = timed[0], us = columns.us[best];
    const share = high > low ? Math.min(1, Math.log(us / low) / Math.log(high / low)) : 0;
    const fast = Math.round(100 * (1 - share));
    const top = us === low;
    const cell = el("td", { class: top ? "chosen" : null, title: `${columns.label[best]}: ${us.toFixed(2)} us; ${timed.length} candidates` }, `${us.toFixed(2)}`);
    if (top) cell.append(el("span", { class: "sr", text: " fastest" }));
    cell.style.background = `color-mix(in oklab, var(--heat-high) ${fast}%, var(--heat-low))`;
    cell.style.color = fast > 50 ? "var(--card)" : "var(--ink)";
    return cell;
  };

  const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) if (name === "text") node.textContent = value; else node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const drawSpread = () => {
    const { p, e, cache } = chosen();
    const found = data.spreads.find((s) => s.p === p && s.e === e && s.cache === cache);
    if (!found) { $("spread").replaceChildren(el("p", { text: "No raw samples are stored for this problem." })); return; }
    const width = 600, left = 20, right = width - 20, step = 58, bottom = 20 + step * found.rows.length;
    const x = (percent) => left + ((percent - found.low) / (found.high - found.low)) * (right - left);
    const parts = [];
    for (const percent of ticks(found.low, found.high)) {
      parts.push(svg("line", { x1: x(percent), x2: x(percent), y1: 8, y2: bottom, class: percent === 0 ? "one" : "grid" }));
      parts.push(svg("text", { x: x(percent), y: bottom + 16, class: "tick", "text-anchor": "middle", text: `${percent > 0 ? "+" : ""}${percent}%` }));
    }
    found.rows.forEach((row, n) => {
      const base = 20 + step * (n + 1) - 8, top = Math.max(...row.counts), bin = (right - left) / row.counts.length;
      const path = row.counts.map((c, i) => `L${(left + i * bin).toFixed(1)} ${(base - (24 * c) / top).toFixed(1)}H${(left + (i + 1) * bin).toFixed(1)}`).join("");
      parts.push(svg("path", { d: `M${left} ${base}${path}V${base}Z`, class: row.baseline ? "hump baseline" : "hump" }));
      const name = split(row.label)[0];
      const label = svg("text", { x: left, y: base - 31, class: "label" }, svg("title", { text: row.label }));
      label.append(`${name}: ${row.us.toFixed(2)} us (${row.samples} samples, ${row.processes} ${row.processes === 1 ? "process" : "processes"})`);
      parts.push(label);
    });
    const title = svg("title", { id: "spread-title", text: `Distribution of the samples of ${found.rows.length} candidates and baselines, in percent off each one's median` });
    const chart = svg("svg", { viewBox: `0 0 ${width} ${bottom + 40}`, class: "chart", role: "img", "aria-labelledby": "spread-title" }, title, ...parts,
      svg("text", { x: width / 2, y: bottom + 34, class: "axis", "text-anchor": "middle", text: "percent off each one's own median; the first and last bins count what lies beyond" }));
    $("spread").replaceChildren(chart);
  };
  const ticks = (low, high) => {
    const step = [0.2, 0.5, 1, 2, 5, 10, 20, 50].find((s) => (high - low) / s <= 9) ?? 100;
    const found = [];
    for (let t = Math.ceil(low / step); t * step <= high; t++) found.push(Math.round(t * step * 10) / 10);
    return found;
  };

  // ---- the drawer -----------------------------------------------------------------------------------------------
  const chunks = new Map();
  let open = null;
  const detailOf = async (i) => {
    const n = Math.floor(columns.t[i] / data.chunk);
    if (!chunks.has(n)) chunks.set(n, unpack(`chunk-${n}`));
    const chunk = await chunks.get(n);
    return { ...chunk.trials[columns.t[i] % data.chunk], texts: chunk.texts };
  };
  const openDrawer = async (i) => {
    open = i;
    const d = await detailOf(i);
    if (open !== i) return;
    $("d-title").textContent = `${data.problems[columns.p[i]]}: ${columns.label[i]}`;
    $("d-body").replaceChildren(...drawerParts(i, d));
    const place = shown.indexOf(i);
    $("d-prev").disabled = place <= 0;
    $("d-next").disabled = place < 0 || place === shown.length - 1;
    if (!$("drawer").open) $("drawer").showModal();
    $("drawer").scrollTop = 0;
    $("d-title").focus();
  };
  const facts = (pairs) => el("dl", { class: "facts" }, ...pairs.filter(([, v]) => v !== null && v !== undefined && v !== "").map(([k, v]) => el("div", {}, el("dt", { text: k }), el("dd", { text: String(v) }))));
  const grid = (title, heads, rows) => el("div", { class: "scroll" }, el("table", { class: "plain" }, el("caption", { text: title }),
    el("thead", {}, el("tr", {}, ...heads.map((h, n) => el("th", { scope: "col", text: h, class: rows.length && rows.every((r) => typeof r[n] === "number") ? "n" : null })))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((v) => el("td", { class: typeof v === "number" ? "n" : null, text: v === null || v === undefined ? "-" : Array.isArray(v) ? v.join(typeof v[0] === "number" ? "x" : ", ") : String(v) })))))));
  const code = (title, content, wrap) => {
    const copy = el("button", { type: "button", text: "Copy", "aria-label": `Copy ${title}`, onclick: async () => {
      try { await navigator.clipboard.writeText(content); copy.textContent = "Copied"; } catch { getSelection().selectAllChildren(block); copy.textContent = "Selected"; }
    } });
    const block = el("pre", { text: content, tabindex: "0", class: wrap ? "wrap" : null, "aria-label": title });
    return el("section", {}, el("div", { class: "pre-head" }, el("h3", { text: title }), copy), block);
  };
  const drawerParts = (i, d) => {
    const parts = [], text = (n) => (n === null || n === undefined ? null : d.texts[n]);
    if (columns.status[i] !== "ok") {
      parts.push(el("div", { class: "reason" }, el("p", {}, el("strong", { text: columns.status[i] })), el("p", { text: d.reason ?? "no reason recorded" }), d.known ? el("p", { text: `Known: ${d.known}` }) : null));
    }
    const config = Object.entries(columns.config[i]).map(([k, v]) => `${k}=${v}`).join(", ");
    const check = d.check ? `${d.check.ok ? "right" : "wrong"}, by the ${d.check.by}${d.check.first_index === undefined ? "" : d.check.first_index ? "; first index on ties" : "; not always the first index on ties"}${d.check.max_ulp === undefined ? "" : `; at most ${d.check.max_ulp} ulp off`}` : "not checked";
    parts.push(facts([["status", `${columns.status[i]}, ${columns.stage[i]}`], ["target", d.target], ["device", data.devices[columns.e[i]]], ["form", columns.form[i]],
      ["configuration", config || (columns.variant[i] === "baseline" ? null : "the compiler's own choice")], ["configuration applied", d.applied === null ? null : d.applied ? "yes, read from the compiler's dumps" : "no"],
      ["ships by", columns.ship[i]], ["check", check], ["timer", d.timer], ["compile seconds", d.compile_s], ["compile key", d.compile_key], ["measure key", d.measure_key]]));
    if (d.runs.length) {
      parts.push(grid("Runs: us of one call; process 0 and those below it search, the later ones are quoted", ["process", "cache", "samples", "q1", "median", "q3", "span"], d.runs.map((r) => [r.process, r.cache, r.samples, ...r.us])));
      const last = d.runs[d.runs.length - 1];
      if (last.kernels.length) parts.push(grid("Kernels of one call", ["kernel", "median us", "registers", "shared bytes"], last.kernels));
      const foreign = d.runs.flatMap((r) => r.foreign);
      if (foreign.length) parts.push(grid("Records left out", ["cause", "count"], foreign));
    }
    if (d.kernels.length) {
      const keys = unique(d.kernels.flatMap((k) => Object.keys(k)));
      parts.push(grid("Evidence: what the compiler's dumps say of each dispatch", ["", ...d.kernels.map((k, n) => `dispatch ${n}`)], keys.map((k) => [k.replaceAll("_", " "), ...d.kernels.map((e) => e[k])])));
    }
    if (d.lints) parts.push(el("section", {}, el("h3", { text: "Lints of the assembly" }), d.lints.length ? el("ul", {}, ...d.lints.map((l) => el("li", { text: l }))) : el("p", { text: "None." })));
    else if (d.kernels.length && d.target.startsWith("gfx")) parts.push(el("section", {}, el("h3", { text: "Lints of the assembly" }), el("p", { text: "Not read for this page, or no longer in the compile cache: ireebench isa reads the assembly." })));
    const command = text(d.command), spec = text(d.spec), mlir = text(d.mlir);
    if (command) parts.push(code("Command line", command, true));
    if (spec) parts.push(code("Tuning spec", spec));
    if (mlir) parts.push(code("MLIR", mlir));
    return parts;
  };
  const step = (by) => { const next = shown[shown.indexOf(open) + by]; if (next !== undefined) openDrawer(next); };

  // ---- start ----------------------------------------------------------------------------------------------------
  const start = async () => {
    data = await unpack("rows");
    columns = data.columns;
    const count = columns.t.length;
    const last = (i) => columns.us[i] ?? Infinity;
    order = Array.from({ length: count }, (_, i) => i).sort((a, b) => columns.p[a] - columns.p[b] || (last(a) === last(b) ? a - b : last(a) - last(b)));
    order.forEach((i, n) => { rank[i] = n; });
    columns.text = columns.t.map((_, i) => `${data.problems[columns.p[i]]} ${columns.label[i]} ${columns.variant[i]} ${columns.status[i]} ${columns.ship[i]} ${columns.reason[i]}`.toLowerCase());
    if (data.devices.length > 1) COLUMNS.splice(1, 0, DEVICE);
    header();
    options($("f-p"), data.problems.map((_, i) => i), (i) => data.problems[i]);
    for (const key of ["variant", "status", "ship", "cache"]) options($(`f-${key}`), unique(columns[key]).filter(Boolean).sort());
    const pairs = unique(order.map((i) => `${columns.e[i]}/${columns.p[i]}`));
    options($("x-problem"), pairs, (v) => { const [e, p] = v.split("/"); return data.problems[p] + (data.devices.length > 1 ? ` on ${data.devices[e]}` : ""); });
    for (const id of ["f-p", "f-variant", "f-status", "f-ship", "f-cache"]) $(id).addEventListener("change", refresh);
    let timer;
    $("q").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, 80); });
    $("reset").addEventListener("click", () => { for (const id of ["q", "f-p", "f-variant", "f-status", "f-ship", "f-cache"]) $(id).value = ""; refresh(); });
    $("size").addEventListener("change", draw);
    $("prev").addEventListener("click", () => move(-1));
    $("next").addEventListener("click", () => move(1));
    $("x-problem").addEventListener("change", chooseProblem);
    $("x-cache").addEventListener("change", () => { chooseVariant(); drawSpread(); });
    $("x-variant").addEventListener("change", chooseVariant);
    $("x-split").addEventListener("change", drawHeat);
    $("d-close").addEventListener("click", () => $("drawer").close());
    $("d-prev").addEventListener("click", () => step(-1));
    $("d-next").addEventListener("click", () => step(1));
    $("drawer").addEventListener("click", (e) => { if (e.target === $("drawer")) $("drawer").close(); });
    $("drawer").addEventListener("close", () => { $("table").querySelector(`[data-row="${open}"] .open`)?.focus(); open = null; });
    document.addEventListener("keydown", (e) => {
      if (e.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName) && !$("drawer").open) { e.preventDefault(); $("q").focus(); }
      if ((e.key === "ArrowDown" || e.key === "ArrowUp") && document.activeElement.classList?.contains("open")) {
        const row = document.activeElement.closest("tr");
        const to = (e.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling)?.querySelector(".open");
        if (to) { e.preventDefault(); to.focus(); }
      }
    });
    addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.dataset.was = d.open; d.open = true; }));
    addEventListener("afterprint", () => document.querySelectorAll("details").forEach((d) => { d.open = d.dataset.was === "true"; }));
    refresh();
    chooseProblem();
    document.documentElement.dataset.ready = "yes";
    performance.mark("ireebench-ready");
  };
  start().catch((error) => { $("count").textContent = `The trials could not be shown: ${error}`; throw error; });
})();
