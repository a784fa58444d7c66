// SPDX-License-Identifier: MIT
'use strict';

const $ = (id) => document.getElementById(id);

function el(tag, props, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

// Colours are names of CSS variables, which differ between light and dark, or
// #rrggbb.
const cssColor = (c) => (c.startsWith('#') ? c : `var(--${c})`);
let styles = getComputedStyle(document.documentElement);
const paint = (c) => (c.startsWith('#') ? c : styles.getPropertyValue('--' + c).trim());

const LEFT = 60; // width of all vertical axes, so that the panels line up
const SPANS = [[0, 'all'], [60, '60 s'], [30, '30 s'], [10, '10 s']];

let page = null; // title, panels, history
let xs = []; // seconds
let cols = []; // values of each series: number, null (gap) or undefined (goes on)
let marks = [];
let plots = [];
let span = 0; // seconds shown, 0 for all
let zoom = null; // [from, to] while zoomed in
let finished = false;
let drawing = false;

function setState(state, text) {
  $('state').dataset.state = state;
  $('state').textContent = text;
}

// ---- updates ----

function receive(u) {
  if (u.page) begin(u.page);
  for (const t of u.t) xs.push(t);
  u.v.forEach((column, c) => {
    for (const v of column) cols[c].push(v === false ? undefined : v);
  });
  const extra = xs.length - page.history;
  // Cut in larger bites: shifting arrays on every update is slow.
  if (extra > page.history / 10) {
    xs.splice(0, extra);
    for (const c of cols) c.splice(0, extra);
  }
  if (u.marks) addMarks(u.marks);
  if (u.status) showBadges(u.status);
  if (u.summary) showSummary(u.summary);
  finished = Boolean(u.finished);
  if (finished) setState('end', 'finished');
  else if (xs.length) setState('live', 'live');
  else setState('wait', 'waiting for data');
  draw();
}

// begin starts anew: on connecting, and when the page fell behind.
function begin(p) {
  page = p;
  document.title = p.title;
  $('title').textContent = p.title;
  xs = [];
  marks = [];
  $('marks').replaceChildren();
  for (const q of plots) q.destroy();
  const hidden = new Set(plots.flatMap((q) => q.hidden()));
  $('panels').replaceChildren();
  cols = p.panels.flatMap((q) => q.series).map(() => []);
  plots = p.panels.map((q, i) => makePanel(q, i === p.panels.length - 1, i === 0, hidden));
  $('nomarks').hidden = false;
  resize();
}

function addMarks(list) {
  marks.push(...list);
  for (const m of list) {
    $('marks').prepend(el('li', {}, el('time', { textContent: m.t.toFixed(1) + ' s' }), el('span', { textContent: m.text })));
  }
  $('nomarks').hidden = marks.length > 0;
}

// colorOf finds the colour of a controller: that of its first series.
function colorOf(name) {
  const s = page.panels.flatMap((p) => p.series).find((q) => q.key.startsWith(name + '.'));
  return s ? cssColor(s.color) : '';
}

function showBadges(list) {
  $('badges').replaceChildren(...list.map((s) => {
    const b = el('span', { className: 'badge' }, el('b', { textContent: s.key }), s.text);
    b.style.setProperty('--c', colorOf(s.key) || 'var(--dim)');
    return b;
  }));
}

function showSummary(s) {
  $('summary').hidden = !s.rows || s.rows.length === 0;
  if ($('summary').hidden) return;
  const isNumber = s.columns.map((_, c) => c > 0 && s.rows.every((r) => !r[c] || /^[-+]?[0-9.]/.test(r[c])));
  const cls = (c) => (isNumber[c] ? 'num' : c === 0 ? 'name' : '');
  $('summary').querySelector('table').replaceChildren(
    el('thead', {}, el('tr', {}, ...s.columns.map((t, c) => el('th', { textContent: t, className: isNumber[c] ? 'num' : '' })))),
    el('tbody', {}, ...s.rows.map((r) => el('tr', {}, ...r.map((t, c) => {
      const td = el('td', { textContent: t, className: cls(c) });
      if (c === 0) td.style.setProperty('--c', colorOf(t) || 'var(--dim)');
      return td;
    })))),
  );
}

// ---- charts ----

const format = (v) => {
  if (v == null) return '–';
  const a = Math.abs(v);
  return v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2);
};

// valueAt looks back over values that were not pushed at this instant.
function valueAt(col, i) {
  while (i >= 0 && col[i] === undefined) i--;
  return i < 0 ? null : col[i];
}

function makePanel(p, isLast, isFirst, hidden) {
  const legend = el('div', { className: 'legend' });
  const box = el('div');
  $('panels').append(el('div', { className: 'panel' },
    el('div', { className: 'head' }, el('h2', { textContent: p.title }, el('small', { textContent: p.unit })), legend), box));

  // Filled areas lie behind the lines.
  const order = [...p.series].sort((a, b) => b.fill - a.fill);
  const outputs = new Map();
  const off = new Set(p.series.map((s) => s.key).filter((k) => hidden.has(k)));
  for (const s of p.series) {
    const out = el('output', { textContent: '–' });
    const i = el('i', { className: s.fill ? 'fill' : s.dash ? 'dash' : '' });
    i.style.setProperty('--c', cssColor(s.color));
    const b = el('button', { type: 'button' }, i, s.label, out);
    b.setAttribute('aria-pressed', String(!off.has(s.key)));
    b.addEventListener('click', () => {
      const show = off.has(s.key);
      if (show) off.delete(s.key); else off.add(s.key);
      b.setAttribute('aria-pressed', String(show));
      plot.setSeries(order.indexOf(s) + 1, { show });
    });
    legend.append(b);
    outputs.set(s, out);
  }

  const axis = { stroke: () => paint('dim'), font: '11px system-ui, sans-serif', grid: { stroke: () => paint('grid'), width: 1 }, ticks: { show: false } };
  const plot = new uPlot({
    width: 600,
    height: 160,
    padding: [10, 12, isLast ? 0 : 4, 0],
    legend: { show: false },
    cursor: {
      y: false,
      sync: { key: 'dashboard' },
      drag: { x: true, y: false, setScale: false },
      points: { size: 7 },
      bind: { dblclick: () => () => { zoom = null; draw(); return null; } },
    },
    scales: {
      x: { time: false },
      y: { range: (_, min, max) => yRange(p, min, max) },
    },
    axes: [
      { ...axis, size: isLast ? 26 : 0, gap: 4, values: isLast ? (_, ticks) => ticks.map((t) => t + ' s') : (_, ticks) => ticks.map(() => ''), space: 70 },
      { ...axis, size: LEFT, gap: 6, space: 28 },
    ],
    series: [{}, ...order.map((s) => ({
      label: s.label,
      show: !off.has(s.key),
      stroke: () => paint(s.color),
      width: s.fill ? 1 : 1.8,
      fill: s.fill ? () => paint(s.color) + '40' : undefined,
      dash: s.dash ? [6, 4] : undefined,
      points: { show: false },
    }))],
    hooks: {
      draw: [(u) => drawMarks(u, isFirst)],
      setCursor: [() => showValues()],
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        zoom = [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')];
        for (const q of plots) q.plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        draw();
      }],
    },
  }, [[], ...order.map(() => [])], box);
  plot.root.setAttribute('aria-label', `${p.title} over time`);

  function showValues() {
    const i = plot.cursor.idx ?? xs.length - 1;
    for (const [s, out] of outputs) out.textContent = format(valueAt(cols[s.col], i));
  }

  return {
    plot,
    showValues,
    destroy: () => plot.destroy(),
    hidden: () => [...off],
    draw(from, to) {
      plot.batch(() => {
        plot.setData([xs, ...order.map((s) => cols[s.col])], false);
        plot.setScale('x', { min: from, max: to });
      });
      showValues();
    },
  };
}

function yRange(p, min, max) {
  let low = Math.min(0, min ?? 0);
  let high = Math.max(max ?? 0, p.max);
  if (p.limit) high = Math.min(high, p.limit);
  if (high <= low) high = low + 1;
  return [low === 0 ? 0 : low * 1.05, high === p.limit ? high : high * 1.06];
}

// Every chart has the lines, the first one the words too, where there is room.
function drawMarks(u, words) {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const px = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = paint('mark');
  ctx.lineWidth = px;
  ctx.setLineDash([3 * px, 3 * px]);
  ctx.font = `${11 * px}px system-ui, sans-serif`;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  const seen = marks.map((m) => [Math.round(u.valToPos(m.t, 'x', true)), m.text]).filter(([x]) => x >= left && x <= left + width);
  for (const [x] of seen) {
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
  }
  let free = left; // where the last word ended
  for (const [x, text] of words ? seen : []) {
    const w = ctx.measureText(text).width;
    const at = x + w + 8 * px > left + width ? x - w - 4 * px : x + 4 * px;
    if (at < free) continue;
    ctx.globalAlpha = .85;
    ctx.fillStyle = paint('card');
    ctx.fillRect(at - 2 * px, top, w + 4 * px, 13 * px);
    ctx.globalAlpha = 1;
    ctx.fillStyle = paint('mark');
    ctx.fillText(text, at, top + px);
    free = at + w + 6 * px;
  }
  ctx.restore();
}

// draw is cheap to call: it draws once in the next frame.
function draw() {
  if (drawing || !page) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const last = Math.max(xs.at(-1) ?? 0, marks.at(-1)?.t ?? 0);
    const first = Math.min(xs[0] ?? 0, last);
    const from = zoom ? zoom[0] : span ? last - span : first;
    const to = zoom ? zoom[1] : Math.max(last, from + 1);
    for (const q of plots) q.draw(from, to);
    $('clock').textContent = last.toFixed(1) + ' s';
  });
}

function resize() {
  if (!plots.length) return;
  const width = $('panels').clientWidth;
  // All panels fit on the screen when they can.
  const room = (innerHeight - $('panels').getBoundingClientRect().top - scrollY - 40) / plots.length - 34;
  const height = Math.round(Math.min(260, Math.max(110, room)));
  plots.forEach((q, i) => q.plot.setSize({ width, height: height + (i === plots.length - 1 ? 22 : 0) }));
  draw();
}

for (const [s, text] of SPANS) {
  const b = el('button', { type: 'button', textContent: text });
  b.setAttribute('aria-pressed', String(s === span));
  b.addEventListener('click', () => {
    span = s;
    zoom = null;
    for (const c of $('spans').children) c.setAttribute('aria-pressed', String(c === b));
    draw();
  });
  $('spans').append(b);
}
new ResizeObserver(resize).observe($('panels'));
addEventListener('resize', resize);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  styles = getComputedStyle(document.documentElement);
  for (const q of plots) q.plot.redraw(true, true);
});

// EventSource reconnects by itself where it can, and then gets the whole history
// anew. After the end there is nothing to reconnect for.
function connect() {
  const source = new EventSource('events');
  source.onmessage = (m) => {
    receive(JSON.parse(m.data));
    if (finished) source.close();
  };
  source.onerror = () => {
    if (finished) return;
    setState('lost', 'connection lost, trying again');
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
  };
}
connect();
