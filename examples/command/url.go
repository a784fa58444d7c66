// SPDX-License-Identifier: MIT

package command

import (
	"net"
	"strconv"
)

// URL is where a browser on this machine finds a server; it ends in a slash.
func URL(addr net.Addr) string {
	host := addr.String()
	if a, ok := addr.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		host = net.JoinHostPort("localhost", strconv.Itoa(a.Port))
	}

	return "http://" + host + "/"
}
