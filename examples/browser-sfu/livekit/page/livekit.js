// SPDX-License-Identifier: MIT
'use strict';

const RETRY = 1000; // ms
const SILENT = 4; // half seconds without a packet

const playback = new Playback();
let room = null;
let video = null; // the remote track
let silent = 0;

async function connect() {
  setState('wait', 'connecting');
  playback.last = null;
  const mine = (room = new LivekitClient.Room());
  mine
    .on(LivekitClient.RoomEvent.TrackSubscribed, (track) => {
      track.attach($('video'));
      if (track.kind === 'video') video = track;
    })
    .on(LivekitClient.RoomEvent.TrackUnsubscribed, (track) => {
      track.detach();
      if (track === video) {
        video = null;
        setState('wait', 'nobody publishes');
      }
    })
    .on(LivekitClient.RoomEvent.SignalReconnecting, () => setState('lost', 'interrupted'))
    .on(LivekitClient.RoomEvent.Reconnecting, () => setState('lost', 'interrupted'))
    .on(LivekitClient.RoomEvent.Disconnected, () => room === mine && again('connection lost'));
  try {
    const r = await fetch('token');
    if (!r.ok) throw new Error((await r.text()).trim());
    const { url, token } = await r.json();
    await mine.connect(url, token);
    if (!video) setState('wait', 'nobody publishes');
  } catch (err) {
    if (room === mine) again(err.message);
  }
}

// again gives a connection up and tries another one a little later.
function again(why) {
  const mine = room;
  room = video = null;
  $('note').textContent = why;
  setState('lost', 'waiting');
  mine?.disconnect();
  setTimeout(connect, RETRY);
}

async function measure() {
  const reports = video && (await video.getRTCStatsReport());
  let found = null;
  for (const r of reports?.values() ?? []) if (r.type === 'inbound-rtp') found = r;
  const was = playback.last;
  playback.push(found);
  silent = found && found.packetsReceived === was?.packetsReceived ? silent + 1 : 0;
  if (silent === SILENT) setState('lost', 'interrupted');
}

setInterval(measure, 500);
addEventListener('pagehide', () => room?.disconnect());
connect();
