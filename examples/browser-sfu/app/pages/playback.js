// SPDX-License-Identifier: MIT
'use strict';

const charts = new Charts([
  { title: 'Rate received', unit: 'Mbit/s', series: [{ label: 'video', color: 'blue' }] },
  { title: 'Frames decoded', unit: 'a second', series: [{ label: 'frames', color: 'green' }] },
  { title: 'Jitter buffer', unit: 'ms', series: [{ label: 'delay', color: 'purple' }, { label: 'target', color: 'grey' }] },
  { title: 'Frozen', unit: '% of the time', series: [{ label: 'frozen', color: 'red' }] },
]);

// Playback draws what the browser says of a picture that it plays.
class Playback {
  last = null; // the newest inbound-rtp report, for tests and the console too

  // push takes a report, or null when there is none.
  push(s) {
    const was = s && this.last;
    this.last = s ?? this.last;
    if (!s) {
      charts.push([[null], [null], [null, null], [null]]);
      return;
    }
    const dt = was && (s.timestamp - was.timestamp) / 1000;
    const of = (key) => s[key] - was[key];
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
  }
}
