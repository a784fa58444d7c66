// SPDX-License-Identifier: MIT
'use strict';

const charts = JSON.parse(document.getElementById('charts').textContent);
const styles = getComputedStyle(document.documentElement);
const paint = (name) => styles.getPropertyValue('--' + name).trim();
const font = '11px system-ui, sans-serif';
const plots = [];

function el(tag, props, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

const axis = () => ({
  stroke: () => paint('dim'), font, labelFont: font, labelSize: 16, labelGap: 2,
  grid: { stroke: () => paint('grid'), width: 1 }, ticks: { show: false },
});

// make draws a chart as wide as its box, and keeps it so.
function make(box, height, opts, data) {
  const plot = new uPlot({ width: Math.max(200, box.clientWidth), height, legend: { show: false }, ...opts }, data, box);
  plots.push({ plot, box, height });
  return plot;
}

// px is a number of CSS pixels on the canvas.
const px = (n) => n * devicePixelRatio;

function line(ctx, color, width, ...points) {
  ctx.strokeStyle = color;
  ctx.lineWidth = px(width);
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

// ---- over time ----

const tick = (v) => (v >= 1000 ? v / 1000 + ' s' : v + ' ms');
const logTicks = [1, 10, 100, 1000, 10000, 100000].flatMap((d) => [d, 2 * d, 3 * d, 5 * d, 7 * d]);

function logRange(floor) {
  return (_, min, max) => [Math.max(floor, Math.min(min ?? floor, 1e5) * .9), Math.max((max ?? floor) * 1.2, floor * 4)];
}

function timeCharts(c) {
  const box = document.getElementById('time-' + c.id);
  const xs = c.capacity.map((_, i) => +(i * c.every).toFixed(3));
  const off = new Set();
  const mine = [];
  const width = 62;

  function panel(title, unit, values, opts = {}) {
    box.append(el('div', { className: 'title' }, el('b', { textContent: title }), unit));
    const plotBox = el('div');
    box.append(plotBox);
    const first = opts.capacity ? [{
      label: 'capacity', stroke: () => paint('grey'), width: 1, fill: () => paint('grey') + '30', points: { show: false },
    }] : [];
    const plot = make(plotBox, opts.height ?? 170, {
      padding: [8, 10, 0, 0],
      cursor: { y: false, sync: { key: c.id }, points: { size: 6 } },
      scales: { x: { time: false, range: (_, a, b) => [a ?? 0, b ?? 1] }, y: opts.log ? { distr: 3, range: logRange(opts.floor) } : { range: (_, min, max) => [0, (max || 1) * 1.05] } },
      axes: [
        { ...axis(), size: 24, gap: 3, space: 70, values: (_, ts) => ts.map((t) => t + ' s') },
        opts.log
          ? { ...axis(), size: width, gap: 6, splits: (u) => logTicks.filter((v) => v >= u.scales.y.min && v <= u.scales.y.max), filter: (u, s) => thin(u, s, 'y', 22), values: (_, vs) => vs.map((v) => (v == null ? '' : tick(v))) }
          : { ...axis(), size: width, gap: 6, space: 30 },
      ],
      series: [{}, ...first, ...c.lines.map((l) => ({
        label: l.name, stroke: () => paint(l.color), width: 1.4, points: { show: false },
      }))],
      hooks: { draw: [(u) => drawWarmup(u), ...(opts.draw ? [opts.draw] : [])] },
    }, [xs, ...(opts.capacity ? [c.capacity.map((v) => v / 1000)] : []), ...c.lines.map(values)]);
    mine.push([plot, first.length + 1]);
  }

  panel('Target', 'Mbit/s, on the capacity of the radio', (l) => l.target.map((v) => v / 1000), { capacity: true, height: 210 });
  panel('Queue in the phone', 'longest wait of the packets that left, logarithmic', (l) => l.queue, { log: true, floor: 3 });
  panel('Playout latency', 'capture to render, logarithmic; bars at the bottom are freezes', (l) => l.playout, {
    log: true, floor: 30, height: 200, draw: (u) => drawFreezes(u, c.lines.filter((_, i) => !off.has(i))),
  });

  document.getElementById('legend-' + c.id).append(...c.lines.map((l, i) => {
    const b = el('button', { type: 'button', textContent: l.name });
    b.style.setProperty('--c', `var(--${l.color})`);
    b.setAttribute('aria-pressed', 'true');
    b.addEventListener('click', () => {
      const show = off.has(i);
      if (show) off.delete(i); else off.add(i);
      b.setAttribute('aria-pressed', String(show));
      for (const [plot, at] of mine) plot.setSeries(at + i, { show });
    });
    return b;
  }));
}

function drawWarmup(u) {
  const x = u.valToPos(charts.warmup, 'x', true);
  const { left, top, width, height } = u.bbox;
  if (x <= left || x > left + width) return;
  u.ctx.save();
  u.ctx.fillStyle = paint('dim') + '18';
  u.ctx.fillRect(left, top, x - left, height);
  u.ctx.fillStyle = paint('dim');
  u.ctx.font = `${px(10)}px system-ui, sans-serif`;
  u.ctx.textBaseline = 'top';
  u.ctx.textAlign = 'left';
  u.ctx.fillText('not counted', left + px(4), top + px(3));
  u.ctx.restore();
}

function drawFreezes(u, lines) {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  lines.filter((l) => l.frozen.length).forEach((l, i) => {
    u.ctx.fillStyle = paint(l.color);
    for (const [from, to] of l.frozen) {
      const a = u.valToPos(from, 'x', true);
      const b = u.valToPos(to, 'x', true);
      u.ctx.fillRect(a, top + height - px(5 * (i + 1)), Math.max(px(2), b - a), px(4));
    }
  });
  u.ctx.restore();
}

// ---- goodput against latency ----

function scatterChart(c) {
  // One aligned table: a row for each point, a column for each line.
  const rows = [
    ...c.points.map((p, i) => ({ x: p.x[1], col: i, y: p.y[1] })),
    ...c.frontier.map(([x, y]) => ({ x, col: -1, y })),
  ].sort((a, b) => a.x - b.x);
  const xs = rows.map((r) => r.x);
  const column = (i) => rows.map((r) => (r.col === i ? r.y : null));
  const high = Math.max(c.capacity, ...c.points.map((p) => p.y[2]), ...c.frontier.map((f) => f[1])) * 1.08;
  // Whoever is seconds late would squeeze all others: such a scale is logarithmic.
  const low = Math.min(...xs, ...c.points.map((p) => p.x[0]));
  const far = Math.max(...xs, ...c.points.map((p) => p.x[2]));
  const log = far > 8 * low;
  const xTicks = [20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 3000, 5000, 10000, 20000];
  const margin = Math.max(6, (far - low) * .12);
  const plot = make(document.getElementById('scatter-' + c.id), 260, {
    padding: [8, 12, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
    scales: {
      x: { time: false, distr: log ? 3 : 1, range: () => (log ? [low * .85, far * 1.25] : [Math.max(0, low - margin), far + margin]) },
      y: { range: () => [0, high] },
    },
    axes: [
      {
        ...axis(), size: 26, gap: 3, space: 60, label: 'median playout latency, ms',
        ...(log ? { splits: (u) => xTicks.filter((v) => v >= u.scales.x.min && v <= u.scales.x.max), filter: (u, s) => thin(u, s, 'x', 36), values: (_, vs) => vs.map((v) => v ?? '') } : {}),
      },
      { ...axis(), size: 34, gap: 4, label: 'goodput, Mbit/s', space: 34 },
    ],
    series: [
      {},
      { label: 'frontier', stroke: () => paint('green'), width: 1.5, spanGaps: true, points: { show: true, size: 4 } },
      ...c.points.map((p) => ({
        label: p.name, stroke: () => paint(p.color), paths: () => null,
        points: { show: true, size: 10, fill: () => paint(p.color), stroke: () => paint('card'), width: 1 },
      })),
    ],
    hooks: { drawAxes: [(u) => drawCapacity(u, c.capacity)], draw: [(u) => drawSpread(u, c.points, c.names)] },
  }, [xs, column(-1), ...c.points.map((_, i) => column(i))]);
  plot.root.setAttribute('aria-label', 'goodput against median playout latency');
}

// thin keeps the ticks that have room for their numbers.
function thin(u, splits, scale, room) {
  let last = null;
  return splits.map((v) => {
    const at = u.valToPos(v, scale);
    if (last !== null && Math.abs(at - last) < room) return null;
    last = at;
    return v;
  });
}

function drawCapacity(u, capacity) {
  const y = u.valToPos(capacity, 'y', true);
  u.ctx.save();
  u.ctx.setLineDash([px(5), px(4)]);
  line(u.ctx, paint('dim'), 1, [u.bbox.left, y], [u.bbox.left + u.bbox.width, y]);
  u.ctx.restore();
}

function drawSpread(u, points, withNames) {
  u.ctx.save();
  u.ctx.globalAlpha = .55;
  for (const p of points) {
    const [x, y] = [u.valToPos(p.x[1], 'x', true), u.valToPos(p.y[1], 'y', true)];
    line(u.ctx, paint(p.color), 1.2, [u.valToPos(p.x[0], 'x', true), y], [u.valToPos(p.x[2], 'x', true), y]);
    line(u.ctx, paint(p.color), 1.2, [x, u.valToPos(p.y[0], 'y', true)], [x, u.valToPos(p.y[2], 'y', true)]);
  }
  u.ctx.globalAlpha = 1;
  u.ctx.font = `${px(10.5)}px system-ui, sans-serif`;
  u.ctx.textBaseline = 'middle';
  // Names beside the points, pushed down where they would overlap.
  const placed = [];
  const names = (withNames ? points : []).map((p) => ({ p, x: u.valToPos(p.x[1], 'x', true), y: u.valToPos(p.y[1], 'y', true) })).sort((a, b) => a.y - b.y);
  for (const n of names) {
    const w = u.ctx.measureText(n.p.name).width;
    const toLeft = n.x + px(9) + w > u.bbox.left + u.bbox.width;
    const left = toLeft ? n.x - px(9) - w : n.x + px(9);
    let { y } = n;
    while (placed.some((q) => left < q.right && q.left < left + w && Math.abs(q.y - y) < px(11))) y += px(2);
    placed.push({ left, right: left + w, y });
    u.ctx.fillStyle = paint(n.p.color);
    u.ctx.textAlign = 'left';
    u.ctx.fillText(n.p.name, left, y);
  }
  u.ctx.restore();
}

// ---- sweeps of one key ----

function curveCharts(c) {
  const grid = document.getElementById(c.id);
  for (const p of c.panels) {
    const title = el('figcaption', { textContent: p.title });
    if (p.lines.length > 1) {
      const names = p.lines.map((l) => {
        const i = el('i', { textContent: l.name });
        i.style.setProperty('--c', `var(--${l.color})`);
        return i;
      });
      title.append(el('span', { className: 'title' }, ...names));
    }
    const box = el('div');
    grid.append(el('figure', { className: 'card' }, title, box));
    const high = Math.max(...p.lines.flatMap((l) => l.y.map((y) => y[2]))) * 1.1 || 1;
    const pad = (c.values.at(-1) - c.values[0]) * .05 || 1;
    make(box, 200, {
      padding: [8, 12, 0, 0],
      cursor: { drag: { x: false, y: false }, y: false },
      scales: { x: { time: false, range: () => [c.values[0] - pad, c.values.at(-1) + pad] }, y: { range: () => [0, high] } },
      axes: [
        { ...axis(), size: 26, gap: 3, label: c.key, splits: () => c.values, filter: (u, s) => thin(u, s, 'x', 36), values: (_, vs) => vs.map((v) => v ?? '') },
        { ...axis(), size: 44, gap: 4, space: 34 },
      ],
      series: [{}, ...p.lines.map((l) => ({
        label: l.name, stroke: () => paint(l.color), width: 1.8, points: { show: true, size: 6, fill: () => paint(l.color) },
      }))],
      hooks: {
        draw: [(u) => {
          u.ctx.save();
          u.ctx.globalAlpha = .55;
          for (const l of p.lines) {
            l.y.forEach((y, i) => {
              const x = u.valToPos(c.values[i], 'x', true);
              line(u.ctx, paint(l.color), 1.2, [x, u.valToPos(y[0], 'y', true)], [x, u.valToPos(y[2], 'y', true)]);
            });
          }
          u.ctx.restore();
        }],
      },
    }, [c.values, ...p.lines.map((l) => l.y.map((y) => y[1]))]);
  }
}

// A long report is drawn as one comes to it.
const waiting = new Map();
const drawer = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    drawer.unobserve(target);
    waiting.get(target)();
    waiting.delete(target);
  }
}, { rootMargin: '800px 0px' });

function later(id, draw) {
  const box = document.getElementById(id);
  waiting.set(box, draw);
  drawer.observe(box);
}

addEventListener('beforeprint', () => {
  waiting.forEach((draw) => draw());
  waiting.clear();
});

charts.scatter.forEach((c) => later('scatter-' + c.id, () => scatterChart(c)));
charts.curves.forEach(curveCharts);
charts.time.forEach((c) => later(c.id, () => timeCharts(c)));

addEventListener('resize', () => {
  for (const { plot, box, height } of plots) {
    if (box.clientWidth !== plot.width) plot.setSize({ width: Math.max(200, box.clientWidth), height });
  }
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plots.forEach(({ plot }) => plot.redraw(true, true)));
