// SPDX-License-Identifier: MIT
'use strict';

const $ = (id) => document.getElementById(id);

function setState(state, text) {
  $('state').dataset.state = state;
  $('state').textContent = text;
}

// times are when things happened, in ms since the page began, for tests and the
// console.
const times = {};
const mark = (name) => (times[name] ??= Math.round(performance.now()));

// post opens a WHIP or WHEP session: offer out, answer in.
// It returns the session's address. look sees the answer before it counts.
async function post(pc, endpoint, token, look) {
  await pc.setLocalDescription();
  // A server of ours knows the page by what it sends; another may want candidates.
  if (new URL(endpoint, location).origin !== location.origin) await gathered(pc);
  mark('asked');
  const headers = { 'Content-Type': 'application/sdp' };
  if (token) headers.Authorization = 'Bearer ' + token;
  const r = await fetch(endpoint, { method: 'POST', headers, body: pc.localDescription.sdp }).catch(() => {
    throw new Error('no answer from the server, trying again');
  });
  const text = await r.text();
  if (r.status !== 201) throw Object.assign(new Error(text.trim() || `HTTP status ${r.status}`), { status: r.status });
  mark('answered');
  pc.addEventListener('connectionstatechange', () => pc.connectionState === 'connected' && mark('connected'));
  await look?.(text);
  await pc.setRemoteDescription({ type: 'answer', sdp: text });
  return new URL(r.headers.get('Location'), r.url).href;
}

function gathered(pc) {
  return Promise.race([
    new Promise((done) => {
      const complete = () => pc.iceGatheringState === 'complete' && done();
      pc.addEventListener('icegatheringstatechange', complete);
      complete();
    }),
    new Promise((done) => setTimeout(done, 500)), // what comes later is not needed on a public server
  ]);
}

// onGoodbye tells when the far end has closed DTLS, long before ICE finds out.
function onGoodbye(pc, f) {
  const transport = [...pc.getSenders(), ...pc.getReceivers()].map((x) => x.transport).find(Boolean);
  transport?.addEventListener('statechange', () => ['closed', 'failed'].includes(transport.state) && f());
}

// leave ends a session, also while the page goes.
function leave(session, token) {
  const headers = token ? { Authorization: 'Bearer ' + token } : {};
  return fetch(session, { method: 'DELETE', headers, keepalive: true }).catch(() => {});
}

// ---- charts: a row of numbers a second of time, the last two minutes ----

const KEPT = 240; // at two rows a second
const began = performance.now();

class Charts {
  // panels: [{title, unit, series: [{label, color}]}]
  constructor(panels) {
    this.xs = [];
    this.panels = panels.map((p) => ({ ...p, data: p.series.map(() => []) }));
    const style = getComputedStyle(document.documentElement);
    const paint = (c) => () => style.getPropertyValue('--' + c).trim(); // which light and dark may change
    for (const p of this.panels) {
      const box = document.createElement('div');
      box.className = 'panel';
      const head = document.createElement('div');
      head.className = 'head';
      const h = document.createElement('h2');
      const unit = document.createElement('small');
      unit.textContent = p.unit;
      h.append(p.title, unit);
      const legend = document.createElement('div');
      legend.className = 'legend';
      p.out = p.series.map((s) => {
        const b = document.createElement('span');
        const o = document.createElement('output');
        const i = document.createElement('i');
        i.style.setProperty('--c', `var(--${s.color})`);
        b.append(i, ' ' + s.label + ' ', o);
        legend.append(b);
        return o;
      });
      head.append(h, legend);
      box.append(head);
      $('panels').append(box);
      const axis = { stroke: paint('dim'), grid: { stroke: paint('grid'), width: 1 }, ticks: { show: false } };
      p.plot = new uPlot({
        width: 200, height: 130, legend: { show: false }, cursor: { drag: { x: false } },
        scales: { x: { time: false }, y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.1 : 1] } },
        axes: [{ ...axis, size: 26 }, { ...axis, size: 60 }],
        series: [{}, ...p.series.map((s) => ({ stroke: paint(s.color), width: 2, points: { show: false } }))],
      }, [[], ...p.data], box);
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => p.plot.redraw(false, true));
      // Not the window's size alone: a scroll bar comes and goes.
      new ResizeObserver(() => p.plot.setSize({ width: Math.max(200, box.clientWidth), height: 130 })).observe(box);
    }
  }

  // push takes a value for each series of each panel; null is a gap.
  push(rows) {
    const t = (performance.now() - began) / 1000;
    this.xs.push(t);
    if (this.xs.length > KEPT) this.xs.shift();
    this.panels.forEach((p, i) => {
      rows[i].forEach((v, j) => {
        p.data[j].push(Number.isFinite(v) ? v : null);
        if (p.data[j].length > KEPT) p.data[j].shift();
        p.out[j].textContent = Number.isFinite(v) ? v.toFixed(Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 10 ? 1 : 2) : '–';
      });
      p.plot.setData([this.xs, ...p.data]);
    });
    $('clock').textContent = t.toFixed(0) + ' s';
  }
}

// statsOf finds the first report that matches.
async function statsOf(pc, match) {
  for (const s of (await pc.getStats()).values()) if (match(s)) return s;
  return null;
}
