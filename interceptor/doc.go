// SPDX-License-Identifier: MIT

// Package interceptor plugs the dual-loop estimator of package gbr into Pion as
// a bandwidth estimator: it writes the transport-wide sequence numbers, paces
// and sends the packets, reads the congestion feedback, takes in the modem's
// telemetry and tells the encoder its rate.
//
// # Quick start
//
// The example of this package is a whole set-up. What it has beyond that of any Pion
// application, whose own package interceptor is called pion here:
//
//	factory, err := interceptor.NewInterceptor(
//		interceptor.WithTelemetrySource(link.Run)) // a modemlink.Client; optional
//	registry.Add(factory)                              // first
//	err = webrtc.ConfigureTWCCHeaderExtensionSender(media, registry) // second
//	err = webrtc.RegisterDefaultInterceptors(media, registry)        // then the rest
//	settings.BufferFactory = factory.BufferFactory     // see there
//	est, ok := factory.ForPeerConnection(pc)
//	est.OnTargetBitrateChange(encoder.SetBitRate)      // bit/s
//
// and, for every sender, a loop on RTPSender.Read: Pion hands RTCP to the
// interceptors only while the application reads it. The estimator says so in
// the log when it misses feedback for a second.
//
// An application that has Pion's estimator already changes one argument:
// cc.NewInterceptor(interceptor.Factory(...)).
//
// # Chain order
//
// Pion wraps the first interceptor that is added innermost, next to SRTP.
//
//	track -> NACK responder -> FlexFEC* -> TWCC extension -> [Estimator] -> SRTP
//	         (resends as RTX)                                  queue,
//	                                                           number, send
//
// The estimator comes first so that all that leaves passes its pacer,
// retransmissions and FEC included, and because only pkg/cc hands the NACK
// responder the target rate that limits retransmissions. FlexFEC (*), when it is
// used, is added between the estimator and the TWCC extension: it then
// protects packets of the length that is sent, and the one thing that differs
// is the number in a recovered packet, which nobody reads.
//
// # What the writer does
//
// A packet is copied, queued and numbered at the moment it really leaves, by
// one counter over all streams. What does not leave takes no number, so a
// packet that the pacer refuses is not a loss to the receiver's feedback. The
// extension of ConfigureTWCCHeaderExtensionSender is overwritten, or added where
// it was negotiated and is missing. RTX packets get their RTP number at that
// moment too: Pion reserves one for every packet it might resend and reuses it
// for a second resend, which SRTP takes for gaps and replays.
//
// The end-to-end loop measures the path with short bursts above its rate. Where
// there is no media for them they are filled with padding on the RTX stream, in
// packets of up to 224 bytes of it and numbered like all of that stream; without
// RTX only frames that are large enough are such a burst. [WithoutProbing] turns
// that off.
//
// Write returns no error for a packet that the full queue refuses: it is
// dropped and counted, as a router would. WriteSample of Pion's tracks hands
// an error of the chain to the application, and most applications end the
// call then. The gap that stays in the stream's RTP numbers is what lets the
// receiver notice: it sends a NACK, and the responder, which has seen the
// packet, resends it when there is room. A refused resend is given back to the
// responder as not sent, so that the next NACK is answered.
//
// Once a packet of a video frame is refused the rest of its frame is: nobody can
// decode it. [Estimator.OnAdvice] asks the encoder to leave out frames before it
// comes to that, and for a key frame when there is room again.
//
// An encoder that can hit a size asks [Estimator.FrameBudget] before each frame, and
// every encoder may ask [Estimator.SkipFrame].
//
// Audio leaves ahead of video and does not wait. Retransmissions leave ahead of
// video too, at the pacer's rate: the receiver waits for them, and what waits
// behind them cannot be shown before they are there. However many there are, video
// gets half of what leaves. FEC is paced with the media, and the encoder's rate
// leaves out the share that both took lately.
//
// A write to the next writer that reports 0 bytes and no error has not left:
// that is what Pion says before DTLS is done.
//
// # Several streams, several PeerConnections
//
// An [Allocator] divides the target of one Estimator between streams or
// simulcast layers. An [Uplink] is the modem of a host: the Estimators on it
// share what it grants by weight.
//
// # Concurrency
//
// All methods are safe for concurrent use. One mutex guards the core, the
// pacer and the packet history, and is never held over foreign code, except a
// Recorder. A [Scheduler] runs the timers and sends, for all Estimators of a
// factory with one goroutine per processor:
//
//	Write, telemetry, feedback -- arm: deadline --> [ d d d d ... ] one per Estimator
//	                                                     |  every ms in which one is due
//	next writer <-- transmit <-- run: timers, pacer <----+  leader
//	                                                        watch: leader stuck for 5 ms?
//	                                                        another goroutine leads
//
// so that a thousand connections cost a thousand wakings a second, not some for
// each packet. A writer that blocks stops its own Estimator only. Another goroutine
// for each Estimator calls the target bitrate callback, so that a slow encoder does
// not delay packets; a third one writes the event log. All end with Close.
//
// # Units
//
// Rates are bit/s, sizes bytes on the link: RTP header and payload, 10 bytes
// SRTP tag (RFC 3711 section 5.2), 28 bytes IPv4 and UDP. Times of the receiver
// are [gcc.RemoteTime].
//
// # Files
//
//	estimator.go  Estimator: the mutex, the core, the callbacks
//	pacer.go      run: timers, sending, what has silently gone wrong
//	scheduler.go  Scheduler: who calls run
//	writer.go     a stream: copy, queue, number
//	padding.go    packets that fill a probe
//	history.go    what was sent, by transport-wide or RTP number
//	feedback.go   TWCC and RFC 8888 reports -> gcc.PacketResult
//	buffers.go    reports that Pion throws away
//	factory.go    Factory for cc.NewInterceptor
//	peers.go      NewInterceptor: the Estimator of a PeerConnection
//	uplink.go     Uplink: one modem, several Estimators
//	others.go     what the others on an Uplink sent
//	allocation.go Allocator: one target, several streams
//	advice.go     what the pacer asks of the encoder
//	budget.go     how large a frame may be
//	repair.go     the share of FEC and retransmissions
//	watchdog.go   feedback that does not come
//	option.go     options
//	switch.go     another algorithm or outer loop in mid call
//	stats.go      keys of GetStats
//	eventlog.go   events as JSON lines
//	errors.go     errors
//
// # Deviations from Pion's estimator (pkg/gcc of interceptor v0.1.51)
//
//   - Retransmissions and FEC are sent; Pion's pacers drop what has not the
//     media SSRC.
//   - The queue is bounded in time, and nothing is sent above the rate because
//     a timer has fired.
//   - The history holds 5 s, at most 16384 packets, not 250 packets.
//   - Callbacks come in order, and the first one tells the present rate.
//   - WriteRTCP never fails: its error would end the application's RTCP reader.
package interceptor
