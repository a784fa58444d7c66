// SPDX-License-Identifier: MIT
'use strict';

const RETRY = 1000; // ms
const tiles = {}; // cc: {cc, sound, video, text, button, pc, last}

const node = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

// tile makes the place of one estimator's video. Its sound is off, as browsers want
// it, until somebody asks for it.
function tile({ cc, color, sound }) {
  const video = node('video', { muted: true, autoplay: true, playsInline: true });
  const text = node('span', { textContent: 'connecting' });
  const caption = node('figcaption', {}, node('b', { textContent: cc }), text);
  const t = (tiles[cc] = { cc, sound, video, text, button: node('button', { type: 'button', textContent: 'listen' }) });
  if (sound) caption.append(t.button);
  t.button.addEventListener('click', () => listen(t));
  const figure = node('figure', { className: 'card' }, caption, video);
  figure.style.setProperty('--c', `var(--${color})`);
  document.getElementById('videos').append(figure);
  play(t);
}

// listen turns the sound of one on, that of the others off; again, all off.
function listen(to) {
  const on = to.video.muted;
  for (const t of Object.values(tiles)) {
    t.video.muted = !(on && t === to);
    t.button.setAttribute('aria-pressed', String(!t.video.muted));
  }
}

async function play(t) {
  const pc = (t.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' }));
  t.last = null;
  pc.addTransceiver('video', { direction: 'recvonly' });
  if (t.sound) pc.addTransceiver('audio', { direction: 'recvonly' });
  pc.addEventListener('track', (e) => (t.video.srcObject = e.streams[0])); // one stream: played in step
  pc.addEventListener('connectionstatechange', () => {
    if (t.pc === pc && ['failed', 'closed', 'disconnected'].includes(pc.connectionState)) again(t, 'over');
  });
  try {
    await pc.setLocalDescription(await pc.createOffer());
    await new Promise((done) => {
      const check = () => pc.iceGatheringState === 'complete' && done();
      pc.addEventListener('icegatheringstatechange', check);
      check();
    });
    const r = await fetch('play/' + encodeURIComponent(t.cc), {
      method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: pc.localDescription.sdp,
    });
    if (!r.ok) throw new Error((await r.text()).trim());
    await pc.setRemoteDescription({ type: 'answer', sdp: await r.text() });
  } catch (err) {
    if (t.pc === pc) again(t, err.message);
  }
}

function again(t, why) {
  t.pc.close();
  t.pc = null;
  t.text.textContent = why;
  setTimeout(() => play(t), RETRY);
}

// ahead says how much later what is heard was captured than what is seen, in ms;
// null while the browser does not know.
function ahead({ audio, video }) {
  if (!audio?.estimatedPlayoutTimestamp || !video?.estimatedPlayoutTimestamp) return null;
  return audio.estimatedPlayoutTimestamp - video.estimatedPlayoutTimestamp;
}

function inStep(ms) {
  if (ms === null) return '';
  const n = Math.round(Math.abs(ms));
  return n < 10 ? ', sound in step' : `, sound ${n} ms ${ms > 0 ? 'ahead' : 'behind'}`;
}

// measure shows what the browser itself says of each video.
async function measure() {
  for (const t of Object.values(tiles)) {
    if (!t.pc) continue;
    const got = {};
    for (const s of (await t.pc.getStats()).values()) if (s.type === 'inbound-rtp') got[s.kind] = s;
    const s = got.video;
    const l = t.last;
    if (!s) continue;
    t.last = t.latest = s;
    t.heard = got.audio;
    t.ahead = ahead(got);
    if (!l || !s.framesDecoded) continue;
    const seconds = (s.timestamp - l.timestamp) / 1000;
    const mbps = ((s.bytesReceived - l.bytesReceived) * 8) / seconds / 1e6;
    const fps = (s.framesDecoded - l.framesDecoded) / seconds;
    t.text.textContent = `${mbps.toFixed(2)} Mbit/s, ${s.frameWidth} × ${s.frameHeight}, ${fps.toFixed(0)} fps, ` +
      `${s.freezeCount} freezes, ${s.totalFreezesDuration.toFixed(1)} s${inStep(t.ahead)}`;
  }
}

fetch('videos').then((r) => r.json()).then((list) => {
  list.forEach(tile);
  setInterval(measure, 500);
});
