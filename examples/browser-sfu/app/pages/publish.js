// SPDX-License-Identifier: MIT
'use strict';

// The token is the fragment. A query of ?source=pattern or ?source=camera starts
// at once.
const token = decodeURIComponent(location.hash.slice(1));
const RETRY = 1000; // ms
const PATIENCE = 2000; // ms of an interrupted connection
const FIRST = 500_000; // bit/s, until the gateway says what the uplink takes

let media = null; // what is published: {stream, stop}
let live = null; // and how: {pc, session}

const charts = new Charts([
  { title: 'Rate', unit: 'Mbit/s', series: [{ label: 'sent', color: 'blue' }, { label: 'encoder target', color: 'orange' }] },
  { title: 'Frames encoded', unit: 'a second', series: [{ label: 'frames', color: 'green' }] },
  { title: 'Round trip', unit: 'ms', series: [{ label: 'RTCP', color: 'purple' }] },
]);

// pattern is a moving picture with a clock, which needs no camera. Its band of
// noise never repeats, so that there is always more to encode than the rate allows.
function pattern() {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [1280, 720];
  const g = canvas.getContext('2d', { alpha: false });
  const colors = ['#bfbfbf', '#bfbf00', '#00bfbf', '#00bf00', '#bf00bf', '#bf0000', '#0000bf'];
  const noise = grain(512, 128);
  let n = 0;
  const draw = () => {
    const { width: w, height: h } = canvas;
    colors.forEach((c, i) => {
      g.fillStyle = c;
      g.fillRect((i * w) / 7, 0, w / 7 + 1, h * 0.5);
    });
    const [x, y] = [Math.random() * 192, Math.random() * 64];
    g.drawImage(noise, x, y, 320, 64, 0, h * 0.5, w, h * 0.25);
    g.fillStyle = '#111';
    g.fillRect(0, h * 0.75, w, h * 0.25);
    g.fillStyle = '#eee';
    g.fillRect((n * 8) % w, h * 0.75, 40, 24);
    g.font = '90px monospace';
    g.fillText(new Date().toISOString().slice(11, 23) + '  ' + n, 40, h * 0.93);
    n++;
  };
  draw();
  const timer = setInterval(draw, 1000 / 30);
  return { stream: canvas.captureStream(30), stop: () => clearInterval(timer) };
}

function grain(width, height) {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width, height];
  const g = canvas.getContext('2d', { alpha: false });
  const image = g.createImageData(width, height);
  for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 === 3 ? 255 : 104 + Math.random() * 48;
  g.putImageData(image, 0, 0);
  return canvas;
}

async function camera() {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } }, audio: { echoCancellation: true },
  });
  return { stream, stop: () => stream.getTracks().forEach((t) => t.stop()) };
}

async function start(open) {
  await stop();
  $('note').textContent = '';
  setState('wait', 'opening');
  try {
    media = await open();
  } catch (err) {
    return fail(err.message);
  }
  $('video').srcObject = media.stream;
  $('stop').disabled = false;
  connect();
}

async function connect() {
  mark('begun');
  const mine = {};
  live = mine;
  setState('wait', 'connecting');
  const pc = (mine.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' }));
  for (const t of media.stream.getTracks()) {
    const tr = pc.addTransceiver(t, { direction: 'sendonly', streams: [media.stream] });
    if (t.kind === 'video') prefer(tr);
  }
  obey(pc);
  pc.addEventListener('connectionstatechange', () => {
    if (live !== mine) return;
    if (pc.connectionState === 'connected') {
      setState('live', 'live');
      $('note').textContent = '';
    } else if (pc.connectionState === 'disconnected') {
      setState('lost', 'interrupted');
      setTimeout(() => live === mine && pc.connectionState === 'disconnected' && again('connection lost'), PATIENCE);
    } else if (pc.connectionState === 'failed' || pc.connectionState === 'closed') {
      again('connection lost');
    }
  });
  try {
    // A gateway has Chromium's estimate begin high; then its word is what counts.
    mine.session = await post(pc, 'whip', token, (answer) => answer.includes('x-google-start-bitrate') && limit(pc, FIRST));
    onGoodbye(pc, () => live === mine && again('the server has gone'));
    if (live !== mine) leave(mine.session, token);
  } catch (err) {
    if (live !== mine) return;
    if (err.status === 401) refused();
    else again(err.message);
  }
}

const PRINTED = 'open the address that the program printed, with all that follows the #.';

// refused is for good: the token of an address does not become another one.
async function refused() {
  await stop();
  fail(`The server does not know this token: ${PRINTED}`, 'refused');
}

// obey lets the far end say what the video may take, in bit/s. TWCC alone would
// get there too, several seconds later.
function obey(pc) {
  let wanted = 0;
  let busy = false;
  pc.createDataChannel('rate').addEventListener('message', async (e) => {
    wanted = Number(e.data);
    if (busy) return;
    busy = true;
    try {
      for (let set = 0; set !== wanted; ) await limit(pc, (set = wanted));
    } catch {
      // before the negotiation has ended, or after the end; the next one counts
    } finally {
      busy = false;
    }
  });
}

async function limit(pc, bps) {
  const sender = pc.getSenders().find((x) => x.track?.kind === 'video');
  const p = sender?.getParameters();
  if (!p?.encodings?.length) return;
  p.encodings[0].maxBitrate = Math.max(30_000, bps);
  await sender.setParameters(p);
}

// again gives a connection up and tries another one a little later.
function again(why) {
  hangUp();
  $('note').textContent = why;
  setState('lost', 'waiting');
  setTimeout(() => media && !live && connect(), RETRY);
}

function hangUp() {
  const mine = live;
  live = null;
  mine?.pc.close();
  return mine?.session ? leave(mine.session, token) : null;
}

function fail(why, state = 'ended') {
  setState('lost', state);
  $('note').textContent = why;
}

// prefer puts VP8 first, which every viewer can play.
function prefer(transceiver) {
  const all = RTCRtpSender.getCapabilities('video').codecs;
  const order = (c) => (c.mimeType === 'video/VP8' ? 0 : c.mimeType === 'video/H264' ? 1 : 2);
  transceiver.setCodecPreferences([...all].sort((a, b) => order(a) - order(b)));
}

async function stop() {
  $('stop').disabled = true;
  $('video').srcObject = null;
  media?.stop();
  media = null;
  setState('wait', 'not started');
  await hangUp();
}

let last = null;

async function measure() {
  const pc = live?.pc;
  const out = pc && (await statsOf(pc, (s) => s.type === 'outbound-rtp' && s.kind === 'video'));
  if (!out) {
    last = null;
    charts.push([[null, null], [null], [null]]);
    return;
  }
  const far = await statsOf(pc, (s) => s.type === 'remote-inbound-rtp' && s.kind === 'video');
  const dt = last && (out.timestamp - last.timestamp) / 1000;
  charts.push([
    [dt ? ((out.bytesSent - last.bytesSent) * 8) / dt / 1e6 : null, out.targetBitrate / 1e6],
    [dt ? (out.framesEncoded - last.framesEncoded) / dt : null],
    [far?.roundTripTime * 1000],
  ]);
  last = out;
}

setInterval(measure, 500);
addEventListener('pagehide', () => live?.session && leave(live.session, token));
$('camera').addEventListener('click', () => start(camera));
$('pattern').addEventListener('click', () => start(async () => pattern()));
$('stop').addEventListener('click', stop);
if (!token) $('note').textContent = `No token: ${PRINTED}`;
const source = new URLSearchParams(location.search).get('source');
if (source === 'pattern') start(async () => pattern());
if (source === 'camera') start(camera);
