// SPDX-License-Identifier: MIT
'use strict';

const [RETRY, RETRY_MOST] = [200, 2000]; // ms, half as much again after each failure
const SILENT = 4; // half seconds without a packet after which the page connects again,
const PATIENCE = 12; // and with none at all

// Another server's endpoint, which the page's policy has to allow.
const endpoint = new URLSearchParams(location.search).get('whep') ?? 'whep';

let live = null; // {pc, session}
let silent = 0;
let wait = RETRY;

const playback = new Playback();

async function connect() {
  mark('begun');
  const mine = {};
  live = mine;
  silent = 0;
  playback.last = null;
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
    wait = RETRY;
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
  setTimeout(connect, wait);
  wait = Math.min(RETRY_MOST, wait * 1.5);
}

async function measure() {
  const mine = live;
  const s = mine && (await statsOf(mine.pc, (r) => r.type === 'inbound-rtp' && r.kind === 'video'));
  if (live !== mine) return;
  const was = playback.last;
  playback.push(s);
  silent = s && (!was || s.packetsReceived !== was.packetsReceived) ? 0 : silent + 1;
  // A server that was killed says nothing, and ICE takes its time to notice.
  if (mine?.session && silent >= (was ? SILENT : PATIENCE)) again('no more packets');
}

setInterval(measure, 500);
addEventListener('pagehide', () => live?.session && leave(live.session));
connect();
