// SPDX-License-Identifier: MIT

package modemlink

import (
	"net"
	"strings"
)

// usableHost returns an address of this machine that a tethered or local
// sender can most likely reach, and the loopback address when there is none.
func usableHost() string {
	best, bestRank := "127.0.0.1", 0
	ifaces, err := net.Interfaces()
	if err != nil {
		// Apps on Android may not list interfaces. Connecting a datagram socket
		// sends nothing and tells the address on the default route.
		return routeHost()
	}
	for _, ifc := range ifaces {
		if ifc.Flags&net.FlagUp == 0 || ifc.Flags&net.FlagLoopback != 0 {
			continue
		}
		addrs, err := ifc.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			if r := hostRank(ifc.Name, n.IP); r > bestRank {
				best, bestRank = n.IP.String(), r
			}
		}
	}

	return best
}

// hostRank is 0 for an address that is of no use. The tethering interface comes
// first, then the local network; the modem's own interface is last, because the
// sender is not out there.
func hostRank(ifc string, ip net.IP) int {
	if !ip.IsGlobalUnicast() {
		return 0
	}
	rank := 1
	if ip.To4() != nil {
		rank++
	}
	if ip.IsPrivate() {
		rank += 2
	}
	switch {
	case hasPrefix(ifc, "usb", "rndis", "ncm", "bt-pan"):
		rank += 30
	case hasPrefix(ifc, "wlan", "wlp", "swlan", "ap", "eth", "en"):
		rank += 20
	case hasPrefix(ifc, "rmnet", "ccmni", "pdp", "wwan", "tun", "docker", "veth"):
	default:
		rank += 10
	}

	return rank
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}

	return false
}

func routeHost() string {
	c, err := net.Dial("udp", "192.0.2.1:9") // RFC 5737 3: no real host
	if err != nil {
		return "127.0.0.1"
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	if a, ok := c.LocalAddr().(*net.UDPAddr); ok && !a.IP.IsUnspecified() {
		return a.IP.String()
	}

	return "127.0.0.1"
}
