// SPDX-License-Identifier: MIT
'use strict';

const RETRY = 700; // ms
const SILENT = 4; // half seconds without a packet after which the page connects again,
const PATIENCE = 12; // and with none at all

// Another server's endpoint, which the page's policy has to allow.
const endpoint = new URLSearchParams(location.search).get('whep') ?? 'whep';

let live = null; // {pc, session}
let silent = 0;
let last = null;
let latest = null; // the newest inbound-rtp report, for tests and the console

const charts = new Charts([
  { title: 'Rate received', unit: 'Mbit/s', series: [{ label: 'video', color: 'blue' }] },
  { title: 'Frames decoded', unit: 'a second', series: [{ label: 'frames', color: 'green' }] },
  { title: 'Jitter buffer', unit: 'ms', series: [{ label: 'delay', color: 'purple' }, { label: 'target', color: 'grey' }] },
  { title: 'Frozen', unit: '% of the time', series: [{ label: 'frozen', color: 'red' }] },
]);

async function connect() {
  const mine = {};
  live = mine;
  silent = 0;
  last = null;
  setState('wait', 'connecting');
  const pc = (mine.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' }));
  pc.addTransceiver('video', { direction: 'recvonly' });
  pc.addTransceiver('audio', { direction: 'recvonly' });
  const stream = new MediaStream();
  pc.addEventListener('track', (e) => {
    stream.addTrack(e.track);
    $('video').srcObject = stream;
  });
  pc.addEventListener('connectionstatechange', () => {
    if (live === mine && (pc.connectionState === 'failed' || pc.connectionState === 'closed')) again('connection lost');
  });
  try {
    mine.session = await post(pc, endpoint);
    onGoodbye(pc, () => live === mine && again('the server has gone'));
    if (live !== mine) leave(mine.session);
  } catch (err) {
    if (live === mine) again(err.message);
  }
}

// again gives a connection up and tries another one a little later.
function again(why) {
  const mine = live;
  live = null;
  $('note').textContent = why;
  setState('lost', 'waiting');
  if (mine?.session) leave(mine.session);
  mine?.pc.close();
  setTimeout(connect, RETRY);
}

async function measure() {
  const mine = live;
  const s = mine && (await statsOf(mine.pc, (r) => r.type === 'inbound-rtp' && r.kind === 'video'));
  if (live !== mine) return;
  if (!s) {
    charts.push([[null], [null], [null, null], [null]]);
    silent++;
  } else {
    const dt = last && (s.timestamp - last.timestamp) / 1000;
    const of = (key) => s[key] - last[key];
    const frames = dt ? of('framesDecoded') : null;
    const emitted = dt ? of('jitterBufferEmittedCount') : null;
    charts.push([
      [dt ? (of('bytesReceived') * 8) / dt / 1e6 : null],
      [dt ? frames / dt : null],
      [emitted ? (of('jitterBufferDelay') / emitted) * 1000 : null, emitted ? (of('jitterBufferTargetDelay') / emitted) * 1000 : null],
      [dt ? Math.min(100, (of('totalFreezesDuration') / dt) * 100) : null],
    ]);
    if (frames > 0) {
      setState('live', 'live');
      $('note').textContent = `${s.frameWidth} × ${s.frameHeight}, ${s.freezeCount} freezes, ${s.packetsLost} packets lost`;
    }
    silent = last && of('packetsReceived') === 0 ? silent + 1 : 0;
    last = latest = s;
  }
  // A server that was killed says nothing, and ICE takes its time to notice.
  if (mine?.session && silent >= (last ? SILENT : PATIENCE)) again('no more packets');
}

setInterval(measure, 500);
addEventListener('pagehide', () => live?.session && leave(live.session));
connect();
