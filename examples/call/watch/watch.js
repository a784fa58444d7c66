// SPDX-License-Identifier: MIT
'use strict';

const RETRY = 1000; // ms
const tiles = {}; // cc: {video, text, pc, last}

const node = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

// tile makes the place of one estimator's video.
function tile({ cc, color }) {
  const video = node('video', { muted: true, autoplay: true, playsInline: true });
  const text = node('span', { textContent: 'connecting' });
  const figure = node('figure', { className: 'card' }, node('figcaption', {}, node('b', { textContent: cc }), text), video);
  figure.style.setProperty('--c', `var(--${color})`);
  document.getElementById('videos').append(figure);
  tiles[cc] = { cc, video, text };
  play(tiles[cc]);
}

async function play(t) {
  const pc = (t.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' }));
  t.last = null;
  pc.addTransceiver('video', { direction: 'recvonly' });
  pc.addEventListener('track', (e) => (t.video.srcObject = new MediaStream([e.track])));
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

// measure shows what the browser itself says of each video.
async function measure() {
  for (const t of Object.values(tiles)) {
    if (!t.pc) continue;
    for (const s of (await t.pc.getStats()).values()) {
      if (s.type !== 'inbound-rtp' || s.kind !== 'video') continue;
      const l = t.last;
      t.last = t.latest = s;
      if (!l || !s.framesDecoded) continue;
      const seconds = (s.timestamp - l.timestamp) / 1000;
      const mbps = ((s.bytesReceived - l.bytesReceived) * 8) / seconds / 1e6;
      const fps = (s.framesDecoded - l.framesDecoded) / seconds;
      t.text.textContent = `${mbps.toFixed(2)} Mbit/s, ${s.frameWidth} × ${s.frameHeight}, ${fps.toFixed(0)} fps, ` +
        `${s.freezeCount} freezes, ${s.totalFreezesDuration.toFixed(1)} s`;
    }
  }
}

fetch('videos').then((r) => r.json()).then((list) => {
  list.forEach(tile);
  setInterval(measure, 500);
});
